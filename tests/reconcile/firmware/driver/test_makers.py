"""Machines of different makers, driven as each wants it; what is not done for one is said with its maker's tool."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.lab.redfish import images, load
from fleet_runner.lab.redfish.trees import OUR_OWN
from tests.pldm import Part, package
from tests.reconcile.firmware.driver.bench import Bench
from tests.reconcile.firmware.driver.bench import bench as benched
from tests.reconcile.firmware.driver.test_vendors import served

HERE = "/redfish/v1/UpdateService"
INVENTORY = f"{HERE}/FirmwareInventory"
ROOT = "/redfish/v1"


def said(bench: Bench, *, check: bool = False, **words: Any) -> str:
    """Drive, and return what a refusal says; nothing was sent then."""
    report = bench.drive(check=check, **words)
    assert (report["state"], bench.sent()) == ("refused", [])
    return str(report["message"])


def put(bench: Bench, file: str, data: bytes = b"", **versions: str) -> None:
    """Have the catalogue's first row bring its target with a file of this name."""
    row = bench.scene.profile["firmware"]["components"][0]
    path = bench.scene.images / file
    if data:
        path.write_bytes(data)
    else:
        images.write(path, versions)
    row["images"] = {row["target"]: {"file": file, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}}


LENOVO: dict[str, Any] = {
    ROOT: {"Vendor": "Lenovo", "Oem": {"Lenovo": {}}},
    HERE: {"MultipartHttpPushUri": None, "Actions": None, "HttpPushUriTargets": [], "HttpPushUriTargetsBusy": False},
}


def test_a_lenovos_targets_are_set_for_each_image(tmp_path: Path) -> None:
    """Bare images, one after the other; the mark of who uses the targets is left alone."""
    with benched(tmp_path, ("BIOS", "PSU"), changes=LENOVO) as bench:
        [bios, *_] = bench.drive(check=True)["steps"]
        assert [request["method"] for request in bios["requests"]] == ["PATCH", "POST"]
        assert list(bios["requests"][0]["body"]) == ["HttpPushUriTargets"]
        report = bench.drive()
        assert report["state"] == "done", report["message"]
        assert all(bench.bmc.versions()[entry] == pin for entry, (pin,) in bench.scene.pins.items())


@pytest.mark.parametrize(
    ("file", "why"),
    [
        (
            "lnvgy_utl_uxsp_bundle.zip",
            "is a bundle of many images, which is not sent over Redfish here; use Lenovo's",
        ),
        ("lnvgy_fw_uefi_comp.zip", "unpack it, and put the .uxz file"),
    ],
)
@pytest.mark.parametrize("check", [True, False])
def test_a_lenovos_packages_are_refused_with_what_to_do(tmp_path: Path, file: str, why: str, *, check: bool) -> None:
    with benched(tmp_path, ("BIOS",), changes=LENOVO) as bench:
        put(bench, file, BIOS=bench.scene.pins["BIOS"][0])
        assert why in said(bench, check=check)


def bluefield() -> Mapping[str, Any]:
    """The shipped machine with the whole software of a BlueField in its inventory, as DPU_OS."""
    shipped = load(OUR_OWN)
    uri = f"{INVENTORY}/DPU_OS"
    entry = {**shipped.get(f"{INVENTORY}/BIOS"), "@odata.id": uri, "Id": "DPU_OS", "RelatedItem": []}
    members = [*shipped.get(INVENTORY)["Members"], {"@odata.id": uri}]
    return {ROOT: {"Product": "BlueField-3"}, uri: entry, INVENTORY: {"Members": members}}


def to_dpu_os(bench: Bench) -> None:
    """Have the one row speak of DPU_OS."""
    row = bench.scene.profile["firmware"]["components"][0]
    row |= {"component": "DPU_OS", "inventory_id": "DPU_OS", "target": "DOCA_2.9"}
    put(bench, "bf3.bfb", DPU_OS="DOCA_2.9")


def test_a_bluefield_fetches_its_bfb(tmp_path: Path) -> None:
    with benched(tmp_path, ("BIOS",), changes=bluefield()) as bench, served(tmp_path / "images") as url:
        to_dpu_os(bench)
        [step] = bench.drive(check=True, images_url=url)["steps"]
        [request] = step["requests"]
        assert request["body"] == {
            "ImageURI": f"{url.removeprefix('http://')}/bf3.bfb",
            "Targets": [f"{INVENTORY}/DPU_OS"],
            "TransferProtocol": "HTTP",
        }
        report = bench.drive(images_url=url)
        assert report["state"] == "done", report["message"]
        assert bench.bmc.versions()["DPU_OS"] == "DOCA_2.9"
        assert len(bench.bmc.events("accepted")) == 1


def test_a_bfb_that_cannot_be_fetched_is_refused_with_the_tool_that_installs_it(tmp_path: Path) -> None:
    with benched(tmp_path, ("BIOS",), changes=bluefield()) as bench:
        to_dpu_os(bench)
        assert "so bf3.bfb cannot be sent; set firmware_url" in said(bench)
        bench.scene.profile["firmware"]["components"][0]["transport"] = "multipart"
        assert "fetches by SimpleUpdate alone; use bfb-install over rshim" in said(bench)


def test_a_bluefields_other_packages_name_no_targets(tmp_path: Path) -> None:
    with benched(tmp_path, ("BIOS",), changes={ROOT: {"Product": "BlueField-3"}}) as bench:
        assert "refuses Targets; set untargeted: true" in said(bench, check=True)
        bench.scene.profile["firmware"]["components"][0]["untargeted"] = True
        assert bench.drive()["state"] == "done"
        assert bench.bmc.versions()["BIOS"] == bench.scene.pins["BIOS"][0]


NVIDIA = {ROOT: {"Vendor": "NVIDIA"}, f"{INVENTORY}/BIOS": {"SoftwareId": "0x0020"}}


@pytest.mark.parametrize(
    ("spoilt", "why"),
    [
        ({"parts": [Part(0x20, "TARGET")], "devices": 0}, "is a PLDM package for nothing, expected 0x0020"),
        ({"parts": [Part(0x70, "TARGET")]}, "is a PLDM package for 0x0070, expected 0x0020"),
        ({"parts": [Part(0x20, "7.7.7")]}, "brings BIOS version 7.7.7, expected"),
        ({"parts": [Part(0x20, "TARGET")], "cut": -1}, "was it cut short?"),
        ({"parts": [Part(0x20, "TARGET")], "revision": 4, "flip": -1}, "whose images have the checksum"),
        ({"parts": [Part(0x20, "TARGET")], "flip": 60}, "the PLDM package's header has checksum"),
    ],
)
@pytest.mark.parametrize("check", [True, False])
def test_a_package_that_is_not_for_this_is_never_sent(
    tmp_path: Path, spoilt: dict[str, Any], why: str, *, check: bool
) -> None:
    """Though the catalogue has its SHA-256."""
    with benched(tmp_path, ("BIOS",), changes=NVIDIA) as bench:
        row = bench.scene.profile["firmware"]["components"][0]
        parts = [
            part if part.version != "TARGET" else Part(part.identifier, row["target"]) for part in spoilt["parts"]
        ]
        whole = bytearray(package(parts, revision=spoilt.get("revision", 1), devices=spoilt.get("devices", 1)))
        if "flip" in spoilt:
            whole[spoilt["flip"]] ^= 1
        put(bench, "hgx.fwpkg", bytes(whole[: spoilt.get("cut", len(whole))]))
        assert why in said(bench, check=check)


def test_a_package_that_is_for_this_brings_its_version(tmp_path: Path) -> None:
    with benched(tmp_path, ("BIOS",), changes=NVIDIA) as bench:
        target = bench.scene.profile["firmware"]["components"][0]["target"]
        put(bench, "hgx.fwpkg", package([Part(0x20, target)], revision=4))
        report = bench.drive()
        assert report["state"] == "done", report["message"]
        assert bench.bmc.versions()["BIOS"] == target


def test_what_has_no_image_is_told_with_the_makers_tool(tmp_path: Path) -> None:
    with benched(tmp_path, ("BIOS",), changes={ROOT: {"Oem": {"Supermicro": {}}}}) as bench:
        bench.scene.profile["firmware"]["components"][0]["images"] = {}
        report = bench.drive(check=True)
        assert report["state"] == "failed"
        assert "; Supermicro's SUM or SAA may bring it" in report["message"]


@pytest.mark.parametrize("check", [True, False])
def test_a_node_that_needs_nothing_is_done_though_its_bmc_does_not_say_how_it_takes_images(
    tmp_path: Path, *, check: bool
) -> None:
    rule = {"when": {"uri": "*/SimpleUpdateActionInfo"}, "what": {"answer": {"status": 500}}}
    with benched(tmp_path, ("BIOS",), [rule]) as bench:
        row = bench.scene.profile["firmware"]["components"][0]
        row |= {"target": bench.bmc.versions()["BIOS"], "images": {}}
        report = bench.drive(check=check)
        assert (report["state"], bench.sent()) == ("done", []), report["message"]


def test_a_supermicros_bmc_goes_before_its_bios_where_the_catalogue_leaves_it_open(tmp_path: Path) -> None:
    changes: dict[str, Any] = {ROOT: {"Oem": {"Supermicro": {}}}, HERE: {"Oem": {"Supermicro": {}}}}
    with benched(tmp_path, ("BMC", "BIOS"), [{"what": "resource_targets"}], changes=changes) as bench:
        for row in bench.scene.profile["firmware"]["components"]:
            del row["order"]
        bench.scene.profile["firmware"]["components"].reverse()
        steps = bench.drive(check=True)["steps"]
        assert [step["component"] for step in steps] == ["BMC", "BIOS"]
        kept = [step["requests"][0]["body"]["UpdateParameters"]["Oem"]["Supermicro"] for step in steps]
        assert [list(each) for each in kept] == [["BMC"], ["BIOS"]]
        report = bench.drive()
        assert report["state"] == "done", report["message"]
