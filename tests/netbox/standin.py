"""A NetBox that is not there: what this project asks of NetBox 4.7, in memory, over HTTP on a loopback port.

Lists with `fields=`, filters, pages and export templates; single and bulk changes with `If-Match`, custom fields,
object changes, journal entries, tokens and permissions. What a client asks is held against the reduced OpenAPI
description (tests/netbox/openapi.json): `problems()` names what NetBox would not know.
"""

import json
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.netbox.api import Answer, Api, Request
from tests.netbox.database import Database, Row
from tests.netbox.description import document

TOKEN = "0123456789abcdef0123456789abcdef01234567"
"""The administrator's."""

VERSION = str(document()["info"]["version"].split()[0])
"""The release whose description and recordings it follows."""


@dataclass(slots=True)
class Fault:
    """What goes wrong with the next requests that fit: by method and path, so many times.

    `status` is answered instead of an answer; `slow` are seconds before it; `lost` does what was asked and hangs up;
    `dropped` hangs up before; `cut` sends half of the answer.
    """

    fits: str = ""
    times: int = 1
    status: int = 0
    slow: float = 0.0
    lost: bool = False
    dropped: bool = False
    cut: bool = False
    body: bytes = b"{}"
    kind: str = "application/json"
    headers: Mapping[str, str] | None = None


class Standin:
    """A stand-in and what was asked of it.

    `before` are answers given before it looks at requests at all; `change` may spoil its answers; `meanwhile` is
    somebody else who acts right before a change of a client.
    """

    def __init__(self, url: str, version: str = VERSION) -> None:
        self.url, self.token = url, TOKEN
        self.version = version
        self.lock = threading.RLock()
        self.requests: list[Request] = []
        self.exchanges: list[tuple[str, str, Any, str, int, Any]] = []
        self.faults: list[Fault] = []
        self.before: deque[tuple[int, str, bytes]] = deque()
        self.change: Callable[[Any], Any] = lambda answer: answer
        self.meanwhile: Callable[[], object] = lambda: None
        self.known: list[str] = []
        self.clear()

    def clear(self) -> None:
        """Begin with an empty NetBox again."""
        with self.lock:
            self.database = Database()
            self.api = Api(self.database, self.url, self.version)
            self.user("admin", is_superuser=True)
            self._keep_token("admin", TOKEN)

    @property
    def asked(self) -> list[str]:
        """Return the requests in a line each."""
        return [str(request) for request in self.requests]

    @property
    def changes(self) -> list[Request]:
        """Return the requests that were to change something."""
        return [request for request in self.requests if request.method not in {"GET", "OPTIONS"}]

    def problems(self) -> list[str]:
        """Say what was asked that NetBox would not know; `known` are beginnings of lines that a test expects."""
        found = [f"{request}: {each}" for request in self.requests for each in request.problems]
        return [each for each in found if not any(one in each for one in self.known)]

    def fail(self, fits: str = "", times: int = 1, **how: Any) -> None:
        """Let the next requests that fit (a regular expression over "GET /api/…") fail: see Fault."""
        self.faults.append(Fault(fits, times, **how))

    def user(self, name: str, **more: Any) -> int:
        """Return a user's id; one who is new is made."""
        found = self.database.where("users/users", username=name)
        if found:
            return int(found[0]["id"])
        row = self.database.create("users/users", {"username": name, "password": "not-a-secret"})
        self.database.lists["users/users"][row["id"]] |= {"is_superuser": False} | more
        return int(row["id"])

    def token_of(
        self, name: str, may: Mapping[str, Any] | None = None, version: int = 1, *, write: bool = True
    ) -> str:
        """Return a new token of a user who may do something.

        As {"dcim.device": ("view", "change")}, or where constrained {"dcim.device": (("change",), {"name": "sw"})}.
        """
        with self.lock:
            user = self.user(name)
            for kind, actions in (may or {}).items():
                constraints = actions[1] if len(actions) == 2 and isinstance(actions[1], Mapping) else None
                given = actions[0] if constraints is not None else actions
                row = {"name": f"{name} {kind} {given}", "object_types": [kind], "actions": list(given)}
                self.database.create("users/permissions", row | {"users": [user], "constraints": constraints})
            return self._keep_token(name, "", version, write=write)

    def _keep_token(self, name: str, text: str, version: int = 1, *, write: bool = True) -> str:
        given = {"user": self.user(name), "version": version, "write_enabled": write}
        row = self.database.create("users/tokens", given)
        row["plaintext"] = text or row["plaintext"]
        return f"nbt_{row['key']}.{row['plaintext']}" if version == 2 else str(row["plaintext"])

    def add(self, path: str, by: str = "admin", **values: Any) -> int:
        """Make an object as a person would, and return its id."""
        with self.lock, self.database.as_one(self.user(by)):
            return int(self.database.create(path, values)["id"])

    def edit(self, path: str, number: int, by: str = "admin", **values: Any) -> None:
        """Change an object as a person would."""
        with self.lock, self.database.as_one(self.user(by)):
            self.database.change(path, number, values)

    def remove(self, path: str, number: int, by: str = "admin") -> None:
        """Delete an object as a person would."""
        with self.lock, self.database.as_one(self.user(by)):
            self.database.delete(path, number)

    def spoil(self, path: str, number: int, **values: Any) -> None:
        """Put values into an object that NetBox would not take, and note no change."""
        with self.lock:
            self.database.lists[path][number] |= values

    def rows(self, path: str, **values: Any) -> list[Row]:
        """Return the objects of a list with these values, as the API shows them."""
        with self.lock:
            return [self.api.shown.row(path, row) for row in self.database.where(path, **values)]

    def row(self, path: str, **values: Any) -> Row:
        """Return the only object of a list with these values, as the API shows it."""
        [found] = self.rows(path, **values)
        return found

    def answer(self, request: Request) -> tuple[Answer | None, Fault | None]:
        """Answer a request, or say how it goes wrong."""
        with self.lock:
            self.requests.append(request)
            fault = self._fault(request)
            if self.before:
                status, kind, body = self.before.popleft()
                return (Answer(status, body, kind) if status else None), None
        if fault and fault.slow:
            time.sleep(fault.slow)
        if fault and (fault.dropped or fault.status):
            answer = Answer(fault.status, fault.body, fault.kind, dict(fault.headers or {}))
            return (None if fault.dropped else answer), fault
        with self.lock:
            if request.method != "GET":
                self.meanwhile()
            answer = self.api.answer(request)
            request.status = answer.status
            if answer.status == 200 and answer.kind == "application/json":
                answer.body = self.change(answer.body)
        return (None if fault and fault.lost else answer), fault

    def _fault(self, request: Request) -> Fault | None:
        for fault in self.faults:
            if fault.times and re.search(fault.fits, str(request)):
                fault.times -= 1
                return fault
        return None


class Handler(BaseHTTPRequestHandler):
    """Reads requests for a stand-in and writes its answers."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    standin: Standin

    def do_GET(self) -> None:
        """Take a request of any method."""
        parts = urlsplit(self.path)
        length = int(self.headers.get("content-length") or 0)
        text = self.rfile.read(length)
        path = parts.path.removeprefix("/api/").strip("/") if parts.path.startswith("/api/") else f"no{parts.path}"
        query = parse_qs(parts.query, keep_blank_values=True)
        authorization = self.headers.get("authorization", "")
        body = json.loads(text) if text else None
        request = Request(self.command, path, query, body, authorization, self.headers.get("if-match", ""))
        answer, fault = self.standin.answer(request)
        told = answer.body if answer else None
        told = json.loads(told) if answer and answer.kind == "application/json" and isinstance(told, str) else told
        status = answer.status if answer else 0
        self.standin.exchanges.append((self.command, self.path, body, request.if_match, status, told))
        if answer is None:
            self.close_connection = True
            return
        self._write(answer, cut=bool(fault and fault.cut))

    do_POST = do_PATCH = do_DELETE = do_PUT = do_OPTIONS = do_GET  # noqa: N815  the names are http.server's

    def _write(self, answer: Answer, *, cut: bool) -> None:
        body = answer.body
        data = (
            body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
        )
        data = b"" if answer.status == 204 else data
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.status in {301, 302}:
            self.send_header("Location", data.decode())
        self.send_header("Content-Type", answer.kind)
        self.send_header("API-Version", ".".join(self.standin.api.version.split(".")[:2]))
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if cut else data)
        self.wfile.flush()
        self.close_connection = self.close_connection or cut

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name is http.server's
        """Say nothing."""


@contextmanager
def serving(version: str = VERSION) -> Iterator[Standin]:
    """Serve an empty NetBox with an administrator."""
    handler = type("Handler", (Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    standin = Standin(f"http://127.0.0.1:{server.server_address[1]}", version)
    handler.standin = standin
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield standin
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
