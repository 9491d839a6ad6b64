"""A BMC that answers from a tree of resources: a captured one's, or a few made up for a test."""

import hashlib
import io
import json
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from fleet_runner.adapters.redfish import Bmc, Limits

USER, PASSWORD = "fleet", "correct horse"
QUICK = Limits(connect_seconds=30, read_seconds=30, total_seconds=60, body_bytes=3_000_000, pause_seconds=0.01)


@dataclass
class Image:
    """An image that came: its URI, its headers, the parameters beside it, its digest and size."""

    uri: str
    headers: HTTPMessage
    fields: dict[str, str] = field(default_factory=dict)
    name: str = ""
    sha256: str = ""
    size: int = 0
    whole: bool = False


class Replay(ThreadingHTTPServer):
    """A BMC that answers from a tree of resources and remembers what it was asked."""

    daemon_threads = True

    def __init__(self, tree: dict[str, Any]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler, bind_and_activate=False)
        self.server_bind()
        self.tree = tree
        self.asked: list[tuple[str, str, Any, dict[str, str]]] = []
        self.sessions = True
        self.statuses: dict[tuple[str, str], list[int]] = {}
        self.raw: dict[str, bytes] = {}
        self.headers: dict[str, dict[str, str]] = {}
        self.closed = 0
        self.ahead = 0.0  # by how many seconds its clock is
        self.tokens = 0
        self.quotes = False  # what it refuses
        self.images: list[Image] = []
        self.uploaded: Callable[[_Handler], bool] | None = (
            None  # meets an image before it is read; True: that was all
        )
        self.answer: tuple[int, Any, dict[str, str]] = (202, None, {})  # what an image is answered
        self.expands = False
        self.forgets = False  # takes a change of the UpdateService, and does nothing
        self.broken: dict[str, Callable[[_Handler], object]] = {}  # what a request meets in place of an answer
        self.switched: Callable[[str], int] | None = None  # what a power action does, and the status it returns

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Be quiet of clients that go away."""

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def said(self, method: str) -> list[tuple[str, Any]]:
        """Return the URIs and bodies of the requests of one method, the login aside."""
        return [(uri, body) for verb, uri, body, _ in self.asked if verb == method and not uri.endswith("/Sessions")]


def merged(body: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """Return a resource after a PATCH."""
    under = {
        key: merged(body[key], value) for key, value in change.items() if isinstance(value, dict) and key in body
    }
    return {**body, **change, **under}


class _Handler(BaseHTTPRequestHandler):
    server: Replay
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def log_message(self, *args: Any) -> None:
        """Be quiet."""

    def date_time_string(self, timestamp: float | None = None) -> str:
        """Say what its clock shows."""
        return super().date_time_string((timestamp or time.time()) + self.server.ahead)

    def _keep(self, body: dict[str, Any], sent: dict[str, Any]) -> None:
        """Keep what is told of an UpdateService and of the next boot."""
        if self.path.endswith("/UpdateService") and not self.server.forgets:
            self.server.tree[self.path] = merged(body, sent)
        if isinstance(sent.get("Boot"), dict):
            self.server.tree[self.path] = {**body, "Boot": {**(body.get("Boot") or {}), **sent["Boot"]}}

    def _do(self) -> None:  # noqa: PLR0911  one return for each kind of answer
        if self.command == "POST" and "json" not in (self.headers.get("Content-Type") or "json"):
            return self._take()
        text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        sent = json.loads(text) if text else None
        self.server.asked.append((self.command, self.path, sent, dict(self.headers)))
        if self.path in self.server.broken:
            self.server.broken[self.path](self)
            return None
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
        plain, _, query = self.path.partition("?")
        body = self.server.tree.get(self.path)
        if query.startswith("$expand=") and self.server.expands and plain in self.server.tree:
            members = [self.server.tree[member["@odata.id"]] for member in self.server.tree[plain]["Members"]]
            body = {**self.server.tree[plain], "Members": members}
        if self.command != "GET":
            if self.command == "PATCH" and isinstance(body, dict):
                self._keep(body, sent or {})
            switched = self.server.switched if sent and "ResetType" in sent else None
            return self._send(switched(sent["ResetType"]) if switched else 204, None)
        return self._send(200, body) if body is not None else self._send(404, {"error": {"message": "none"}})

    do_GET = do_POST = do_PATCH = do_DELETE = _do  # noqa: N815  the names that http.server looks for

    def _take(self) -> None:
        """Take an image, a piece at a time."""
        image = Image(self.path, self.headers)
        self.server.images.append(image)
        self.server.asked.append((self.command, self.path, None, dict(self.headers)))
        if self.server.uploaded and self.server.uploaded(self):
            return
        left = int(self.headers["Content-Length"])
        boundary = re.search("boundary=(.*)", self.headers["Content-Type"])
        left -= self._fields(image, boundary[1].encode()) if boundary else 0
        tail = b"\r\n--" + boundary[1].encode() + b"--\r\n" if boundary else b""
        digest = hashlib.sha256()
        while left > len(tail):
            piece = self.rfile.read1(min(1 << 16, left - len(tail)))
            if not piece:
                return
            digest.update(piece)
            image.size += len(piece)
            left -= len(piece)
        image.whole = self.rfile.read(left) == tail
        image.sha256 = digest.hexdigest()
        self._send(*self.server.answer)

    def _fields(self, image: Image, boundary: bytes) -> int:
        """Read the form up to where the image begins, and return how long that was."""
        read = 0
        while True:
            lines = []
            while (line := self.rfile.readline()) not in (b"\r\n", b""):
                lines.append(line)
                read += len(line)
            read += len(line)
            said = b"".join(lines).decode()
            assert lines[0] == b"--" + boundary + b"\r\n"
            if named := re.search('filename="(.*)"', said):
                image.name = named[1]
                return read
            value = self.rfile.readline()
            read += len(value)
            found = re.search('; name="(.*)"', said)
            assert found
            image.fields[found[1]] = value.decode().rstrip("\r\n")

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
def replayed(tree: dict[str, Any], late: float = 0.0) -> Iterator[Replay]:
    """Serve a tree for the length of a test; its port refuses connections for the first so many seconds."""
    server = Replay(tree)

    def serve() -> None:
        time.sleep(late)
        server.server_activate()
        up.set()
        server.serve_forever(0.05)

    up = threading.Event()
    thread = threading.Thread(target=serve)
    thread.start()
    if not late:
        up.wait()
    try:
        yield server
    finally:
        up.wait()
        server.shutdown()
        thread.join()
        server.server_close()


def talk(server: Replay, password: str = PASSWORD) -> Bmc:
    """Return a client for a replayed BMC."""
    return Bmc(server.url, USER, password, limits=QUICK)


def image_of(path: Path, size: int, seed: int = 0) -> str:
    """Write a file of a size, and return its digest."""
    digest = hashlib.sha256()
    with path.open("wb") as file:
        for number in range(0, size, 1 << 16):
            piece = hashlib.sha256(b"%d %d" % (seed, number)).digest() * (1 << 11)
            piece = piece[: size - number]
            digest.update(piece)
            file.write(piece)
    return digest.hexdigest()


def updating(**service: Any) -> dict[str, Any]:
    """Return a small tree that takes firmware."""
    root, here = "/redfish/v1", "/redfish/v1/UpdateService"
    inventory, tasks = f"{here}/FirmwareInventory", f"{root}/TaskService/Tasks"
    links = {name: {"@odata.id": f"{root}/{name}"} for name in ("Systems", "Managers", "Chassis", "UpdateService")}
    return {
        **small(),
        root: {"@odata.id": root, **links, "Tasks": {"@odata.id": f"{root}/TaskService"}},
        here: {"@odata.id": here, "FirmwareInventory": {"@odata.id": inventory}, **service},
        inventory: {"@odata.id": inventory, "Members": [{"@odata.id": f"{inventory}/BIOS"}]},
        f"{inventory}/BIOS": {"@odata.id": f"{inventory}/BIOS", "@odata.type": "#S.S", "Version": "1.0"},
        f"{root}/TaskService": {"@odata.id": f"{root}/TaskService", "Tasks": {"@odata.id": tasks}},
        tasks: {"@odata.id": tasks, "Members": []},
    }


def small(**system: Any) -> dict[str, Any]:
    """Return the smallest tree that has a computer with a power action."""
    one = "/redfish/v1/Systems/1"
    reset = {"target": f"{one}/Actions/ComputerSystem.Reset", "ResetType@Redfish.AllowableValues": ["On", "ForceOff"]}
    return {
        "/redfish/v1/Systems": {"@odata.id": "/redfish/v1/Systems", "Members": [{"@odata.id": one}]},
        one: {"@odata.id": one, "PowerState": "On", "Actions": {"#ComputerSystem.Reset": reset}, **system},
    }


def break_off(handler: Any) -> bool:
    """End the connection as a BMC does that loses its mind."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.close_connection = True
    handler.connection.close()
    handler.rfile = handler.wfile = io.BytesIO()
    return True
