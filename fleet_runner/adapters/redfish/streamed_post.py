"""Sends a file to a BMC in one request: streamed, never in memory as a whole, never twice.

Beside `requests` because it listens while it speaks: a BMC that refuses an image says so after its first bytes, and
one that stops reading must not be waited for as long as one that reads slowly.
"""

import contextlib
import hashlib
import json
import os
import select
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO
from urllib.parse import urlsplit

from requests.utils import DEFAULT_CA_BUNDLE_PATH

from fleet_runner.adapters.redfish.connect import connected
from fleet_runner.adapters.redfish.exchange import CHUNK_BYTES, Exchange, Reply, reply
from fleet_runner.adapters.redfish.time_limits import PatientResponse
from fleet_runner.core.base.errors import BmcError, BmcRefused
from fleet_runner.core.base.printable import printable

STALL_SECONDS = 60.0
"""How long a BMC may take no byte, while it makes room or erases a flash."""

TURN_SECONDS = 1.0
"""How long a BMC is waited for, in whatever it does, before who watches is asked again."""

LAST_WORDS_SECONDS = 5.0
"""How long a BMC that has ended a connection is listened to still."""

STATUS_AT = len("HTTP/1.1 ")
REFUSALS = (b"3", b"4", b"5")
"""How the statuses begin after which nobody wants the rest: neither "100 Continue" nor an early "202 Accepted"."""


@dataclass(frozen=True, slots=True)
class Form:
    """What is sent: a file between two texts, of one content type; a file of another `sha256` is never sent whole."""

    kind: str
    head: bytes
    file: Path
    tail: bytes = b""
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class UploadMonitor:
    """Who watches an upload, and the longest it may take.

    `alive` is called before each piece, and again and again while the BMC takes nothing or its answer is awaited; it
    may raise, which cuts the connection. `progress` is called after each piece, with the bytes that are sent and
    those there are.
    """

    alive: Callable[[], None]
    progress: Callable[[int, int], None]
    seconds: float


def multipart(file: Path, fields: Mapping[str, Mapping[str, object] | str], name: str = "UpdateFile") -> Form:
    """Return a form with a field of JSON or text each, and the file at its end (DSP0266, RFC 7578)."""
    boundary = f"fleet-runner-{token_hex(16)}"
    parts = []
    for field, value in fields.items():
        json_type = "" if isinstance(value, str) else "Content-Type: application/json\r\n"
        text = value if isinstance(value, str) else json.dumps(value)
        parts.append(f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"\r\n{json_type}\r\n{text}\r\n')
    called = "".join(letter for letter in file.name if letter.isascii() and (letter.isalnum() or letter in "._-+"))
    parts.append(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="{called or "image.bin"}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    tail = f"\r\n--{boundary}--\r\n".encode()
    return Form(f"multipart/form-data; boundary={boundary}", "".join(parts).encode(), file, tail)


def bare(file: Path) -> Form:
    """Return the file alone."""
    return Form("application/octet-stream", b"", file)


def post(exchange: Exchange, uri: str, form: Form, headers: Mapping[str, str], watch: UploadMonitor) -> Reply:
    """Send a form and return the answer, which may come before its end; it is not sent again, whatever happens.

    Raises:
        BmcRefused: the BMC was not reached, or the file cannot be read; nothing was sent.
        BmcError: the connection came to an end, or time ran out; whether the BMC took the file is unknown.
    """
    try:
        file = form.file.open("rb")
        size = len(form.head) + os.fstat(file.fileno()).st_size + len(form.tail)
    except OSError as error:
        raise BmcRefused(f"{form.file} was not sent to {exchange.url}: {error.strerror}") from error
    with file, contextlib.closing(_connection(exchange)) as connection:
        sending = _Sending(exchange, connection, watch, size)
        sending.begin(uri, {"Content-Type": form.kind, **headers})
        return sending.carry(uri, _pieces(form, file, size))


class _Sending:
    """One upload under way."""

    def __init__(self, exchange: Exchange, connection: HTTPConnection, watch: UploadMonitor, size: int) -> None:
        self._url = exchange.url
        self._limit = exchange.limits.body_bytes
        self._read_seconds = exchange.limits.read_seconds
        self._connection = connection
        self._watch = watch
        self._size = size
        self._deadline = self._until = time.monotonic() + watch.seconds
        self._glances = False  # takes only what of the answer is there already
        self._heard = False  # the answer has begun: nobody who watches may have it forgotten

    def begin(self, uri: str, headers: Mapping[str, str]) -> None:
        """Connect, and send the request's head."""
        try:
            self._connection.connect()
            self._connection.putrequest("POST", uri, skip_accept_encoding=True)
            wanted = {"Accept": "application/json", "OData-Version": "4.0", "Connection": "close", **headers}
            for name, value in {**wanted, "Content-Length": str(self._size)}.items():
                self._connection.putheader(name, value)
        except (OSError, ValueError, HTTPException) as error:
            raise BmcRefused(f"{self._url}{uri} was not reached ({_said(error)}); nothing was sent") from None

    def carry(self, uri: str, pieces: Iterator[bytes]) -> Reply:
        """Send the body until its end or an answer, and return the answer."""
        answer = PatientResponse(self._connection.sock, method="POST", wait=self._wait)
        # An answer that is not closed keeps the connection open behind an error that flies past it.
        with contextlib.closing(answer):
            sent, cut = 0, ""
            try:
                self._connection.endheaders()
                for piece in pieces:
                    self._watch.alive()
                    if self._refuses(answer):
                        break
                    self._send(piece)
                    sent += len(piece)
                    self._watch.progress(sent, self._size)
            except (OSError, HTTPException) as error:
                cut = _said(error)  # the answer that explains it may have come already
            return self._read(uri, answer, sent, cut)

    def _read(self, uri: str, answer: HTTPResponse, sent: int, cut: str) -> Reply:
        try:
            if cut:
                self._until = min(self._deadline, time.monotonic() + LAST_WORDS_SECONDS)
            answer.begin()
        except (OSError, HTTPException, ValueError) as error:
            how = f"after {sent} of {self._size} bytes ({cut or _said(error)})"
            raise BmcError(
                f"{self._url}{uri}: the connection ended {how}, so whether the image was taken is unknown; look at"
                " the tasks and the inventory before anything else"
            ) from None
        return reply(answer.status, dict(answer.getheaders()), self._text(answer))

    def _text(self, answer: HTTPResponse) -> bytes:
        """Return the answer's body as far as it comes: the status alone says whether the image was taken."""
        text = bytearray()
        with contextlib.suppress(OSError, HTTPException):
            self._until = time.monotonic() + self._read_seconds
            self._heard = True
            while len(text) < self._limit and (chunk := answer.read1(CHUNK_BYTES)):
                text += chunk
        return bytes(text)

    def _send(self, piece: bytes) -> None:
        """Send a piece to its end, unless the BMC takes nothing of it for too long."""
        sock, rest = self._connection.sock, memoryview(piece)
        until = min(self._deadline, time.monotonic() + STALL_SECONDS)
        while rest:
            sock.settimeout(self._left(until))
            try:
                rest = rest[sock.send(rest) :]
            except TimeoutError:
                self._watch.alive()
            else:
                until = min(self._deadline, time.monotonic() + STALL_SECONDS)

    def _wait(self, _again: bool) -> float:  # noqa: FBT001  as `patience.Wait` has it
        """Return how long the next bytes of the answer are waited for at a time."""
        if self._glances:
            return 0.0
        if not self._heard:
            self._watch.alive()
        return self._left(self._until)

    def _left(self, until: float) -> float:
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"it took more than {self._watch.seconds:g} s")
        return min(left, TURN_SECONDS)

    def _refuses(self, answer: HTTPResponse) -> bool:
        """Tell if the BMC has begun to refuse; what only TLS has to say is no answer."""
        sock = self._connection.sock
        if not select.select([sock], [], [], 0)[0] and not (isinstance(sock, ssl.SSLSocket) and sock.pending()):
            return False
        self._glances = True
        try:
            begun: bytes = answer.fp.peek(1)
            return begun[STATUS_AT : STATUS_AT + 1] in REFUSALS
        except (ssl.SSLWantReadError, BlockingIOError):
            return False
        finally:
            self._glances = False


def _pieces(form: Form, file: BinaryIO, size: int) -> Iterator[bytes]:
    yield from (form.head,) if form.head else ()
    digest, held = hashlib.sha256(), b""
    left = size - len(form.head) - len(form.tail)
    while left:
        piece = file.read(min(CHUNK_BYTES, left))
        if not piece:
            raise HTTPException(f"{form.file} became shorter while it was sent")
        left -= len(piece)
        digest.update(piece)
        if held:
            yield held
        held = piece
    if form.sha256 and digest.hexdigest() != form.sha256:
        raise BmcError(
            f"{form.file} is not the file that was checked, so its end was not sent: it has sha256"
            f" {digest.hexdigest()}, expected {form.sha256}; look at the BMC's tasks and inventory first"
        )
    yield from (held,) if held else ()
    yield from (form.tail,) if form.tail else ()


def _connection(exchange: Exchange) -> HTTPConnection:
    split = urlsplit(exchange.url)
    seconds = exchange.limits.connect_seconds
    made = (
        HTTPConnection(str(split.hostname), split.port, timeout=seconds)
        if split.scheme == "http"
        else HTTPSConnection(str(split.hostname), split.port, timeout=seconds, context=_trust(exchange))
    )
    made._create_connection = connected  # type: ignore[attr-defined]  # noqa: SLF001  its own has no limit for names
    return made


def _trust(exchange: Exchange) -> ssl.SSLContext:
    """Return the same trust as that of every other request."""
    verify = exchange.verify
    if verify is False:
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context
    return ssl.create_default_context(cafile=verify if isinstance(verify, str) else DEFAULT_CA_BUNDLE_PATH)


def _said(error: Exception) -> str:
    return printable(getattr(error, "strerror", None) or str(error) or type(error).__name__)[:120]
