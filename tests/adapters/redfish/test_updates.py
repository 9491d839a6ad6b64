"""Images sent to BMCs: what goes over the wire, what is known afterwards, and that nothing is ever sent twice."""

import contextlib
import gzip
import json
import os
import resource
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.adapters.redfish.updates import Updates, Upload
from fleet_runner.core.base.errors import BmcError, BmcRefused, FleetError
from fleet_runner.core.firmware.catalogue import Transport
from tests.adapters.redfish.replay import Replay, image_of, replayed, talk, updating
from tests.examples import UNHURRIED, examples

MULTIPART = "/redfish/v1/UpdateService/upload"
TASKS = "/redfish/v1/TaskService/Tasks"
MONITOR = "/redfish/v1/TaskService/TaskMonitors/7"
TASK = {"@odata.type": "#Task.v1_4_2.Task", "@odata.id": f"{TASKS}/7"}
BIG = 12_000_000  # more than what the sockets of both ends hold


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """An image of 200,001 bytes."""
    image_of(tmp_path / "bios 2.1.bin", 200_001)
    return tmp_path / "bios 2.1.bin"


def captured(samples: Path, name: str) -> dict[str, Any]:
    """Return a captured tree."""
    tree: dict[str, Any] = json.loads(gzip.decompress((samples / "redfish" / f"{name}.json.gz").read_bytes()))
    return tree


def sent(server: Replay) -> int:
    """Return how many requests carried an image, or asked the BMC to fetch one."""
    return len([1 for verb, uri, *_ in server.asked if verb == "POST" and "UpdateService" in uri])


def test_an_image_arrives_whole_with_its_targets_and_its_force_at_the_top(image: Path) -> None:
    told: list[tuple[int, int]] = []
    with replayed(updating(MultipartHttpPushUri=MULTIPART)) as server, talk(server) as bmc:
        targets = ("/redfish/v1/UpdateService/FirmwareInventory/BIOS",)
        upload = Upload(image, targets=targets, force=True, on_progress=lambda *each: told.append(each))
        assert Updates(bmc).send(upload) == ""
        [came] = server.images
    assert json.loads(came.fields["UpdateParameters"]) == {"Targets": list(targets), "ForceUpdate": True}
    assert (came.size, came.whole, came.name) == (200_001, True, "bios2.1.bin")
    assert came.sha256 == image_of(image, 200_001)
    assert came.headers["X-Auth-Token"] == "token-1"
    assert [done for done, _ in told] == sorted({done for done, _ in told})
    assert told[-1] == (int(came.headers["Content-Length"]), int(came.headers["Content-Length"]))


@settings(max_examples=examples(25), suppress_health_check=UNHURRIED)
@given(size=st.sampled_from([0, 1, 65_535, 65_536, 65_537]) | st.integers(0, 300_000), push=st.booleans())
def test_whatever_its_size_an_image_arrives_as_it_is(tmp_path: Path, size: int, *, push: bool) -> None:
    digest = image_of(tmp_path / "image", size)
    way = {"HttpPushUri": "/redfish/v1/UpdateService/update"} if push else {"MultipartHttpPushUri": MULTIPART}
    with replayed(updating(**way)) as server, talk(server) as bmc:
        Updates(bmc).send(Upload(tmp_path / "image"))
        [came] = server.images
    assert (came.size, came.sha256, came.whole) == (size, digest, True)


def test_memory_does_not_grow_with_the_image(tmp_path: Path) -> None:
    """A sparse file of 512 MiB, read by a BMC that keeps nothing of it, within 48 MiB."""
    with (tmp_path / "image").open("wb") as file:
        file.truncate(512 << 20)
    with replayed(updating(MultipartHttpPushUri=MULTIPART)) as server, talk(server) as bmc:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        Updates(bmc).send(Upload(tmp_path / "image"))
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert server.images[0].size == 512 << 20
    assert after - before < 48 << 10


def test_a_dgx_takes_its_image_at_its_multipart_uri_and_a_supermicro_is_told_when(samples: Path, image: Path) -> None:
    for name, when in (("dgx_h100", {}), ("supermicro_hgx_h100", {"@Redfish.OperationApplyTime": "Immediate"})):
        with replayed(captured(samples, name)) as server, talk(server) as bmc:
            updates = Updates(bmc)
            uri = next(uri for uri in updates.inventory() if "HGX_FW_FPGA" in uri)
            updates.send(Upload(image, targets=(uri,)))
            [came] = server.images
        assert came.uri == MULTIPART
        assert json.loads(came.fields["UpdateParameters"]) == {"Targets": [uri], **when}


def test_when_to_begin_is_said_where_the_service_says_that_it_can_be(image: Path) -> None:
    support = {
        "MultipartHttpPushUri@Redfish.OperationApplyTimeSupport": {"SupportedValues": ["Immediate", "OnReset"]}
    }
    with replayed(updating(MultipartHttpPushUri=MULTIPART, **support)) as server, talk(server) as bmc:
        Updates(bmc).send(Upload(image))
        assert json.loads(server.images[0].fields["UpdateParameters"]) == {"@Redfish.OperationApplyTime": "Immediate"}


def test_a_push_says_before_what_the_image_is_for(image: Path) -> None:
    """And takes back the force that another push left behind."""
    service = {"HttpPushUri": "/fwupdate", "HttpPushUriTargets": [], "HttpPushUriOptions": {"ForceUpdate": True}}
    with replayed(updating(**service)) as server, talk(server) as bmc:
        Updates(bmc).send(Upload(image, targets=("/redfish/v1/UpdateService/FirmwareInventory/BIOS",)))
        [(uri, change)] = server.said("PATCH")
        [came] = server.images
    assert uri == "/redfish/v1/UpdateService"
    assert change == {
        "HttpPushUriTargets": ["/redfish/v1/UpdateService/FirmwareInventory/BIOS"],
        "HttpPushUriOptions": {"ForceUpdate": False},
    }
    assert (came.uri, came.headers["Content-Type"], came.size) == ("/fwupdate", "application/octet-stream", 200_001)


def test_a_push_whose_targets_are_refused_is_not_sent(image: Path) -> None:
    with replayed(updating(HttpPushUri="/fwupdate", HttpPushUriTargets=[])) as server, talk(server) as bmc:
        server.statuses["PATCH", "/redfish/v1/UpdateService"] = [400]
        with pytest.raises(BmcRefused, match=r"nothing was sent: .* answered 400 to what the next image is for"):
            Updates(bmc).send(Upload(image, targets=("/redfish/v1/UpdateService/FirmwareInventory/BIOS",)))
        assert server.images == []


def test_a_form_of_hpe_carries_the_sessions_token(image: Path) -> None:
    with replayed(updating(HttpPushUri="/cgi-bin/uploadFile")) as server, talk(server) as bmc:
        Updates(bmc).send(Upload(image))
        [came] = server.images
        assert came.fields["sessionKey"] == "token-1"
        assert came.headers["Cookie"] == "sessionKey=token-1"
        assert json.loads(came.fields["parameters"])["UpdateTarget"] is True
        server.sessions = False
    with replayed(updating(HttpPushUri="/cgi-bin/uploadFile")) as server, talk(server) as bmc:
        server.sessions = False
        with pytest.raises(BmcRefused, match="only in a session"):
            Updates(bmc).send(Upload(image))


def test_a_bmc_that_fetches_the_image_is_told_where_and_how(image: Path) -> None:
    simple = {"target": "/redfish/v1/UpdateService/Actions/X", "TransferProtocol@Redfish.AllowableValues": ["HTTPS"]}
    action = {"#UpdateService.SimpleUpdate": simple}
    with replayed(updating(Actions=action)) as server, talk(server) as bmc:
        updates = Updates(bmc)
        with pytest.raises(BmcRefused, match="offers: none that can be used; for simple, set firmware_url"):
            updates.send(Upload(image))
        updates.send(Upload(image, targets=("/redfish/v1/Systems/1",), url="https://10.0.0.1/bios.bin"))
        assert server.said("POST") == [
            (
                "/redfish/v1/UpdateService/Actions/X",
                {
                    "ImageURI": "https://10.0.0.1/bios.bin",
                    "Targets": ["/redfish/v1/Systems/1"],
                    "TransferProtocol": "HTTPS",
                },
            )
        ]
        with pytest.raises(BmcRefused, match="takes no image by multipart; it offers: simple"):
            updates.send(Upload(image, Transport.MULTIPART, url="https://10.0.0.1/bios.bin"))


def test_an_image_that_cannot_be_sent_is_refused_before_anything_is(image: Path, tmp_path: Path) -> None:
    with replayed(updating(MultipartHttpPushUri=MULTIPART, MaxImageSizeBytes=200_000)) as server, talk(server) as bmc:
        with pytest.raises(BmcRefused, match=r"has 200001 bytes; .* takes 200000 at most"):
            Updates(bmc).send(Upload(image))
        with pytest.raises(BmcRefused, match=r"was not sent to .*No such file"):
            Updates(bmc).send(Upload(tmp_path / "absent"))
        assert sent(server) == 0


@pytest.mark.parametrize(
    ("answer", "task"),
    [
        ((202, None, {"Location": f"{TASKS}/7"}), f"{TASKS}/7"),
        ((202, None, {"Location": f"{TASKS}/7/Monitor"}), f"{TASKS}/7"),
        ((202, None, {"Location": MONITOR}), MONITOR),
        ((202, None, {"Location": f"https://bmc-17.example{TASKS}/7"}), f"{TASKS}/7"),
        ((202, TASK, {"Location": MONITOR}), f"{TASKS}/7"),
        ((200, TASK, {}), f"{TASKS}/7"),
        ((202, {"Accepted": {"@Message.ExtendedInfo": [{"MessageArgs": [f"{TASKS}/7"]}]}}, {}), f"{TASKS}/7"),
        ((202, {"error": {"message": f"See Task Resource {TASKS}/JID_7."}}, {}), f"{TASKS}/JID_7"),
        ((202, {"TaskMonitor": "/redfish/v1/TaskMonitors/7"}, {}), "/redfish/v1/TaskMonitors/7"),
        ((202, {"@odata.id": "/redfish/v1/UpdateService"}, {}), ""),
        ((204, None, {}), ""),
        ((201, None, {"Location": "http://[bad"}), ""),
    ],
)  # fmt: skip
def test_the_task_is_found_wherever_a_vendor_names_it(image: Path, answer: Any, task: str) -> None:
    with replayed(updating(MultipartHttpPushUri=MULTIPART)) as server, talk(server) as bmc:
        server.answer = answer
        assert Updates(bmc).send(Upload(image)) == task
        assert sent(server) == 1


def test_an_upload_has_a_time_limit_of_its_own(tmp_path: Path) -> None:
    """A BMC that reads nothing is not waited for; one for whom the limit of other calls is too short is."""
    image_of(tmp_path / "image", BIG)
    over = threading.Event()

    def stuck(handler: Any) -> bool:
        handler.close_connection = True
        return over.wait(300)

    with replayed(updating(MultipartHttpPushUri=MULTIPART)) as server, talk(server) as bmc:
        server.uploaded = stuck
        with pytest.raises(BmcError, match="whether the image was taken is unknown"):
            Updates(bmc).send(Upload(tmp_path / "image", seconds=0.5))
        over.set()
        server.uploaded = None

        def late(_sent: int, _all: int) -> None:
            bmc.resources.wire.exchange._deadline = 0.0  # the time of an ordinary call is over

        assert Updates(bmc).send(Upload(tmp_path / "image", on_progress=late)) == ""


def test_who_watches_can_cut_it(tmp_path: Path) -> None:
    """The lease is gone: the connection ends at once, and the BMC never gets the image whole."""
    image_of(tmp_path / "image", BIG)
    calls: list[int] = []

    def alive() -> None:
        calls.append(1)
        if len(calls) == 5:
            raise FleetError("another runner has the lease")

    with replayed(updating(MultipartHttpPushUri=MULTIPART)) as server, talk(server) as bmc:
        with pytest.raises(FleetError, match="another runner has the lease") as caught:
            Updates(bmc).send(Upload(tmp_path / "image", alive=alive))
        assert caught.traceback, "the error is still held, and the connection is closed all the same"
        deadline = time.monotonic() + 60
        while not (server.images and server.images[0].size) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert Updates(bmc).inventory()
        [came] = server.images
    assert not came.whole
    assert came.size <= 4 << 16


def test_an_image_that_shrinks_while_it_is_sent_is_not_filled_up(tmp_path: Path) -> None:
    image_of(tmp_path / "image", BIG)
    calls: list[int] = []

    def alive() -> None:
        calls.append(1)
        if len(calls) == 3:
            os.truncate(tmp_path / "image", 1000)

    with replayed(updating(MultipartHttpPushUri=MULTIPART)) as server, talk(server) as bmc:
        with pytest.raises(BmcError, match="became shorter while it was sent"):
            Updates(bmc).send(Upload(tmp_path / "image", alive=alive))
        assert not server.images[0].whole


def test_a_session_that_ran_out_is_opened_again_before_the_image_goes(image: Path) -> None:
    with replayed(updating(MultipartHttpPushUri=MULTIPART)) as server, talk(server) as bmc:
        updates = Updates(bmc)
        updates.inventory()
        server.statuses["GET", "/redfish/v1"] = [401]
        updates.send(Upload(image))
        assert (server.tokens, sent(server)) == (2, 1)
        assert server.images[0].headers["X-Auth-Token"] == "token-2"


def test_a_bmc_that_is_not_there_took_nothing(image: Path) -> None:
    with replayed(updating(MultipartHttpPushUri=MULTIPART)) as server:
        bmc = talk(server)
        Updates(bmc).inventory()
    with contextlib.closing(bmc), pytest.raises(BmcRefused, match="nothing was sent"):
        Updates(bmc).send(Upload(image))


def test_it_is_told_what_a_bmc_offers() -> None:
    """A GB200 has no SimpleUpdate; a service without anything offers nothing; another server's URI is refused."""
    with replayed(updating(MultipartHttpPushUri="/mfwupdate", MaxImageSizeBytes=0)) as server, talk(server) as bmc:
        offer = Updates(bmc).offer()
        assert (offer.multipart, offer.push, offer.simple, offer.most_bytes) == ("/mfwupdate", "", "", None)
        server.tree["/redfish/v1/UpdateService"]["MultipartHttpPushUri"] = "https://elsewhere.example/upload"
        with pytest.raises(BmcError, match="not its own"):
            Updates(bmc).offer()
        del server.tree["/redfish/v1/UpdateService"]["MultipartHttpPushUri"]
        assert Updates(bmc).offer() == type(offer)()
        del server.tree["/redfish/v1"]["UpdateService"]
        with pytest.raises(BmcError, match="has no UpdateService"):
            Updates(bmc).offer()


def test_a_supermicro_names_the_targets_of_simple_update(samples: Path) -> None:
    with replayed(captured(samples, "supermicro_hgx_h100")) as server, talk(server) as bmc:
        offer = Updates(bmc).offer()
    assert "/redfish/v1/UpdateService/FirmwareInventory/HGX_FW_BMC_0" in offer.targets_allowed
    assert offer.simple == "/redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate"
