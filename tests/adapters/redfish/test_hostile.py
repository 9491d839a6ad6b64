"""BMCs that answer slowly, or with what would harm whoever reads it."""

import hashlib
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.redfish import Bmc, Limits
from fleet_runner.adapters.redfish.updates import Updates, Upload
from fleet_runner.core.base.errors import BmcError, BmcRefused, FleetError
from tests.adapters.redfish.replay import PASSWORD, USER, Replay, image_of, replayed, small, talk, updating

MULTIPART = "/redfish/v1/UpdateService/upload"
ONE = "/redfish/v1/Systems/1"
SHORT = Limits(connect_seconds=2, read_seconds=2, total_seconds=1, pause_seconds=0.01)
PATIENT = 60.0
"""What a test waits at most for what takes a second: longer than any machine is busy."""


class GoneError(FleetError):
    """Somebody else drives the node."""


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """An image of 200,001 bytes."""
    image_of(tmp_path / "bios.bin", 200_001)
    return tmp_path / "bios.bin"


@contextmanager
def dribbled(before: bytes) -> Iterator[tuple[Any, threading.Event]]:
    """Answer with something, then with a letter now and then until the test is over, or for a minute."""
    over = threading.Event()

    def dribble(handler: Any) -> bool:
        handler.close_connection = True
        until = time.monotonic() + PATIENT
        with suppress(OSError):
            handler.wfile.write(before)
            while not over.wait(0.05) and time.monotonic() < until:
                handler.wfile.write(b"a")
                handler.wfile.flush()
        return True

    try:
        yield dribble, over
    finally:
        over.set()


def limited(server: Replay) -> Bmc:
    """Return a client whose calls may take a second."""
    return Bmc(server.url, USER, PASSWORD, limits=SHORT)


@pytest.mark.parametrize(
    "before", [b"HTTP/1.1 200 OK\r\nX-Long: ", b"HTTP/1.1 200 OK\r\nContent-Length: 65536\r\n\r\n", b"HTT"]
)
def test_a_bmc_that_answers_letter_by_letter_is_not_heard_to_its_end(before: bytes) -> None:
    with dribbled(before) as (dribble, _), replayed(small()) as server, limited(server) as bmc:
        server.broken[ONE] = dribble
        began = time.monotonic()
        with pytest.raises(BmcError, match=r"slower than 1 s|more than 1 s"):
            bmc.read(ONE)
        assert time.monotonic() - began < PATIENT / 2


@pytest.mark.parametrize("before", [b"HTTP/1.1 202 Accepted\r\nX-Long: ", b"HTT"])
def test_an_image_answered_letter_by_letter_has_a_time_limit_too(image: Path, before: bytes) -> None:
    tree = updating(MultipartHttpPushUri=MULTIPART)
    with dribbled(before) as (dribble, _), replayed(tree) as server, talk(server) as bmc:
        server.uploaded = lambda handler: bool(
            handler.rfile.read(int(handler.headers["Content-Length"])) and dribble(handler)
        )
        began = time.monotonic()
        with pytest.raises(BmcError, match="whether the image was taken is unknown") as caught:
            Updates(bmc).send(Upload(image, seconds=1.0))
        assert time.monotonic() - began < PATIENT / 2
        assert not isinstance(caught.value, BmcRefused)


def test_who_watches_is_asked_while_the_answer_is_awaited(image: Path) -> None:
    """A BMC that has the whole image says nothing for minutes: the lease is renewed meanwhile, or all ends."""
    over, whole = threading.Event(), threading.Event()
    asked: list[float] = []

    def thinking(handler: Any) -> bool:
        handler.rfile.read(int(handler.headers["Content-Length"]))
        whole.set()
        handler.close_connection = True
        return over.wait(PATIENT)

    def alive() -> None:
        if whole.is_set():
            asked.append(time.monotonic())
            if len(asked) == 3:
                raise GoneError("another runner has the lease")

    with replayed(updating(MultipartHttpPushUri=MULTIPART)) as server, talk(server) as bmc:
        server.uploaded = thinking
        try:
            with pytest.raises(GoneError):
                Updates(bmc).send(Upload(image, alive=alive, seconds=PATIENT / 2))
        finally:
            over.set()


def test_who_watches_is_asked_while_the_bmc_takes_nothing(tmp_path: Path) -> None:
    image_of(tmp_path / "image", 12_000_000)  # more than what the sockets of both ends hold
    over, begun = threading.Event(), threading.Event()
    asked: list[int] = []

    def stuck(handler: Any) -> bool:
        begun.set()
        handler.close_connection = True
        return over.wait(PATIENT)

    def alive() -> None:
        asked.append(1)
        if len(asked) > told[-1] // 65_536 + 5:  # far more often than there are pieces
            raise GoneError("another runner has the lease")

    told = [0]
    with replayed(updating(MultipartHttpPushUri=MULTIPART)) as server, talk(server) as bmc:
        server.uploaded = stuck
        try:
            upload = Upload(
                tmp_path / "image", alive=alive, on_progress=lambda sent, _: told.append(sent), seconds=PATIENT / 2
            )
            with pytest.raises(GoneError):
                Updates(bmc).send(upload)
        finally:
            over.set()


def test_a_slow_answer_is_an_answer(image: Path) -> None:
    def late(handler: Any) -> bool:
        time.sleep(2.5)
        return False

    with replayed(updating(MultipartHttpPushUri=MULTIPART)) as server, talk(server) as bmc:
        server.uploaded = late
        assert Updates(bmc).send(Upload(image)) == ""
        assert server.images[0].whole


@pytest.mark.parametrize("way", ["MultipartHttpPushUri", "HttpPushUri"])
@pytest.mark.parametrize("size", [1, 65_536, 200_001])
def test_a_file_that_is_another_by_now_never_arrives_whole(tmp_path: Path, way: str, size: int) -> None:
    right = image_of(tmp_path / "image", size)
    with replayed(updating(**{way: MULTIPART})) as server, talk(server) as bmc:
        Updates(bmc).send(Upload(tmp_path / "image", sha256=right))
        image_of(tmp_path / "image", size, seed=1)
        with pytest.raises(BmcError, match="is not the file that was checked"):
            Updates(bmc).send(Upload(tmp_path / "image", sha256=right))
        good, *bad = server.images
    assert (good.whole, good.sha256) == (True, right)
    assert not any(each.whole for each in bad)


def test_a_file_that_changes_while_it_is_sent_never_arrives_whole(tmp_path: Path) -> None:
    right = image_of(tmp_path / "image", 2_000_000)
    told: list[tuple[int, int]] = []

    def rewritten(sent: int, size: int) -> None:
        told.append((sent, size))
        if sent < 200_000:
            with (tmp_path / "image").open("r+b") as file:
                file.seek(1_500_000)
                file.write(b"X" * 1000)

    with replayed(updating(MultipartHttpPushUri=MULTIPART)) as server, talk(server) as bmc:
        with pytest.raises(BmcError, match="is not the file that was checked"):
            Updates(bmc).send(Upload(tmp_path / "image", sha256=right, on_progress=rewritten))
        assert not any(each.whole for each in server.images)
    assert told[-1][0] < told[-1][1] - 10_000, "the last piece was held back"
    assert hashlib.sha256((tmp_path / "image").read_bytes()).hexdigest() != right


@pytest.mark.parametrize(
    "service",
    [
        {"Actions": {"#UpdateService.SimpleUpdate": {"target": "/redfish/v1/UpdateService/Actions/X"}}},
        {"HttpPushUri": "/fwupdate", "HttpPushUriTargets": []},
    ],
)
def test_who_has_no_lease_changes_nothing_at_the_bmc(image: Path, service: Any) -> None:
    def alive() -> None:
        raise GoneError("another runner has the lease")

    with replayed(updating(**service)) as server, talk(server) as bmc:
        with pytest.raises(GoneError):
            Updates(bmc).send(Upload(image, targets=(ONE,), url="https://10.0.0.1/bios.bin", alive=alive))
        assert server.said("POST") == server.said("PATCH") == []


@pytest.mark.parametrize(
    "location",
    [
        "https://bmc-17.example//other/redfish/v1/TaskService/Tasks/7",
        "//other/redfish/v1/TaskService/Tasks/7",
        "/redfish/v1/TaskService/Tasks/7\x1b[2J",
    ],
)
def test_a_task_that_could_never_be_asked_is_not_kept(image: Path, location: str) -> None:
    with replayed(updating(MultipartHttpPushUri=MULTIPART)) as server, talk(server) as bmc:
        server.answer = (202, None, {"Location": location})
        task = Updates(bmc).send(Upload(image))
        assert task == "" or Updates(bmc).task(task) is None
        assert task.isprintable()
