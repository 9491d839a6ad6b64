"""Logging in and out: whoever has a token shows it once, and has a session from then on."""

import asyncio
import secrets
from typing import Annotated

from fastapi import APIRouter, Form, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from fleet_runner.core.access import Role, Session, Who
from fleet_runner.web.access import SCOPES, Asker, cookie, digest
from fleet_runner.web.rendering import HOME, page
from fleet_runner.web.site import Here

router = APIRouter()

LASTS = 12 * 3600.0
"""Seconds of a session: a shift."""

NOBODY = Who("", Role.INGEST)


@router.get("/")
def home(who: Asker) -> Response:
    """Lead somebody to where they begin."""
    return RedirectResponse(HOME[who.role], 303)


@router.get("/login")
def form(request: Request, next: str = "") -> HTMLResponse:  # noqa: A002  the field's name
    """Ask who it is."""
    return page(request, NOBODY, "login.html", next=next, said="")


@router.post("/login")
async def login(
    request: Request,
    here: Here,
    token: Annotated[str, Form(max_length=256)] = "",
    next: Annotated[str, Form(max_length=512)] = "",  # noqa: A002  as above
) -> Response:
    """Begin a session for whoever shows a token that is good."""
    found = await here.admission.admit(token.strip().encode(), SCOPES, here.clock())
    if isinstance(found, str):
        said = "This token is not good for pages; ask an operator for one." if token else "A token is needed."
        return page(request, NOBODY, "login.html", status=401, next=next, said=said)
    who = Who(found.name, Role(found.scope), found.tenant)
    return await begin(request, here, who, next, token=found.id)


async def begin(request: Request, here: Here, who: Who, to: str, *, token: int = 0) -> Response:
    """Begin a session and lead to a page of ours, or to where somebody begins."""
    secret, now = secrets.token_urlsafe(32), here.clock()
    session = Session(digest(secret), who, now, now + LASTS, token)
    await asyncio.to_thread(here.store.begin_session, session)
    answer = RedirectResponse(to if own(to) else HOME[who.role], 303)
    secure = request.url.scheme == "https"
    answer.set_cookie(cookie(request), secret, int(LASTS), httponly=True, secure=secure, samesite="lax")
    return answer


def own(path: str) -> bool:
    """Whether a path is one of ours, and leads nowhere else."""
    return path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() and "\\" not in path


@router.post("/logout")
async def logout(request: Request, here: Here, who: Asker) -> Response:
    """End the session."""
    secret = request.cookies.get(cookie(request), "")
    if not secret:
        raise HTTPException(400, f"{who.name} came with a token, not with a session")
    await asyncio.to_thread(here.store.end_session, digest(secret))
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(cookie(request), secure=request.url.scheme == "https", httponly=True, samesite="lax")
    return answer
