"""What a runner does with a store that was brought back from a backup: it looks, and begins nothing by itself."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.maintenance.backups import restore, save
from fleet_runner.core.checks.verdicts import Result
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import Condition, Stage, State
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from tests.reconcile.scripted import GOOD, IDLE, XID, Scripted, in_service, pass_time

STATES = {
    "gpu-01": State.REGISTERED,
    "gpu-02": State.PROVISION,
    "gpu-03": State.VERIFY,
    "gpu-04": State.FIRMWARE,
    "gpu-05": State.BURN_IN,
    "gpu-06": State.REBOOT,
    "gpu-07": State.RESET,
    "gpu-08": State.WIPE,
    "gpu-09": State.PRODUCTION,
    "gpu-10": State.TRIAGE,
}

LOOKS = {Stage.HEALTH_PASSIVE, Stage.CABLING, Stage.FABRIC, Stage.COLLECT}
"""Stages that only read."""


def sick(_node: str, stage: Stage) -> tuple[Result, ...]:
    """Every sweep finds a fault that a reboot clears; everything else passes."""
    return (XID, IDLE) if stage is Stage.HEALTH_PASSIVE else (GOOD,)


@pytest.fixture
def restored(make_world: Callable[..., TickContext], tmp_path: Path) -> Iterator[TickContext]:
    """A world whose store was saved with a node in every state and a request, and brought back."""
    world = make_world(sick, count=len(STATES))
    url, file = world.settings.store_url, tmp_path / "fleet.backup"
    in_service(world)
    engine = create_engine(url)
    with engine.begin() as connection:
        for name, state in STATES.items():
            moved = text("UPDATE nodes SET state = :state WHERE name = :name")
            connection.execute(moved, {"state": state.value, "name": name})
    engine.dispose()
    world.store.leave_intent("gpu-10", IntentKind.WIPE, "ada", now=1001.0)
    save(url, file)
    world.store.close()
    restore(url, file, 1010.0)
    world.store = Store.open(url)
    assert isinstance(world.engine, Scripted)
    world.engine.launched.clear()
    yield world
    world.store.close()


def launched(world: TickContext) -> dict[str, set[Stage]]:
    """Return which stages were launched, by node."""
    assert isinstance(world.engine, Scripted)
    found: dict[str, set[Stage]] = {}
    for batch in world.engine.launched:
        for node in batch.runs:
            found.setdefault(node, set()).add(batch.stage)
    return found


def test_nothing_but_looks_begins_and_no_node_moves(restored: TickContext) -> None:
    """Over an hour, although a sweep of the serving node finds a fault that a reboot clears."""
    pass_time(restored, 1010.0, 3600.0)
    assert {node.name: node.state for node in restored.store.nodes()} == STATES
    assert set().union(*launched(restored).values()) <= LOOKS, launched(restored)
    assert Stage.HEALTH_PASSIVE in launched(restored)["gpu-09"], "it is looked at"


def test_a_person_who_has_looked_gives_a_node_back(restored: TickContext) -> None:
    now = pass_time(restored, 1010.0, 60.0)
    for name in ("gpu-04", "gpu-09"):
        restored.store.leave_intent(name, IntentKind.RELEASE, "ada", now=now)
    now = pass_time(restored, now, 300.0)
    assert Stage.FIRMWARE in launched(restored)["gpu-04"]
    serving = restored.store.node("gpu-09")
    assert serving is not None
    assert Condition.MAINTENANCE not in serving.conditions
    assert serving.waiting, "what follows from its fault is decided again"
    tick(restored, now)
    held = {node.name for node in restored.store.nodes() if Condition.HELD in node.conditions}
    assert held == STATES.keys() - {"gpu-04", "gpu-09", "gpu-10"}
