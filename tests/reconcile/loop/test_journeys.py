"""The loop as a whole: nodes on their way, in service, and held."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.adapters.plays.engine import BatchState
from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import Condition, Stage, State
from fleet_runner.reconcile.loop.context import TickContext, timing
from fleet_runner.reconcile.loop.control_loop import tick
from tests.examples import UNHURRIED
from tests.reconcile.scripted import (
    BUSY,
    GOOD,
    IDLE,
    SWAP,
    XID,
    Scripted,
    all_good,
    in_service,
    in_state,
    path,
    played,
)


def test_a_good_node_travels_from_registered_to_production(make_world: Callable[..., TickContext]) -> None:
    """Each state once, each stage once, all nodes of a stage in one batch."""
    world = make_world(count=3)
    played(world, in_state(State.PRODUCTION))
    assert path(world) == [
        State.PROVISION,
        State.ONBOARD,
        State.VERIFY,
        State.FIRMWARE,
        State.BURN_IN,
        State.PRODUCTION,
    ]
    engine = world.engine
    assert isinstance(engine, Scripted)
    stages = [batch.stage for batch in engine.launched][:5]
    assert stages == [Stage.SURVEY, Stage.PROVISION, Stage.VERIFY, Stage.FIRMWARE, Stage.BURN_IN]
    assert all(len(batch.runs) == 3 for batch in engine.launched[:5])


def test_a_second_tick_does_nothing_more(make_world: Callable[..., TickContext]) -> None:
    """At every point of the journey."""
    world = make_world()
    engine = world.engine
    assert isinstance(engine, Scripted)
    engine.state = BatchState.RUNNING
    for now in (1000.0, 1001.0):
        tick(world, now)
    before = (len(engine.launched), world.store.history("gpu-01"), world.store.nodes())
    tick(world, 1001.0)
    assert (len(engine.launched), world.store.history("gpu-01"), world.store.nodes()) == before


def test_a_miscabled_node_gets_one_ticket_that_its_next_check_closes(make_world: Callable[..., TickContext]) -> None:
    """However often it is looked at in between."""
    wrong = [True]
    world = make_world(lambda _node, stage: (SWAP,) if stage is Stage.VERIFY and wrong[0] else (GOOD,))
    now = played(world, lambda world: path(world).count(State.ONBOARD) == 3)
    (ticket,) = world.store.tickets()
    assert ticket.seen == 2
    assert "1. Swap them." in ticket.body
    wrong[0] = False
    fixed = Result("cabling", Verdict.PASS, "as designed")
    engine = world.engine
    assert isinstance(engine, Scripted)
    engine.script = lambda _node, stage: (fixed,) if stage is Stage.VERIFY else (GOOD,)
    played(world, in_state(State.PRODUCTION), now=now)
    assert world.store.tickets() == ()
    assert world.store.tickets(open_only=False)[0].closed_because == "cabling on gpu-01: as designed"


def test_a_busy_node_with_a_fault_is_cordoned_and_rebooted_when_idle(make_world: Callable[..., TickContext]) -> None:
    """And returns to production by itself."""
    world = make_world()
    now = played(world, in_state(State.PRODUCTION))
    engine = world.engine
    assert isinstance(engine, Scripted)
    sick, busy = [True], [True]

    def script(_node: str, stage: Stage) -> tuple[Result, ...]:
        if stage is Stage.REBOOT:
            sick[0] = False
        usage = BUSY if busy[0] else IDLE
        return (XID if sick[0] else Result("xid", Verdict.PASS, "none"), usage)

    engine.script = script
    now = played(world, lambda world: Condition.PENDING in world.store.nodes()[0].conditions, now=now)
    said: set[str] = set()
    for _ in range(10):
        now += 5
        tick(world, now)
        said.add(world.store.nodes()[0].waiting)
    node = world.store.nodes()[0]
    assert node.state is State.PRODUCTION
    assert set(node.conditions) == {Condition.PENDING, Condition.CORDONED, Condition.DRAINING, Condition.IN_USE}
    assert "REBOOT pending, its work has not ended: GPU 3 fell off the bus." in said
    busy[0] = False
    played(world, lambda world: path(world)[-2:] == [State.REBOOT, State.PRODUCTION], now=now)
    assert not set(world.store.nodes()[0].conditions) & {Condition.PENDING, Condition.CORDONED, Condition.DRAINING}


def test_a_fault_everywhere_takes_one_node_at_a_time(make_world: Callable[..., TickContext]) -> None:
    """Disruption has a budget, and what waits for it says so."""
    world = make_world(count=4)
    now = played(world, in_state(State.PRODUCTION))
    engine = world.engine
    assert isinstance(engine, Scripted)
    rebooted: set[str] = set()

    def script(node: str, stage: Stage) -> tuple[Result, ...]:
        if stage is Stage.REBOOT:
            rebooted.add(node)
        return (Result("xid", Verdict.PASS, "none") if node in rebooted else XID, IDLE)

    engine.script = script
    said: set[str] = set()
    for _ in range(200):
        now += 5
        tick(world, now)
        rows = world.store.nodes()
        assert sum(node.state is State.REBOOT for node in rows) <= 1
        said |= {node.waiting for node in rows}
    assert rebooted == {"gpu-01", "gpu-02", "gpu-03", "gpu-04"}
    assert any("the fleet's budget is spent: 1 of at most 1 node out (gpu-0" in each for each in said), said


def test_what_a_person_asks_for_is_not_held_back_by_the_budget(make_world: Callable[..., TickContext]) -> None:
    """Two reboots at once, because somebody wants them."""
    world = make_world(count=2)
    now = played(world, in_state(State.PRODUCTION))
    for name in ("gpu-01", "gpu-02"):
        world.store.leave_intent(name, IntentKind.REBOOT, "ann", now=now)
    engine = world.engine
    assert isinstance(engine, Scripted)
    seen = 0
    for _ in range(12):
        now += 5
        engine.state = BatchState.RUNNING if seen else BatchState.ENDED
        tick(world, now)
        seen = max(seen, sum(node.state is State.REBOOT for node in world.store.nodes()))
    assert seen == 2


def test_a_fault_everywhere_does_not_empty_a_small_fleet(make_world: Callable[..., TickContext]) -> None:
    """One node in triage shows it; a person decides about the rest."""
    world = make_world(count=4)
    now = played(world, in_state(State.PRODUCTION))
    sick = Finding("gpu.remap", "GPU 1", "GPU 1 is broken.", Remedy.TRIAGE, "f")
    engine = world.engine
    assert isinstance(engine, Scripted)
    engine.script = lambda _node, _stage: (Result("gpu_errors", Verdict.FAIL, "broken", (sick,)), IDLE)
    for _ in range(150):
        now += 5
        tick(world, now)
    assert sum(node.state is State.TRIAGE for node in world.store.nodes()) == 1


def test_the_fleet_goes_on_when_the_source_cannot_be_read(make_world: Callable[..., TickContext]) -> None:
    """With the last good copy; without one there is nothing to go on with."""
    world = make_world()
    tick(world, 1000.0)

    def broken() -> Fleet:
        raise SourceError("devices.yml:3: unknown device type")

    world.read_source = broken
    tick(world, 1001.0)
    world.fleet = None
    with pytest.raises(SourceError, match="unknown device type"):
        tick(world, 1002.0)


@given(st.lists(st.sampled_from(["pass", "fail", "silent", "lost"]), min_size=1, max_size=12))
@settings(max_examples=15, deadline=None, suppress_health_check=UNHURRIED)
def test_whatever_plays_say_no_node_skips_burn_in(make_world: Callable[..., TickContext], fate: list[str]) -> None:
    """Random ends of plays, a real store: production only after a burn-in that passed."""
    world = make_world()
    engine = world.engine
    assert isinstance(engine, Scripted)
    now = 1000.0
    for word in fate * 4:
        engine.state = BatchState.LOST if word == "lost" else BatchState.ENDED
        answers = {"pass": (GOOD,), "fail": (SWAP,)}.get(word)
        engine.script = lambda _node, _stage, answers=answers: answers
        now += 700
        tick(world, now)
        for node in world.store.nodes():
            if node.state is State.ONBOARD:
                world.store.leave_intent(node.name, IntentKind.CERTIFY, "tech", reason="", detail="", now=now)
    steps = [(entry.state, entry.to) for entry in world.store.history("gpu-01") if entry.kind == "transition"]
    assert all(came in {State.BURN_IN, State.REBOOT} for came, to in steps if to is State.PRODUCTION)
    assert timing(world.settings).retry == 10


def test_time_spent_held_does_not_count_and_requests_are_answered(make_world: Callable[..., TickContext]) -> None:
    """A node held past its deadline goes on when it is released."""
    world = make_world(lambda _node, stage: None if stage is Stage.PROVISION else (GOOD,))
    in_service(world, State.PROVISION)
    hold = world.store.leave_intent("gpu-01", IntentKind.HOLD, "ann", reason="visitors", now=1001.0)
    assert world.store.answer(hold) is None
    tick(world, 1005.0)
    assert world.store.answer(hold) == (True, "Held: nothing moves it until it is released.")
    tick(world, 9000.0)
    assert world.store.nodes()[0].state is State.PROVISION
    engine = world.engine
    assert isinstance(engine, Scripted)
    engine.script = all_good
    world.store.leave_intent("gpu-01", IntentKind.RELEASE, "ann", now=9001.0)
    assert world.store.released_at("gpu-01") == 0.0
    tick(world, 9005.0)
    assert world.store.released_at("gpu-01") == 9005.0
    tick(world, 9010.0)
    assert world.store.nodes()[0].state is State.ONBOARD
