"""How a run ended."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.lifecycle.outcomes import UNTESTED, is_own, is_silent, judge
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.spool import Ended, PlayEnd
from fleet_runner.core.lifecycle.states import Stage
from tests.making import a_run

GOOD = Result("gpu", Verdict.PASS, "8 GPUs")
BAD = Result("gpu", Verdict.FAIL, "7 GPUs")
UNSURE = Result("gpu", Verdict.UNKNOWN, "nvidia-smi hung")
WORKING = Result("burn", Verdict.UNKNOWN, "3 of 48 h", observed={"working": True})


NOT_HEARD = "not the node: network_boot: no boot service has reported"
HUNG = "gpu: nvidia-smi hung"
OUR_OWN = Result("network_boot", Verdict.UNKNOWN, "no boot service has reported", observed={"own": True})


def ended(end: PlayEnd = PlayEnd.OK, message: str = "") -> Ended:
    """The play's last word."""
    return Ended("gpu-01", 0.0, end, message)


NO_BMC = (
    Result("sel", Verdict.UNKNOWN, "redfish_logs: no route"),
    Result("sensors", Verdict.UNKNOWN, "redfish_sensors: no route"),
)
UNWANTED = Result("fio", Verdict.SKIPPED, "the profile has no active.fio")
GAVE_WAY = Result("burn", Verdict.SKIPPED, "it gave way to python (7)", observed={"preempted": True})

results = st.lists(st.sampled_from([GOOD, BAD, UNSURE, WORKING, UNWANTED, GAVE_WAY]), max_size=4).map(tuple)
ends = st.none() | st.sampled_from(list(PlayEnd)).map(ended)


@given(results, ends)
def test_only_a_check_that_failed_fails_a_run(results: tuple[Result, ...], end: Ended | None) -> None:
    """A tool, a task or a connection that failed condemns nothing."""
    outcome, _ = judge(results, end)
    assert (outcome is Outcome.FAILED) == (BAD in results)


@given(results, ends)
def test_a_run_passes_only_when_all_was_asked_and_all_passed(results: tuple[Result, ...], end: Ended | None) -> None:
    """Missing answers are not good answers, nor is a test that gave way."""
    outcome, _ = judge(results, end)
    answers = [result for result in results if result != UNWANTED]
    everything = bool(answers) and {result.verdict for result in answers} == {Verdict.PASS} and end == ended()
    assert (outcome is Outcome.PASSED) == everything


@pytest.mark.parametrize(
    ("results", "end", "outcome", "sentence"),
    [
        ((GOOD, BAD), ended(PlayEnd.FAILED), Outcome.FAILED, "gpu: 7 GPUs"),
        ((GOOD,), None, Outcome.UNKNOWN, "the play ended without a result for this node"),
        ((GOOD,), ended(PlayEnd.UNREACHABLE, "no route"), Outcome.UNKNOWN, "unreachable: no route"),
        ((GOOD,), ended(PlayEnd.FAILED), Outcome.UNKNOWN, "a task failed: no reason given"),
        ((GOOD,), ended(PlayEnd.OWN, "no lease"), Outcome.UNKNOWN, "not the node: no lease"),
        ((), ended(), Outcome.UNKNOWN, "no check gave an answer"),
        ((GOOD, WORKING), ended(), Outcome.WORKING, "burn: 3 of 48 h"),
        ((WORKING, UNSURE), ended(), Outcome.WORKING, "burn: 3 of 48 h; gpu: nvidia-smi hung"),
        ((OUR_OWN,), ended(), Outcome.UNKNOWN, NOT_HEARD),
        (
            (GOOD, OUR_OWN),
            ended(),
            Outcome.UNKNOWN,
            f"{NOT_HEARD}; 1 checks passed",
        ),
        (
            (OUR_OWN, UNSURE),
            ended(),
            Outcome.UNKNOWN,
            f"{NOT_HEARD.removeprefix('not the node: ')}; {HUNG}",
        ),
        ((GOOD, *NO_BMC), ended(), Outcome.UNKNOWN, "sel, sensors: no route; 1 checks passed"),
        ((GOOD, NO_BMC[0], UNSURE), ended(), Outcome.UNKNOWN, "sel: no route; gpu: nvidia-smi hung; 1 checks passed"),
        ((UNSURE, GAVE_WAY), ended(), Outcome.UNKNOWN, "gpu: nvidia-smi hung"),
        ((UNWANTED, UNWANTED), ended(), Outcome.SKIPPED, "; ".join(["fio: the profile has no active.fio"] * 2)),
        ((GOOD, UNWANTED, GAVE_WAY), ended(), Outcome.SKIPPED, "burn: it gave way to python (7)"),
        ((GOOD, UNWANTED), ended(), Outcome.PASSED, "1 checks passed"),
        ((GOOD, GOOD), ended(), Outcome.PASSED, "2 checks passed"),
    ],
)
def test_examples(results: tuple[Result, ...], end: Ended | None, outcome: Outcome, sentence: str) -> None:
    """One of each, with its sentence."""
    assert judge(results, end) == (outcome, sentence)


def test_a_burn_in_passes_only_if_a_test_of_it_ran() -> None:
    """A profile that asks for none has proven nothing about the node."""
    steady = Result("steady", Verdict.PASS, "it was up all the time")
    nobody = Result("training", Verdict.SKIPPED, "the profile has no active.training")
    burnt = Result("gpu_burn", Verdict.PASS, "8 GPUs")
    assert judge((steady, nobody, GOOD), ended(), Stage.BURN_IN) == (Outcome.UNKNOWN, UNTESTED)
    assert is_own(a_run(outcome=Outcome.UNKNOWN, detail=UNTESTED))
    assert judge((steady, nobody), ended(), Stage.HEALTH_PASSIVE)[0] is Outcome.PASSED
    assert judge((steady, burnt, nobody), ended(), Stage.BURN_IN) == (Outcome.PASSED, "2 checks passed")


@pytest.mark.parametrize("end", [None, *map(ended, PlayEnd)])
def test_a_run_that_learned_nothing_is_known_by_its_words(end: Ended | None) -> None:
    """Unlike one whose check has no answer."""
    outcome, detail = judge((), end)
    assert is_silent(a_run(outcome=outcome, detail=detail))
    assert not is_silent(a_run(outcome=Outcome.LOST, detail=detail))
    assert not is_silent(a_run(outcome=Outcome.UNKNOWN, detail=judge((UNSURE,), ended())[1]))


@pytest.mark.parametrize(
    ("results", "end", "own"),
    [
        ((), None, True),
        ((), ended(), True),
        ((), ended(PlayEnd.OWN, "its lease is held"), True),
        ((OUR_OWN,), ended(), True),
        ((UNWANTED,), ended(), True),
        ((UNSURE, OUR_OWN), ended(), False),
        ((), ended(PlayEnd.UNREACHABLE, "timed out"), False),
        ((), ended(PlayEnd.FAILED, "the BMC answers 500"), False),
        ((WORKING,), ended(), False),
        ((BAD,), None, False),
        ((GOOD,), ended(), False),
    ],
)
def test_what_failed_of_ours_is_told_from_what_the_node_did(
    results: tuple[Result, ...], end: Ended | None, own: bool
) -> None:
    outcome, detail = judge(results, end)
    assert is_own(a_run(outcome=outcome, detail=detail)) is own
