"""A store that is not the one that was served before does nothing to any node until a person accepted it."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from fleet_runner.adapters.files import store_identity
from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import StoreError
from fleet_runner.core.budgets.modes import READING, Mode, Scope, Setting
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import State
from fleet_runner.reconcile.loop import remote_answers, store_ownership
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from tests.adapters.store.builders import UrlMaker
from tests.adapters.store.conftest import postgresql, postgresql_urls
from tests.reconcile.scripted import Scripted, a_fleet, all_good, in_service, pass_time

NOW = 1000.0

__all__ = ["postgresql", "postgresql_urls"]  # fixtures


def served(world: TickContext) -> float:
    """Have a fleet be served for a while, with a node on its way; return the time."""
    now = in_service(world, State.BURN_IN)
    world.store.leave_intent("gpu-01", IntentKind.HOLD, "ann", reason="visitors", now=now)
    return pass_time(world, now, 30)


def again(world: TickContext, store: Store | None = None) -> TickContext:
    """The same fleet, served by another process: on the store of the settings, or on another one."""
    found = store if store is not None else Store.create(world.settings.store_url)
    return TickContext(world.settings, found, lambda: a_fleet(1), Scripted(all_good))


def acted(world: TickContext) -> bool:
    """Whether anything was begun that is more than reading."""
    assert isinstance(world.engine, Scripted)
    return any(batch.stage not in READING for batch in world.engine.launched)


def let_act(store: Store) -> None:
    """Have automation be let act everywhere, as in the store of another fleet."""
    store.set_mode(Setting(Scope.FLEET, "", None, Mode.ACT, 1.0, "ann"))


def accepted(world: TickContext, now: float) -> None:
    """Have a person accept the store, and see that it is decided by it then."""
    store_ownership.accept(world.settings, world.store, "ann", "it is the right one", now)
    assert store_ownership.refused(world.settings, world.store) == ""
    pass_time(world, now, 100)
    assert world.unaccepted == ""
    assert acted(world)


def test_the_store_that_was_served_before_is_served_on(make_world: Callable[..., TickContext]) -> None:
    world = make_world()
    now = served(world)
    other = again(world)
    pass_time(other, now, 60)
    assert other.unaccepted == ""
    assert other.store.identity() == world.store.identity()


@pytest.mark.parametrize("left", [b"", None], ids=["0 bytes", "no file"])
def test_a_store_that_was_emptied_does_nothing(make_world: Callable[..., TickContext], left: bytes | None) -> None:
    """Its nodes are looked at; even one that is off does not begin Day 0."""
    world = make_world()
    now = served(world)
    world.store.close()
    path = world.settings.state_dir / "fleet.db"
    for each in path.parent.glob("fleet.db*"):
        each.unlink()
    if left is not None:
        path.write_bytes(left)
    other = again(world)
    let_act(other.store)
    now = pass_time(other, now, 4000, pause=100)
    assert not acted(other)
    assert [node.state for node in other.store.nodes()] == [State.REGISTERED]
    assert "the store is new, or was emptied" in other.store.nodes()[0].waiting
    assert remote_answers.mode(other.settings, other.store).startswith(
        "Observing everywhere: the store is new, or was emptied"
    )
    accepted(other, now)


def test_a_store_of_last_week_does_nothing(make_world: Callable[..., TickContext], tmp_path: Path) -> None:
    """Its node burns in by it; meanwhile it came to production, and serves. Nor is a row of it changed."""
    world = make_world()
    in_service(world, State.BURN_IN)
    tick(world, NOW)
    world.store.close()
    file = world.settings.state_dir / "fleet.db"
    old = tmp_path / "old.db"
    shutil.copy(file, old)
    later = again(world)
    now = pass_time(later, NOW, 3000, pause=50)
    assert [node.state for node in later.store.nodes()] == [State.PRODUCTION]
    later.store.close()
    for each in file.parent.glob("fleet.db*"):
        each.unlink()
    shutil.copy(old, file)
    other = again(world)
    pass_time(other, now, 4000, pause=100)
    assert isinstance(other.engine, Scripted)
    assert other.engine.launched == []
    assert [node.state for node in other.store.nodes()] == [State.BURN_IN]
    assert "older than the one served before" in store_ownership.refused(other.settings, other.store)


def test_another_fleets_store_does_nothing_and_is_left_as_it_is(make_world: Callable[..., TickContext]) -> None:
    """A state_dir or database_url of the wrong line: ours is remembered, or the source is another one."""
    ours, theirs = make_world(), make_world()
    now = served(ours)
    served(theirs)
    before = (theirs.store.last_line(), theirs.store.nodes())
    mixed = again(ours, theirs.store)
    pass_time(mixed, now, 4000, pause=100)
    assert isinstance(mixed.engine, Scripted)
    assert mixed.engine.launched == []
    assert "another one than was served before" in store_ownership.refused(mixed.settings, mixed.store)
    fresh = ours.settings.model_copy(update={"state_dir": ours.settings.state_dir / "new", "source": "/elsewhere"})
    stranger = TickContext(fresh, theirs.store, lambda: a_fleet(1), Scripted(all_good))
    pass_time(stranger, now, 4000, pause=100)
    assert isinstance(stranger.engine, Scripted)
    assert stranger.engine.launched == []
    assert "and the settings' source is /elsewhere" in (stranger.unaccepted or "")
    assert remote_answers.mode(mixed.settings, mixed.store).startswith(
        "Observing everywhere: the store is another one"
    )
    assert remote_answers.mode(fresh, theirs.store).startswith("Mode: "), (
        "whoever only looks on needs no source of its own"
    )
    assert (theirs.store.last_line(), theirs.store.nodes()) == before


def test_a_second_runner_of_the_same_source_is_taken_and_remembers(make_world: Callable[..., TickContext]) -> None:
    world = make_world()
    now = served(world)
    mine = world.settings.model_copy(update={"state_dir": world.settings.state_dir / "other"})
    other = TickContext(mine, world.store, lambda: a_fleet(1), Scripted(all_good))
    pass_time(other, now, 60)
    assert other.unaccepted == ""
    identity = world.store.identity()
    assert identity is not None
    assert store_identity.read(mine.state_dir) == world.store.remembered(identity)


def test_a_memory_that_cannot_be_read_is_no_leave_to_act(make_world: Callable[..., TickContext]) -> None:
    world = make_world()
    now = served(world)
    (world.settings.state_dir / store_identity.NAME).write_text("{half")
    other = again(world)
    pass_time(other, now, 100)
    assert isinstance(other.engine, Scripted)
    assert other.engine.launched == []
    assert "cannot be read" in (other.unaccepted or "")
    with pytest.raises(StoreError, match="db accept"):
        store_identity.read(world.settings.state_dir)


def test_a_database_that_was_emptied_does_nothing(
    make_world: Callable[..., TickContext],
    postgresql_urls: UrlMaker,
) -> None:
    """Another one stands where it was: its runner remembers the one before."""
    settings = make_world().settings
    first, second = (settings.model_copy(update={"database_url": postgresql_urls()}) for _ in range(2))
    with Store.create(first.store_url) as store:
        world = TickContext(first, store, lambda: a_fleet(1), Scripted(all_good))
        tick(world, NOW)
        store.leave_intent("gpu-01", IntentKind.HOLD, "ann", reason="visitors", now=NOW)
        tick(world, NOW + 5)
        assert world.unaccepted == ""
    with Store.create(second.store_url) as store:
        let_act(store)
        other = TickContext(second, store, lambda: a_fleet(1), Scripted(all_good))
        tick(other, NOW + 10)
        assert not acted(other)
        assert "the store is new, or was emptied" in (other.unaccepted or "")
        store_ownership.accept(second, store, "ann", "moved", NOW + 20)
        tick(other, NOW + 30)
        assert other.unaccepted == ""
