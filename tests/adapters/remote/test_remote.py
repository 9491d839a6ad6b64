"""A server that is asked: where its token goes; what is said of one that is away or hostile, or of another age."""

import json
import socket
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from fleet_runner.adapters.remote import Remote, reached, reaching, wire
from fleet_runner.adapters.store import ResultFilter
from fleet_runner.core.base.errors import FleetError, SettingsError, StoreError
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.settings import Settings

NODE = {"name": "gpu-01", "device_type": "t", "state": "production", "since": 1.0, "version": 2}

Says = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def answering(says: Says, keys: Path | None = None) -> Iterator[ThreadingHTTPServer]:
    """Serve on loopback, every request answered by one function; with TLS where there are keys."""

    class Answers(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            says(self)

        do_POST = do_GET  # noqa: N815  as http.server calls it

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        if keys is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(keys / "server.pem", keys / "server.key")
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        thread = Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def told(body: bytes | object, status: int = 200, **headers: str) -> Says:
    """Return what answers everything with one body."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()

    def says(request: BaseHTTPRequestHandler) -> None:
        request.rfile.read(int(request.headers.get("content-length", 0)))
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.send_header("content-length", str(len(raw)))
        request.end_headers()
        request.wfile.write(raw)

    return says


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file with a token."""
    file = tmp_path / "token"
    file.write_text("frs_secret\n")
    file.chmod(0o600)
    return file


@pytest.fixture
def asking(secret: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Remote]]:
    """Return a server's stand-in that is not patient."""
    made: list[Remote] = []
    monkeypatch.setattr(wire, "PAUSES", (0.01,))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")

    def ask(server: ThreadingHTTPServer, scheme: str = "http", ca: Path | None = None) -> Remote:
        url = f"{scheme}://127.0.0.1:{server.server_port}"
        made.append(reached(Settings(server_token_file=secret, server_ca=ca), url))
        return made[-1]

    yield ask
    for far in made:
        far.close()


@pytest.mark.parametrize(
    ("says", "expected"),
    [
        (told(b"<html>"), "is it of another release"),
        (told({"items": 7}), "is it of another release"),
        (told({"items": [NODE | {"state": "dancing"}]}), "is it of another release"),
        (told(b"[" * 100_000), "is it of another release"),
        (told(b"", 302, location="http://127.0.0.1:9/"), "leads elsewhere"),
        (told({"detail": "Not Found"}, 404), "is it fleet-runner's, and of this release"),
        (told(b"nothing here", 404), "is it fleet-runner's, and of this release"),
        (told(b"\x1f\x8b", content_encoding="gzip"), "packs its answers"),
        (told({"detail": "the store cannot be used now"}, 503), "the store cannot be used now"),
        (told(b"oops", 500), "HTTP 500"),
        (told({"detail": "x"}, 429), "asked too often"),
        (told({"detail": "evil \x1b[2J \u202e"}, 409), "evil �[2J"),
        (told({"detail": "y" * 10_000}, 409), "y" * wire.SHOWN),
    ],
)
def test_what_a_server_answers_amiss_is_said_in_a_line(
    says: Says, expected: str, asking: Callable[..., Remote]
) -> None:
    with answering(says) as server, pytest.raises(FleetError) as error:
        asking(server).nodes()
    assert expected in str(error.value)
    assert "frs_secret" not in str(error.value)
    assert len(str(error.value)) < 700


def test_a_huge_answer_is_not_taken_in(asking: Callable[..., Remote], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MOST_BYTES", 100_000)
    sent: list[int] = []

    def flood(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        try:
            while len(sent) < 100_000:
                sent.append(request.wfile.write(b" " * 65_536))
        except OSError:
            request.close_connection = True

    with answering(flood) as server, pytest.raises(StoreError, match="more than 100000 bytes"):
        asking(server).nodes()
    assert len(sent) < 1_000


def test_a_list_without_end_ends(asking: Callable[..., Remote]) -> None:
    """The same page again and again, and pages of nothing."""
    with answering(told({"items": [NODE], "next": "x"})) as server:
        assert len(asking(server).nodes()) == 2
    with answering(told({"items": [], "next": "x"})) as server:
        assert asking(server).find_results(ResultFilter(), limit=10_000) == ()


def test_what_only_reads_is_asked_again_and_a_request_is_not(asking: Callable[..., Remote]) -> None:
    asked: list[str] = []

    def busy(request: BaseHTTPRequestHandler) -> None:
        asked.append(request.command)
        first = len(asked) == 1
        told({"detail": "away"}, 503)(request) if first else told({"items": [NODE]})(request)

    with answering(busy) as server:
        assert asking(server).nodes()[0].name == "gpu-01"
    asked.clear()
    with answering(busy) as server, pytest.raises(StoreError, match="away"):
        asking(server).leave_intent("gpu-01", IntentKind.HOLD, "alice", now=0.0)
    assert asked == ["POST"]


def test_a_server_that_is_away_is_said_to_be(asking: Callable[..., Remote], secret: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    far = reached(Settings(server_token_file=secret), f"http://127.0.0.1:{port}")
    with pytest.raises(StoreError, match="cannot be reached"):
        far.nodes()
    with pytest.raises(StoreError, match="cannot be reached"):
        far.leave_intent("gpu-01", IntentKind.HOLD, "alice", now=0.0)
    far.close()


def test_names_go_into_paths_as_names(asking: Callable[..., Remote]) -> None:
    paths: list[str] = []

    def noted(request: BaseHTTPRequestHandler) -> None:
        paths.append(request.path)
        told({"detail": "there is no node"}, 404)(request)

    with answering(noted) as server:
        far = asking(server)
        assert far.node("../tickets/1?x=#y") is None
        assert far.node("") is None
    assert paths == ["/api/v1/nodes/..%2Ftickets%2F1%3Fx%3D%23y"]


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An authority, a certificate that it signed for loopback, and another authority."""
    folder = tmp_path_factory.mktemp("keys")
    new = ("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2")
    for name in ("ours", "theirs"):
        words = ("-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem")
        subprocess.run([*new, *words], check=True, capture_output=True, cwd=folder)
    signed = ("-CA", "ours.pem", "-CAkey", "ours.key", "-keyout", "server.key", "-out", "server.pem")
    more = ("-subj", "/CN=server", "-addext", "subjectAltName=IP:127.0.0.1")
    subprocess.run([*new, *signed, *more], check=True, capture_output=True, cwd=folder)
    return folder


def test_a_certificate_is_verified_and_the_token_shown_to_nobody_else(
    keys: Path, asking: Callable[..., Remote]
) -> None:
    seen: list[str | None] = []

    def noted(request: BaseHTTPRequestHandler) -> None:
        seen.append(request.headers["authorization"])
        told({"items": [NODE]})(request)

    with answering(noted, keys) as server:
        assert asking(server, "https", keys / "ours.pem").nodes()[0].name == "gpu-01"
        assert seen == ["Bearer frs_secret"]
        for ca in (keys / "theirs.pem", None):
            with pytest.raises(StoreError, match="cannot be trusted"):
                asking(server, "https", ca).nodes()
    assert len(seen) == 1


@pytest.mark.parametrize(
    "url",
    ["fleet.example", "ftp://fleet.example", "https://", "https://u:p@fleet.example", "https://fleet.example/?x=1",
     "https://fleet.example/#x", "https://fleet example", "https://[::1", "https://fleet.example:0"],
)  # fmt: skip
def test_what_is_no_url_of_a_server_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match="expected the URL"):
        reaching.address(url)


def test_a_token_goes_over_tls_or_stays_on_this_machine(secret: Path) -> None:
    with pytest.raises(SettingsError, match="in the clear"):
        reaching.address("http://fleet.example:8492")
    assert reaching.address("http://[::1]:8492/") == "http://[::1]:8492"
    assert reaching.address("https://fleet.example/fleet/") == "https://fleet.example/fleet"
    with pytest.raises(SettingsError, match="FLEET_SERVER_TOKEN_FILE"):
        reaching.token(Settings())
    secret.chmod(0o644)
    with pytest.raises(SettingsError, match="chmod 600"):
        reaching.token(Settings(server_token_file=secret))
    secret.chmod(0o600)
    secret.write_text("two words\n")
    with pytest.raises(SettingsError, match="not a token"):
        reaching.token(Settings(server_token_file=secret))
    with pytest.raises(SettingsError, match="server_ca"):
        reaching.trust("https://fleet.example", secret)
