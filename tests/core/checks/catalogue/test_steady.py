"""A node that boots in the middle of its burn-in has a fault."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import run
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Result, Verdict
from tests.core.checks.catalogue.judging import documented

BOOTED = 1_740_821_400.0  # 2025-03-01 09:30:00 on the node's clock
ONE, OTHER = "3f0c2a1e-5b7d-4e9a-8c61-0d2f4a6b8e13", "77d1b6f4-02c8-4a55-9f3e-c0a9e8d7b621"
PROFILE = {"burn_in": {"seconds": 100}}


def judged(
    boot: str = ONE,
    before: Result | None = None,
    age: float = 600.0,
    text: str = "2025-03-01 09:30:00\n",
    **told: Any,
) -> Result:
    """A node that runs a boot of some age, in a burn-in that began at the controller's 1000; its clock is another."""
    readings = {
        "uptime": Reading("uptime", ReadEnd.OK, text, at=BOOTED + age),
        "boot_id": Reading("boot_id", ReadEnd.OK, boot, at=BOOTED + age),
    }
    run_data: dict[str, Any] = {"since": 1000.0} | told
    if before is not None:
        run_data["before"] = {"steady": {"at": 1001.0, "observed": dict(before.observed)}}
    return documented(CHECKS["steady"], run(CHECKS["steady"], readings, Expected("gpu-01", PROFILE, run=run_data)))


def test_a_boot_in_the_middle_of_a_burn_in_is_a_fault_of_its_own() -> None:
    """Also one a minute after the load began, which is when a power supply trips."""
    result = judged(OTHER, judged(ONE))
    assert result.verdict is Verdict.FAIL
    assert result.message == "the node booted 600 s ago, in the middle of its burn-in; expected it to stay up"
    [finding] = result.findings
    assert (finding.code, finding.fault) == ("burn_in.rebooted", "gpu-01/burn_in.rebooted/node")
    assert "event log" in finding.steps[0]
    assert judged(OTHER, result).verdict is Verdict.FAIL


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.floats(0, 2e9))
def test_no_clock_makes_a_fault_of_a_node_that_stayed_up(first: float, later: float, now: float) -> None:
    """However shortly before its burn-in it booted, and however its clock or the controller's was set since."""
    seen = judged(ONE, age=first, now=now)
    assert seen.verdict is Verdict.PASS
    assert judged(f"{ONE}\n", seen, age=later, text="2025-03-01 09:29:58").verdict is Verdict.PASS


def test_a_boot_between_two_burn_ins_is_none() -> None:
    """Its second stay begins with what is seen first in it."""
    result = judged(OTHER, judged(ONE), since=2000.0)
    assert (result.verdict, result.observed["first"]) == (Verdict.PASS, {"since": 2000.0, "boot": OTHER})


@pytest.mark.parametrize("since", [None, "x"])
def test_by_hand_only_the_time_of_the_boot_is_told(since: object) -> None:
    """And what was remembered stays, for the next visit."""
    assert judged(since=since).message == "the node has been up for 600 s"
    assert "first" not in judged(since=since).observed
    between = judged(OTHER, judged(ONE), since=since)
    assert between.verdict is Verdict.PASS
    assert judged(OTHER, between).verdict is Verdict.FAIL


def test_what_an_older_runner_remembered_is_no_boot() -> None:
    """It told only when the node booted."""
    older = Result("steady", Verdict.PASS, "x", observed={"booted_at": 1.0})
    assert judged(ONE, older).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("age", "text", "boot"),
    [
        (-60, "2025-03-01 09:30:00", OTHER), (600, "2025-03-01 09", OTHER), (600, "", OTHER),
        (600, "2025-03-01 09:30:00", ""), (600, "2025-03-01 09:30:00", OTHER[:-1]),
    ],
)  # fmt: skip
def test_what_cannot_be_right_is_unknown(age: float, text: str, boot: str) -> None:
    assert judged(boot, judged(ONE), age, text).verdict is Verdict.UNKNOWN
