"""A tracker's certificate is verified before its token is told."""

import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.trackers.wire import Access, TrackerSession
from fleet_runner.core.tickets.trackers.backoff import Kind, TrackerError
from tests.adapters.trackers.bench import LIMITS
from tests.services.boot.sites import certificate


class Answering(BaseHTTPRequestHandler):
    """Answers every request, and keeps what it was told."""

    heard: list[str] = []  # noqa: RUF012  one server a test

    def do_GET(self) -> None:
        """Answer."""
        self.heard.append(str(self.headers["Authorization"]))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *args: Any) -> None:
        """Be quiet."""


def test_a_certificate_that_nobody_signed_hears_no_token_unless_its_authority_is_named(tmp_path: Path) -> None:
    """And the sentence says where it is named."""
    pair = certificate(tmp_path, "127.0.0.1")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair, pair.with_suffix(".key"))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    url, headers = f"https://127.0.0.1:{server.server_address[1]}", {"Authorization": "Bearer made-up"}
    try:
        with TrackerSession("desk", url, headers, Access("made-up", limits=LIMITS)) as wire:
            with pytest.raises(
                TrackerError, match=r"cannot trust its certificate .* name its CA in ca_file"
            ) as raised:
                wire.ask("GET", "/")
            assert raised.value.kind is Kind.REFUSED
        assert Answering.heard == []
        with TrackerSession("desk", url, headers, Access("made-up", str(pair), LIMITS)) as wire:
            assert wire.ask("GET", "/") == {}
        assert Answering.heard == ["Bearer made-up"]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
