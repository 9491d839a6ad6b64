"""Runs: ended once, by whoever holds the newest fence."""

from dataclasses import replace

import pytest
from sqlalchemy import update

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.schema.core import nodes
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.lifecycle.actions import OpenRun
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.states import Stage
from tests.adapters.store.builders import decision, everything, judged, node, opened, run


def test_a_run_is_ended_once_and_wakes_its_node(stocked: Store) -> None:
    mine = opened(stocked)
    stocked.close_run(mine, Outcome.FAILED, "Two cables are swapped.", 260.0)
    ended = run(stocked, mine.id)
    assert (ended.outcome, ended.detail, ended.ended_at) == (Outcome.FAILED, "Two cables are swapped.", 260.0)
    assert stocked.open_runs() == ()
    assert (node(stocked).wake_at, node(stocked).version) == (0.0, 3)
    (said,) = stocked.history("gpu-01")
    assert (said.kind, said.sentence, said.run) == ("run", "Verify: failed; Two cables are swapped.", mine.id)


def test_a_run_that_ended_cannot_end_again(stocked: Store) -> None:
    mine = opened(stocked)
    stocked.close_run(mine, Outcome.LOST, "", 260.0)
    before = everything(stocked)
    with pytest.raises(ConflictError, match="it has ended already"):
        stocked.close_run(mine, Outcome.PASSED, "", 270.0)
    assert everything(stocked) == before


def test_a_runner_that_was_taken_over_cannot_end_its_old_run(stocked: Store) -> None:
    old = opened(stocked)
    stocked.close_run(old, Outcome.LOST, "", 260.0)
    opened(stocked, batch="b-2")
    before = everything(stocked)
    with pytest.raises(ConflictError, match="its fence 1 is no longer the node's"):
        stocked.close_run(old, Outcome.PASSED, "", 270.0)
    with pytest.raises(ConflictError, match="none of its runs is open"):
        stocked.ingest("b-1", 0, 10, [judged()])
    assert everything(stocked) == before
    assert stocked.offset("b-1") == 0


def test_an_open_run_with_an_old_fence_can_neither_end_nor_tell(stocked: Store) -> None:
    """The fence can be raised from outside, to cut off a runner that nobody can reach."""
    mine = opened(stocked)
    with stocked._database.write() as connection:
        connection.execute(update(nodes).values(fence=9))
    with pytest.raises(ConflictError):
        stocked.close_run(mine, Outcome.PASSED, "", 270.0)
    with pytest.raises(ConflictError):
        stocked.ingest("b-1", 0, 10, [judged()])


def test_a_run_nobody_opened_cannot_end(stocked: Store) -> None:
    mine = opened(stocked)
    with pytest.raises(ConflictError):
        stocked.close_run(replace(mine, id=99), Outcome.PASSED, "", 270.0)
    assert stocked.run(99) is None
    assert node(stocked).version == 2


def test_runs_of_a_node_are_the_newest_oldest_first(stocked: Store) -> None:
    for number in range(5):
        (made,) = stocked.apply(
            node(stocked), decision(_open(Stage.VERIFY if number % 2 else Stage.FIRMWARE, number)), 200.0 + number
        )
        stocked.close_run(made, Outcome.PASSED, "", 300.0 + number)
    assert [found.opened_at for found in stocked.runs("gpu-01", limit=3)] == [202.0, 203.0, 204.0]
    assert [found.opened_at for found in stocked.runs("gpu-01", since=203.0)] == [203.0, 204.0]
    assert stocked.runs("gpu-02") == ()


def test_durations_are_of_runs_that_came_to_a_verdict(stocked: Store) -> None:
    for number, outcome in enumerate(Outcome):
        mine = opened(stocked, batch=f"b-{number}")
        stocked.close_run(mine, outcome, "", 210.0 + number)
    verdicts = [number for number, outcome in enumerate(Outcome) if outcome in {Outcome.PASSED, Outcome.FAILED}]
    assert stocked.durations(Stage.VERIFY) == tuple(10.0 + number for number in reversed(verdicts))
    assert len(stocked.durations(Stage.VERIFY, limit=1)) == 1
    assert stocked.durations(Stage.FIRMWARE) == ()


@pytest.mark.parametrize(
    ("stage", "ends", "said"),
    [
        (Stage.HEALTH_PASSIVE, [("passed", ""), ("passed", ""), ("failed", "Xid 79"), ("failed", "Xid 79")], [0, 2]),
        (Stage.HEALTH_PASSIVE, [("failed", "Xid 79"), ("failed", "Xid 95"), ("passed", "")], [0, 1, 2]),
        (Stage.CABLING, [("unknown", "ssh"), ("unknown", "ssh"), ("passed", ""), ("passed", "x")], [0, 2]),
        (Stage.BURN_IN, [("working", "1 %"), ("working", "2 %"), ("passed", "")], [0, 2]),
        (Stage.VERIFY, [("passed", ""), ("passed", ""), ("unknown", "ssh"), ("unknown", "ssh")], [0, 1, 2, 3]),
    ],
)
def test_the_history_is_not_buried_under_sweeps_without_news(
    stocked: Store, stage: Stage, ends: list[tuple[str, str]], said: list[int]
) -> None:
    for number, (outcome, detail) in enumerate(ends):
        stocked.close_run(opened(stocked, stage=stage, batch=f"b-{number}"), Outcome(outcome), detail, 210.0 + number)
    assert [entry.at for entry in stocked.history("gpu-01")] == [210.0 + number for number in said]
    assert len(stocked.runs("gpu-01")) == len(ends)


def _open(stage: Stage, number: int) -> OpenRun:
    return OpenRun(stage, "It is time.", batch=f"b-{number}")


@pytest.mark.parametrize(
    ("by", "sentence"), [("ada", "Fabric: failed (It was rewired); swap."), ("runner", "Fabric: failed; swap.")]
)
def test_what_a_person_asked_for_carries_the_reason_in_the_history(stocked: Store, by: str, sentence: str) -> None:
    """The runner's own reasons are those of the schedule."""
    asked = decision(OpenRun(Stage.FABRIC, "It was rewired.", by, "b-1"))
    (mine,) = stocked.apply(node(stocked), asked, 200.0)
    stocked.close_run(mine, Outcome.FAILED, "swap.", 260.0)
    assert stocked.history("gpu-01")[-1].sentence == sentence
