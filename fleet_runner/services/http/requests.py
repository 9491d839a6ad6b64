"""Requests and answers of a service, between ASGI and the functions that answer."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, NamedTuple

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

TEXT, YAML, JSON = b"text/plain; charset=utf-8", b"text/yaml; charset=utf-8", b"application/json"

BODY_SECONDS = 20.0
"""The longest a request's body may take to arrive."""

MAPPED = "::ffff:"

WHOLE = "fleet_runner.whole"
"""Where a request's scope has what takes a whole answer, if its server can."""

CLOSE = (b"connection", b"close")


class Answer(NamedTuple):
    """A whole answer, from memory."""

    status: int
    body: bytes
    kind: bytes = TEXT
    headers: tuple[tuple[bytes, bytes], ...] = ()

    @property
    def closes(self) -> bool:
        """Whether the connection ends with it."""
        return CLOSE in self.headers


class Unanswerable(Exception):  # noqa: N818  it is the request that is wrong
    """The request is not one that can be answered; the text says what was expected."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.answer = refusal(status, text)


class Request(NamedTuple):
    """One request: its path in parts, behind the first, and where it comes from."""

    scope: Scope
    receive: Receive
    parts: tuple[str, ...]
    source: str

    @property
    def secure(self) -> bool:
        """Whether it came over TLS."""
        return bool(self.scope["scheme"] == "https")

    @property
    def query(self) -> bytes:
        """Return what follows the question mark."""
        found: bytes = self.scope["query_string"]
        return found

    def header(self, name: bytes) -> bytes:
        """Return a header's value, b"" where there is none; `name` is in lower case."""
        headers: Iterable[tuple[bytes, bytes]] = self.scope["headers"]
        return next((value for key, value in headers if key == name), b"")

    async def body(self, most: int) -> bytes:
        """Return the body, or raise Unanswerable where it is too large, too slow, or breaks off."""
        said = self.header(b"content-length")
        if said.isdigit() and int(said) > most:
            raise Unanswerable(413, f"found {int(said)} bytes, expected at most {most}")
        try:
            async with asyncio.timeout(BODY_SECONDS):
                return await self._read(most)
        except TimeoutError:
            raise Unanswerable(408, f"the body did not arrive within {BODY_SECONDS:g} s") from None

    async def _read(self, most: int) -> bytes:
        found = bytearray()  # a long body may come in many small pieces, and bytes would be copied for each
        while True:
            message = await self.receive()
            if message["type"] != "http.request":
                raise Unanswerable(400, "the body broke off")
            found += message.get("body", b"")
            if len(found) > most:
                raise Unanswerable(413, f"found more than {most} bytes")
            if not message.get("more_body", False):
                return bytes(found)


def refusal(status: int, text: str) -> Answer:
    """Return a short answer that says no; what was not read of the request is not waited for."""
    return Answer(status, f"{text}\n".encode(), headers=(CLOSE,) if status in (408, 413) else ())


def source_of(scope: Scope) -> str:
    """Return the address a request comes from, without a port; an IPv4 address is one on an IPv6 socket, too."""
    client = scope["client"]
    host: str = client[0] if client else ""
    return host.removeprefix(MAPPED) if host.startswith(MAPPED) and "." in host else host


def headers_of(answer: Answer) -> list[tuple[bytes, bytes]]:
    """Return all headers of an answer."""
    return [
        (b"content-type", answer.kind),
        (b"content-length", b"%d" % len(answer.body)),
        (b"cache-control", b"no-store"),
        *answer.headers,
    ]


async def send_answer(scope: Scope, send: Send, answer: Answer) -> None:
    """Send a whole answer: at once where the server can, as ASGI has it where it cannot."""
    at_once: Callable[[Answer], bool] | None = scope.pop(WHOLE, None)  # it names the scope: both end here
    if at_once is None or not at_once(answer):
        await send({"type": "http.response.start", "status": answer.status, "headers": headers_of(answer)})
        await send({"type": "http.response.body", "body": answer.body})
