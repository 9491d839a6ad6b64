"""Of an image that was sent: what is certain, and what only the BMC can tell."""

import time
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.redfish.updates import Updates, Upload
from fleet_runner.core.base.errors import BmcError, BmcRefused
from tests.adapters.redfish.replay import Replay, break_off, image_of, replayed, talk, updating

MULTIPART = "/redfish/v1/UpdateService/upload"
TASKS = "/redfish/v1/TaskService/Tasks"
BIG = 12_000_000  # more than what the sockets of both ends hold


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """An image of 200,001 bytes."""
    image_of(tmp_path / "bios 2.1.bin", 200_001)
    return tmp_path / "bios 2.1.bin"


def sent(server: Replay) -> int:
    """Return how many requests carried an image, or asked the BMC to fetch one."""
    return len([1 for verb, uri, *_ in server.asked if verb == "POST" and "UpdateService" in uri])


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 409, 413, 415, 422, 429, 501, 507])
def test_a_refusal_is_certain(image: Path, status: int) -> None:
    """Also one for want of a session: it is no wrong password, and the image is not sent again."""
    with replayed(updating(MultipartHttpPushUri=MULTIPART)) as server, talk(server) as bmc:
        server.answer = (status, {"error": {"message": "not this one"}}, {"Location": "/redfish/v1/elsewhere"})
        with pytest.raises(BmcRefused, match=rf"answered {status} to the image bios 2\.1\.bin: not this one"):
            Updates(bmc).send(Upload(image))
        assert sent(server) == 1
        assert Updates(bmc).inventory()


@pytest.mark.parametrize(
    ("status", "body", "certain"),
    [
        (408, {"error": {}}, False), (500, {"error": {}}, False), (502, None, False), (503, None, False),
        (503, {"error": {}}, True), (504, {}, False),
    ],
)  # fmt: skip
def test_an_error_that_may_have_come_too_late_is_not(image: Path, status: int, body: Any, *, certain: bool) -> None:
    with replayed(updating(MultipartHttpPushUri=MULTIPART)) as server, talk(server) as bmc:
        server.answer = (status, body, {})
        with pytest.raises(BmcError) as caught:
            Updates(bmc).send(Upload(image))
        assert isinstance(caught.value, BmcRefused) is certain
        assert sent(server) == 1


@pytest.mark.parametrize("reads_on", [False, True])
def test_a_bmc_that_refuses_while_it_is_sent_to_is_heard(tmp_path: Path, *, reads_on: bool) -> None:
    """It has read nothing of 12 MB; most of them are never sent. It closes then, or goes on without reading."""
    image_of(tmp_path / "image", BIG)
    progress: list[int] = []

    def early(handler: Any) -> bool:
        handler._send(413, {"error": {"message": "too big"}})
        handler.wfile.flush()
        if reads_on:
            time.sleep(0.5)
        handler.close_connection = True
        return True

    with replayed(updating(MultipartHttpPushUri=MULTIPART)) as server, talk(server) as bmc:
        server.uploaded = early
        with pytest.raises(BmcRefused, match="answered 413 to the image image: too big"):
            Updates(bmc).send(Upload(tmp_path / "image", on_progress=lambda done, _: progress.append(done)))
        assert sent(server) == 1
    assert (progress or [0])[-1] < BIG


def test_a_bmc_that_says_yes_too_early_gets_the_rest_all_the_same(tmp_path: Path) -> None:
    """And one that asks for the rest, though nobody waited for that."""
    digest = image_of(tmp_path / "image", BIG)
    for words in (b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"):

        def early(handler: Any, words: bytes = words) -> bool:
            handler.wfile.write(words)
            handler.wfile.flush()
            return False

        with replayed(updating(MultipartHttpPushUri=MULTIPART)) as server, talk(server) as bmc:
            server.uploaded = early
            Updates(bmc).send(Upload(tmp_path / "image"))
            deadline = time.monotonic() + 60
            while not server.images[0].whole and time.monotonic() < deadline:
                time.sleep(0.01)
            assert (server.images[0].sha256, sent(server)) == (digest, 1)


def test_a_connection_that_breaks_leaves_it_open_whether_the_image_was_taken(tmp_path: Path) -> None:
    image_of(tmp_path / "image", BIG)
    with replayed(updating(MultipartHttpPushUri=MULTIPART)) as server, talk(server) as bmc:
        server.uploaded = break_off
        with pytest.raises(
            BmcError, match=r"the connection ended after .* whether the image was taken is unknown"
        ) as no:
            Updates(bmc).send(Upload(tmp_path / "image"))
        assert not isinstance(no.value, BmcRefused)
        assert sent(server) == 1
        assert Updates(bmc).inventory(), "what is asked next has a connection of its own"


def test_a_bmc_that_takes_all_and_says_nothing_leaves_it_open_too(image: Path) -> None:
    def silent(handler: Any) -> bool:
        handler.rfile.read(int(handler.headers["Content-Length"]))
        handler.close_connection = True
        return True

    with replayed(updating(MultipartHttpPushUri=MULTIPART)) as server, talk(server) as bmc:
        server.uploaded = silent
        with pytest.raises(BmcError, match="whether the image was taken is unknown") as caught:
            Updates(bmc).send(Upload(image))
        assert not isinstance(caught.value, BmcRefused)
        assert sent(server) == 1
