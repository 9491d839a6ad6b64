"""Who asks, and whether they may: a session of a browser, or a token; every route names the right it needs."""

import asyncio
import hmac
from collections.abc import Awaitable, Callable
from functools import partial
from hashlib import sha256
from typing import Annotated

from fastapi import Depends, HTTPException, Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.requests import HTTPConnection

from fleet_runner.core.access.roles import Right, Role, Session, Who
from fleet_runner.core.faults.signals.tokens import Token
from fleet_runner.services.http import admission
from fleet_runner.services.http.requests import Request as Plain
from fleet_runner.web.audit import NOBODY, note_of
from fleet_runner.web.middleware import SAFE, replayed
from fleet_runner.web.site import Site, site

COOKIE = "fleet_session"
"""Over TLS its name begins with __Host-, which browsers take only from this very host, and over TLS."""

FIELD, HEADER = "csrf", "x-csrf-token"
"""How a form, or htmx, shows that a page of ours asks."""

FORMS = frozenset({"application/x-www-form-urlencoded", "multipart/form-data"})

SCOPES = frozenset(role.value for role in Role if role is not Role.INGEST)

BEARER = {"WWW-Authenticate": 'Bearer realm="fleet-runner"'}


def secure(request: HTTPConnection) -> bool:
    """Whether people come over TLS: to us, or to a proxy in front of us."""
    here: Site = request.app.state.site
    return request.url.scheme == "https" or here.settings.web_url.startswith("https://")


def cookie(request: HTTPConnection) -> str:
    """Return the name of the session's cookie."""
    return f"__Host-{COOKIE}" if secure(request) else COOKIE


def digest(secret: str) -> str:
    """Return what is kept of a session's secret."""
    return sha256(secret.encode()).hexdigest()


def csrf(secret: str) -> str:
    """Return what forms of a session carry: whoever has it cannot tell the session's secret."""
    return hmac.new(secret.encode(), b"csrf", sha256).hexdigest()


async def who(request: Request) -> Who:
    """Return who asks, also to the audit log; 401 where nobody shows anything that is good."""
    here, note = site(request), note_of(request.scope)
    note.again = partial(who, request)
    token = _shown(request)
    if token:
        found = await admitted(here, token)
        if isinstance(found, str):
            raise HTTPException(401, found, headers=BEARER)
        note.who, note.token = Who(found.name, Role(found.scope), found.tenant), found.id
        return note.who
    session = await _session(here, request)
    if session is None:
        raise HTTPException(401, "log in, or send a token", headers=BEARER)
    note.who, note.token = session.who, session.token
    if request.method not in SAFE:
        same_origin(request)
        await _not_forged(request)
    return session.who


async def admitted(here: Site, token: bytes) -> Token | str:
    """Return a token that lets its holder see something, or in a word why it does not."""
    found = await here.admission.admit(token, SCOPES, here.clock())
    if isinstance(found, Token) and found.scope == Role.TENANT and not found.tenant:
        return "token of no tenant"
    return found


def _shown(request: Request) -> bytes:
    """Return the token that a program shows, b"" for none.

    A password (Basic) is refused: browsers send it along by themselves, also where another site's page asks them to.
    """
    if request.headers.get("authorization", "")[:6].lower() == "basic ":
        raise HTTPException(401, "send a token as Authorization: Bearer", headers=BEARER)
    return admission.shown(Plain(request.scope, request.receive, (), ""))


async def _session(here: Site, request: Request) -> Session | None:
    secret = request.cookies.get(cookie(request), "")
    if not secret:
        return None
    return await asyncio.to_thread(here.store.session, digest(secret), here.clock())


def same_origin(request: Request) -> None:
    """Refuse what a page of another site made a browser ask, as far as the browser says so."""
    here: Site = site(request)
    origin = request.headers.get("origin", "")
    known = {request.headers.get("host", ""), here.settings.web_url.partition("://")[2].partition("/")[0]}
    foreign = bool(origin) and origin.partition("://")[2] not in known - {""}
    if foreign or request.headers.get("sec-fetch-site", "") == "cross-site":
        raise HTTPException(403, "this request came from a page of another site")


async def _not_forged(request: Request) -> None:
    """Refuse what does not carry what our forms do: another site's page shows the cookie, and cannot know that."""
    shown = request.headers.get(HEADER, "") or await _field(request)
    expected = csrf(request.cookies[cookie(request)])
    if not hmac.compare_digest(shown.encode(), expected.encode()):
        raise HTTPException(403, "the form is from another session; load the page again")


async def _field(request: Request) -> str:
    """Return what a form carries, "" for anything else; the body stays for whoever answers."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() not in FORMS:
        return ""
    alone = Request(request.scope, replayed(note_of(request.scope).body, request.receive))
    found = (await alone.form()).get(FIELD, "")
    return found if isinstance(found, str) else ""


Asker = Annotated[Who, Depends(who)]


def may(right: Right) -> Callable[[Who], Awaitable[Who]]:
    """Return what a route depends on that needs a right: 401 for nobody, 403 for whoever lacks it."""

    async def allowed(asker: Asker) -> Who:
        if not asker.may(right):
            raise HTTPException(403, f"a {asker.role.value} may not do this; it needs the right to {right.value}")
        return asker

    vars(allowed)["right"] = right  # the routes are walked by what they need
    return allowed


async def refused_first(request: Request) -> None:
    """Refuse who may not ask at all, where a body could not be read: that is seen before who sends it."""
    route = request.scope.get("route")
    if isinstance(route, APIRoute) and note_of(request.scope).who is NOBODY:
        for right in rights(route.dependant):
            await may(right)(await who(request))


def rights(dependant: Dependant) -> tuple[Right, ...]:
    """Return the rights that a route names, through whatever it depends on."""
    mine = getattr(dependant.call, "right", None)
    below = [right for each in dependant.dependencies for right in rights(each)]
    return (*((mine,) if isinstance(mine, Right) else ()), *below)


Sees = Annotated[Who, Depends(may(Right.SEE))]
Mends = Annotated[Who, Depends(may(Right.MEND))]
Steers = Annotated[Who, Depends(may(Right.STEER))]
Audits = Annotated[Who, Depends(may(Right.AUDIT))]
Scrapes = Annotated[Who, Depends(may(Right.SCRAPE))]
Owns = Annotated[Who, Depends(may(Right.OWN))]
