"""Runners beside each other: one decides, another does when it ends or dies, and each takes what it may."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread

import pytest

from fleet_runner.adapters.plays import batch_folder, lease
from fleet_runner.adapters.plays.wakeup import hearing
from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.inventory.placement import Offer
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.reconcile.loop import control_loop
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.leader import RunnerStatus, described
from fleet_runner.settings import Settings
from tests.adapters.store.builders import UrlMaker
from tests.reconcile.scripted import a_fleet
from tests.waiting import until

Make = Callable[[str], TickContext]


@pytest.fixture
def make(tmp_path: Path, postgresql_urls: UrlMaker) -> Iterator[Make]:
    """Make worlds of one fleet on one store, by the name of their runner."""
    url, made = postgresql_urls(), list[TickContext]()

    def world(name: str) -> TickContext:
        settings = Settings(state_dir=tmp_path / name, database_url=url, runner_name=name, lease_seconds=5.0)
        made.append(TickContext(settings, Store.open(url), lambda: a_fleet(1)))
        return made[-1]

    yield world
    for each in made:
        each.store.close()


def carrier(world: TickContext) -> RunnerStatus:
    """Have a world's runner begin."""
    found = RunnerStatus(world.settings, world.store, lambda: None)
    found.begin()
    return found


def test_who_ends_lets_another_decide_at_once_and_takes_nothing_more(make: Make) -> None:
    """As SIGTERM has it: not only once the lease is over."""
    one, other = make("one"), make("other")
    first, second = carrier(one), carrier(other)
    with second.beside():
        with first.beside():
            assert first.decides()
            assert not second.decides()
            time.sleep(one.settings.lease_seconds * 1.5)
            assert first.decides()
        assert not first.decides()
        until(second.decides)
        assert one.store.reached(first.runner.id) == ()


def test_who_ends_leaves_another_process_of_the_same_state_at_work(make: Make) -> None:
    """Both have one name, so what the one says of itself is said of the other, too."""
    world = make("one")
    first, second = carrier(world), carrier(make("one"))
    with second.beside():
        with first.beside():
            pass
        until(lambda: [runner.ending for runner in world.store.runners()] == [False])


def test_who_is_silent_for_a_lease_decides_no_more_and_knows_it(make: Make) -> None:
    """A frozen runner: its own clock tells it when it wakes, before it asks anybody."""
    one, other = make("one"), make("other")
    first, second = carrier(one), carrier(other)
    assert first.decides()
    with second.beside():
        until(second.decides)
        assert not first.decides()
    silent = next(runner for runner in one.store.runners() if runner.id == first.runner.id)
    assert silent.silent >= 4.0


def test_who_does_not_decide_starts_nothing(make: Make, tmp_path: Path) -> None:
    """It knows the fleet all the same, for what else it does."""
    world = make("one")
    world.decides = lambda: False
    stop = Event()
    with hearing(tmp_path) as bell:
        serving = Thread(target=control_loop.serve, args=(world, stop, bell, lambda _: None))
        serving.start()
        until(lambda: world.fleet is not None)
        time.sleep(1.0)
        stop.set()
        bell.ring()
        serving.join()
    assert world.store.nodes() == ()


def test_what_a_dead_decider_never_offered_is_cancelled_and_decided_anew(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was killed between opening a run and offering its batch: nothing ran, so nothing is lost."""
    world = make("one")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Store, "offer", killed)
        with pytest.raises(KeyboardInterrupt):
            control_loop.tick(world)
    (run,) = world.store.open_runs()
    control_loop.tick(world)
    closed = world.store.run(run.id)
    assert closed is not None
    assert closed.outcome is Outcome.CANCELLED
    assert "ended before it offered the batch" in closed.detail


def test_who_decided_and_was_frozen_offers_nothing_that_another_closed(make: Make) -> None:
    """It wakes up between opening a run and offering its batch; another has cleaned up meanwhile."""
    world, other = make("one"), make("other")
    offered = Store.offer

    def frozen(store: Store, given: Offer) -> None:
        if store is world.store:
            control_loop.tick(other)
        offered(store, given)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Store, "offer", frozen)
        control_loop.tick(world)
    opened = {run.batch for run in world.store.open_runs()}
    assert {parcel.batch for parcel in world.store.parcels()} <= opened


def test_a_runner_is_the_same_one_after_a_restart_and_another_one_elsewhere(tmp_path: Path) -> None:
    one = Settings(state_dir=tmp_path / "one", runner_name="hall-a", runner_places="hall-a, hall-b/r0*")
    assert described(one) == described(one)
    assert described(one).places == ("hall-a", "hall-b/r0*")
    assert described(one).id.startswith("hall-a-")
    assert described(one.model_copy(update={"state_dir": tmp_path / "two"})).id != described(one).id
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match="name a state_dir of your own"):
        described(one.model_copy(update={"state_dir": tmp_path / "file" / "state"}))


def test_a_lease_is_overdue_by_the_machines_own_clock(tmp_path: Path) -> None:
    """And where nothing says when it was renewed, nothing is ended for that."""
    alive = tmp_path / "alive"
    assert not lease.overdue(alive, lease.ASKED)
    alive.write_text("torn")
    assert not lease.overdue(alive, lease.ASKED)
    lease.mark(tmp_path, lease.ticks() - 16.0, 30.0)
    assert lease.overdue(alive, lease.ASKED)
    assert not lease.overdue(alive, lease.KILLED)
    lease.mark(tmp_path, lease.ticks(), 30.0)
    assert not lease.overdue(alive, lease.ASKED)


@pytest.mark.parametrize("broken", ["beat_runner", "reached", "is_rung"])
def test_a_runner_goes_on_after_an_error_that_nobody_thought_of(
    make: Make, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    """A disk or a computer short of something fails once; each of its threads begins anew."""
    world, asked = make("one"), Event()
    failed, real = Event(), getattr(Store, broken)

    def once(store: Store, *given: object) -> object:
        if not failed.is_set():
            failed.set()
            raise OSError("too many open files")
        asked.set()
        return real(store, *given)

    monkeypatch.setattr("fleet_runner.reconcile.loop.leader.AGAIN", 0.1)
    monkeypatch.setattr(Store, broken, once)
    with carrier(world).beside():
        assert asked.wait(30.0)
    assert failed.is_set()


def test_a_folder_that_cannot_be_read_keeps_no_runner_from_the_others(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, seen = make("one"), list[str]()
    for name in ("a", "b"):
        (world.settings.batches_dir / name).mkdir(parents=True)
        (world.settings.batches_dir / name / batch_folder.SPEC).write_text('{"lease": {}, "batch": "a"}')

    def locked(folder: Path) -> bool:
        seen.append(folder.name)
        raise PermissionError(13, "Permission denied", str(folder))

    monkeypatch.setattr(batch_folder, "locked", locked)
    carrier(world).once()
    assert seen == ["a", "b"]
