"""Who asks, and whether they may: a session of a browser, or a token; every route names the right it needs."""

import asyncio
import hmac
from collections.abc import Awaitable, Callable
from hashlib import sha256
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, HTTPException, Request
from starlette.requests import HTTPConnection

from fleet_runner.core.access import Right, Role, Session, Who
from fleet_runner.http import admission
from fleet_runner.http.asking import Request as Plain
from fleet_runner.http.asking import source_of
from fleet_runner.web.site import Site, site

COOKIE = "fleet_session"
"""Over TLS its name begins with __Host-, which browsers take only from this very host, and over TLS."""

FIELD, HEADER = "csrf", "x-csrf-token"
"""How a form, or htmx, shows that a page of ours asks."""

SCOPES = frozenset(role.value for role in Role if role is not Role.INGEST)

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


def cookie(request: HTTPConnection) -> str:
    """Return the name of the session's cookie."""
    return f"__Host-{COOKIE}" if request.url.scheme == "https" else COOKIE


def digest(secret: str) -> str:
    """Return what is kept of a session's secret."""
    return sha256(secret.encode()).hexdigest()


def csrf(secret: str) -> str:
    """Return what forms of a session carry: whoever has it cannot tell the session's secret."""
    return hmac.new(secret.encode(), b"csrf", sha256).hexdigest()


async def who(request: Request) -> Who:
    """Return who asks; 401 where nobody shows anything that is good."""
    here = site(request)
    token = admission.shown(Plain(request.scope, request.receive, (), source_of(request.scope)))
    if token:
        found = await here.admission.admit(token, SCOPES, here.clock())
        if isinstance(found, str):
            raise HTTPException(401, found, headers={"WWW-Authenticate": 'Bearer realm="fleet-runner"'})
        return Who(found.name, Role(found.scope), found.tenant)
    session = await _session(here, request)
    if session is None:
        raise HTTPException(401, "log in, or show a token")
    await _not_forged(request)
    return session.who


async def _session(here: Site, request: Request) -> Session | None:
    secret = request.cookies.get(cookie(request), "")
    if not secret:
        return None
    return await asyncio.to_thread(here.store.session, digest(secret), here.clock())


async def _not_forged(request: Request) -> None:
    """Refuse what another site made a browser ask: it shows the cookie, and cannot know what our forms carry."""
    if request.method in SAFE:
        return
    origin = request.headers.get("origin", "")
    if origin and urlsplit(origin).netloc != request.headers.get("host", ""):
        raise HTTPException(403, "this was asked by a page of another site")
    shown = request.headers.get(HEADER, "") or str((await request.form()).get(FIELD, ""))
    expected = csrf(request.cookies[cookie(request)])
    if not hmac.compare_digest(shown.encode(), expected.encode()):
        raise HTTPException(403, "the form is of another session; load the page again")


Asker = Annotated[Who, Depends(who)]


def may(right: Right) -> Callable[[Who], Awaitable[Who]]:
    """Return what a route depends on that needs a right: 401 for nobody, 403 for whoever lacks it."""

    async def allowed(asker: Asker) -> Who:
        if not asker.may(right):
            raise HTTPException(403, f"a {asker.role.value} may not do this; it needs the right to {right.value}")
        return asker

    vars(allowed)["right"] = right  # the routes are walked by what they need
    return allowed


Sees = Annotated[Who, Depends(may(Right.SEE))]
Mends = Annotated[Who, Depends(may(Right.MEND))]
Steers = Annotated[Who, Depends(may(Right.STEER))]
Audits = Annotated[Who, Depends(may(Right.AUDIT))]
Scrapes = Annotated[Who, Depends(may(Right.SCRAPE))]
Owns = Annotated[Who, Depends(may(Right.OWN))]
