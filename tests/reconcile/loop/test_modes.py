"""What the loop does to nodes of which nobody said that it may: it looks, and that is all."""

from collections.abc import Callable

import pytest

from fleet_runner.core.budgets.modes import READING, Kind, Mode, Scope, Setting
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import Condition, Stage, State
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from tests.reconcile.scripted import (
    GOOD,
    IDLE,
    OFF,
    SWAP,
    XID,
    Script,
    Scripted,
    all_good,
    in_service,
    pass_time,
    path,
)

RUNS = Result("node_up", Verdict.PASS, "it answers over ssh, up 41 d")
MINE = Result("machine_identity", Verdict.PASS, "its BMC says serial number S1")
ON = Result("machine_power", Verdict.PASS, "the machine is on", observed={"power": "On", "boot": "OSRunning"})


def serves(_node: str, stage: Stage) -> tuple[Result, ...]:
    """A node that serves, with a GPU that fell off the bus."""
    return (ON, RUNS, MINE) if stage is Stage.SURVEY else (GOOD, IDLE, XID)


def say(world: TickContext, mode: Mode | None, kind: Kind | None = None, at: float = 1000.0) -> None:
    """Have somebody say how far automation may go at the whole fleet."""
    world.store.set_mode(Setting(Scope.FLEET, "", kind, mode, at, "ann", "because"))


def observed(make_world: Callable[..., TickContext], script: Script, count: int = 3) -> TickContext:
    """A world in whose store nobody said anything."""
    world = make_world(script, count)
    say(world, None)
    return world


def stages(world: TickContext) -> set[Stage]:
    """Which stages were begun."""
    assert isinstance(world.engine, Scripted)
    return {batch.stage for batch in world.engine.launched}


@pytest.mark.parametrize("script", [serves, all_good, lambda _node, _stage: (OFF,), lambda _node, _stage: None])
def test_a_new_store_on_a_fleet_touches_nothing(make_world: Callable[..., TickContext], script: Script) -> None:
    """Whether its machines serve, are off or say nothing: they are looked at, for hours."""
    world = observed(make_world, script)
    pass_time(world, 1000.0, 20_000, pause=300)
    assert stages(world) == {Stage.SURVEY}
    assert {node.state for node in world.store.nodes()} == {State.REGISTERED}
    assert all(node.waiting for node in world.store.nodes())


def test_what_serves_is_adopted_and_observed_until_somebody_lets_it_act(
    make_world: Callable[..., TickContext],
) -> None:
    """Its fault is told, then advised with a ticket, then healed: each step by a word of a person."""
    world = observed(make_world, serves, 1)
    tick(world, 1000.0)
    intent = world.store.leave_intent("gpu-01", IntentKind.ADOPT, "ann", reason="Monday", now=1001.0)
    pass_time(world, 1001.0, 30)
    assert world.store.answer(intent) == (
        True,
        "Already in service and built as designed: adopted as it is, without a reboot.",
    )
    assert path(world) == [State.PRODUCTION]
    now = pass_time(world, 1031.0, 400)
    (node,) = world.store.nodes()
    assert node.waiting.startswith("observing: would REBOOT when it is idle: GPU 3 fell off the bus.")
    assert stages(world) <= READING
    assert not {Condition.CORDONED, Condition.DRAINING, Condition.PENDING} & node.conditions.keys()

    say(world, Mode.ADVISE, at=now)
    now = pass_time(world, now, 200)
    assert world.store.nodes()[0].waiting.startswith("advising: would REBOOT")
    assert stages(world) <= READING

    say(world, Mode.ACT, Kind.REBOOT, at=now)
    pass_time(world, now, 60)
    assert Stage.REBOOT in stages(world)
    assert next(entry.by for entry in world.store.history("gpu-01") if entry.kind == "transition") == "ann"


def test_no_ticket_is_opened_about_what_is_only_observed(make_world: Callable[..., TickContext]) -> None:
    """Advise opens it."""
    world = make_world(lambda _node, stage: (GOOD, IDLE, SWAP) if stage is not Stage.SURVEY else (OFF,))
    now = in_service(world)
    say(world, Mode.OBSERVE, at=now)
    now = pass_time(world, now, 900)
    assert world.store.tickets() == ()
    say(world, Mode.ADVISE, at=now)
    pass_time(world, now, 900)
    assert [ticket.fault for ticket in world.store.tickets()] == ["swap"]


def test_a_node_that_was_on_its_way_rests_where_its_mode_was_lowered(make_world: Callable[..., TickContext]) -> None:
    """And goes on, however long that was: its time counts from then on."""
    world = make_world(lambda _node, _stage: None)
    now = in_service(world, State.BURN_IN)
    say(world, Mode.OBSERVE, Kind.BURN_IN, at=now)
    now = pass_time(world, now, 500_000, pause=10_000)
    assert stages(world) == set()
    assert world.store.nodes()[0].state is State.BURN_IN
    say(world, Mode.ACT, at=now)
    assert isinstance(world.engine, Scripted)
    world.engine.script = all_good
    say(world, None, Kind.BURN_IN, at=now)
    pass_time(world, now, 60)
    assert path(world) == [State.PRODUCTION]


def test_no_more_nodes_than_the_settings_say_begin_day_0_within_an_hour(
    make_world: Callable[..., TickContext],
) -> None:
    """The others say what they wait for; what a person asks for is neither held back nor counted."""
    world = make_world(all_good, 12)
    world.settings = world.settings.model_copy(update={"provision_per_hour": 5})
    now = pass_time(world, 1000.0, 600, pause=30)
    begun = {node.name for node in world.store.nodes() if node.state is not State.REGISTERED}
    assert len(begun) == 5
    waits = {node.waiting for node in world.store.nodes() if node.state is State.REGISTERED}
    assert waits == {"waits: 5 nodes have begun Day 0 within an hour (provision_per_hour)"}
    theirs = next(node.name for node in world.store.nodes() if node.state is State.REGISTERED)
    world.store.leave_intent(theirs, IntentKind.PROVISION, "ann", reason="now", now=now)
    now = pass_time(world, now, 60)
    assert len([node for node in world.store.nodes() if node.state is not State.REGISTERED]) == 6
    pass_time(world, now, 3600, pause=30)
    assert len([node for node in world.store.nodes() if node.state is not State.REGISTERED]) == 11
