"""The way of nodes into production, as both databases tell it."""

from sqlalchemy import insert

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.schema.core import journal, runs
from fleet_runner.core.lifecycle.states import State
from fleet_runner.core.reliability.bring_up.way import Part, Wait
from fleet_runner.core.reliability.report.rows import Span
from tests.adapters.store.builders import device

HOUR = 3_600.0

WAY = (
    (1.0, "registered", "start", "provision"),
    (2.0, "provision", "passed", "onboard"),
    (5.0, "onboard", "certified", "burn_in"),
    (29.0, "burn_in", "passed", "production"),
)
"""Hours, and the transitions of a node; the lifecycle has more states, of which nothing is asked here."""

LOOKS = (5.0, 10.0, 15.0, 20.0)
"""Hours at which it was seen that its tests go on."""


def test_ways_are_told_from_moves_runs_and_holds(store: Store) -> None:
    """A look at tests that go on is told of once; a play that a person ran is not told of."""
    store.register([device("gpu-01"), device("gpu-02")], 0.0)
    with store._database.write() as connection:
        connection.execute(insert(journal), [*map(moved, WAY), *held()])
        connection.execute(insert(runs), [*ran()])
    span = Span(0.5 * HOUR, 40 * HOUR)
    found = store.bring_ups(span, 100 * HOUR)
    (way,) = found.ways
    assert (way.node, way.done) == ("gpu-01", True)
    assert way.parts == (
        Part(State.PROVISION, Wait.RUNNER, HOUR, 1.25 * HOUR),
        Part(State.PROVISION, Wait.HOLD, 1.25 * HOUR, 1.5 * HOUR),
        Part(State.PROVISION, Wait.DEVICE, 1.5 * HOUR, 2 * HOUR),
        Part(State.ONBOARD, Wait.PERSON, 2 * HOUR, 5 * HOUR),
        Part(State.BURN_IN, Wait.DEVICE, 5 * HOUR, 29 * HOUR),
    )
    assert store.bring_ups(span, 100 * HOUR, store.report_rows(span, lambda _: None).stories) == found
    assert store.bring_ups(Span(2 * HOUR, 40 * HOUR), 100 * HOUR).ways == ()
    assert store.bring_ups(span, 100 * HOUR, most=0).ways == ()
    coming = store.bring_ups(span, 3 * HOUR).ways[0]
    assert (coming.done, coming.parts[-1]) == (False, Part(State.ONBOARD, Wait.PERSON, 2 * HOUR, 3 * HOUR))


def test_tests_that_are_begun_again_are_told_of_again(store: Store) -> None:
    """The first look of a new stay follows a look of the stay before, and is kept all the same."""
    store.register([device("gpu-01")], 0.0)
    again = (
        *WAY[:3],
        (12.0, "burn_in", "failed", "triage"),
        (13.0, "triage", "repaired", "burn_in"),
        (29.0, "burn_in", "passed", "production"),
    )
    looks = [row for row in ran() if row["stage"] == "burn_in"]
    with store._database.write() as connection:
        connection.execute(insert(journal), [*map(moved, again)])
        connection.execute(insert(runs), looks)
    (way,) = store.bring_ups(Span(0.5 * HOUR, 40 * HOUR), 100 * HOUR).ways
    assert way.parts[2:] == (
        Part(State.BURN_IN, Wait.DEVICE, 5 * HOUR, 12 * HOUR),
        Part(State.TRIAGE, Wait.PERSON, 12 * HOUR, 13 * HOUR),
        Part(State.BURN_IN, Wait.RUNNER, 13 * HOUR, 15 * HOUR),
        Part(State.BURN_IN, Wait.DEVICE, 15 * HOUR, 29 * HOUR),
    )


def moved(row: tuple[float, str, str, str]) -> dict[str, object]:
    """Return a line of the journal for a move."""
    at, state, event, to = row
    ends = {"state": state, "event": event, "to": to}
    return {
        "node": "gpu-01",
        "at": at * HOUR,
        "kind": "transition",
        "sentence": "",
        "by": "runner",
        "results": [],
        **ends,
    }


def held() -> list[dict[str, object]]:
    """Return the lines of a hold of gpu-01, and of another node's."""
    rows = (
        (1.25, "gpu-01", "Held: fans"),
        (1.75, "gpu-01", "Released: automation continues."),
        (1.0, "gpu-02", "Held: x"),
    )
    ends = {"state": None, "event": None, "to": None}
    return [
        {"node": node, "at": at * HOUR, "kind": "condition", "sentence": said, "by": "alice", "results": [], **ends}
        for at, node, said in rows
    ]


def ran() -> list[dict[str, object]]:
    """Return the runs of its Day 0 and of its burn-in, and a play by hand."""
    every = [
        (1.1, 1.2, "passed", 0, "survey"),
        (1.5, 2.0, "passed", 1, "provision"),
        *((at, at + 0.1, "working", 2, "burn_in") for at in LOOKS),
        (28.9, 29.0, "passed", 3, "burn_in"),
    ]
    return [
        {"node": "gpu-01", "stage": stage, "fence": fence, "opened_at": begins * HOUR, "by": "runner", "reason": "",
         "ended_at": ends * HOUR, "outcome": outcome, "detail": "", "done": 0, "total": 0, "task": ""}
        for begins, ends, outcome, fence, stage in every
    ]  # fmt: skip
