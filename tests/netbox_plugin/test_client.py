"""fleet-runner is asked once, within its limit, whatever it does; then a page says why it shows less."""

import json
import time
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Event

import pytest
from netbox_fleet_runner import client
from netbox_fleet_runner.client import AWAY_KEY, AwayError, Server

from tests.netbox_plugin.conftest import Memory, answering
from tests.waiting import PATIENCE

NAME = "gpu/01 a"
SECONDS = 0.5
TOKEN = "frs_made-up"


def server(url: str, folder: Path, token: str = TOKEN, seconds: float = PATIENCE) -> Server:
    """The server at an address, and a token's file."""
    (folder / "token").write_text(f"{token}\n")
    return Server(url, str(folder / "token"), seconds=seconds)


def sent(handler: BaseHTTPRequestHandler, status: int, body: bytes) -> None:
    """Send an answer."""
    handler.send_response(status)
    handler.send_header("content-length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def healthy(handler: BaseHTTPRequestHandler) -> None:
    """Answer as fleet-runner does."""
    sent(handler, 200, json.dumps({"node": {"name": NAME, "state": "production"}}).encode())


def test_it_is_asked_with_the_token_by_the_nodes_name(tmp_path: Path, memory: Memory) -> None:
    with answering(healthy) as (url, came):
        assert client.ask(server(url, tmp_path), NAME, memory).state == "production"
    assert [each.path for each in came] == ["/api/v1/nodes/gpu%2F01%20a/brief"]
    assert came[0].headers["authorization"] == f"Bearer {TOKEN}"
    assert memory.kept == {}


@pytest.mark.parametrize(
    ("status", "body", "sentence", "lasting"),
    [
        (401, b"{}", "refuses the plugin's token", True),
        (403, b"{}", "refuses the plugin's token", True),
        (404, b'{"detail": "there is no node \'gpu\'"}', "does not know this device", False),
        (404, b'{"detail":"Not Found"}', "too old", True),
        (404, b"<h1>nothing</h1>", "HTTP 404", True),
        (302, b"", "HTTP 302", True),
        (429, b"slowly", "HTTP 429", True),
        (500, b"oops", "HTTP 500", True),
        (503, b"{}", "does not answer", True),
        (200, b"<html>", "does not answer", True),
        (200, b'{"node": {"name": "another"}}', "cannot be read", False),
        (200, b"[" * 100_000, "does not answer", True),
        (200, b"\xff\xfe", "does not answer", True),
    ],
)
def test_what_is_no_answer_is_a_sentence(
    status: int, body: bytes, sentence: str, *, lasting: bool, tmp_path: Path, memory: Memory
) -> None:
    answer = partial(sent, status=status, body=body)
    with answering(answer) as (url, _), pytest.raises(AwayError, match=sentence):
        client.ask(server(url, tmp_path), NAME, memory)
    assert (AWAY_KEY in memory.kept) is lasting


def test_one_that_is_away_is_asked_once_and_then_left_alone_for_a_while(tmp_path: Path, memory: Memory) -> None:
    over = Event()
    with answering(lambda _: over.wait(30)) as (url, came):
        begun = time.monotonic()
        for _ in range(20):
            with pytest.raises(AwayError, match=r"does not answer within 0\.5 s"):
                client.ask(server(url, tmp_path, seconds=SECONDS), NAME, memory)
        over.set()
    assert len(came) == 1
    assert memory.seconds == {AWAY_KEY: client.AWAY_SECONDS}
    assert time.monotonic() - begun < 20 * SECONDS  # twenty limits would be as long


def test_an_answer_in_drops_has_the_same_limit(tmp_path: Path, memory: Memory) -> None:
    over = Event()

    def drops(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not over.wait(SECONDS / 10):
            handler.wfile.write(b" ")

    with answering(drops) as (url, came):
        with pytest.raises(AwayError, match=r"does not answer|too slow"):
            client.ask(server(url, tmp_path, seconds=SECONDS), NAME, memory)
        over.set()
    assert len(came) == 1


def test_an_endless_answer_is_not_read_to_its_end(tmp_path: Path, memory: Memory) -> None:
    def endless(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        try:
            while True:
                handler.wfile.write(b" " * 65_536)
        except OSError:
            pass

    with answering(endless) as (url, _), pytest.raises(AwayError, match=r"too long|within"):
        client.ask(server(url, tmp_path), NAME, memory)


def test_nobody_at_the_address_is_a_sentence(tmp_path: Path, memory: Memory) -> None:
    with answering(healthy) as (url, _):
        pass
    with pytest.raises(AwayError, match="does not answer"):
        client.ask(server(url, tmp_path), NAME, memory)


@pytest.mark.parametrize("url", ["http://fleet.example:8492", "ftp://fleet.example", "fleet.example", "http://[::1"])
def test_a_token_is_shown_to_no_address_that_is_not_safe(url: str, tmp_path: Path, memory: Memory) -> None:
    with pytest.raises(AwayError, match=r"url|does not answer"):
        client.ask(server(url, tmp_path), NAME, memory)


@pytest.mark.parametrize("token", ["", "two words", "a\nHost: evil.example", "schlüssel"])
def test_a_file_without_one_token_asks_nothing(token: str, tmp_path: Path, memory: Memory) -> None:
    with answering(healthy) as (url, came), pytest.raises(AwayError, match="token_file"):
        client.ask(server(url, tmp_path, token), NAME, memory)
    assert came == []


def test_a_token_file_that_is_not_there_asks_nothing(memory: Memory) -> None:
    for path in ("", "/nowhere/token"):
        with pytest.raises(AwayError, match="token_file"):
            client.ask(Server("http://127.0.0.1:9", path), NAME, memory)


def test_settings_that_are_odd_ask_nobody_or_as_usual() -> None:
    assert client.server({}) is None
    assert client.server({"url": "https://f.example/", "timeout_seconds": "soon"}) == Server("https://f.example", "")
    assert client.server({"url": "https://f.example", "timeout_seconds": 900}).seconds == 10.0  # type: ignore[union-attr]  it names a url


def test_pages_are_linked_at_addresses_of_the_web_alone() -> None:
    assert client.page({"url": "https://f.example:8492/"}) == "https://f.example:8492"
    assert (
        client.page({"url": "https://f.example", "web_url": "https://www.example/fleet"})
        == "https://www.example/fleet"
    )
    assert client.page({"web_url": "javascript:alert(1)"}) == ""
    assert client.page({}) == ""
