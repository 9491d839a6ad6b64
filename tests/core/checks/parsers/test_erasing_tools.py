"""lsblk, nvme-cli, hdparm and tpm2-tools say which devices a node has, and how each can be erased.

nvme-cli's answers come from a drive of QEMU's and from one whose log was given; hdparm's from identify pages.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import hdparm, lsblk, nvme_tool, tpm2
from fleet_runner.core.checks.parsers.nvme_tool import Sanitized


def listed(*rows: dict[str, Any]) -> str:
    """Return what lsblk prints for some devices."""
    return json.dumps({"blockdevices": rows})


def test_disks_are_listed_with_what_is_made_of_them(evidence: Path) -> None:
    first, second = lsblk.parse((evidence / "lsblk" / "two_nvme.json").read_text())
    assert (first.path, first.type, first.bytes, first.transport) == ("/dev/nvme0n1", "disk", 67_108_864, "nvme")
    assert (first.model, first.serial, first.mounts, first.removable) == ("QEMU NVMe Ctrl", "S1AAAA01", (), False)
    assert second.serial == "S1AAAA02"


def test_what_is_mounted_deep_inside_a_disk_is_found() -> None:
    volume = {"path": "/dev/dm-0", "type": "lvm", "mountpoints": ["/scratch", None]}
    part = {"path": "/dev/sda1", "type": "part", "children": [volume]}
    (disk,) = lsblk.parse(listed({"path": "/dev/sda", "type": "disk", "rm": "1", "children": [part]}))
    assert [(each.path, each.mounts) for each in disk.within()] == [("/dev/sda1", ()), ("/dev/dm-0", ("/scratch",))]
    assert disk.removable


@given(st.integers(1, 60))
def test_devices_may_be_nested_however_deep(depth: int) -> None:
    row: dict[str, Any] = {"path": "/dev/dm-0", "type": "lvm"}
    for _ in range(depth):
        row = {"path": "/dev/dm-0", "type": "lvm", "children": [row]}
    (disk,) = lsblk.parse(listed(row))
    assert 1 <= len(list(disk.within())) <= lsblk.DEEPEST


@pytest.mark.parametrize(
    ("name", "state", "proves"),
    [
        ("never", Sanitized.NEVER, False),
        ("in_progress", Sanitized.RUNNING, False),
        ("failed", Sanitized.FAILED, False),
        ("done", Sanitized.DONE, True),
        ("done_written_since", Sanitized.DONE, False),
    ],
)
def test_a_sanitize_log_proves_only_a_sanitize_that_ended_well_with_nothing_written_since(
    evidence: Path, name: str, state: Sanitized, proves: bool
) -> None:
    found = nvme_tool.sanitize((evidence / "nvme" / f"sanitize_{name}.json").read_text())
    assert (found.state, found.proves) == (state, proves)
    assert found.share == pytest.approx(0.1, abs=0.01)


def test_a_status_under_a_key_that_is_its_own_sentence_is_found() -> None:
    """As nvme-cli 2.5 prints it."""
    sentence = "Sanitize in Progress."
    log = {"nvme0": {"sprog": 1, "sstat": {"global_erased": 0, sentence: f"(2) {sentence}"}}}
    assert nvme_tool.sanitize(json.dumps(log)).state is Sanitized.RUNNING


@pytest.mark.parametrize("log", [{}, {"nvme0": {"sstat": 2}}, {"nvme0": {"sstat": {"status": "(7) What?"}}},
                                 {"nvme0": {"sstat": {"status": "well"}}}])  # fmt: skip
def test_a_log_without_a_status_is_refused(log: dict[str, Any]) -> None:
    with pytest.raises(EvidenceError, match="sanitize-log"):
        nvme_tool.sanitize(json.dumps(log))


def test_a_drive_of_qemus_formats_and_nothing_else(evidence: Path) -> None:
    found = nvme_tool.controller((evidence / "nvme" / "id_ctrl_qemu.json").read_text())
    assert (found.serial, found.model, found.firmware) == ("S1AAAA01", "QEMU NVMe Ctrl", "7.2.22")
    assert (found.formats, found.format_crypto, found.sanitize_crypto, found.sanitize_block) == (
        True,
        False,
        False,
        False,
    )


def test_a_drive_that_sanitizes_is_read_although_nvme_cli_prints_a_negative_number(evidence: Path) -> None:
    text = (evidence / "nvme" / "id_ctrl_sanitizes.json").read_text()
    assert json.loads(text)["sanicap"] < 0
    found = nvme_tool.controller(text)
    assert (found.format_crypto, found.sanitize_crypto, found.sanitize_block) == (True, True, True)


def test_a_drive_that_does_not_format_has_no_crypto_format_either() -> None:
    assert not nvme_tool.controller(json.dumps({"sn": "S", "oacs": 0, "fna": 4})).format_crypto


def test_a_drive_says_if_it_manages_namespaces(evidence: Path) -> None:
    assert nvme_tool.controller((evidence / "nvme" / "id_ctrl_sanitizes.json").read_text()).manages
    assert not nvme_tool.controller(json.dumps({"sn": "S", "oacs": 6})).manages


def test_namespaces_are_counted_and_each_is_known_by_the_way_it_is_reached(evidence: Path) -> None:
    assert nvme_tool.namespaces((evidence / "nvme" / "namespaces.json").read_text()) == 1
    ways = nvme_tool.transports((evidence / "nvme" / "list.json").read_text())
    assert ways == {"nvme0n1": frozenset({"pcie"}), "nvme1n1": frozenset({"pcie"})}


def test_a_namespace_of_several_controllers_is_reached_by_each_of_them() -> None:
    """With native multipath the namespaces stand beside the controllers."""
    controllers = [{"Controller": "nvme0", "Transport": "tcp"}, {"Controller": "nvme1", "Transport": "rdma"}]
    both = {"Controllers": controllers, "Namespaces": [{"NameSpace": "nvme0n1"}]}
    found = nvme_tool.transports(json.dumps({"Devices": [{"Subsystems": [both]}]}))
    assert found == {"nvme0n1": frozenset({"tcp", "rdma"})}


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("plain", (True, False, False, False, True)),
        ("frozen", (True, False, False, True, True)),
        ("enabled", (True, True, False, False, True)),
        ("locked", (True, True, True, False, True)),
        ("none", (False, False, False, False, False)),
    ],
)
def test_an_ata_disk_tells_the_state_of_its_security(evidence: Path, name: str, flags: tuple[bool, ...]) -> None:
    found = hdparm.parse((evidence / "hdparm" / f"{name}.txt").read_text())
    assert (found.supported, found.enabled, found.locked, found.frozen, found.enhanced) == flags
    assert (found.model, found.serial, found.firmware) == ("SAMSUNG MZ7LH480HAHQ-00005", "S4CKNX0R100001", "HXT7404Q")


def test_a_disk_without_a_serial_number_is_refused() -> None:
    with pytest.raises(EvidenceError, match="no serial number"):
        hdparm.parse("\tModel Number:       X\n\tSerial Number:      \n")


def test_a_tpm_tells_who_made_it_and_what_keeps_it_from_being_cleared(evidence: Path) -> None:
    assert tpm2.identity((evidence / "tpm2" / "fixed.txt").read_text()) == ("IBM", "20191023.163636")
    free = tpm2.locks((evidence / "tpm2" / "variable.txt").read_text())
    locked = tpm2.locks((evidence / "tpm2" / "variable_locked.txt").read_text())
    assert (free.lockout_password, free.clear_disabled, free.locked_out) == (False, False, False)
    assert (locked.lockout_password, locked.clear_disabled, locked.locked_out) == (True, False, False)


def test_a_tpm_that_tells_nothing_is_refused() -> None:
    with pytest.raises(EvidenceError, match="TPM2_PT_PERMANENT"):
        tpm2.locks("")
    assert tpm2.identity("") == ("", "")
