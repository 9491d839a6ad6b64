"""A receiver on loopback that keeps what it was posted, and answers as it is told to."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(slots=True)
class Receiver:
    """What it was posted: `log` holds headers and body of what it took, `asked` counts every request.

    `faults` are taken one a request: a status, "lost" (taken, and no answer), "reset" and "hang" (not taken).
    """

    url: str = ""
    faults: list[str] = field(default_factory=list[str])
    log: list[tuple[dict[str, str], bytes]] = field(default_factory=list[tuple[dict[str, str], bytes]])
    asked: int = 0
    hang_seconds: float = 3.0

    def bodies(self) -> list[dict[str, Any]]:
        """Return what was taken, as JSON."""
        return [json.loads(body) for _, body in self.log]

    def keys(self) -> list[str]:
        """Return the keys of what was taken."""
        return [headers["idempotency-key"] for headers, _ in self.log]


class _Handler(BaseHTTPRequestHandler):
    server: "_Server"

    def log_message(self, *args: Any) -> None:
        """Be quiet."""

    def do_POST(self) -> None:
        """Take a message, or do as told."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        of = self.server.receiver
        of.asked += 1
        fault = of.faults.pop(0) if of.faults else ""
        if fault == "hang":
            time.sleep(of.hang_seconds)
        if fault in {"hang", "reset"}:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            self.connection.close()
            return
        if not fault.isdigit():
            of.log.append(({name.lower(): value for name, value in self.headers.items()}, body))
        if fault == "lost":
            self.connection.close()
            return
        self.send_response(int(fault) if fault else 200)
        if fault == "429":
            self.send_header("Retry-After", "77")
        if fault == "302":
            self.send_header("Location", of.url + "/elsewhere")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, receiver: Receiver) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.receiver = receiver

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Be quiet of clients that go away."""


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Serve one on a port that is free."""
    found = Receiver()
    server = _Server(found)
    found.url = f"http://127.0.0.1:{server.server_address[1]}/hook/s3cret-part"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
