"""Firings in the store, on both databases: who begins one, who keeps it, and who may write its end."""

import math
import time

import pytest
from sqlalchemy import update

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.schema.core import nodes
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.states import FABRICS, SERVING, Stage
from fleet_runner.core.schedules import firing
from fleet_runner.core.schedules.firing import Row
from fleet_runner.core.schedules.schedule import Schedule, schedule
from tests.adapters.store.builders import opened
from tests.waiting import PATIENCE

LEASE = 30.0
SECONDLY = schedule("retention", "every 1s")
NIGHTLY = schedule("retention", "17 3 * * *")


def row(store: Store, name: str = "retention") -> Row:
    """A schedule as the store has it."""
    return store.schedules()[1][name]


def begun(store: Store, found: Schedule = SECONDLY, runner: str = "a", lease: float = LEASE) -> Row:
    """Wait for the next firing, and begin it."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        taken = store.take_schedule(found, "fleet", runner, lease)
        if taken is not None:
            return taken
        time.sleep(0.05)
    raise AssertionError(row(store))


def test_a_firing_is_begun_by_one_and_ended_by_it(store: Store) -> None:
    """Another one who looks meanwhile begins nothing."""
    assert store.take_schedule(NIGHTLY, "fleet", "a", LEASE) is None
    assert row(store).due_at > store.schedules()[0]
    assert store.take_schedule(SECONDLY, "fleet", "a", LEASE) is None, (
        "its plan changed: it waits for its next moment"
    )
    mine = begun(store)
    assert (mine.runner, mine.token, mine.outcome) == ("a", 1, "")
    assert mine.until == pytest.approx(store.schedules()[0] + LEASE, abs=5)
    time.sleep(1.1)
    assert store.take_schedule(SECONDLY, "fleet", "b", LEASE) is None
    store.renew_schedule(mine, 2 * LEASE)
    assert row(store).until > mine.until
    store.end_schedule(mine, firing.Outcome.DONE, "7 pieces went")
    assert (row(store).outcome, row(store).detail, row(store).is_running) == ("done", "7 pieces went", False)
    with pytest.raises(ConflictError, match="another runner has taken it up"):
        store.end_schedule(mine, firing.Outcome.DONE, "again")


def test_a_silent_runners_firing_is_taken_up_and_it_writes_nothing_any_more(store: Store) -> None:
    """For the same moment, under a new token."""
    mine = begun(store, lease=0.2)
    time.sleep(0.3)
    theirs = store.take_schedule(SECONDLY, "fleet", "b", LEASE)
    assert theirs is not None
    assert (theirs.firing, theirs.token, theirs.runner) == (mine.firing, 2, "b")
    for late in (
        lambda: store.renew_schedule(mine, LEASE),
        lambda: store.end_schedule(mine, firing.Outcome.DONE, "late"),
    ):
        with pytest.raises(ConflictError, match="this one writes nothing"):
            late()
    assert row(store) == theirs
    store.end_schedule(theirs, firing.Outcome.FAILED, "no room")
    assert (row(store).outcome, row(store).detail) == ("failed", "no room")


def test_what_a_runner_gives_up_is_taken_up_at_once(store: Store) -> None:
    """It ended in order, in the middle of its job."""
    mine = begun(store)
    store.renew_schedule(mine, 0.0, "this runner ends")
    theirs = store.take_schedule(SECONDLY, "fleet", "b", LEASE)
    assert theirs is not None
    assert theirs.firing == mine.firing


def test_a_paused_schedule_begins_nothing_and_says_who_paused_it(store: Store) -> None:
    """Asked for or not; resumed, what was asked for begins."""
    store.pause_schedule("retention", "kim", "disk is moved")
    store.ask_schedule("retention")
    assert store.take_schedule(NIGHTLY, "fleet", "a", LEASE) is None
    _, _, off = store.schedules()
    assert (off["retention"].by, off["retention"].reason) == ("kim", "disk is moved")
    assert store.resume_schedule("retention") is True
    assert store.resume_schedule("retention") is False
    asked = store.take_schedule(NIGHTLY, "fleet", "a", LEASE)
    assert asked is not None
    assert row(store).asked_at is None


def test_a_schedule_that_is_off_is_kept_and_can_be_asked_for(store: Store) -> None:
    """Its next moment is never."""
    off = schedule("retention", "never")
    assert store.take_schedule(off, "fleet", "a", LEASE) is None
    assert row(store).due_at == math.inf
    store.ask_schedule("retention")
    assert store.take_schedule(off, "fleet", "a", LEASE) is not None


def test_it_is_known_since_when_somebody_sees_to_sweeps(store: Store) -> None:
    """Without a gap: a second sign moves nothing but the last one."""
    store.see_to(("passive", "cabling"), "a")
    since = row(store, "passive").began_at
    time.sleep(0.05)
    store.see_to(("passive", "cabling"), "b")
    after = row(store, "passive")
    assert (after.began_at, after.runner) == (since, "b")
    assert after.ended_at is not None
    assert since is not None
    assert after.ended_at > since


def test_what_each_runner_does_for_itself_is_noted(store: Store) -> None:
    """Who, when and how it ended."""
    store.note_schedule("source", "a", firing.Outcome.FAILED, "no such folder")
    store.note_schedule("source", "b", firing.Outcome.DONE, "3 devices")
    found = row(store, "source")
    assert (found.runner, found.outcome, found.detail) == ("b", "done", "3 devices")


def test_turns_are_those_of_nodes_that_serve_since_they_do(stocked: Store) -> None:
    """And all of them are woken."""
    sweeps = {Stage.HEALTH_PASSIVE: SERVING, Stage.FABRIC: FABRICS}
    assert stocked.turns(sweeps) == ({}, frozenset())
    assert stocked.wake_serving() == 0
    for number, name in enumerate(("gpu-01", "gpu-02", "gpu-03")):
        run = opened(stocked, name, Stage.HEALTH_PASSIVE, batch=f"b-{number}")
        if number < 2:
            stocked.close_run(run, Outcome.PASSED, "", 300.0 + number)
    with stocked._database.write() as connection:
        connection.execute(update(nodes).values(state="production", since=100.0, wake_at=5_000.0))
        connection.execute(update(nodes).where(nodes.c.name == "gpu-02").values(since=900.0))
    assert stocked.turns(sweeps) == ({"gpu-01": 300.0, "gpu-02": 0.0, "gpu-03": 0.0}, {"gpu-03"})
    assert stocked.wake_serving() == 3
    assert len(stocked.due(0.0)) == 3
