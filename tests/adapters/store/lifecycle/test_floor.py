"""What pages of the whole fleet ask the store."""

from collections import Counter

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.lifecycle import floor
from fleet_runner.core.lifecycle.actions import Move, SetCondition
from fleet_runner.core.lifecycle.days import Moved
from fleet_runner.core.lifecycle.runs import Held, IntentKind
from fleet_runner.core.lifecycle.spool import Progress
from fleet_runner.core.lifecycle.states import TRANSITIONS, Condition, Event, State
from fleet_runner.core.schedules.retention import DAY
from tests.adapters.store.builders import decision, device, node, opened

START = 20_000 * DAY + 0.4

PATH = (Event.START, Event.PASSED, Event.CERTIFIED, Event.PASSED, Event.PASSED, Event.PASSED, Event.RESET_NEEDED)


def moved(store: Store, name: str, event: Event, at: float) -> None:
    """Move a node."""
    here = node(store, name)
    store.apply(here, decision(Move(TRANSITIONS[here.state, event], "runner")), at)


@pytest.fixture
def walked(store: Store) -> Store:
    """A store with two nodes that took a step every half day, the second of them some hours behind the first."""
    store.register([device("gpu-01"), device("gpu-02"), device("gpu-03")], START)
    for number, event in enumerate(PATH):
        moved(store, "gpu-01", event, START + number * DAY / 2)
        moved(store, "gpu-02", event, START + number * DAY / 2 + 3 * 3600)
    return store


def test_the_mark_differs_once_anything_changed(store: Store) -> None:
    marks = [store.mark()]
    store.register([device("gpu-01")], 1.0)
    marks.append(store.mark())
    store.apply(node(store), decision(SetCondition(Condition.HELD, Held(2.0, "fans", "alice"))), 2.0)
    marks.append(store.mark())
    assert store.mark() == marks[-1]
    opened(store)
    marks.append(store.mark())
    store.ingest("b-1", 0, 10, (Progress("gpu-01", 3.0, 1, 6, "Read"),))
    marks.append(store.mark())
    assert len(set(marks)) == len(marks)


def test_what_moved_last_is_first(walked: Store) -> None:
    found = walked.recent_moves(3)
    assert [(each.node, each.to) for each in found] == [
        ("gpu-02", State.RESET), ("gpu-01", State.RESET), ("gpu-02", State.PRODUCTION),
    ]  # fmt: skip


@pytest.mark.parametrize("since", [START - DAY, START, START + 1.25 * DAY])
def test_moves_are_counted_by_day(walked: Store, since: float) -> None:
    began, found = walked.moved(since)
    entries = walked.moves(["gpu-01", "gpu-02"], since)
    expected = Counter((int(entry.at - int(since)) // int(DAY), entry.state, entry.to) for entry in entries)
    assert began == since
    assert {(each.day, each.state, each.to): each.number for each in found} == expected
    assert all(isinstance(each, Moved) for each in found)


@pytest.mark.parametrize("since", [START - DAY, START, START + 1.25 * DAY, START + 90 * DAY])
def test_passages_are_the_transitions_of_all_nodes(walked: Store, since: float) -> None:
    entries = walked.moves(["gpu-01", "gpu-02"], since)
    expected = [(each.node, each.at, each.state, each.to) for each in sorted(entries, key=lambda each: each.id)]
    assert [tuple(each) for each in walked.passages(since)] == expected


def test_days_begin_later_where_more_was_written_than_can_be_counted(
    walked: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = walked.moved(START)[1]
    monkeypatch.setattr(floor, "MOST", 6)
    began, found = walked.moved(START)
    assert began in {START + 2 * DAY, START + 3 * DAY}
    assert 0 < sum(each.number for each in found) < sum(each.number for each in whole)


def test_a_store_in_which_nothing_moved_counts_nothing(store: Store) -> None:
    assert store.moved(START) == (START, ())
    assert store.passages(START) == ()
    assert store.recent_moves(5) == ()


def test_some_nodes_are_told_of(walked: Store) -> None:
    names = ("gpu-02", "gpu-03", "nobody")
    assert [each.name for each in walked.some_nodes(names)] == ["gpu-02", "gpu-03"]
    assert walked.served_first(names) == {"gpu-02": START + 2.5 * DAY + 3 * 3600}
    assert {each.node for each in walked.moves(names, START)} == {"gpu-02"}
    assert walked.moves((), START) == ()


def test_due_since_the_first_moment_that_is_past(store: Store) -> None:
    store.register([device("gpu-01"), device("gpu-02")], 1.0)
    assert store.waiting_since(500.0) is None  # registered nodes are due at once, but nobody waits for them yet
    store.apply(node(store), decision(wake_at=300.0), 2.0)
    assert store.waiting_since(299.0) is None
    assert store.waiting_since(300.0) == 300.0
    store.leave_intent("gpu-02", IntentKind.HOLD, "alice", reason="fans", now=200.0)
    assert store.waiting_since(500.0) == 200.0
