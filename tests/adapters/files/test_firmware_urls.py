"""What lies at firmware_url is the catalogue's image, or no BMC is told to fetch it."""

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from fleet_runner.adapters.files import firmware_urls
from fleet_runner.core.base.errors import ConflictError, ImageError

IMAGE = b"an image" * 300_000
SHA256 = hashlib.sha256(IMAGE).hexdigest()


class Images(BaseHTTPRequestHandler):
    """Serves one file, whose content, status and tag a test sets on the server."""

    def do_GET(self) -> None:
        """Answer with what the test says."""
        server: Any = self.server
        self.send_response(server.status)
        if server.tag:
            self.send_header("ETag", server.tag)
        self.send_header("Content-Length", str(len(server.image)))
        self.end_headers()
        server.read += 1
        self.wfile.write(server.image)

    def log_message(self, *_: object) -> None:
        """Be quiet."""


@pytest.fixture
def server() -> Iterator[Any]:
    """A server of images that has the right one."""
    made: Any = ThreadingHTTPServer(("127.0.0.1", 0), Images)
    made.status, made.tag, made.image, made.read = 200, "", IMAGE, 0
    made.handle_error = lambda *_: None  # who refuses a file goes away in the middle
    made.url = f"http://127.0.0.1:{made.server_address[1]}/bios.bin"
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


def check(url: str) -> None:
    """Hold it against the image."""
    firmware_urls.check(url, SHA256, len(IMAGE), lambda: None)


def test_the_right_file_is_no_trouble(server: Any) -> None:
    check(server.url)


@pytest.mark.parametrize(
    ("content", "status", "why"),
    [
        (IMAGE[:-1] + b"x", 200, f"has the SHA-256 .*, expected {SHA256}; copy the image there again"),
        (b"<html>login</html>", 200, "has the SHA-256"),
        (IMAGE * 2, 200, f"has more than the {len(IMAGE)} bytes of the image"),
        (b"", 404, "answers 404; serve the image there, or correct firmware_url"),
    ],
)
def test_any_other_file_is_refused(server: Any, content: bytes, status: int, why: str) -> None:
    server.image, server.status = content, status
    with pytest.raises(ImageError, match=why):
        check(server.url)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/bios.bin", "ftp://images.example/bios.bin", "no address"])
def test_what_cannot_be_read_is_refused_with_the_next_step(url: str) -> None:
    with pytest.raises(ImageError, match="so nobody knows what a BMC would fetch there; serve the image where this"):
        check(url)


def test_it_is_read_once_for_as_long_as_its_server_says_that_it_is_the_same(server: Any) -> None:
    server.tag = '"1"'
    check(server.url)
    server.image = bytes(len(IMAGE))
    check(server.url)
    server.tag = '"2"'
    with pytest.raises(ImageError, match="has the SHA-256"):
        check(server.url)


def test_whoever_lost_the_node_reads_no_further(server: Any) -> None:
    def gone() -> None:
        raise ConflictError("another has it")

    with pytest.raises(ConflictError):
        firmware_urls.check(server.url, SHA256, len(IMAGE), gone)


def test_a_server_that_takes_too_long_is_left(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(firmware_urls, "MOST_SECONDS", -1.0)
    with pytest.raises(ImageError, match="look at its server"):
        check(server.url)
