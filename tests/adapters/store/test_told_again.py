"""What a test says at each visit that has ended is one answer: the newest run's, stored once."""

from dataclasses import replace

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.lifecycle.runs import Outcome, Run
from fleet_runner.core.lifecycle.spool import Judged
from fleet_runner.core.lifecycle.states import Stage, State
from tests.adapters.store.builders import START, decision, judged, node, opened

FAULT = judged(verdict=Verdict.FAIL).result.findings
ENDED = Result("gpu_burn", Verdict.FAIL, "GPU 3", FAULT, {"gflops": [1.5, 2]}, ("aa", "smi-1"))
RUNS = Result("gpu_burn", Verdict.UNKNOWN, "it runs", (), {"working": True, "elapsed": 1.0}, ("bb",))


def visited(store: Store, *told: Result, stage: Stage = Stage.BURN_IN, at: float = 201.0, end: bool = True) -> Run:
    """Carry out a visit that brings some answers."""
    batch = f"b-{len(store.runs('gpu-01', limit=1000))}"
    mine = opened(store, stage=stage, batch=batch)
    store.ingest(batch, 0, 10, [Judged("gpu-01", at, each) for each in told])
    if end:
        store.close_run(mine, Outcome.WORKING, "", 300.0)
    return mine


def answers(store: Store) -> list[int]:
    """The ids of all that is stored about the node."""
    return sorted(stored.id for run in store.runs("gpu-01", limit=1000) for stored in store.results(run.id))


def test_an_answer_that_is_told_again_goes_on_to_the_newest_run(stocked: Store) -> None:
    """Which is judged by it as if it had been told for the first time; when it was seen first stays."""
    first = visited(stocked, ENDED)
    before = stocked.latest_results("gpu-01")
    last = visited(stocked, replace(ENDED, evidence=("aa", "smi-2")), at=900.0)
    assert stocked.results(first.id) == ()
    assert stocked.results(last.id) == tuple(replace(each, run=last.id) for each in before)
    assert stocked.latest_results("gpu-01") == stocked.results(last.id)
    assert len(answers(stocked)) == 1


def test_many_visits_store_an_ended_test_once(stocked: Store) -> None:
    for number in range(20):
        running = replace(
            RUNS, check="dcgm", observed={"working": True, "elapsed": float(number)}, evidence=(str(number),)
        )
        last = visited(stocked, ENDED, running)
    assert len(answers(stocked)) == 1 + 20
    assert {stored.result.verdict for stored in stocked.results(last.id)} == {Verdict.FAIL, Verdict.UNKNOWN}


@pytest.mark.parametrize(
    "other",
    [
        replace(ENDED, evidence=("cc", "smi-1")),
        replace(ENDED, evidence=()),
        replace(ENDED, verdict=Verdict.PASS, findings=()),
        replace(ENDED, message="GPU 4"),
        replace(ENDED, observed={"gflops": [1.5, 3]}),
        replace(ENDED, check="xid"),
    ],
    ids=["another round", "no evidence", "another verdict", "another message", "other numbers", "no test"],
)
def test_what_differs_is_stored(stocked: Store, other: Result) -> None:
    """So is whatever a check says that is no test: a sweep's answer counts by when it was given."""
    visited(stocked, other if other.check == "xid" else ENDED)
    visited(stocked, other)
    assert len(answers(stocked)) == 2


def test_another_stage_and_another_stay_have_answers_of_their_own(stocked: Store) -> None:
    visited(stocked, ENDED)
    visited(stocked, ENDED, stage=Stage.HEALTH_ACTIVE)
    assert len(answers(stocked)) == 2
    stocked.apply(node(stocked), decision(START), 500.0)
    assert node(stocked).state is State.PROVISION
    visited(stocked, ENDED, stage=Stage.HEALTH_ACTIVE, at=600.0)
    assert len(answers(stocked)) == 3


def test_nothing_is_taken_from_a_run_that_has_not_been_judged(stocked: Store) -> None:
    """A play by hand may tell the same while the runner is away."""
    mine = visited(stocked, ENDED, end=False)
    stocked.record_by_hand(Stage.BURN_IN, "ann", [Judged("gpu-01", 202.0, ENDED)], 203.0)
    assert [stored.result for stored in stocked.results(mine.id)] == [ENDED]
    assert len(answers(stocked)) == 2
