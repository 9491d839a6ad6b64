"""A reset leaves the kernel's log as it is: what stands there of before is no fault any more."""

from datetime import UTC, datetime
from typing import Any

import pytest

from fleet_runner.core.checks import CHECKS
from fleet_runner.core.checks.check import run
from fleet_runner.core.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.verdicts import Verdict

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
