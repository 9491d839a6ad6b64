"""The boot service as an ASGI application: one table from the first part of a path to the function that answers."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

import structlog

from fleet_runner.core.base.errors import FleetError, StoreError
from fleet_runner.services.boot import files, ipxe, leases, seeds
from fleet_runner.services.boot.answers import BootContext
from fleet_runner.services.http.requests import (
    JSON,
    Answer,
    App,
    Receive,
    Request,
    Scope,
    Send,
    Unanswerable,
    refusal,
    send_answer,
    source_of,
)

log = structlog.get_logger()

LONGEST_PATH = 4096
"""Bytes of path and query: iPXE says less than a quarter of it."""

MOST_HEADERS = 64

NOWHERE = frozenset({"", ".", ".."})


class Route(NamedTuple):
    """The methods of a path, and what answers it: whole, or as an application of its own."""

    methods: tuple[str, ...]
    answer: Callable[[BootContext, Request], Awaitable[Answer | App]]


async def health(desk: BootContext, request: Request) -> Answer:
    """Say whether boots can be served; why not stays in the log."""
    del request
    store, source = not desk.ledger.trouble, not desk.known.trouble
    words = b'{"store": %s, "source": %s}\n' % (_json(store), _json(source))
    return Answer(200 if store else 503, words, JSON)


ROUTES = {
    "boot.ipxe": Route(("GET",), ipxe.first),
    "ipxe": Route(("GET",), ipxe.script),
    "seed": Route(("GET",), seeds.seed),
    "phone-home": Route(("POST",), seeds.phone_home),
    "dhcp": Route(("POST",), leases.lease),
    "image": Route(("GET", "HEAD"), files.image),
    "loader": Route(("GET", "HEAD"), files.loader),
    "health": Route(("GET",), health),
}
"""Everything that is served."""


def application(desk: BootContext) -> App:
    """Return the application that answers from a desk."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        found = await _answered(desk, scope, receive)
        if isinstance(found, Answer):
            await send_answer(scope, send, found)
        else:
            await found(scope, receive, send)

    return app


async def _answered(desk: BootContext, scope: Scope, receive: Receive) -> Answer | App:
    """Find who answers; whatever goes wrong is an answer."""
    path: str = scope["path"]
    first, *parts = path.removeprefix("/").split("/")
    source = source_of(scope)
    try:
        route = _route(scope, first, parts)
        request = Request(scope, receive, tuple(parts), source)
        if not desk.limits.take(source, desk.steady()) and not (first == "dhcp" and leases.trusted(desk, request)):
            return _limited(desk, source)
        return await route.answer(desk, request)
    except Unanswerable as wrong:
        return wrong.answer
    except StoreError as error:
        if desk.fresh("", "store", source):
            log.warning("the store is in trouble", path=first, source=source, why=str(error))
        return refusal(503, "the store cannot be used now; ask again")
    except FleetError as error:
        log.warning("trouble", path=first, source=source, why=str(error))
        return refusal(503, "this cannot be answered now; ask again")


def _route(scope: Scope, first: str, parts: list[str]) -> Route:
    """Return the route of a request that is in bounds, or raise Unanswerable."""
    if len(scope["raw_path"]) + len(scope["query_string"]) > LONGEST_PATH:
        raise Unanswerable(414, f"expected at most {LONGEST_PATH} bytes of path and query")
    if len(scope["headers"]) > MOST_HEADERS:
        raise Unanswerable(431, f"expected at most {MOST_HEADERS} headers")
    route = ROUTES.get(first)
    if route is None or not NOWHERE.isdisjoint(parts):
        raise Unanswerable(404, "there is nothing here")
    if scope["method"] not in route.methods:
        raise Unanswerable(405, f"expected {' or '.join(route.methods)}")
    return route


def _limited(desk: BootContext, source: str) -> Answer:
    if desk.fresh("", "limited", source):
        log.warning("refused", code="limited", why="one address asks too much", source=source)
    return Answer(429, b"too many requests\n", headers=((b"retry-after", b"5"),))


def _json(value: bool) -> bytes:  # noqa: FBT001  a value to be written, not a switch
    return b"true" if value else b"false"
