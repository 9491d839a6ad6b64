"""Runs that are over are found by node, stage and outcome, newest first, and in pages that do not grow with years."""

import itertools

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.runs import past
from fleet_runner.adapters.store.runs.past import SoughtRuns
from fleet_runner.core.firmware.rollout import Rollout
from fleet_runner.core.firmware.turns import Member, RolloutStep
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.states import Stage
from tests.adapters.store.builders import opened

NODES, STAGES = ("gpu-01", "gpu-02"), (Stage.VERIFY, Stage.CABLING)
OUTCOMES = (Outcome.PASSED, Outcome.FAILED, Outcome.LOST)


@pytest.fixture
def filled(stocked: Store) -> Store:
    """A store with 24 runs of two nodes, two stages and three outcomes, and one that is open."""
    for number, (name, stage) in enumerate(list(itertools.product(NODES, STAGES)) * 6):
        run = opened(stocked, name, stage, f"b-{number}")
        stocked.close_run(run, OUTCOMES[number % 3], f"number {number}", 300.0 + number)
    opened(stocked, "gpu-03")
    return stocked


def test_what_is_asked_for_is_found_newest_first_and_nothing_else(filled: Store) -> None:
    every = filled.past_runs(SoughtRuns()).runs
    assert [run.id for run in every] == sorted((run.id for run in every), reverse=True)
    assert len(every) == 24
    for name, stage, outcome in itertools.product(("", *NODES, "gpu-03"), (None, *STAGES), (None, *OUTCOMES)):
        right = [
            run
            for run in every
            if name in {"", run.node} and stage in {None, run.stage} and outcome in {None, run.outcome}
        ]
        assert list(filled.past_runs(SoughtRuns(name, stage, outcome)).runs) == right


def test_pages_follow_each_other_to_the_end(filled: Store) -> None:
    sought, found, below = SoughtRuns(stage=Stage.CABLING), list[int](), None
    while True:
        page = filled.past_runs(sought, below=below, limit=5)
        found += [run.id for run in page.runs]
        if (below := page.older) is None:
            break
    assert found == [run.id for run in filled.past_runs(sought).runs]
    assert len(found) == 12


def test_a_page_looks_no_further_back_than_its_window(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past, "WINDOW", 4)
    pages, below = 1, filled.past_runs(SoughtRuns(stage=Stage.DRAIN)).older
    while below is not None:
        page = filled.past_runs(SoughtRuns(stage=Stage.DRAIN), below=below)
        assert page.runs == ()
        pages, below = pages + 1, page.older
    assert pages == 7  # 25 runs, four at a time
    assert len(filled.past_runs(SoughtRuns("gpu-01")).runs) == 12  # a node's are looked at to their beginning


def test_an_empty_store_has_none(store: Store) -> None:
    assert store.past_runs(SoughtRuns()) == ((), None)
    assert store.past_runs(SoughtRuns(), below=7) == ((), None)


def test_the_nodes_of_rollouts_are_counted(filled: Store) -> None:
    made = filled.start_rollout(
        Rollout(0, "hgx", "ada", 1.0, "BMC 1.2", 1, 4, 0.5),
        [Member("gpu-01", 0), Member("gpu-02", 1), Member("gpu-03", -1, RolloutStep.SKIPPED)],
    )
    assert filled.rollout_counts([made.id, 99]) == {made.id: {RolloutStep.WAITING: 2, RolloutStep.SKIPPED: 1}}
    assert filled.rollout_counts([]) == {}
