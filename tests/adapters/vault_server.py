"""A Vault that answers as the real one does."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "hvs.CAESIJ-made-up"


class Vault(ThreadingHTTPServer):
    """Answers as Vault 1.x does (developer.hashicorp.com/vault/api-docs/secret/kv)."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.secrets: dict[str, dict[str, Any]] = {}
        self.asked: list[dict[str, str]] = []
        self.sealed = False
        self.raw: bytes | None = None
        self.elsewhere = ""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Be quiet of clients that go away."""

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Vault

    def log_message(self, *args: Any) -> None:
        """Be quiet."""

    def do_GET(self) -> None:
        self.server.asked.append(dict(self.headers))
        if self.server.elsewhere:
            return self._send(307, {}, {"Location": self.server.elsewhere})
        if self.server.sealed:
            return self._send(503, {"errors": ["Vault is sealed"]})
        if self.headers.get("X-Vault-Token") != TOKEN:
            return self._send(403, {"errors": ["permission denied"]})
        data = self.server.secrets.get(self.path)
        if data is None:
            return self._send(404, {"errors": []})
        wrapped = {"data": data, "metadata": {"version": 3, "deletion_time": "", "destroyed": False}}
        answer = {"request_id": "x", "lease_duration": 0, "auth": None}
        return self._send(200, {**answer, "data": wrapped if "/data/" in self.path else data})

    def _send(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        text = self.server.raw if self.server.raw is not None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


@contextmanager
def vaulted() -> Iterator[Vault]:
    """Serve a Vault with one secret."""
    server = Vault()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    server.secrets["/v1/secret/data/bmc"] = {"username": "fleet", "password": "from the vault"}
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
