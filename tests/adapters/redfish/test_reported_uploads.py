"""Uploads that went wrong for others, one rule each: what is sent suits the BMC, or what we say of it is true."""

import http.client
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from fleet_runner.adapters.redfish import Bmc
from fleet_runner.adapters.redfish.updates import Updates, Upload
from fleet_runner.core.base.errors import BmcError, BmcRefused
from fleet_runner.core.firmware.catalogue import Transport
from fleet_runner.lab.redfish import Durations, Emulator, images, load
from fleet_runner.lab.redfish.trees import OUR_OWN
from fleet_runner.lab.redfish.upload_quirks import QUIRKS
from tests.adapters.redfish.replay import QUICK

USER = ("admin", "correct horse")
HERE = "/redfish/v1/UpdateService"
BIOS, BMC = (f"{HERE}/FirmwareInventory/{name}" for name in ("BIOS", "BMC"))
SUPERMICRO: dict[str, Any] = {HERE: {"Oem": {"Supermicro": {}}}}
UNTOLD: dict[str, Any] = {HERE: {"Oem": None}}


class Case(NamedTuple):
    """A rule, uploads that it refuses, and one that it takes: their words for Upload, and the tree's changes."""

    rule: str
    wrong: Mapping[str, Any]
    right: Mapping[str, Any]
    told: str
    untold: Mapping[str, Any] = UNTOLD
    tree: Mapping[str, Any] = UNTOLD


STRICT = (
    Case("no_targets", {"targets": (BIOS,)}, {}, "the object at Targets is invalid"),
    Case("wants_targets", {}, {"targets": (BIOS,)}, "Targets must name one resource"),
    Case("one_target", {"targets": (BIOS, BMC)}, {"targets": (BMC,)}, "Targets must name one resource"),
    Case("known_parameters", {"force": True}, {}, "ForceUpdate is not known here"),
    Case("resource_targets", {"targets": (BIOS,)}, {"targets": (BIOS,)}, "the Manager or the Bios", tree=SUPERMICRO),
    Case("wants_oem", {"targets": (BMC,)}, {"targets": (BMC,)}, "what is kept is missing", tree=SUPERMICRO),
    Case("wants_apply_time", {"targets": (BMC,)}, {"targets": (BMC,)}, "waits for StartUpdate", tree=SUPERMICRO),
    Case(
        "known_oem", {"targets": (BIOS,), "oem_parameters": {"PreserveOA": True}},
        {"targets": (BIOS,), "oem_parameters": {"BackupBIOS": True}}, "PreserveOA is not known here",
        SUPERMICRO, SUPERMICRO,
    ),
)  # fmt: skip


@contextmanager
def emulated(rules: list[Any], changes: Mapping[str, Any] | None = None) -> Iterator[tuple[Emulator, Updates]]:
    """Run a quick BMC of the lab's own kind, and talk to it."""
    tree = load(OUR_OWN).changed(changes or {})
    with (
        Emulator(tree, credentials=USER, pace=Durations.quick(), rules=rules) as emulator,
        Bmc(emulator.url, *USER, limits=QUICK) as bmc,
    ):
        yield emulator, Updates(bmc)


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """An image of a BIOS and a BMC, longer than what a BMC reads at once."""
    images.write(tmp_path / "image.bin", {"BIOS": "9.9", "BMC": "9.9"}, size=300_000)
    return tmp_path / "image.bin"


@pytest.mark.parametrize("case", STRICT, ids=lambda case: case.rule)
def test_a_strict_bmc_refuses_for_certain_and_takes_what_suits_it(image: Path, case: Case) -> None:
    with emulated([{"what": case.rule}], case.untold) as (emulator, updates):
        with pytest.raises(BmcRefused, match=case.told):
            updates.send(Upload(image, **case.wrong))
        assert emulator.updates() == []
    with emulated([{"what": case.rule}], case.tree) as (emulator, updates):
        updates.send(Upload(image, **case.right))
        assert len(emulator.updates()) == 1


REFUSED = {
    "busy": "answered 503 .* another update is being sent",
    "in_update_mode": "in update mode already",
    "no_license": "not licensed",
    "no_such_uri": "answered 405",
    "too_large": "answered 413",
    "no_space": "answered 507",
    "reads_part": "the image ends after 100 bytes",
    "wants_extension": "has another ending",
}


@pytest.mark.parametrize("rule", REFUSED)
def test_what_a_bmc_says_no_to_was_surely_not_taken(image: Path, rule: str) -> None:
    """And the next time, the rule being over, it is; a 403 is no wrong password."""
    with emulated([{"when": {"times": 1}, "what": rule}]) as (emulator, updates):
        with pytest.raises(BmcRefused, match=REFUSED[rule]):
            updates.send(Upload(image, targets=(BIOS,)))
        assert emulator.updates() == []
        updates.send(Upload(image, targets=(BIOS,)))
        assert len(emulator.updates()) == 1


@pytest.mark.parametrize(
    ("rule", "taken"),
    [("internal_error", 0), ("bare_503", 0), ("error_in_success", 0), ("internal_error_taken", 1)],
)
def test_an_answer_that_says_neither_leaves_it_open(image: Path, rule: str, taken: int) -> None:
    """The BMC may have taken it: its tasks tell, and nothing is sent again on such an answer."""
    with emulated([{"what": rule}]) as (emulator, updates):
        with pytest.raises(BmcError) as told:
            updates.send(Upload(image, targets=(BIOS,)))
        assert not isinstance(told.value, BmcRefused)
        assert len(emulator.updates()) == len(updates.tasks()) == taken


@pytest.mark.parametrize(("rule", "named"), [("accepted_message", True), ("names_no_task", False)])
def test_a_task_is_found_where_it_is_named(image: Path, rule: str, *, named: bool) -> None:
    with emulated([{"what": rule}]) as (emulator, updates):
        task = updates.send(Upload(image, targets=(BIOS,)))
        assert task == (next(iter(updates.tasks())) if named else "")
        assert len(emulator.updates()) == 1


def test_the_image_has_the_name_that_its_file_has(image: Path) -> None:
    """Its ending tells some BMCs what it is."""
    renamed = image.rename(image.with_suffix(".uxz"))
    with emulated([{"what": "wants_extension"}]) as (emulator, updates):
        updates.send(Upload(renamed))
        assert len(emulator.updates()) == 1


RAW = {
    "wants_length": ({"Transfer-Encoding": "chunked"}, "411"),
    "bare_boundary": ({"Content-Type": 'multipart/form-data; boundary="mark"'}, "400"),
    "parameters_first": ({"Content-Type": "multipart/form-data; boundary=mark"}, "400"),
    "plain_parameters": ({"Content-Type": "multipart/form-data; boundary=mark"}, "400"),
}


@pytest.mark.parametrize("rule", RAW)
def test_a_form_is_as_simple_as_the_simplest_bmc_wants_it(image: Path, rule: str) -> None:
    """It says its length, its boundary stands bare, the image comes last, alone a file; any other is refused."""
    headers, status = RAW[rule]
    body = b'--mark\r\nContent-Disposition: form-data; name="UpdateFile"; filename="a.bin"\r\n\r\nx\r\n'
    body += b'--mark\r\nContent-Disposition: form-data; name="UpdateParameters"; filename="Targets"\r\n\r\n{}\r\n'
    body += b"--mark--\r\n"
    with emulated([{"what": rule}]) as (emulator, updates):
        offered = updates.offer().multipart
        where = urlsplit(emulator.url)
        connection = http.client.HTTPConnection(str(where.hostname), where.port, timeout=60)
        chunked = "Transfer-Encoding" in headers
        basic = {"Authorization": "Basic YWRtaW46Y29ycmVjdCBob3JzZQ==", **headers}
        connection.request("POST", offered, iter([body]) if chunked else body, basic, encode_chunked=chunked)
        assert str(connection.getresponse().status) == status
        connection.close()
        assert emulator.updates() == []
        updates.send(Upload(image, targets=(BIOS,)))
        assert len(emulator.updates()) == 1


def test_a_bluefield_fetches_from_host_and_path(image: Path) -> None:
    """An address with a scheme is refused; a machine without the whole software has nothing to install there."""
    dpu = f"{HERE}/FirmwareInventory/DPU_OS"
    entry = {**load(OUR_OWN).get(BIOS), "@odata.id": dpu, "Id": "DPU_OS"}
    listed = load(OUR_OWN).get(f"{HERE}/FirmwareInventory")["Members"]
    changes = {dpu: entry, f"{HERE}/FirmwareInventory": {"Members": [*listed, {"@odata.id": dpu}]}}
    images.write(image.with_name("bf3.bfb"), {"DPU_OS": "9.9"})
    handler = partial(SimpleHTTPRequestHandler, directory=str(image.parent))
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), handler) as server,
        emulated([{"what": "bare_address"}], changes) as (emulator, updates),
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        with pytest.raises(BmcRefused, match="is not host and path"):
            updates.send(Upload(image, Transport.SIMPLE, targets=(BIOS,), url=f"{url}/image.bin"))
        task = updates.send(Upload(image.with_name("bf3.bfb"), targets=(dpu,), url=f"{url}/bf3.bfb"))
        assert task in updates.tasks()
        [update] = emulator.updates()
        assert update.task == task
        server.shutdown()


def test_every_quirk_has_a_test() -> None:
    tested = {case.rule for case in STRICT} | REFUSED.keys() | RAW.keys() | {"bare_address"}
    open_or_taken = {"internal_error", "bare_503", "error_in_success", "internal_error_taken"}
    assert tested | open_or_taken | {"accepted_message", "names_no_task"} == QUIRKS.keys()
