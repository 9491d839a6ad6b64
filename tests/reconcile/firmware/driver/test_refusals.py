"""What is wrong with a catalogue or an image is refused before anything is sent, and nothing is written down."""

import hashlib
import time
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.firmware.catalogue import CatalogueError
from tests.pldm import Part, package
from tests.reconcile.firmware.driver.bench import Bench
from tests.reconcile.firmware.driver.scenes import NODE

Spoil = Callable[[dict[str, Any], Path], None]


def rows(profile: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["component"]: row for row in profile["firmware"]["components"]}


def wrong_checksum(profile: dict[str, Any], folder: Path) -> None:
    (folder / "PSU.bin").write_bytes(b"cut short")


def missing_image(profile: dict[str, Any], folder: Path) -> None:
    (folder / "PSU.bin").unlink()


def another_board(profile: dict[str, Any], folder: Path) -> None:
    profile["firmware"]["boards"] = ["X13DEG-OAD"]


def no_match(profile: dict[str, Any], folder: Path) -> None:
    rows(profile)["PSU"]["inventory_id"] = "PowerSupply*"


def two_matches(profile: dict[str, Any], folder: Path) -> None:
    rows(profile)["BIOS"]["inventory_id"] = "B*"
    rows(profile)["BIOS"]["count"] = 1


def two_rows_for_one(profile: dict[str, Any], folder: Path) -> None:
    profile["firmware"]["components"].append(dict(rows(profile)["PSU"], component="power", inventory_id="PSU_0"))


def no_way(profile: dict[str, Any], folder: Path) -> None:
    for image in rows(profile)["PSU"]["images"].values():
        image["from"] = ["1.0"]


def outside(profile: dict[str, Any], folder: Path) -> None:
    (folder.parent / "elsewhere.bin").write_bytes((folder / "PSU.bin").read_bytes())
    (folder / "PSU.bin").unlink()
    (folder / "PSU.bin").symlink_to(folder.parent / "elsewhere.bin")


def another_package(profile: dict[str, Any], folder: Path) -> None:
    (folder / "PSU.bin").write_bytes(package([Part(0x8000, "7.7.7")]))
    for image in rows(profile)["PSU"]["images"].values():
        image["sha256"] = hashlib.sha256((folder / "PSU.bin").read_bytes()).hexdigest()


def by_no_transport(profile: dict[str, Any], folder: Path) -> None:
    rows(profile)["PSU"]["transport"] = "simple"


WRONG: dict[Spoil, str] = {
    wrong_checksum: "has the SHA-256",
    missing_image: "PSU.bin is not there",
    another_board: "expected one like X13DEG-OAD",
    no_match: "lists no PSU (PowerSupply*)",
    two_matches: "expected 1",
    two_rows_for_one: "is meant by PSU and power",
    no_way: "no image leads from there",
    outside: "lies outside",
    another_package: "brings PSU_0 version 7.7.7, expected",
    by_no_transport: "takes no image by simple",
}


@pytest.mark.parametrize("spoil", WRONG, ids=lambda spoil: spoil.__name__)
def test_bad_input_is_refused_before_anything_is_sent(bench: Bench, spoil: Spoil) -> None:
    """Not even the BIOS is, which comes first and with which nothing is wrong."""
    profile = deepcopy(dict(bench.scene.profile))
    spoil(profile, bench.scene.images)
    report = bench.drive(profile=profile)
    assert report["state"] == "refused"
    assert WRONG[spoil] in report["message"]
    assert bench.sent() == []
    with Store.open(bench.store) as store:
        assert store.flashes(NODE) == ()


@pytest.mark.parametrize("spoil", WRONG, ids=lambda spoil: spoil.__name__)
def test_a_dry_run_refuses_the_same(bench: Bench, spoil: Spoil) -> None:
    profile = deepcopy(dict(bench.scene.profile))
    spoil(profile, bench.scene.images)
    report = bench.drive(profile=profile, check=True)
    assert (report["state"], bench.sent()) == ("refused", [])
    assert WRONG[spoil] in report["message"]


def test_a_catalogue_that_cannot_be_read_is_not_acted_on(bench: Bench) -> None:
    with pytest.raises(CatalogueError, match="target"):
        bench.drive(profile={"firmware": {"components": [{"component": "BIOS", "inventory_id": "BIOS"}]}})
    assert bench.sent() == []


def test_a_dry_run_says_every_request_in_order_and_sends_none(bench: Bench) -> None:
    report = bench.drive(check=True)
    assert report["state"] == "waiting"
    assert [(step["component"], step["targets"], step["resets"]) for step in report["steps"]] == [
        ("BIOS", ["/redfish/v1/UpdateService/FirmwareInventory/BIOS"], ["host_reset"]),
        ("PSU", ["/redfish/v1/UpdateService/FirmwareInventory/PSU_0"], []),
        ("PSU", ["/redfish/v1/UpdateService/FirmwareInventory/PSU_1"], []),
    ]
    first = report["steps"][0]
    assert (first["method"], first["uri"]) == ("POST", "/redfish/v1/UpdateService/upload-multipart")
    assert first["versions"] == {"BIOS": ["0.9", bench.scene.pins["BIOS"][0]]}
    assert (first["image"], first["force"]) == ("BIOS.bin", False)
    assert bench.sent() == []
    assert bench.drive()["state"] == "done"
    sent = [list(event["components"]) for event in bench.bmc.events("accepted")]
    assert sent == [list(step["versions"]) for step in report["steps"]]


def test_nothing_begins_where_the_runner_says_why_not(bench: Bench) -> None:
    report = bench.drive(start="4 nodes of its rack are updated already")
    assert (report["state"], report["message"]) == ("waiting", "4 nodes of its rack are updated already")
    assert bench.sent() == []


def test_nothing_begins_while_a_person_allows_power(bench: Bench) -> None:
    with Store.open(bench.store) as store:
        store.allow_power(NODE, "ann", "the board is dead", time.time(), 600.0)
    report = bench.drive()
    assert report["state"] == "waiting"
    assert "by ann: the board is dead; nothing is flashed until then" in report["message"]
    assert bench.sent() == []
