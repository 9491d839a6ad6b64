"""Firmware inventories of several vendors, and which of their entries run."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.firmware.catalogue import Catalogue, Component
from fleet_runner.core.firmware.inventory import Entry, entries, running
from fleet_runner.core.firmware.matching import match, numbered
from tests.core.checks.parsers.test_redfish import captured

BASE = "/redfish/v1/UpdateService/FirmwareInventory"


def bodies(**versions: object) -> dict[str, dict[str, Any]]:
    """Return the bodies of some entries."""
    return {f"{BASE}/{name}": {"Version": version} for name, version in versions.items()}


def dell(*segments: str) -> dict[str, Entry]:
    """Return the entries of an iDRAC, whose ids hold their versions."""
    return entries({f"{BASE}/{each}": {"Version": each.split("-")[2].split("__")[0]} for each in segments})


@given(version=st.text(st.sampled_from("21.\x1b\x07\n\x00\u202e[2J")))
def test_a_version_moves_no_terminal_and_is_never_taken_for_another(version: str) -> None:
    """An escape, a line break: they are marked, not taken out."""
    [entry] = entries(bodies(BIOS=version)).values()
    assert entry.version.isprintable()
    assert (entry.version == version.strip()) is version.strip().isprintable()
    assert len(entry.version) == len(version.strip())


def test_an_entry_says_what_its_body_says() -> None:
    """One example, as Supermicro has it."""
    body = {
        "Id": "HGX_FW_GPU_SXM_1",
        "Name": "Software Inventory",
        "Version": " 96.00.61.00.01 ",
        "Updateable": True,
        "SoftwareId": "0x0020",
        "Manufacturer": "NVIDIA",
        "Status": {"State": "Enabled"},
    }
    uri = f"{BASE}/HGX_FW_GPU_SXM_1/"
    assert entries({uri: body}) == {
        "HGX_FW_GPU_SXM_1": Entry(
            "HGX_FW_GPU_SXM_1",
            uri,
            "96.00.61.00.01",
            updateable=True,
            software_id="0x0020",
            manufacturer="NVIDIA",
            name="Software Inventory",
        )
    }


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
FIELDS = st.sampled_from(["Version", "Updateable", "SoftwareId", "Manufacturer", "Name", "Status", "Id"])


@given(st.dictionaries(st.text("/ABab_-1.", max_size=12), st.dictionaries(FIELDS, JSON), max_size=6))
def test_whatever_a_bmc_says_nothing_but_evidence_errors_is_raised(told: Mapping[str, Mapping[str, Any]]) -> None:
    """And what runs is part of what there is."""
    try:
        found = entries(told)
    except EvidenceError as error:
        assert "twice" in str(error)  # noqa: PT017  (it may also be read)
        return
    assert len(found) == len(told)
    assert running(found).items() <= found.items()


@pytest.mark.parametrize("version", [None, "", "  ", "N/A", "n/a", "Unknown", 3, ["2.0"]])
def test_a_version_that_is_not_told_is_none(version: object) -> None:
    """It is no drift: the entry is there, and has no version."""
    assert running(entries(bodies(BIOS=version)))["BIOS"].version == ""


@pytest.mark.parametrize(
    "name",
    [
        "Backup_BMC", "Golden_BIOS", "Staging_BMC", "BMC-Backup", "UEFI.backup",
        "BMC-Primary-Pending", "DPU_UEFI_pending", "AvailableBMC", "BackupBIOS",
    ],
)  # fmt: skip
def test_images_that_do_not_run_are_aside(name: str) -> None:
    """Whatever the vendor writes first."""
    assert running(entries(bodies(**{name: "1.0", "BMC": "2.0"}))).keys() == {"BMC"}


def test_what_is_not_there_does_not_run() -> None:
    """Supermicro says it in the version, others in the status."""
    told = bodies(NIC_1="Not Present", NIC_2="1.0", NIC_3="1.0")
    told[f"{BASE}/NIC_2"]["Status"] = {"State": "Absent"}
    assert running(entries(told)).keys() == {"NIC_3"}


def test_an_id_of_dells_stays_the_same_over_an_update() -> None:
    """Its URI holds the version; the image from before becomes a previous one."""
    before = dell("Installed-159-1.2.4__BIOS.Setup.1-1", "Previous-159-1.1.0__BIOS.Setup.1-1")
    after = dell("Installed-159-1.3.0__BIOS.Setup.1-1", "Previous-159-1.2.4__BIOS.Setup.1-1")
    (old,) = running(before).values()
    (new,) = running(after).values()
    assert (old.id, old.version, new.id, new.version) == (
        "Installed-159__BIOS.Setup.1-1",
        "1.2.4",
        "Installed-159__BIOS.Setup.1-1",
        "1.3.0",
    )
    assert new.segment == "Installed-159-1.3.0__BIOS.Setup.1-1"


def test_what_dell_lists_as_current_and_as_installed_is_one_image() -> None:
    """And what is available only waits to be installed."""
    found = dell(
        "Current-159-1.2.4__BIOS.Setup.1-1",
        "Installed-159-1.2.4__BIOS.Setup.1-1",
        "Current-0-7.1__CPLD.Embedded.1",
        "Available-25227-7.0__iDRAC.Embedded.1-1",
    )
    assert list(running(found)) == ["Installed-159__BIOS.Setup.1-1", "Current-0__CPLD.Embedded.1"]


def test_an_id_of_an_older_idrac_stays_the_same_too() -> None:
    """It names no part: what is alike keeps its versions, and so does what has no software id."""
    before = dell("Installed-159-2.2.11", "Previous-25227-3.30", "Installed-0-1.0")
    after = dell("Installed-159-2.3.10", "Installed-104947-GC5B", "Installed-104947-GC57")
    assert list(running(before)) == ["Installed-159", "Installed-0-1.0"]
    assert list(running(after)) == ["Installed-159", "Installed-104947-GC5B", "Installed-104947-GC57"]
    assert before["Installed-159"].segment == "Installed-159-2.2.11"


def openbmc(*images: tuple[str, str, dict[str, Any]], part: str = "Managers/bmc") -> dict[str, Entry]:
    """Return the entries of an OpenBMC, each with its id, its version and what else it says."""
    related = {"RelatedItem": [{"@odata.id": f"/redfish/v1/{part}"}]}
    return entries({f"{BASE}/{name}": {"Version": version} | related | more for name, version, more in images})


SPARE = {"Status": {"State": "StandbySpare"}}


@pytest.mark.parametrize(
    ("runs", "spare"),
    [({}, SPARE), ({"Active": True}, {"Active": False}), ({"Active": True} | SPARE, {"Active": False})],
)
def test_an_id_of_openbmcs_stays_the_same_though_it_is_a_hash_of_the_version(
    runs: dict[str, Any], spare: dict[str, Any]
) -> None:
    """The image from before stays beside the new one, and is no drift."""
    before = openbmc(("4e9a7908", "2.9", runs), ("52d25a1b", "2.8", spare))
    after = openbmc(("16acf692", "2.10", runs), ("4e9a7908", "2.9", spare))
    assert {name: entry.version for name, entry in running(before).items()} == {"bmc": "2.9"}
    assert {name: entry.version for name, entry in running(after).items()} == {"bmc": "2.10"}
    assert after["bmc"].segment == "16acf692"
    found = match(catalogue(row("BMC", "bmc")), after)
    assert ([entry.id for _, mine in found.rows for entry in mine], found.troubles) == (["bmc"], ())


def test_of_two_images_of_which_either_may_run_no_version_is_certain() -> None:
    with pytest.raises(EvidenceError, match="has bmc twice"):
        openbmc(("4e9a7908", "2.9", {}), ("52d25a1b", "2.8", {"Status": {"State": "Enabled"}}))


def test_a_hash_that_belongs_to_nothing_keeps_its_name() -> None:
    told = {f"{BASE}/4e9a7908": {"Version": "2.9", "RelatedItem": "bmc"}, f"{BASE}/GPU_0": {"Version": "1"}}
    assert list(running(entries(told))) == ["4e9a7908", "GPU_0"]
    assert list(running(openbmc(("4e9a7908", "2.9", SPARE)))) == []
    assert list(running(openbmc(("BMC", "2.9", {})))) == ["BMC"]


def test_two_entries_of_one_id_are_nothing_to_build_on() -> None:
    """Which of them changes when one is updated?"""
    with pytest.raises(EvidenceError, match=r"has BMC twice: /a/BMC and /b/BMC"):
        entries({"/a/BMC": {"Version": "1"}, "/b/BMC": {"Version": "2"}})


@pytest.mark.parametrize(("name", "count"), [("supermicro_hgx_h100.json.gz", 99), ("dgx_h100.json.gz", 66)])
def test_captured_inventories_are_read(samples: Path, name: str, count: int) -> None:
    """Of the Supermicro's 106, two are backups, three golden, two staging."""
    found = running(entries(json.loads(captured(samples, name, "/FirmwareInventory/"))))
    assert len(found) == count
    assert found["HGX_FW_BMC_0"].version.startswith("HGX-22.10-1-rc")
    assert all(entry.version for entry in found.values())


def catalogue(*rows: Component) -> Catalogue:
    """Return a catalogue of some rows."""
    return Catalogue(rows)


def row(name: str, glob: str, count: int | None = None, called: str = "") -> Component:
    """Return a row that looks for entries."""
    return Component(name, glob, "1", ("1",), count=count, inventory_name=called)


GPUS = entries(bodies(GPU_10="1", GPU_2="1", GPU_1="1"))


@pytest.mark.parametrize(
    ("rows", "trouble"),
    [
        ([row("GPU", "GPU_*")], ""),
        ([row("GPU", "GPU_*", 3)], ""),
        ([row("GPU", "GPU_1")], ""),
        ([row("GPU", "GPU_*", 8)], "the BMC lists 3 of GPU (GPU_*), expected 8; is the host on?"),
        ([row("GPU", "GPU_*", 2)], "the BMC lists 3 of GPU (GPU_*), expected 2; is the host on?"),
        ([row("HMC", "HGX_*")], "the BMC lists no HMC (HGX_*); is the host on?"),
        ([row("GPU", "gpu_*")], "the BMC lists no GPU (gpu_*); is the host on?"),
        ([row("ROM", "*", called="System ROM")], "the BMC lists no ROM (*, called System ROM); is the host on?"),
        (
            [row("GPU", "GPU_*"), row("First GPU", "GPU_1")],
            "GPU_1 is meant by GPU and First GPU of the catalogue, expected one of them",
        ),
    ],
)
def test_a_catalogue_means_entries_or_says_why_that_is_not_certain(rows: list[Component], trouble: str) -> None:
    """None of a row's, too few, too many, or two rows for one entry."""
    assert "; ".join(match(catalogue(*rows), GPUS).troubles) == trouble


def test_an_entry_without_a_version_is_trouble() -> None:
    """It may be on its target, or not."""
    found = match(catalogue(row("BIOS", "BIOS")), entries(bodies(BIOS="N/A")))
    assert found.troubles == ("the BMC gives no version of BIOS",)


def test_entries_that_a_bmc_numbers_are_found_by_their_names() -> None:
    """As HPE has them."""
    told = {
        f"{BASE}/1": {"Name": "iLO 6", "Version": "1.5"},
        f"{BASE}/2": {"Name": "System ROM", "Version": "2.1"},
        f"{BASE}/3": {"Name": "Redundant System ROM", "Version": "2.0"},
    }
    found = match(catalogue(row("BIOS", "*", 1, "System ROM")), entries(told))
    assert [[entry.id for entry in mine] for _, mine in found.rows] == [["2"]]
    assert not found.troubles


def test_dells_entries_are_found_by_their_ids_and_by_their_segments() -> None:
    """A glob may leave out the version, or stand for it."""
    found = dell("Installed-159-1.2.4__BIOS.Setup.1-1")
    for glob in ("Installed-159__BIOS.Setup.1-1", "Installed-159-*__BIOS.Setup.1-1", "*__BIOS.Setup.1-1"):
        assert not match(catalogue(row("BIOS", glob)), found).troubles


@given(st.lists(st.integers(0, 999), unique=True))
def test_entries_are_in_the_order_of_their_numbers(numbers: list[int]) -> None:
    """NIC_2 before NIC_10."""
    names = [f"NIC_{number}_A" for number in numbers]
    assert sorted(names, key=numbered) == [f"NIC_{number}_A" for number in sorted(numbers)]
