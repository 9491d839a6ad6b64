"""Budgets on PostgreSQL, where two runners may decide at the same moment: measured anew within the transaction."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.actions import Decision, Move
from fleet_runner.core.lifecycle.states import TRANSITIONS, Event, State
from fleet_runner.core.lifecycle.view import View
from fleet_runner.reconcile.budgets.allowance import Allowance
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from fleet_runner.settings import Settings
from tests.adapters.store.builders import UrlMaker
from tests.reconcile.scripted import Scripted, a_fleet, all_good

NOW = 1001.0


def one_rack(count: int) -> Fleet:
    """So many servers in one rack, of which one may be out."""
    fleet = a_fleet(count)
    return replace(fleet, devices={name: replace(each, rack="R1") for name, each in fleet.devices.items()})


@pytest.fixture
def worlds(tmp_path: Path, postgresql_urls: UrlMaker) -> Iterator[tuple[TickContext, TickContext]]:
    """Two runners, each with connections of its own to one store, in which eight nodes of a rack serve."""
    url = postgresql_urls()
    found: list[TickContext] = []
    for name in ("one", "two"):
        settings = Settings(state_dir=tmp_path / name, database_url=url)
        found.append(TickContext(settings, Store.open(url), lambda: one_rack(8), Scripted(all_good)))
    tick(found[0], 1000.0)
    with found[0].store._database.write() as connection:
        connection.execute(text("DELETE FROM journal"))
        connection.execute(text("DELETE FROM runs"))
        connection.execute(text("UPDATE nodes SET state = 'production', since = 1000.0, wake_at = 0.0"))
    yield found[0], found[1]
    for world in found:
        world.store.close()


def leaving(world: TickContext, at: int) -> Callable[[Allowance], object]:
    """Return what has one of the nodes leave service for triage."""
    view = View(world.store.nodes()[at], "active")
    move = Move(TRANSITIONS[State.PRODUCTION, Event.TRIAGE_NEEDED], "runner")
    return lambda purse: purse.apply(view, Decision((move,), "", NOW), NOW)


def out(world: TickContext) -> list[str]:
    """Return the nodes that do not serve."""
    return [node.name for node in world.store.nodes() if node.state is not State.PRODUCTION]


def test_what_another_runner_took_of_a_budget_since_it_was_measured_is_seen(
    worlds: tuple[TickContext, TickContext],
) -> None:
    """The second runner has measured while nothing was out, and decided; its nodes have not changed since."""
    one, two = worlds
    late = Allowance(two, one_rack(8))
    assert not late._usage(NOW).out
    then = leaving(two, 1)
    leaving(one, 0)(Allowance(one, one_rack(8)))
    with pytest.raises(ConflictError, match=r"the budget of rack .*R1 is spent.*nothing was changed; decide again"):
        then(late)
    assert out(one) == ["gpu-01"]


def test_of_runners_that_take_of_a_budget_at_the_same_moment_one_gets_it(
    worlds: tuple[TickContext, TickContext],
) -> None:
    """Six nodes of one rack at once, from two runners: one leaves, five are refused."""
    ready, refused = threading.Barrier(6), list[str]()
    tries = [(Allowance(worlds[at % 2], one_rack(8)), leaving(worlds[at % 2], at)) for at in range(6)]

    def leave(purse: Allowance, take: Callable[[Allowance], object]) -> None:
        ready.wait()
        try:
            take(purse)
        except ConflictError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=leave, args=each) for each in tries]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(out(worlds[0])) == 1
    assert len(refused) == 5
