"""Logging in and out: whoever has a token shows it once, and has a session from then on."""

import asyncio
import secrets
from typing import Annotated

from fastapi import APIRouter, Form, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from fleet_runner.core.access.roles import Role, Session, Who
from fleet_runner.services.http.requests import source_of
from fleet_runner.web.access import Asker, admitted, cookie, digest, same_origin, secure
from fleet_runner.web.audit import NOBODY, note_of
from fleet_runner.web.rendering import HOME, page
from fleet_runner.web.site import Here, Site, site

router = APIRouter()

LASTS = 12 * 3600.0
"""Seconds of a session: a shift."""


@router.get("/")
def home(who: Asker) -> Response:
    """Lead somebody to where they begin."""
    return RedirectResponse(HOME[who.role], 303)


@router.get("/login")
def form(request: Request, next: str = "") -> HTMLResponse:  # noqa: A002  the field's name
    """Ask who it is."""
    return asked(request, to=next if own(next) else "")


@router.post("/login")
async def login(
    request: Request,
    here: Here,
    token: Annotated[str, Form(max_length=256)] = "",
    next: Annotated[str, Form(max_length=512)] = "",  # noqa: A002  as above
) -> Response:
    """Begin a session for whoever shows a token that is good."""
    same_origin(request)
    to = next if own(next) else ""
    if (answer := tired(request)) is not None:
        return answer
    found = await admitted(here, token.strip().encode())
    if isinstance(found, str):
        said = "This token does not open pages; ask an operator for one." if token else "A token is needed."
        return refused(request, found, said, to)
    return await begin(request, here, Who(found.name, Role(found.scope), found.tenant), to, token=found.id)


def asked(request: Request, said: str = "", *, to: str = "", status: int = 200) -> HTMLResponse:
    """Return the page that asks who it is."""
    provider = bool(site(request).settings.oidc_issuer)
    return page(request, NOBODY, "login.html", status=status, next=to, said=said, provider=provider)


def refused(request: Request, why: str, said: str, to: str = "") -> HTMLResponse:
    """Return that page to somebody whose login failed, which counts against their address; have it written."""
    request.app.state.tries.take(source_of(request.scope), site(request).steady())
    note_of(request.scope).detail = f"login refused: {why}"
    return asked(request, said, to=to, status=401)


def tired(request: Request) -> HTMLResponse | None:
    """Return what somebody is told from whose address too many logins failed; None where they may try."""
    if not request.app.state.tries.spent(source_of(request.scope), site(request).steady()):
        return None
    note_of(request.scope).detail = "login refused: too many failed"
    answer = asked(request, "Too many logins from this address failed; wait a minute.", status=429)
    answer.headers["retry-after"] = "60"
    return answer


async def begin(request: Request, here: Site, who: Who, to: str, *, token: int = 0) -> Response:
    """Begin a session and lead to a page of ours, or to where somebody begins; one that the browser had ends."""
    secret, now = secrets.token_urlsafe(32), here.clock()
    note = note_of(request.scope)
    note.who, note.token, note.detail = who, token, "logged in" if token else "logged in with OpenID Connect"
    had = request.cookies.get(cookie(request), "")
    if had:
        await asyncio.to_thread(here.store.end_session, digest(had))
    session = Session(digest(secret), who, now, now + LASTS, token)
    await asyncio.to_thread(here.store.begin_session, session)
    answer = RedirectResponse(to or HOME[who.role], 303)
    answer.set_cookie(cookie(request), secret, int(LASTS), httponly=True, secure=secure(request), samesite="lax")
    return answer


def own(path: str) -> bool:
    """Whether a path is one of ours, and leads nowhere else."""
    return path.startswith("/") and not path.startswith("//") and path.isprintable() and "\\" not in path


@router.post("/logout")
async def logout(request: Request, here: Here, who: Asker) -> Response:
    """End the session."""
    secret = request.cookies.get(cookie(request), "")
    if not secret or "authorization" in request.headers:
        raise HTTPException(400, f"{who.name} came with a token, not with a session")
    await asyncio.to_thread(here.store.end_session, digest(secret))
    note_of(request.scope).detail = "logged out"
    answer = RedirectResponse("/login", 303)
    answer.headers["clear-site-data"] = '"storage"'  # tickets that the browser keeps, and reports that were not sent
    answer.delete_cookie(cookie(request), secure=secure(request), httponly=True, samesite="lax")
    return answer
