"""The HTTP service that takes signals, as an ASGI application."""

import json

import structlog

from fleet_runner.core.base.errors import StoreError
from fleet_runner.services.http.requests import (
    JSON,
    Answer,
    App,
    Receive,
    Request,
    Scope,
    Send,
    Unanswerable,
    send_answer,
    source_of,
)
from fleet_runner.services.signals.inputs import DOORS, SYSLOG
from fleet_runner.services.signals.netbox import WAY, Hook, hooked
from fleet_runner.services.signals.push import LATER, Reception, push

log = structlog.get_logger()

LONGEST_PATH = 512
"""Bytes of path and query."""

MOST_HEADERS = 64

WAYS = tuple(way for way in DOORS if way not in {"", SYSLOG})
"""What may stand behind /signals/."""


def application(reception: Reception, hook: Hook | None = None) -> App:
    """Return the application that answers; with a `hook`, NetBox too."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await send_answer(scope, send, await _answered(reception, hook, scope, receive))

    return app


async def _answered(reception: Reception, hook: Hook | None, scope: Scope, receive: Receive) -> Answer:
    """Find who answers; whatever goes wrong is an answer."""
    try:
        parts, method = _parts(scope), scope["method"]
        if parts == ["healthz"]:
            return _health(reception, method)
        request = Request(scope, receive, (), source_of(scope))
        if parts == ["signals", WAY]:
            return await _from_netbox(reception, hook, request, method)
        way, node = _way(parts, method)
        return await push(reception, request, way, node)
    except Unanswerable as wrong:
        return wrong.answer
    except StoreError as error:
        log.warning("no signal can be taken", why=str(error))
        return Answer(503, b"the store cannot be used now; send it again\n", headers=(LATER,))


async def _from_netbox(reception: Reception, hook: Hook | None, request: Request, method: str) -> Answer:
    if hook is None:
        raise Unanswerable(404, "no NetBox is expected here; set netbox_wishes and netbox_webhook_secret")
    if method != "POST":
        raise Unanswerable(405, "expected POST")
    return await hooked(reception, request, hook)


def _parts(scope: Scope) -> list[str]:
    if len(scope["raw_path"]) + len(scope["query_string"]) > LONGEST_PATH:
        raise Unanswerable(414, f"expected at most {LONGEST_PATH} bytes of path and query")
    if len(scope["headers"]) > MOST_HEADERS:
        raise Unanswerable(431, f"expected at most {MOST_HEADERS} headers")
    path: str = scope["path"]
    return path.strip("/").split("/")


def _way(parts: list[str], method: str) -> tuple[str, str]:
    """Return the door that a path names, and the node that a BMC's path does."""
    match parts:
        case ["signals"]:
            found = "", ""
        case ["signals", way] if way in WAYS:
            found = way, ""
        case ["signals", "redfish", node] if node:
            found = "redfish", node
        case _:
            raise Unanswerable(404, f"expected /signals, or /signals/ with one of {', '.join(WAYS)}")
    if method != "POST":
        raise Unanswerable(405, "expected POST")
    return found


def _health(reception: Reception, method: str) -> Answer:
    """Say whether signals can be taken, and how much waits; why not stays in the log."""
    if method not in {"GET", "HEAD"}:
        raise Unanswerable(405, "expected GET")
    parcels, size = reception.inbox.waiting()
    good = not reception.trouble()
    said = {"store": good, "waiting": parcels, "waiting_bytes": size}
    return Answer(200 if good else 503, json.dumps(said).encode() + b"\n", JSON)
