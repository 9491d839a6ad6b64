"""A Kubernetes API server's stand-in: it keeps secrets of kube-system as a real one does, behind TLS."""

import json
import re
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SECRETS = "/api/v1/namespaces/kube-system/secrets"
NAME = re.compile(r"bootstrap-token-[a-z0-9]{6}")


@dataclass
class Api:
    """What the server holds and how it behaves: `answers` are statuses to give before it works again."""

    token: str = "minter-token"
    secrets: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    answers: list[int] = field(default_factory=list[int])
    hangs: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)
    body: bytes = b""
    asked: list[str] = field(default_factory=list[str])
    url: str = ""


class Server(ThreadingHTTPServer):
    """Speaks TLS, and says nothing of clients that leave early."""

    daemon_threads = True

    def __init__(self, api: Api, certificate: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, certificate.with_suffix(".key"))
        self.socket = context.wrap_socket(self.socket, server_side=True)
        self.api = api

    def handle_error(self, *_: object) -> None:
        """A client went away."""


class Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        """Keep a secret, unless it is only to be checked."""
        secrets = self.server.api.secrets
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path, _, query = self.path.partition("?")
        name = body["metadata"]["name"]
        if self._refuses():
            return
        if path != SECRETS or not NAME.fullmatch(name) or body["type"] != "bootstrap.kubernetes.io/token":
            self._answer(422, f"Secret {name!r} is invalid")
        elif name in secrets:
            self._answer(409, f'secrets "{name}" already exists')
        else:
            secrets.update({} if query == "dryRun=All" else {name: body})
            self._send(201, {"kind": "Secret", "metadata": body["metadata"]})

    def do_DELETE(self) -> None:
        """Delete a secret."""
        name = self.path.removeprefix(f"{SECRETS}/")
        if self._refuses():
            return
        if self.server.api.secrets.pop(name, None) is None:
            self._answer(404, f'secrets "{name}" not found')
        else:
            self._answer(200, "")

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _refuses(self) -> bool:
        api = self.server.api
        api.asked.append(f"{self.command} {self.path}")
        if api.hangs.is_set():
            api.released.wait()
        if self.headers.get("Authorization") != f"Bearer {api.token}":
            self._answer(401, "Unauthorized")
        elif api.answers:
            self._answer(api.answers.pop(0), "as the test wants it")
        else:
            return False
        return True

    def _answer(self, status: int, message: str) -> None:
        self._send(status, {"kind": "Status", "code": status, "message": message})

    def _send(self, status: int, value: Any) -> None:
        body = self.server.api.body or json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def api_server(certificate: Path) -> Iterator[Api]:
    """Run it on 127.0.0.1 until the end."""
    api = Api()
    server = Server(api, certificate)
    api.url = f"https://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield api
    finally:
        api.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
