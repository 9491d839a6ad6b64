"""HTTP as uvicorn speaks it, with bounds that it lacks: on a request's head and its time, on one address."""

import asyncio
from collections import Counter
from functools import partial
from typing import Any, ClassVar

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from fleet_runner.services.http.limits import network
from fleet_runner.services.http.requests import MAPPED, WHOLE, Answer, headers_of

HEAD_SECONDS = 15.0
"""The longest a request's head may take to arrive."""

MOST_HEAD = 32 * 1024
"""Bytes of a head that arrives in pieces; in one piece it is what one read of the socket gives."""

STALL_SECONDS = 30.0
"""The longest a peer may take nothing of what it is sent."""

PER_ADDRESS = 64
"""Connections that one address may hold: a node needs three."""


class Bounded(HttpToolsProtocol):
    """A connection that ends when it asks too slowly, too much, or beside too many of its own."""

    connections_of: ClassVar[Counter[str]] = Counter()

    def __init__(self, *given: Any, per_address: int | None = None, **named: Any) -> None:
        """Make one of a server's; without `per_address` an address may hold the usual number."""
        super().__init__(*given, **named)
        self._most = PER_ADDRESS if per_address is None else per_address

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Count the connection, and wait for its first request.

        As in uvicorn, without what nobody asks for: to which address it came takes a twentieth of a node's boot.
        """
        self.connections.add(self)
        self.transport, self.flow = transport, FlowControl(transport)
        self.client = tuple((transport.get_extra_info("peername") or ())[:2]) or None
        self.scheme = "https" if transport.get_extra_info("sslcontext") else "http"
        self._head = 0
        self._whole = False
        self._late: asyncio.TimerHandle | None = self.loop.call_later(HEAD_SECONDS, transport.abort)
        self._stalled: asyncio.TimerHandle | None = None
        transport.set_write_buffer_limits(high=1)  # whatever the kernel does not take is a peer that does not read
        self._counted = peer(self.client)
        self.connections_of[self._counted] += 1
        if self.connections_of[self._counted] > self._most:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._in_time()
        self._taken()
        self.connections_of[self._counted] -= 1
        if self.connections_of[self._counted] <= 0:
            del self.connections_of[self._counted]
        super().connection_lost(exc)
        self.cycle = None  # type: ignore[assignment]  # they name each other: only a garbage collector would end both

    def data_received(self, data: bytes) -> None:
        """Take bytes; while they are a head that is not whole, count them, and do not wait for its end for ever."""
        self._whole = False
        super().data_received(data)
        if self._whole or not (self.cycle is None or self.cycle.response_complete):
            return
        if self._late is None:
            self._late = self.loop.call_later(HEAD_SECONDS, self.transport.abort)
        self._head += len(data)
        if self._head > MOST_HEAD and not self.transport.is_closing():
            self.send_400_response("Request head too large.")

    def on_headers_complete(self) -> None:
        """A head is whole, in time; its answer may be given whole as well."""
        self._whole = True
        self._in_time()
        super().on_headers_complete()
        self.scope[WHOLE] = partial(_answer, self.cycle)  # type: ignore[literal-required]  # our own key

    def pause_writing(self) -> None:
        """Wait for a peer to take what it was sent, though not for ever."""
        super().pause_writing()
        self._stalled = self.loop.call_later(STALL_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: it took all."""
        self._taken()
        super().resume_writing()

    def shutdown(self) -> None:
        """End the connection behind its answer; in the middle of a file at once, for that is asked for again."""
        if self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete:
            self.transport.abort()
        else:
            super().shutdown()

    def _taken(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def _in_time(self) -> None:
        self._head = 0
        if self._late is not None:
            self._late.cancel()
            self._late = None


def _answer(cycle: RequestResponseCycle, answer: Answer) -> bool:
    """Write a whole answer at once: message by message takes uvicorn four times as long. False where it must wait."""
    if cycle.flow.write_paused or cycle.disconnected:
        return False
    headers = [*cycle.default_headers, *headers_of(answer)]
    if not cycle.keep_alive and not answer.closes:
        headers.append((b"connection", b"close"))
    head = b"".join([b"%b: %b\r\n" % pair for pair in headers])
    body = b"" if cycle.scope["method"] == "HEAD" else answer.body
    cycle.response_started = cycle.response_complete = True
    cycle.waiting_for_100_continue = False
    cycle.keep_alive = cycle.keep_alive and not answer.closes
    cycle.message_event.set()
    cycle.transport.write(b"%b%b\r\n%b" % (STATUS_LINE[answer.status], head, body))
    if not cycle.keep_alive:
        cycle.transport.close()
    cycle.on_response()
    return True


def peer(client: Any) -> str:
    """Return what of an address is counted: an IPv6 network as one."""
    host = str(client[0]).removeprefix(MAPPED) if client else ""
    return network(host) if ":" in host else host
