"""A node that boots in the middle of its burn-in has a fault."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks import CHECKS
from fleet_runner.core.checks.check import run
from fleet_runner.core.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.verdicts import Result, Verdict

BOOT = 1_740_821_400.0  # 2025-03-01 09:30:00 on the node's clock
PROFILE = {"burn_in": {"seconds": 100}}


def judged(age: float, stay: float | None, text: str = "2025-03-01 09:30:00\n", **values: Any) -> Result:
    """A node that booted so many seconds ago and came to its burn-in so many ago; the clocks differ by a year."""
    reading = Reading("uptime", ReadEnd.OK, text, at=BOOT + age)
    run_data = {"now": 2e9, "since": None if stay is None else 2e9 - stay} | values
    return run(CHECKS["steady"], {"uptime": reading}, Expected("gpu-01", PROFILE, run=run_data))


def test_a_boot_in_the_middle_of_a_burn_in_is_a_fault_of_its_own() -> None:
    result = judged(600, 36_000)
    assert result.verdict is Verdict.FAIL
    assert result.message == "the node booted 35400 s after its burn-in began, expected it to stay up"
    [finding] = result.findings
    assert (finding.code, finding.fault) == ("burn_in.rebooted", "gpu-01/burn_in.rebooted/node")
    assert "event log" in finding.steps[0]


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_a_boot_before_the_burn_in_is_none(before: float, stay: float) -> None:
    """Also one shortly before it; seconds that the other reads took do not count."""
    assert judged(stay + before, stay).verdict is Verdict.PASS
    assert judged(stay + before, stay + 100).verdict is Verdict.PASS


@pytest.mark.parametrize("values", [{"stay": None}, {"stay": 1e5, "now": None}, {"stay": 1e5, "since": "x"}])
def test_by_hand_only_the_time_of_the_boot_is_told(values: dict[str, Any]) -> None:
    assert judged(600, **values).message == "the node has been up for 600 s"


@pytest.mark.parametrize(("age", "text"), [(-60, "2025-03-01 09:30:00"), (600, "2025-03-01 09"), (600, "")])
def test_what_cannot_be_right_is_unknown(age: float, text: str) -> None:
    assert judged(age, 36_000, text).verdict is Verdict.UNKNOWN
