"""Which checks pay: each with what it found and what it took, and the schedule that follows."""

import json

import pytest

from fleet_runner.core.lifecycle.states import State
from fleet_runner.core.reliability.check_value.analyse import CheckValue, Paid, analyse
from fleet_runner.core.reliability.check_value.past import DAY, Cost, Moved, Remedied
from tests.core.reliability.check_value.builders import SINCE, episode, past

GEMM, ERRORS, TRAINING = Cost("gemm", 24.0, 120.0), Cost("gpu_errors", 288.0, 0.5), Cost("training", 24.0, 300.0)


def told(worth: CheckValue, check: str) -> Paid:
    """Return what is told of a check."""
    return next(row for row in worth.checks if row.check == check)


def test_each_check_is_told_with_what_it_found_and_what_that_took() -> None:
    found = [
        episode(1, "gpu-01", "gpu_errors", 1.0), episode(2, "gpu-01", "gemm", 1.25),
        episode(3, "gpu-02", "gemm", 2.0), episode(4, "gpu-03", "", 3.0),
    ]  # fmt: skip
    done = Remedied("gpu-01", ("gpu-01/gpu_errors",), SINCE + 2 * DAY, helped=False)
    worth = analyse(found, past(GEMM, ERRORS, remedied=(done,)))
    gemm, errors, pushed = (told(worth, name) for name in ("gemm", "gpu_errors", ""))
    assert (gemm.active, gemm.first, gemm.alone, gemm.later, gemm.unconfirmed) == (True, 1, 1, 1, 1)
    assert gemm.minutes_a_week == 336.0
    assert gemm.faults_an_hour == pytest.approx(1 / (336 / 60 * 30 / 7 * 40))
    assert (errors.first, errors.alone, errors.lead_hours, errors.unhelped) == (1, 0, 6.0, 1)
    assert (pushed.first, pushed.seconds_a_look, pushed.minutes_a_week, pushed.faults_an_hour) == (
        1,
        None,
        None,
        None,
    )
    assert errors.sentence == (
        "gpu_errors found 1 fault first, 0 of them alone, the others 6 hours before the next; it took 16.8 minutes a"
        " node and week; 1 remedy against its finds changed nothing"
    )
    assert gemm.sentence.endswith("; 1 were not confirmed by the next look")
    assert pushed.sentence == "what was pushed found 1 fault first, 1 of them alone"
    assert worth.sentences[0] == ("3 faults on 40 nodes in 30 days; 1 of them were not confirmed by the next look.")


def test_a_lead_below_an_hour_is_told_in_minutes() -> None:
    found = [episode(1, "gpu-01", "gpu_errors", 1.0), episode(2, "gpu-01", "gemm", 1.0 + 1 / 48)]
    assert "the others 30 minutes before the next" in told(analyse(found, past()), "gpu_errors").sentence


def test_a_schedule_is_proposed_with_what_it_misses() -> None:
    found = [episode(at, f"gpu-{at:02}", "gemm", 1.0 + at / 4, seen=2) for at in range(30)]
    mended = tuple(Moved(each.node, each.last_at + DAY, State.TRIAGE, State.ONBOARD, mended=True) for each in found)
    plan = analyse(found, past(GEMM, ERRORS, TRAINING, moves=_back(mended))).plan
    assert [(row.check, row.every, row.only_it) for row in plan.steps] == [("training", 168, 0), ("gemm", 12, 30)]
    assert (plan.faults, plan.minutes_a_week, plan.proposed_minutes_a_week) == (30, 1176.0, 33.0)
    assert plan.miss == 0.0
    assert plan.miss_high == pytest.approx(0.1135, abs=1e-3)
    assert plan.sentence == (
        "In service, active tests take 1,176 minutes a node and week; 33 would find the same faults but an expected"
        " 0.0% (at most 11.4%), 5.5 hours later on average."
    )
    assert plan.steps[1].sentence == (
        "gemm: at one of 12 rounds, 28 instead of 336 minutes a node and week; 30 faults nobody else found"
    )


def _back(mended: tuple[Moved, ...]) -> tuple[Moved, ...]:
    """Return how nodes left service before they were mended, so that they were in it when a fault was seen."""
    return (*(Moved(each.node, each.at - DAY / 2, State.PRODUCTION, State.TRIAGE) for each in mended), *mended)


def test_tests_that_are_all_needed_come_as_they_do() -> None:
    """What passes within the hour is only found by a test at each round."""
    found = [episode(at, f"gpu-{at:02}", "gemm", 1.0 + at / 4) for at in range(30)]
    done = [Remedied(each.node, (each.fault,), each.first_at, helped=None) for each in found]
    plan = analyse(found, past(GEMM, remedied=tuple(done))).plan
    assert (
        plan.sentence
        == "In service, active tests take 336 minutes a node and week; no rarer schedule finds the same."
    )
    assert plan.steps[0].sentence == "gemm: at each round, as today; 30 faults nobody else found"


def test_what_was_none_and_what_was_found_before_service_is_no_reason_for_a_test() -> None:
    found = [episode(at, f"gpu-{at:02}", "gemm", 1.0 + at / 4) for at in range(30)]
    plan = analyse(found, past(GEMM)).plan
    assert (plan.faults, plan.proposed_minutes_a_week) == (0, None)
    assert plan.why == "not enough data: active tests found 0 faults in service, expected at least 20"


@pytest.mark.parametrize("cost", [ERRORS, Cost("gemm", 24.0, None), Cost("gemm", 0.1, 60.0), Cost("gemm", 0.0, 60.0)])
def test_without_a_test_that_comes_nothing_is_proposed(cost: Cost) -> None:
    assert analyse([], past(cost)).plan.why == "no active test is run at nodes in service at least once a week"


def test_nothing_known_is_told_as_such_and_all_of_it_is_plain() -> None:
    body = analyse([], past(nodes=0)).to_json()
    assert json.loads(json.dumps(body, allow_nan=False)) == body
    assert (body["faults"], body["checks"], body["days"], body["schedules"][0]["steps"]) == (0, [], 30.0, [])


def test_names_without_end_are_cut_and_counted() -> None:
    body = analyse([episode(at, "gpu-01", f"check-{at}", 1.0) for at in range(600)], past()).to_json()
    assert (len(body["checks"]), body["cut"]) == (500, 100)
