"""A runner that works keeps its turn and is heard of, however busy its process is; one that is silent says so."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Event

import pytest
from structlog.testing import capture_logs

from fleet_runner.adapters.plays import lease
from fleet_runner.adapters.store import Store
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.leader import RunnerStatus
from fleet_runner.services.health.parts import Health
from fleet_runner.settings import Settings
from tests.adapters.store.builders import UrlMaker
from tests.reconcile.scripted import a_fleet
from tests.waiting import until

LEASE = 5.0


@pytest.fixture
def worlds(tmp_path: Path, postgresql_urls: UrlMaker) -> Iterator[tuple[TickContext, TickContext]]:
    """Two runners' worlds of one fleet on one store."""
    url = postgresql_urls()

    def world(name: str) -> TickContext:
        settings = Settings(state_dir=tmp_path / name, database_url=url, runner_name=name, lease_seconds=LEASE)
        return TickContext(settings, Store.open(url), lambda: a_fleet(1))

    made = world("one"), world("other")
    yield made
    for each in made:
        each.store.close()


def carrier(world: TickContext) -> RunnerStatus:
    """Have a world's runner begin."""
    found = RunnerStatus(world.settings, world.store, lambda: None)
    found.begin()
    world.decides, world.heard = found.decides, found.heard
    return found


def silent(world: TickContext, runner: RunnerStatus) -> float:
    """Return since when the store has heard nothing of a runner."""
    return next(each.silent for each in world.store.runners() if each.id == runner.runner.id)


def test_a_process_that_uses_every_connection_keeps_its_turn_and_is_heard_of(
    worlds: tuple[TickContext, TickContext],
) -> None:
    """Pages, signals and a tick may have all that the store's pool gives: its beat has one of its own."""
    one, other = worlds
    first, second = carrier(one), carrier(other)
    with first.beside(), second.beside(), ExitStack() as taken:
        for _ in range(15):  # SQLAlchemy's five, and ten more
            taken.enter_context(one.store._database.engine.connect())
        began = lease.ticks()
        until(lambda: lease.ticks() - began > 1.5 * LEASE)
        assert first.decides()
        assert not second.decides()
        assert silent(other, first) < LEASE


def test_readiness_tells_whether_other_runners_hear_of_this_one(worlds: tuple[TickContext, TickContext]) -> None:
    """It does not beat yet, as a runner that hangs or is cut off; then it does."""
    one, other = worlds
    health = Health(one, Event(), str)
    assert not health.parts()["lease"].ok
    assert "it has only begun, or it ends" in health.parts()["lease"].said
    first = carrier(one)
    assert "it decides for the fleet" in health.parts()["lease"].said
    until(lambda: not health.parts()["lease"].ok)
    assert "after 5 s they take its turn" in health.parts()["lease"].said
    with capture_logs() as logged, first.beside():
        until(lambda: health.parts()["lease"].ok)
    assert [line["lease"] for line in logged if "saw this one late" in line["event"]] == [LEASE]
    assert silent(other, first) < LEASE


def test_a_runner_that_was_silent_for_too_long_says_that_another_decides(
    worlds: tuple[TickContext, TickContext],
) -> None:
    """As one that was frozen: it finds out when it wakes."""
    one, other = worlds
    first, second = carrier(one), carrier(other)
    with second.beside(), capture_logs() as logged:
        until(second.decides)
        with first.beside():
            until(lambda: any("another runner decides now" in line["event"] for line in logged))
        assert second.decides()
    assert not first.decides()
