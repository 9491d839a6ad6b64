"""A BMC by its name: the time that its name may take, and addresses that it points to itself."""

import hashlib
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.redfish import Bmc, Limits
from fleet_runner.adapters.redfish.image_upload import Upload
from fleet_runner.adapters.redfish.updates import Updates
from fleet_runner.core.base.errors import BmcRefused
from fleet_runner.core.firmware.catalogue import Transport
from tests.adapters.redfish.replay import PASSWORD, QUICK, USER, Replay, replayed

SERVICE = "/redfish/v1/UpdateService"
TREE: dict[str, Any] = {
    "/redfish/v1": {"@odata.id": "/redfish/v1", "UpdateService": {"@odata.id": SERVICE}},
    SERVICE: {
        "@odata.id": SERVICE,
        "MultipartHttpPushUri": "/push",
        "Actions": {"#UpdateService.SimpleUpdate": {"target": f"{SERVICE}/Actions/UpdateService.SimpleUpdate"}},
    },
}
HASTY = Limits(connect_seconds=1.0, read_seconds=30, total_seconds=60, retries=1, pause_seconds=0.01)
STUCK = 30.0
"""Seconds that a resolver takes which does not answer."""


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """An image of some pieces."""
    (tmp_path / "bios.bin").write_bytes(b"image" * 100_000)
    return tmp_path / "bios.bin"


def named(server: Replay, limits: Limits = QUICK) -> Bmc:
    """The BMC by a name that only this test resolves."""
    url = f"http://bmc.example:{server.server_address[1]}"
    return Bmc(url, USER, PASSWORD, verify=False, limits=limits)


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """A resolver that does not answer until the test is over."""
    over = threading.Event()

    def wait(*_: object, **__: object) -> list[object]:
        over.wait(STUCK)
        raise socket.gaierror(socket.EAI_AGAIN, "too late")

    monkeypatch.setattr(socket, "getaddrinfo", wait)
    return over


def test_a_name_that_is_not_resolved_in_time_is_no_bmc_that_was_asked(stuck: threading.Event, image: Path) -> None:
    with replayed(TREE) as server:
        began = time.monotonic()
        with pytest.raises(
            BmcRefused, match="its name was not resolved; check the DNS, or give the device an address"
        ):
            named(server, HASTY).read("/redfish/v1")
        bmc = named(server, HASTY)
        with pytest.raises(BmcRefused, match="nothing was sent"):
            Updates(bmc).send(Upload(image, Transport.MULTIPART))
        assert time.monotonic() - began < STUCK
        assert server.asked == []
        stuck.set()


def test_an_upload_waits_no_longer_for_a_name_than_anything_else(
    monkeypatch: pytest.MonkeyPatch, image: Path
) -> None:
    """The session was opened while the resolver answered."""
    right, asked, over = socket.getaddrinfo, threading.Event(), threading.Event()

    def look(host: str, *args: Any, **words: Any) -> Any:
        if asked.is_set() and host == "bmc.example":
            over.wait(STUCK)
        return right("127.0.0.1" if host == "bmc.example" else host, *args, **words)

    monkeypatch.setattr(socket, "getaddrinfo", look)
    with replayed(TREE) as server, named(server, HASTY) as bmc:
        bmc.read("/redfish/v1")
        asked.set()
        with pytest.raises(BmcRefused, match=r"was not reached \(no answer from the resolver in 1 s\); nothing was"):
            Updates(bmc).send(Upload(image, Transport.MULTIPART))
        assert server.images == []
        over.set()


def test_of_a_name_with_several_addresses_one_that_answers_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    right = socket.getaddrinfo

    def look(host: str, port: int, *args: Any, **words: Any) -> Any:
        several = ["127.0.0.77", "127.0.0.1"] if host == "bmc.example" else [host]
        return [found for each in several for found in right(each, port, *args, **words)]

    monkeypatch.setattr(socket, "getaddrinfo", look)
    with replayed(TREE) as server, named(server) as bmc:
        assert bmc.read("/redfish/v1")
        assert server.asked[-1][3]["Host"].startswith("bmc.example:")


def pointed(server: Replay, statuses: list[int], where: str) -> None:
    """Let the BMC point the next images elsewhere, once it has read them."""
    left = list(statuses)

    def answer(handler: Any) -> bool:
        if not left:
            return False
        handler.rfile.read(int(handler.headers["Content-Length"]))
        handler._send(left.pop(), None, {"Location": where})
        return True

    server.uploaded = answer


@pytest.mark.parametrize("status", [307, 308])
def test_an_image_follows_where_the_bmc_has_it_sent_on_itself(image: Path, status: int) -> None:
    with replayed(TREE) as server, Bmc(server.url, USER, PASSWORD, limits=QUICK) as bmc:
        pointed(server, [status], "/push-here")
        Updates(bmc).send(Upload(image, Transport.MULTIPART))
        [taken] = [each for each in server.images if each.uri == "/push-here"]
        assert taken.sha256 == hashlib.sha256(image.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("status", "where", "why"),
    [
        (307, "https://elsewhere.example/push", "points to 'https://elsewhere.example/push', which is not its own"),
        (308, "/push", "points an image on more than 3 times"),
        (
            303,
            "/other",
            "it points to /other, and nothing was done; if that is the BMC, give the device that address",
        ),
        (301, "", "it points to nowhere"),
    ],
)
def test_an_image_goes_nowhere_else(image: Path, status: int, where: str, why: str) -> None:
    with replayed(TREE) as server, Bmc(server.url, USER, PASSWORD, limits=QUICK) as bmc:
        pointed(server, [status] * 9, where)
        with pytest.raises(BmcRefused) as refused:
            Updates(bmc).send(Upload(image, Transport.MULTIPART))
        assert why in str(refused.value)
        assert {each.uri for each in server.images} <= {"/push"}


def test_a_request_that_is_pointed_elsewhere_is_refused_with_what_to_do(image: Path) -> None:
    """As a web server does that moves http to https."""
    with replayed(TREE) as server, Bmc(server.url, USER, PASSWORD, limits=QUICK) as bmc:
        action = f"{SERVICE}/Actions/UpdateService.SimpleUpdate"
        server.statuses["POST", action] = [308]
        server.headers[action] = {"Location": "https://bmc.example/redfish"}
        with pytest.raises(BmcRefused, match=r"it points to https://bmc\.example/redfish, and nothing was done"):
            Updates(bmc).send(Upload(image, Transport.SIMPLE, url="http://images.example/bios.bin"))
        assert [uri for uri, _ in server.said("POST")] == [action]
