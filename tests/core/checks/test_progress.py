"""How far a node's tests are, in one line."""

from typing import Any

import pytest

from fleet_runner.core.checks.progress import standing
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.lifecycle.decisions import decide
from fleet_runner.core.lifecycle.runs import Outcome, Stored
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.core.lifecycle.view import Timing
from tests.making import NOW, a_node, a_run, a_view, stored, usage

BURNING = a_run(Stage.BURN_IN, Outcome.WORKING, id=7, detail="gpu_burn: it runs")


def working(check: str, **observed: Any) -> Stored:
    """A test that runs, or waits for its turn."""
    return stored(check=check, verdict=Verdict.UNKNOWN, observed={"working": True} | observed, run=7)


ENDED = [stored(check=name, run=7) for name in ("dcgm", "cpu_stress")]
OTHERS = [stored(check="steady", run=7), usage(in_use=False), stored(check="gpu_burn", run=6),
          stored(check="disk_speed", verdict=Verdict.SKIPPED, run=7), stored(check="gone", run=7)]  # fmt: skip


@pytest.mark.parametrize(
    ("elapsed", "seconds", "said"),
    [
        (72_000, 172_800, "gpu_burn 42 %, 29 h left"),
        (10, 610, "gpu_burn 2 %, 70 min left"),
        (0, 0, "gpu_burn, 60 min left"),
        (9e9, 10, "gpu_burn 100 %, 60 min left"),
    ],
)
def test_the_share_and_what_is_left_are_told(elapsed: float, seconds: float, said: str) -> None:
    """Of all that is still to run; what is no test, or of another run, does not count."""
    going = [working("gpu_burn", elapsed=elapsed, seconds=seconds), working("training", seconds=3600)]
    assert standing([*ENDED, *OTHERS, *going], BURNING) == f"burn_in: {said}; 2 of 4 tests ended"


def test_what_ended_without_a_good_answer_is_named() -> None:
    silent = stored(check="dcgm", verdict=Verdict.UNKNOWN, run=7)
    told = standing([silent, working("gpu_burn", elapsed=1, seconds=31)], BURNING)
    assert told == "burn_in: gpu_burn 3 %, 30 s left; 1 of 2 tests ended (dcgm without an answer)"


def test_where_no_test_runs_nothing_is_told() -> None:
    assert standing([*ENDED, working("training")], BURNING) == ""


def test_a_node_says_how_far_its_burn_in_is() -> None:
    """What the run itself said stands where no test runs."""
    node = a_node(State.BURN_IN)
    going = (working("gpu_burn", elapsed=1, seconds=11),)
    said = decide(a_view(node, latest=going, runs=(BURNING,)), Timing(), NOW).waiting
    assert said == "burn_in: gpu_burn 9 %, 10 s left; 0 of 1 test ended"
    assert decide(a_view(node, runs=(BURNING,)), Timing(), NOW).waiting == "gpu_burn: it runs"


def test_a_node_in_service_says_how_far_its_tests_are() -> None:
    run = a_run(Stage.HEALTH_ACTIVE, Outcome.WORKING, id=7)
    swept = (a_run(Stage.HEALTH_PASSIVE, id=2), a_run(Stage.CABLING, id=3))
    view = a_view(latest=(working("gpu_burn", elapsed=1, seconds=11), usage(in_use=False)), runs=(*swept, run))
    assert decide(view, Timing(), NOW).waiting == "health_active: gpu_burn 9 %, 10 s left; 0 of 1 test ended"
