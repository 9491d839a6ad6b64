"""A BMC that answers from a tree of resources: a captured one's, or a few made up for a test."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from fleet_runner.adapters.redfish import Bmc, Limits

USER, PASSWORD = "fleet", "correct horse"
QUICK = Limits(connect_seconds=2, read_seconds=2, total_seconds=5, body_bytes=3_000_000)


class Replay(ThreadingHTTPServer):
    """A BMC that answers from a tree of resources and remembers what it was asked."""

    daemon_threads = True

    def __init__(self, tree: dict[str, Any]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.tree = tree
        self.asked: list[tuple[str, str, Any, dict[str, str]]] = []
        self.sessions = True
        self.statuses: dict[tuple[str, str], list[int]] = {}
        self.raw: dict[str, bytes] = {}
        self.headers: dict[str, dict[str, str]] = {}
        self.closed = 0
        self.tokens = 0
        self.quotes = False  # what it refuses
        self.switched: Callable[[str], int] | None = None  # what a power action does, and the status it returns

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def said(self, method: str) -> list[tuple[str, Any]]:
        """Return the URIs and bodies of the requests of one method, the login aside."""
        return [(uri, body) for verb, uri, body, _ in self.asked if verb == method and not uri.endswith("/Sessions")]


class _Handler(BaseHTTPRequestHandler):
    server: Replay
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def log_message(self, *args: Any) -> None:
        """Be quiet."""

    def _do(self) -> None:
        text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        sent = json.loads(text) if text else None
        self.server.asked.append((self.command, self.path, sent, dict(self.headers)))
        waiting = self.server.statuses.get((self.command, self.path))
        if waiting:
            quoted = json.dumps(sent) if self.server.quotes else "as told\x1b[31m"
            return self._send(waiting.pop(0), {"error": {"message": quoted}})
        if self.path == "/redfish/v1/SessionService/Sessions" and self.command == "POST":
            return self._log_in(sent)
        if self.command == "DELETE":
            self.server.closed += 1
            return self._send(204, None)
        if self.path in self.server.raw:
            return self._send(200, self.server.raw[self.path])
        body = self.server.tree.get(self.path)
        if self.command != "GET":
            switched = self.server.switched if sent and "ResetType" in sent else None
            return self._send(switched(sent["ResetType"]) if switched else 204, None)
        return self._send(200, body) if body is not None else self._send(404, {"error": {"message": "none"}})

    do_GET = do_POST = do_PATCH = do_DELETE = _do  # noqa: N815  the names that http.server looks for

    def _log_in(self, sent: Any) -> None:
        if not self.server.sessions:
            return self._send(404, {"error": {"message": "no sessions"}})
        if sent != {"UserName": USER, "Password": PASSWORD}:
            return self._send(401, {"error": {"message": "wrong"}})
        self.server.tokens += 1
        uri = f"/redfish/v1/SessionService/Sessions/{self.server.tokens}"
        return self._send(201, {"@odata.id": uri}, {"X-Auth-Token": f"token-{self.server.tokens}", "Location": uri})

    def _send(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        text = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {**(headers or {}), **self.server.headers.get(self.path, {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


@contextmanager
def replayed(tree: dict[str, Any]) -> Iterator[Replay]:
    """Serve a tree for the length of a test."""
    server = Replay(tree)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def talk(server: Replay, password: str = PASSWORD) -> Bmc:
    """Return a client for a replayed BMC."""
    return Bmc(server.url, USER, password, limits=QUICK)


def small(**system: Any) -> dict[str, Any]:
    """Return the smallest tree that has a computer with a power action."""
    one = "/redfish/v1/Systems/1"
    reset = {"target": f"{one}/Actions/ComputerSystem.Reset", "ResetType@Redfish.AllowableValues": ["On", "ForceOff"]}
    return {
        "/redfish/v1/Systems": {"@odata.id": "/redfish/v1/Systems", "Members": [{"@odata.id": one}]},
        one: {"@odata.id": one, "PowerState": "On", "Actions": {"#ComputerSystem.Reset": reset}, **system},
    }
