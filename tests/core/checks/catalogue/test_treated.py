"""A reset leaves the kernel's log as it is: what stands there of before is no fault any more."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import run
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Verdict
from tests.core.checks.healthy import text_of

FAULT = "gpu-01/xid.119/GPU 0000:9b:00.0"
TREATED, OPENED = 1_000_000.0, 1_000_600.0
AHEAD = 5000.0
"""How far the node's clock is ahead of ours."""


def line(at: float, code: int = 119, zone: str = "+00:00") -> str:
    """An Xid in the log, at a moment by our clock."""
    stamp = datetime.fromtimestamp(at + AHEAD, UTC).strftime("%Y-%m-%dT%H:%M:%S,000000")
    return f"{stamp}{zone} NVRM: Xid (PCI:0000:9b:00): {code}, pid=1, name=x, Timeout"


def judged(text: str, told: dict[str, Any], read_at: float = OPENED + AHEAD) -> Verdict:
    """What the check says of such a log, read on a node whose clock is ahead."""
    reading = Reading("dmesg", ReadEnd.OK, f"{text}\nlater\n", at=read_at)
    return run(CHECKS["xid"], {"dmesg": reading}, Expected("gpu-01", {}, run=told)).verdict


TOLD = {"treated": {FAULT: TREATED}, "opened_at": OPENED}


def test_what_was_logged_before_the_treatment_is_no_news_and_what_came_after_is() -> None:
    """Whatever the node's clock says: only how long ago it was counts."""
    assert judged(line(TREATED - 30), TOLD) is Verdict.PASS
    assert judged(line(TREATED + 30), TOLD) is Verdict.FAIL
    assert judged(f"{line(TREATED - 30)}\n{line(TREATED + 30)}", TOLD) is Verdict.FAIL


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"treated": {}, "opened_at": OPENED},
        {"treated": {"gpu-01/xid.119/GPU 0000:1b:00.0": TREATED}, "opened_at": OPENED},
        {"treated": {FAULT: TREATED}},
        {"treated": {FAULT: "soon"}, "opened_at": OPENED},
        {"treated": [FAULT], "opened_at": OPENED},
    ],
)
def test_of_what_was_not_treated_every_line_counts(told: dict[str, Any]) -> None:
    """Another GPU's reset hides nothing, nor does what is not told whole."""
    assert judged(line(TREATED - 30), told) is Verdict.FAIL


def test_a_line_whose_time_says_nothing_is_kept() -> None:
    """Better one reset too many than a fault that is not seen; likewise where the node's clock is not known."""
    assert judged(line(TREATED - 30, zone=""), TOLD) is Verdict.FAIL
    assert judged("[12.0] NVRM: Xid (PCI:0000:9b:00): 119, pid=1, name=x, Timeout", TOLD) is Verdict.FAIL
    assert judged(line(TREATED - 30), TOLD, read_at=0.0) is Verdict.FAIL


def test_a_switchs_error_is_treated_with_its_own_fault() -> None:
    told = {"treated": {"gpu-01/sxid.20034/NVSwitch 0000:05:00.0": TREATED}, "opened_at": OPENED}
    stamp = line(TREATED - 30).split(" ", 1)[0]
    text = f"{stamp} nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 30 LTSSM Fault Up"
    assert judged(text, told) is Verdict.PASS
    assert judged(text, {}) is Verdict.FAIL


OOPS = "BUG: unable to handle page fault for address: ffff8881"


def kernels(text: str, told: dict[str, Any]) -> Verdict:
    """What the check of the kernel's own words says of such a log."""
    reading = Reading("dmesg", ReadEnd.OK, f"{text}\nlater\n", at=OPENED + AHEAD)
    return run(CHECKS["kernel_log"], {"dmesg": reading}, Expected("gpu-01", {"kernel_log": {}}, run=told)).verdict


def test_a_message_of_the_kernel_is_no_news_either_once_it_was_treated() -> None:
    """A policy may have a soft lockup answered with a reset, which leaves the log as it is."""
    told = {"treated": {"gpu-01/kernel.oops/kernel": TREATED}, "opened_at": OPENED}
    before, after = (f"{line(at).split(' ', 1)[0]} {OOPS}" for at in (TREATED - 30, TREATED + 30))
    assert kernels(before, told) is Verdict.PASS
    assert kernels(before, {}) is Verdict.FAIL
    assert kernels(f"{before}\n{after}", told) is Verdict.FAIL


@pytest.mark.parametrize("hours", [0, 2, -7])
def test_an_error_that_fabric_manager_logged_before_the_treatment_is_no_news(hours: int) -> None:
    """It runs on while GPUs are reset. Its log has no zone: the kernel's log tells the node's own."""
    fault = "gpu-01/fabric_manager.nvswitch_fatal/Fabric Manager"
    told = {"treated": {fault: TREATED}, "opened_at": OPENED}
    zone = timezone(timedelta(hours=hours))

    def judged_at(at: float, told: dict[str, Any], *, zoned: bool = True) -> set[str]:
        stamp = datetime.fromtimestamp(at + AHEAD, zone)
        log = f"[{stamp:%b %d %Y %H:%M:%S}] [ERROR] [tid 7] detected NVSwitch fatal error 20034 on fid 0\n"
        unit = "LoadState=loaded\nActiveState=active\nSubState=running\nResult=success\nNRestarts=0\n"
        since = "InactiveExitTimestamp=Thu 1969-12-25 08:00:00 UTC\n"
        kernel = f"{stamp:%Y-%m-%dT%H:%M:%S},000001{hours:+03}:00 usb 1-1: new device\n" if zoned else "[1.0] usb\n"
        texts = {"fabric_manager_log": log, "fabric_manager_unit": unit + since, "dmesg": kernel}
        texts["nvidia_smi"] = text_of("nvidia_smi/h100_one.xml")
        readings = {name: Reading(name, ReadEnd.OK, text, at=OPENED + AHEAD) for name, text in texts.items()}
        profile = {"fabric_manager": {"restarts_max": 3}, "gpu": {"count": 1}}
        result = run(CHECKS["fabric_manager"], readings, Expected("gpu-01", profile, run=told))
        assert result.verdict is not Verdict.UNKNOWN, result.message
        return {finding.code for finding in result.findings}

    assert not judged_at(TREATED - 30, told)
    assert judged_at(TREATED - 30, {}) == {"fabric_manager.nvswitch_fatal"}
    assert judged_at(TREATED + 30, told) == {"fabric_manager.nvswitch_fatal"}
    assert judged_at(TREATED - 30, told, zoned=False) == {"fabric_manager.nvswitch_fatal"}, "kept: no zone is told"
