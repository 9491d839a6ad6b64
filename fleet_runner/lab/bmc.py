"""The BMCs of the lab: one process, and for each server a listener of its own on 127.0.0.1.

`python -m fleet_runner.lab.bmc LAB` runs until it is ended. It reads a node's state at every request, so that a
fault injected meanwhile shows at once; a BMC that is down closes the connection without an answer.
"""

import base64
import hmac
import json
import secrets
import signal
import sys
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

import yaml

from fleet_runner.lab import hardware, tree
from fleet_runner.lab.folder import Lab, open_lab, read
from fleet_runner.lab.tools.node import witness

MOST_BYTES = 65_536
OPEN_TO_ALL = frozenset({tree.ROOT, f"{tree.ROOT}/"})


class Answer(Exception):  # noqa: N818  an answer that ends the request early, not always an error
    """An HTTP status other than the one the request hoped for."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Listener(ThreadingHTTPServer):
    """One server's BMC: its port, and the sessions that were opened on it."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, lab: Lab, node: str, port: int, credentials: Mapping[str, str]) -> None:
        super().__init__(("127.0.0.1", port), Resource)
        self.lab = lab
        self.node = node
        self.credentials = credentials
        self.sessions: dict[str, str] = {}  # token to session id
        self.changes = threading.Lock()

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Take no request while the BMC is down."""
        del request, client_address
        return "bmc_down" not in hardware.state_of(self.lab, self.node)["faults"]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away in the middle is no news."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class Resource(BaseHTTPRequestHandler):
    """One connection's requests."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one packet for headers and body: two wait for each other's acknowledgement
    timeout = 30
    server_version = "lab-bmc"
    sys_version = ""

    @property
    def bmc(self) -> Listener:
        """The listener that took the connection."""
        return cast("Listener", self.server)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the name that the library gives it
        """Say nothing: the witness log has what matters."""

    def do_GET(self) -> None:
        """Answer a read."""
        self._answer(self._get)

    def do_PATCH(self) -> None:
        """Answer a change: only the boot override can be changed."""
        self._answer(self._patch)

    def do_POST(self) -> None:
        """Answer an action, or open a session."""
        self._answer(self._post)

    def do_DELETE(self) -> None:
        """Answer the end of a session."""
        self._answer(self._delete)

    def _answer(self, work: Any) -> None:
        try:
            sent = self._sent()
            if self.path not in OPEN_TO_ALL and not (self.command == "POST" and self.path == tree.SESSIONS):
                self._known()
            work(sent)
        except Answer as answer:
            self._send(answer.status, tree.error(str(answer)))

    def _get(self, sent: Mapping[str, Any]) -> None:
        del sent
        self._send(200, self._resource())

    def _patch(self, sent: Mapping[str, Any]) -> None:
        if self.path.rstrip("/") != tree.SYSTEM:
            raise Answer(405, f"{self.path} cannot be changed")
        with self.bmc.changes:
            match = self.headers.get("If-Match")
            if match is not None and match not in ("*", tree.etag(self._resource())):
                raise Answer(412, "the resource has changed since it was read")
            boot = sent.get("Boot")
            if not isinstance(boot, dict) or set(sent) != {"Boot"}:
                raise Answer(400, "only Boot can be changed")
            self._override(boot)
        self._send(204)

    def _override(self, boot: Mapping[str, Any]) -> None:
        with hardware.changing(self.bmc.lab, self.bmc.node) as state:
            enabled = boot.get("BootSourceOverrideEnabled", state["override"]["enabled"])
            target = boot.get("BootSourceOverrideTarget", state["override"]["target"])
            if enabled not in ("Disabled", "Once", "Continuous") or target not in tree.TARGETS:
                raise Answer(400, f"{enabled!r} with target {target!r} is not among the allowable values")
            uri = str(boot.get("HttpBootUri") or "")
            state["override"] = {"enabled": enabled, "target": target, **({"uri": uri} if uri else {})}
        witness(str(self.bmc.lab.root), "boot_override", self.bmc.node, enabled=enabled, target=target)

    def _post(self, sent: Mapping[str, Any]) -> None:
        if self.path.rstrip("/") == tree.SESSIONS:
            return self._log_in(sent)
        if self.path != tree.RESET:
            raise Answer(404, f"there is no action at {self.path}")
        action = sent.get("ResetType")
        if action not in hardware.POWER_ACTIONS:
            raise Answer(400, f"ResetType {action!r} is not among the allowable values")
        with self.bmc.changes:
            hardware.power(self.bmc.lab, self.bmc.node, str(action))
        return self._send(204)

    def _log_in(self, sent: Mapping[str, Any]) -> None:
        if not self._right(str(sent.get("UserName")), str(sent.get("Password"))):
            raise Answer(401, "the user name or the password is wrong")
        token, number = secrets.token_hex(16), secrets.token_hex(4)
        self.bmc.sessions[token] = number
        uri = f"{tree.SESSIONS}/{number}"
        body = {"@odata.id": uri, "@odata.type": "#Session.v1_7_0.Session", "Id": number, "Name": "User Session"}
        self._send(201, body, {"X-Auth-Token": token, "Location": uri})

    def _delete(self, sent: Mapping[str, Any]) -> None:
        del sent
        number = self.path.rpartition("/")[2]
        token = next((token for token, known in self.bmc.sessions.items() if known == number), None)
        if token is None:
            raise Answer(404, f"there is no session {number}")
        del self.bmc.sessions[token]
        self._send(204)

    def _known(self) -> None:
        token = self.headers.get("X-Auth-Token")
        if token is not None and token in self.bmc.sessions:
            return
        kind, _, text = self.headers.get("Authorization", "").partition(" ")
        if kind.lower() == "basic" and token is None:
            user, _, password = base64.b64decode(text + "==").decode(errors="replace").partition(":")
            if self._right(user, password):
                return
        raise Answer(401, "no valid session and no valid credentials")

    def _right(self, user: str, password: str) -> bool:
        mine = self.bmc.credentials
        return user == mine["username"] and hmac.compare_digest(password.encode(), mine["password"].encode())

    def _resource(self) -> dict[str, Any]:
        state = hardware.state_of(self.bmc.lab, self.bmc.node)
        body = tree.get(self.path, state, time.time())
        if body is None:
            raise Answer(404, f"there is no resource {self.path}")
        return body

    def _sent(self) -> dict[str, Any]:
        length = int(self.headers.get("Content-Length") or 0)
        if length > MOST_BYTES:
            self.close_connection = True
            raise Answer(413, "the body is too long")
        text = self.rfile.read(length)
        try:
            sent = json.loads(text) if text else {}
        except ValueError:
            raise Answer(400, "the body is not JSON") from None
        if not isinstance(sent, dict):
            raise Answer(400, "the body is not an object")
        return sent

    def _send(
        self, status: int, body: Mapping[str, Any] | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        text = json.dumps(body).encode() if body is not None else b""
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        if body is not None:
            self.send_header("Content-Type", "application/json")
            self.send_header("ETag", tree.etag(body))
        if status == 401:  # noqa: PLR2004  HTTP's own number
            self.send_header("WWW-Authenticate", 'Basic realm="lab"')
        self.end_headers()
        self.wfile.write(text)


def listeners(lab: Lab) -> list[Listener]:
    """Open every server's listener on the port that `up` chose for it."""
    credentials: dict[str, str] = yaml.safe_load(lab.credentials.read_text("utf-8"))
    ports: dict[str, int] = read(lab.about)["bmc_ports"]
    return [Listener(lab, node, port, credentials) for node, port in ports.items()]


def main() -> int:
    """Serve until SIGTERM."""
    opened = listeners(open_lab(Path(sys.argv[1])))
    for listener in opened:
        threading.Thread(target=listener.serve_forever, args=(0.2,), daemon=True).start()
    signal.sigwait({signal.SIGTERM, signal.SIGINT})
    return 0


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the boots that start here
    sys.exit(main())
