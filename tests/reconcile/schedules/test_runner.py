"""Schedules beside the work: jobs of the fleet, what people ask for, and jobs that fail, hang or are interrupted."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import ConflictError, StoreError
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.core.schedules.firing import Row
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from fleet_runner.reconcile.schedules import runner
from fleet_runner.reconcile.schedules.runner import JOBS, Beside, GoOn, Job, ScheduleRunner, by_the_clock, run_now
from fleet_runner.settings import Settings
from tests.reconcile.scripted import in_state, played

PATIENCE = 120.0


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A job every second, with a lease that is soon over."""
    found = Settings(state_dir=tmp_path, retention_schedule="every 1s")
    return found.model_copy(update={"lease_seconds": 1.0})


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    """A new store."""
    with Store.create(settings.store_url) as opened:
        yield opened


def row(store: Store, name: str = "retention") -> Row:
    """A schedule as the store has it."""
    return store.schedules()[1].get(name, Row(name))


def look(clockwork: ScheduleRunner, until: Callable[[], bool]) -> None:
    """Look again and again until something holds."""
    end = time.monotonic() + PATIENCE
    while not until():
        assert time.monotonic() < end, row(clockwork.store)
        clockwork.wake.wait(min(0.1, clockwork.look()))
        clockwork.wake.clear()


def job(does: Callable[[GoOn], str], longest: float = 60.0) -> dict[str, Job]:
    """A job in the place of retention."""
    return {"retention": Job(lambda _settings, _store, go_on: does(go_on), longest)}


def test_a_job_is_done_and_what_it_says_is_kept(settings: Settings, store: Store) -> None:
    """The next one follows it."""
    clockwork = ScheduleRunner(settings, store, "a", job(lambda _: "3 pieces went"))
    look(clockwork, lambda: row(store).token >= 2 and row(store).outcome == "done")
    assert (row(store).runner, row(store).detail) == ("a", "3 pieces went")


@pytest.mark.parametrize(("error", "said"), [
    (StoreError("disk is full"), "disk is full"), (KeyError("x"), "KeyError; this runner's log says more"),
])  # fmt: skip
def test_a_job_that_fails_says_why_and_comes_again(
    settings: Settings, store: Store, error: Exception, said: str
) -> None:
    """Whatever it raised, the runner goes on."""

    def does(_: GoOn) -> str:
        raise error

    clockwork = ScheduleRunner(settings, store, "a", job(does))
    look(clockwork, lambda: row(store).outcome == "failed" and row(store).token >= 2)
    assert row(store).detail == said


def test_a_long_job_keeps_its_lease_and_the_next_waits(settings: Settings, store: Store) -> None:
    """Another runner that looks meanwhile begins nothing."""
    over = Event()

    def does(go_on: GoOn) -> str:
        while not over.wait(0.05):
            go_on()
        return "at last"

    clockwork, other = (
        ScheduleRunner(settings, store, "a", job(does)),
        ScheduleRunner(settings, store, "b", job(does)),
    )
    look(clockwork, lambda: row(store).is_running)
    end = time.monotonic() + 2.5
    look(clockwork, lambda: (other.look() or True) and time.monotonic() > end)
    assert (row(store).runner, row(store).token, other.running) == ("a", 1, {})
    over.set()
    look(clockwork, lambda: row(store).detail == "at last")


def test_a_job_that_hangs_is_told_of_and_taken_up_by_another(settings: Settings, store: Store) -> None:
    """When it wakes, it is told that it has nothing more to do."""
    hung, woken = Event(), list[str]()

    def hangs(go_on: GoOn) -> str:
        assert hung.wait(PATIENCE)
        try:
            go_on()
        except ConflictError as error:
            woken.append(str(error))
            raise
        return "too late"

    clockwork = ScheduleRunner(settings, store, "a", job(hangs, longest=0.2))
    look(clockwork, lambda: "does it hang?" in row(store).detail)
    other = ScheduleRunner(settings, store, "b", job(lambda _: "done by another"))
    look(other, lambda: row(store).detail == "done by another")
    firing = clockwork.running["retention"]
    hung.set()
    assert firing.thread is not None
    firing.thread.join(PATIENCE)
    assert "another runner takes over" in woken[0]
    assert row(store).detail == "done by another"


def test_a_runner_that_ends_leaves_its_job_to_another(settings: Settings, store: Store) -> None:
    """At once: nobody waits for its lease."""

    def endless(go_on: GoOn) -> str:
        while True:
            go_on()
            time.sleep(0.02)

    clockwork = ScheduleRunner(settings, store, "a", job(endless))
    look(clockwork, lambda: row(store).is_running)
    began = row(store)
    clockwork.end()
    assert row(store).is_running
    assert row(store).until <= store.schedules()[0]
    other = ScheduleRunner(settings, store, "b", job(lambda _: "taken up"))
    look(other, lambda: row(store).detail == "taken up" and row(store).firing == began.firing)


def test_a_person_has_retention_done_now(settings: Settings, store: Store) -> None:
    """The real one, with whatever its schedule says."""
    off = settings.model_copy(update={"retention_schedule": "never"})
    found = run_now(off, store, "retention", "kim", JOBS)
    assert (found.runner, found.outcome, found.detail) == ("kim", "done", "nothing went")


def sweeps(world: TickContext) -> int:
    """How often the node was swept."""
    return sum(run.stage is Stage.HEALTH_PASSIVE for run in world.store.runs("gpu-01", limit=2000))


def test_sweeps_follow_what_people_pause_resume_and_ask_for(make_world: Callable[..., TickContext]) -> None:
    """The node is woken for it, and the sweep comes at its own moment."""
    world = make_world()
    played(world, in_state(State.PRODUCTION))
    beside, now = Beside(world, {}), time.time()
    beside.look()
    world.store.pause_schedule("passive", "kim", "the network is moved")
    beside.look()
    assert world.standings["passive"].paused == "paused by kim: the network is moved"
    before = sweeps(world)
    for _ in range(10):
        now += 100
        tick(world, now)
    assert sweeps(world) <= before + 1, "one may have been under way"
    before = sweeps(world)
    world.store.resume_schedule("passive")
    beside.look()
    for _ in range(3):
        now += 100
        tick(world, now)
    assert sweeps(world) > before


def test_what_was_asked_for_while_nobody_served_is_seen_at_the_start(
    make_world: Callable[..., TickContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And only what was asked for wakes the nodes."""
    world, woken = make_world(), list[int]()
    monkeypatch.setattr(Store, "wake_serving", lambda _store: woken.append(1))
    Beside(world, {}).look()
    assert woken == []
    world.store.ask_schedule("passive")
    with by_the_clock(world, {}):
        assert woken == [1]
        assert world.standings["passive"].asked_at > 0
    assert row(world.store, "cabling").runner


def test_who_does_not_decide_sees_to_no_sweep_but_notes_what_it_read(make_world: Callable[..., TickContext]) -> None:
    """Each runner reads the source of truth for itself."""
    world = make_world()
    world.decides = lambda: False
    beside = Beside(world, {})
    beside.look()
    assert row(world.store, "passive").began_at is None
    tick(world, 1000.0)
    beside.look()
    assert (row(world.store, "source").outcome, row(world.store, "source").detail[:9]) == ("done", "1 devices")
    world.pulse.source_failed("devices.yml:3: unknown device type")
    tick(world, 2000.0)
    beside.look()


def test_serve_looks_on_after_the_store_was_away(
    make_world: Callable[..., TickContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look that fails is a look that is tried again."""
    world, done = make_world(), Event()
    monkeypatch.setattr(runner, "PULSE", 0.05)
    asked = world.store.schedules
    failures = iter([StoreError("store: away"), KeyError("x")])

    def away() -> object:
        failure = next(failures, None)
        if failure is not None:
            raise failure
        return asked()

    monkeypatch.setattr(world.store, "schedules", away)
    world.settings = world.settings.model_copy(update={"retention_schedule": "every 1s"})

    def work(_settings: Settings, _store: Store, _go_on: GoOn) -> str:
        done.set()
        return "done"

    with by_the_clock(world, {"retention": Job(work, 60.0)}):
        assert done.wait(PATIENCE)
