"""HTTP/1.1 on one connection, as little as a BMC needs: bodies are streams, and it may be cut at any point."""

import asyncio
import json
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote

from fleet_runner.lab.redfish.trees import clean

CHUNK_BYTES = 65_536
MOST_BYTES = 1_048_576
"""The longest body that is read as a whole."""

IDLE_SECONDS = 60.0
LINGER_SECONDS = 30.0
"""How long the rest of a body is read that was refused, so that the client gets to read the answer."""

Handle = Callable[["Request"], Awaitable["Reply"]]


class Dropped(Exception):  # noqa: N818  not an error: the emulator means it
    """The connection shall end here, without an answer."""


class Cut(Exception):  # noqa: N818  likewise the client's doing
    """The client went away in the middle of a body."""


class Refused(Exception):  # noqa: N818  an answer, which ends the request early
    """An answer that says no, in Redfish's words."""

    def __init__(
        self, status: int, message: str, code: str = "GeneralError", about: tuple[str, ...] = (), **headers: str
    ) -> None:
        super().__init__(message)
        self.reply = Reply(
            status, error(message, code, about), {name.replace("_", "-"): headers[name] for name in headers}
        )


@dataclass(slots=True)
class Reply:
    """An answer; `body` is JSON, or bytes that are sent as they are."""

    status: int
    body: Mapping[str, Any] | bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)


class Sending:
    """The body of a request, as it comes in."""

    def __init__(self, reader: StreamReader, writer: StreamWriter, headers: Mapping[str, str]) -> None:
        self._reader = reader
        self._writer = writer
        self._continues = headers.get("expect", "").lower() == "100-continue"
        self._chunked = "chunked" in headers.get("transfer-encoding", "").lower()
        self.length = None if self._chunked else int(headers.get("content-length") or 0)
        self._left = self.length or 0
        self.ended = not self._chunked and not self._left

    async def chunks(self) -> AsyncIterator[bytes]:
        """Return the body piece by piece; whoever asks again goes on where it was left."""
        if self._continues and not self.ended:
            self._continues = False
            self._writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        while not self.ended:
            try:
                chunk = await (self._next_chunk() if self._chunked else self._next())
            except (asyncio.IncompleteReadError, ConnectionError, ValueError) as error:
                raise Cut from error
            if chunk:
                yield chunk

    async def whole(self) -> bytes:
        """Return the body of a small request."""
        found = b""
        async for chunk in self.chunks():
            found += chunk
            if len(found) > MOST_BYTES:
                raise Refused(413, f"the body is longer than {MOST_BYTES} bytes")
        return found

    async def _next(self) -> bytes:
        chunk = await self._reader.read(min(self._left, CHUNK_BYTES))
        if not chunk:
            raise Cut
        self._left -= len(chunk)
        self.ended = not self._left
        return chunk

    async def _next_chunk(self) -> bytes:
        if not self._left:
            self._left = int((await self._reader.readline()).partition(b";")[0], 16)
            if not self._left:
                await self._reader.readline()
                self.ended = True
                return b""
        chunk = await self._reader.read(min(self._left, CHUNK_BYTES))
        if not chunk:
            raise Cut
        self._left -= len(chunk)
        if not self._left:
            await self._reader.readline()
        return chunk


@dataclass(slots=True)
class Request:
    """One request; header names are in lower case, `uri` has no query and no slash at its end."""

    method: str
    uri: str
    query: str
    headers: Mapping[str, str]
    sending: Sending
    user: str = ""
    token: str = ""

    async def json(self) -> dict[str, Any]:
        """Return the body, which must be a JSON object."""
        text = await self.sending.whole()
        try:
            found = json.loads(text) if text else {}
        except ValueError:
            raise Refused(400, "the body is not JSON", "MalformedJSON") from None
        if not isinstance(found, dict):
            raise Refused(400, "the body is not a JSON object", "MalformedJSON")
        return found


def error(message: str, code: str = "GeneralError", about: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return Redfish's form of an error, with the message's arguments."""
    full = code if "." in code else f"Base.1.12.{code}"
    info = {
        "@odata.type": "#Message.v1_1_2.Message",
        "MessageId": full,
        "Message": message,
        "MessageArgs": list(about),
        "Severity": "Critical",
        "MessageSeverity": "Critical",
        "Resolution": "None.",
    }
    return {"error": {"code": full, "message": message, "@Message.ExtendedInfo": [info]}}


async def serve(reader: StreamReader, writer: StreamWriter, handle: Handle) -> None:
    """Answer the requests of one connection, until either side has had enough."""
    try:
        while True:
            request = await _read(reader, writer)
            if request is None or not await _answer(request, writer, handle):
                break
    except (Dropped, Cut):
        writer.transport.abort()
    except (ConnectionError, TimeoutError):
        pass
    finally:
        writer.close()


async def _answer(request: Request, writer: StreamWriter, handle: Handle) -> bool:
    """Answer one request; whether the connection may be used again."""
    try:
        reply = await handle(request)
    except Refused as refused:
        reply = refused.reply
    keep = request.headers.get("connection", "").lower() != "close" and request.sending.ended
    writer.write(_head(request, reply, keep=keep))
    await writer.drain()
    if not request.sending.ended:
        async with asyncio.timeout(LINGER_SECONDS):
            async for _ in request.sending.chunks():
                pass
    return keep


def _head(request: Request, reply: Reply, *, keep: bool) -> bytes:
    body = (
        reply.body
        if isinstance(reply.body, bytes)
        else b""
        if reply.body is None
        else json.dumps(reply.body).encode()
    )
    headers = {"OData-Version": "4.0", "Cache-Control": "no-cache", **reply.headers, "Content-Length": str(len(body))}
    if body:
        headers.setdefault("Content-Type", "application/json; charset=utf-8")
    if not keep:
        headers["Connection"] = "close"
    lines = [
        f"HTTP/1.1 {reply.status} {_phrase(reply.status)}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    head = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"
    return head if request.method == "HEAD" else head + body


async def _read(reader: StreamReader, writer: StreamWriter) -> Request | None:
    """Read the head of a request; None where the client has no more, or speaks no HTTP."""
    try:
        async with asyncio.timeout(IDLE_SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3:  # noqa: PLR2004  method, target, version
        return None
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    path, _, query = words[1].partition("?")
    try:
        sending = Sending(reader, writer, headers)
    except ValueError:
        return None
    return Request(words[0], clean(unquote(path)), query, headers, sending)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Status"
