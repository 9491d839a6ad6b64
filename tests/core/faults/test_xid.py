"""The table of Xids."""

import csv
from pathlib import Path

import pytest

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.xid import RECOVERY, UNKNOWN, XIDS, row


def test_no_xid_alone_sends_a_part_back() -> None:
    """That takes the GPU's own flags."""
    assert not [code for code, xid in XIDS.items() if xid.remedy in {Remedy.RMA, Remedy.REFLASH, Remedy.RECABLE}]


@pytest.mark.parametrize("code", [13, 31, 43, 45, 63, 94])
def test_an_applications_own_errors_are_only_recorded(code: int) -> None:
    """A tenant's bug must never cost the tenant its node."""
    assert row(code).remedy is Remedy.RECORD


@pytest.mark.parametrize("code", [48, 64, 95, 119, 120, 140])
def test_what_a_reset_clears_asks_for_a_reset(code: int) -> None:
    """Memory that lost its contents, and a system processor that stopped."""
    assert row(code).remedy is Remedy.RESET


def test_a_gpu_off_the_bus_asks_for_a_reboot() -> None:
    """Only power brings it back."""
    assert row(79).remedy is Remedy.REBOOT


@pytest.mark.parametrize("code", [0, 1, 99999])
def test_an_unknown_code_is_only_recorded(code: int) -> None:
    """A new driver's number must not take a fleet out of service."""
    assert row(code) is UNKNOWN
    assert row(code).remedy is Remedy.RECORD


def test_every_recovery_action_is_known_in_both_spellings() -> None:
    """The kernel's log and nvidia-smi name the same five actions."""
    assert RECOVERY["GPU Reset Required"] == RECOVERY["Reset"]
    assert RECOVERY["Node Reboot Required"] == RECOVERY["Reboot"]


def test_the_table_has_a_row_for_every_used_code_of_nvidias_catalogue(samples: Path) -> None:
    """And for none that the catalogue calls unused; mnemonics are the driver's."""
    with (samples / "gpu" / "xid_cross_peer.csv").open(encoding="utf-8", newline="") as file:
        used = {int(line["xid"]): line for line in csv.DictReader(file) if line["used"] == "yes"}
    assert set(XIDS) == set(used)
    for code, xid in XIDS.items():
        assert xid.mnemonic in used[code]["mnemonic"].split(" / ")


def test_the_table_resets_where_nvidia_resets(samples: Path) -> None:
    """Xid 48 has a workflow of its own that begins with the same reset."""
    with (samples / "gpu" / "xid_cross_peer.csv").open(encoding="utf-8", newline="") as file:
        named = {int(line["xid"]) for line in csv.DictReader(file) if line["nvidia_immediate"] == "RESET_GPU"}
    assert {code for code, xid in XIDS.items() if xid.remedy is Remedy.RESET} == named | {48}
