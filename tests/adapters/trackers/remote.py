"""A tracker on loopback that remembers its issues, and fails as it is told to."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

TOKEN = "made-up-token-1"


class Refusal(Exception):  # noqa: N818  it is an answer
    """The tracker does not do it: status and body."""

    def __init__(self, status: int, body: Any = None, **headers: str) -> None:
        super().__init__(status)
        self.status, self.body, self.headers = status, body, headers


@dataclass
class Asked:
    """One request, as it came."""

    method: str
    path: str
    query: dict[str, str]
    body: Any
    headers: dict[str, str]
    raw: bytes = b""


@dataclass
class Seen:
    """An issue as people see it there."""

    title: str
    text: str
    open: bool
    labels: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Remote:
    """What each tracker's stand-in extends: `answer` does what is asked, `seen` shows what became of it.

    `faults` are taken one a request: "drop" (never done, no answer), "lost" (done, no answer), "late" (done, and no
    answer in time), "401", "403", "404", "422", "429", "500", "503" (not done), "503-done" (done all the same),
    "odd" (no JSON) and "" (none). `lag` is how many seconds a search does not find a new issue.
    """

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.log: list[Asked] = []
        self.url = ""
        self.late_seconds = 0.0
        self.lag = 0.0
        self.now: Callable[[], float] = time.time
        self.token = TOKEN

    def answer(self, asked: Asked) -> tuple[int, Any]:
        """Do what is asked."""
        raise NotImplementedError

    def seen(self) -> list[Seen]:
        """Every issue that was ever made."""
        raise NotImplementedError

    def found(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """What a search may find by now."""
        return [row for row in rows if row["made"] <= self.now() - self.lag]

    def writes(self) -> int:
        """How many requests changed something."""
        return sum(each.method != "GET" and not each.path.endswith(("/search", "/search/jql")) for each in self.log)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "_Server"

    def log_message(self, *args: Any) -> None:
        """Be quiet."""

    def _serve(self) -> None:  # noqa: PLR0911  a fault each
        remote = self.server.remote
        length = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(length) if length else b""
        with self.server.lock:
            fault = remote.faults.pop(0) if remote.faults else ""
            parts = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = json.loads(raw) if raw else None
            asked = Asked(self.command, unquote(parts.path), dict(parse_qsl(parts.query)), body, headers, raw)
            if fault == "drop":
                return self._hang_up()
            if fault.isdigit():
                extra = {"Retry-After": "7"} if fault == "429" else {}
                return self._send(int(fault), {"message": f"told to fail with {fault}"}, extra)
            remote.log.append(asked)
            try:
                status, found = remote.answer(asked)
                extra = {}
            except Refusal as refusal:
                status, found, extra = refusal.status, refusal.body, refusal.headers
        match fault:
            case "lost":
                return self._hang_up()
            case "late":
                time.sleep(remote.late_seconds)
                return self._hang_up()
            case "503-done":
                return self._send(503, {"message": "gateway"}, {})
            case "odd":
                return self._send(200, None, {}, b"<html>log in</html>")
            case _:
                return self._send(status, found, extra)

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.close()

    def _send(self, status: int, found: Any, extra: dict[str, str], raw: bytes | None = None) -> None:
        text = raw if raw is not None else b"" if found is None else json.dumps(found).encode()
        self.send_response(status)
        for name, value in extra.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PUT = do_PATCH = _serve  # noqa: N815  the library's names


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, remote: Remote) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.remote = remote
        self.lock = threading.Lock()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Be quiet of clients that go away."""


@contextmanager
def serving(remote: Remote) -> Iterator[Remote]:
    """Serve a stand-in on a port of its own."""
    server = _Server(remote)
    remote.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield remote
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def need(asked: Asked, allowed: set[str], required: set[str], status: int = 422) -> dict[str, Any]:
    """The body, if it is a mapping with these keys and no others."""
    body = asked.body
    if not isinstance(body, dict) or not required <= body.keys() <= allowed:
        raise Refusal(status, {"message": f"fields {sorted(body or {})}, allowed {sorted(allowed)}"})
    return body
