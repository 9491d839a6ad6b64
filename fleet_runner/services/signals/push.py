"""One push: who it comes from, whether he may, and what becomes of it. What is answered with 200 is in the store."""

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus

from fleet_runner.core.faults.signals.tokens import INGEST, Token
from fleet_runner.services.http.admission import Admission, shown
from fleet_runner.services.http.limits import Limits
from fleet_runner.services.http.requests import JSON, Answer, Request, Unanswerable, refusal
from fleet_runner.services.signals.counters import Counts
from fleet_runner.services.signals.inbox import Delivery, Inbox, InboxFullError, Outcome
from fleet_runner.services.signals.inputs import DOORS, SignalInput

PER_SECOND, BURST = 100.0, 500.0
"""Requests of one address: a shipper that gathers lines sends a few a second, a hall's BMCs one each."""

ANSWER_SECONDS = 30.0
"""The longest a sender waits until what he sent is in the store; he then sends it again."""

CHALLENGE = (b"www-authenticate", b'Bearer realm="signals"')
LATER = (b"retry-after", b"2")


class Refused(Unanswerable):
    """A push is not taken; `what` is the word under which that is counted."""

    def __init__(self, status: HTTPStatus, what: str, text: str) -> None:
        super().__init__(status, text)
        self.what = what
        headers = {HTTPStatus.UNAUTHORIZED: (CHALLENGE,)}.get(status, ())
        if status in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}:
            headers = (LATER,)
        self.answer = Answer(status, self.answer.body, headers=(*self.answer.headers, *headers))


@dataclass(slots=True)
class Reception:
    """What pushes are answered from. `clock` tells the time, `steady` measures it.

    `trouble` says what keeps signals from being written, "" where nothing does.
    """

    inbox: Inbox
    admission: Admission
    counts: Counts
    clock: Callable[[], float]
    steady: Callable[[], float]
    trouble: Callable[[], str] = str
    limits: Limits = field(default_factory=lambda: Limits(PER_SECOND, BURST))


async def push(reception: Reception, request: Request, way: str, node: str) -> Answer:
    """Take what is pushed at a door, about a node where the path names one; each refusal is counted."""
    door, now = DOORS[way], reception.clock()
    try:
        holder, body = await _admitted(reception, request, way, node)
        outcome = await _judged(reception, _parcel(request, way, node or holder.node, holder), body, now)
    except Unanswerable as wrong:
        what = wrong.what if isinstance(wrong, Refused) else "body too large, too slow or broken off"
        reception.counts.add(door.source, f"refused: {what}", now, 1, f"from {request.source}")
        raise
    if outcome.status == HTTPStatus.OK:
        said = {"taken": outcome.taken, "refused": outcome.refused, "said": outcome.said}
        return Answer(HTTPStatus.OK, json.dumps(said).encode() + b"\n", JSON)
    return refusal(outcome.status, outcome.said)


async def _admitted(reception: Reception, request: Request, way: str, node: str) -> tuple[Token, bytes]:
    """Return who pushes, and what; the body of somebody who may not is not read."""
    door = DOORS[way]
    if not reception.limits.take(request.source, reception.steady()):
        text = "this address asks too often; send more at once, and less often"
        raise Refused(HTTPStatus.TOO_MANY_REQUESTS, "too many requests", text)
    if request.header(b"content-encoding") not in {b"", b"identity"}:
        raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "compressed", "expected a body that is not compressed")
    token, body = shown(request), None
    if not token and way == "redfish":  # a BMC may have no other place for it than the context of its events
        body = await request.body(door.most)
        token = context(body)
    holder = await reception.admission.admit(token, {INGEST}, reception.clock())
    if isinstance(holder, str):
        raise Refused(HTTPStatus.UNAUTHORIZED, holder, "expected a token that is valid for this")
    _may(holder, door, node)
    if body is not None and not (node or holder.node):  # the context is a secret here, and names nobody
        text = f"name the node in the address, like /signals/{way}/gpu-03, or make a token for one node"
        raise Refused(HTTPStatus.BAD_REQUEST, "no node named", text)
    return holder, body if body is not None else await request.body(door.most)


def _may(holder: Token, door: SignalInput, node: str) -> None:
    if not holder.speaks_for(door.source) or (node and not holder.speaks_of(node)):
        raise Refused(HTTPStatus.FORBIDDEN, "token of others", "this token is not good for these signals")


Made = Callable[[bytes, float, Callable[[Outcome], None]], Delivery]


def _parcel(request: Request, way: str, node: str, holder: Token) -> Made:
    def made(body: bytes, at: float, answer: Callable[[Outcome], None]) -> Delivery:
        return Delivery(way, request.source, (body,), at, answer, holder, node)

    return made


async def _judged(reception: Reception, made: Made, body: bytes, now: float) -> Outcome:
    """Have it judged, and return what became of it once it is in the store."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[Outcome] = loop.create_future()

    def settle(found: Outcome) -> None:
        if not outcome.done():
            outcome.set_result(found)

    def answer(found: Outcome) -> None:
        with suppress(RuntimeError):  # the loop has ended, and its connections with it
            loop.call_soon_threadsafe(settle, found)

    try:
        reception.inbox.put(made(body, now, answer))
        async with asyncio.timeout(ANSWER_SECONDS):
            found = await outcome
    except InboxFullError as full:
        status = HTTPStatus.TOO_MANY_REQUESTS if full.alone else HTTPStatus.SERVICE_UNAVAILABLE
        raise Refused(status, "no room", f"{full}; send it again") from full
    except TimeoutError:
        text = "it was not written in time; send it again"
        raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "not written in time", text) from None
    if found.status == HTTPStatus.SERVICE_UNAVAILABLE:
        raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "store in trouble", found.said)
    return found


def context(body: bytes) -> bytes:
    """Return the context of a Redfish event, which its subscriber chose, b"" for none."""
    try:
        event = json.loads(body)
    except (ValueError, RecursionError):
        return b""
    found = event.get("Context") if isinstance(event, dict) else None
    return found.encode("utf-8", "replace") if isinstance(found, str) else b""
