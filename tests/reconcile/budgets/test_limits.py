"""How much automation may do at a time, through the whole loop."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.budgets.circuit_breaker import Disruption, Want
from fleet_runner.core.budgets.circuit_breaker_limits import Limits
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.actions import Decision, Move
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import TRANSITIONS, Condition, Event, Stage, State
from fleet_runner.core.lifecycle.view import View
from fleet_runner.reconcile.budgets.allowance import Allowance
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from tests.reconcile.scripted import BUSY, IDLE, XID, Scripted, a_fleet, in_service, path, played

WELL = Result("xid", Verdict.PASS, "none")
LIMITS = Limits(least=2, pause=600.0)


def sick(world: TickContext, nodes: set[str], healed_by: Stage = Stage.REBOOT) -> set[str]:
    """Let nodes have lost a GPU from now on, until they are rebooted; return who is well again, as it grows."""
    engine = world.engine
    assert isinstance(engine, Scripted)
    well: set[str] = set()

    def script(node: str, stage: Stage) -> tuple[Result, ...]:
        if stage is healed_by:
            well.add(node)
        return (XID if node in nodes - well else WELL, IDLE)

    engine.script = script
    return well


def ruled(world: TickContext, **breaker: object) -> None:
    """Give the world a policy."""
    rows = "".join(f"  {name}: {value}\n" for name, value in breaker.items())
    file = world.settings.state_dir / "policy.yml"
    file.write_text(f"breaker:\n{rows}", encoding="utf-8")
    world.settings = world.settings.model_copy(update={"policy_file": file})


def conditions(world: TickContext) -> Mapping[str, set[Condition]]:
    """What holds of each node."""
    return {node.name: set(node.conditions) for node in world.store.nodes()}


def one_rack(count: int) -> Fleet:
    """So many servers in one rack."""
    fleet = a_fleet(count)
    return replace(fleet, devices={name: replace(each, rack="R1") for name, each in fleet.devices.items()})


def lost(node: str) -> Result:
    """A GPU of this node is gone."""
    return replace(XID, findings=(replace(XID.findings[0], fault=f"{node}/gpu.lost/GPU 3"),))


def in_one(domain: str, tenant: str = "", count: int = 22) -> Fleet:
    """A fleet of which the first two nodes share a failure domain, or a tenant."""
    fleet = a_fleet(count)
    context = {"failure_domain": domain} if domain else {}
    pair = {
        name: replace(device, context=context, tenant=tenant or None)
        for name, device in list(fleet.devices.items())[:2]
    }
    return replace(fleet, devices={**fleet.devices, **pair})


@pytest.mark.parametrize(
    ("fleet", "whose"),
    [
        (in_one("feed-1"), "failure domain hall/feed-1"),
        (in_one("", "red"), "tenant red"),
    ],
)
def test_nodes_that_belong_together_go_one_after_the_other(
    make_world: Callable[..., TickContext], fleet: Fleet, whose: str
) -> None:
    """While the fleet's budget has room for three."""
    world = make_world(fleet=fleet)
    now = in_service(world)
    well = sick(world, {"gpu-01", "gpu-02"})
    said: set[str] = set()
    for _ in range(60):
        now += 5
        tick(world, now)
        rows = world.store.nodes()
        assert sum(node.state is State.REBOOT for node in rows) <= 1
        said |= {node.waiting for node in rows}
    assert well == {"gpu-01", "gpu-02"}
    assert any(f"the budget of {whose} is spent: 1 of at most 1 node out (gpu-0" in each for each in said)


def test_two_racks_of_one_name_have_two_budgets(make_world: Callable[..., TickContext]) -> None:
    """They are of two sites."""
    fleet = a_fleet(21)
    other = replace(fleet.devices["gpu-02"], site="annex", rack="R1")
    world = make_world(fleet=replace(fleet, sites=("annex", "hall"), devices={**fleet.devices, "gpu-02": other}))
    now = in_service(world)
    engine = world.engine
    assert isinstance(engine, Scripted)
    sick(world, {"gpu-01", "gpu-02"}, Stage.VERIFY)
    most = 0
    for _ in range(60):
        now += 5
        tick(world, now)
        most = max(most, sum(node.state is State.REBOOT for node in world.store.nodes()))
    assert most == 2


def test_a_node_that_waits_for_the_budget_is_looked_at_and_may_be_well_again(
    make_world: Callable[..., TickContext],
) -> None:
    """Its sweeps go on; what went away by itself is not rebooted when its turn comes."""
    world = make_world(count=2)
    now = in_service(world)
    engine = world.engine
    assert isinstance(engine, Scripted)
    faulty = {"gpu-01", "gpu-02"}

    def script(node: str, stage: Stage) -> tuple[Result, ...] | None:
        return None if stage is Stage.REBOOT else (XID if node in faulty else WELL, IDLE)

    engine.script = script
    now = played(world, lambda world: any(node.state is State.REBOOT for node in world.store.nodes()), now=now)
    waits = next(node.name for node in world.store.nodes() if node.state is State.PRODUCTION)
    faulty.discard(waits)
    for _ in range(60):
        now += 10
        tick(world, now)
    row = world.store.node(waits)
    assert row is not None
    assert row.state is State.PRODUCTION
    assert Condition.CORDONED not in row.conditions


def test_nodes_in_use_that_fail_one_by_one_are_not_all_kept_from_work(make_world: Callable[..., TickContext]) -> None:
    """The rack may give up one node: one is cordoned, the others serve on with their faults and say why."""
    world = make_world(fleet=one_rack(8))
    now = in_service(world)
    faulty: set[str] = set()
    engine = world.engine
    assert isinstance(engine, Scripted)
    engine.script = lambda node, _stage: (lost(node) if node in faulty else WELL, BUSY)
    for at in range(1, 9):
        faulty.add(f"gpu-{at:02}")
        for _ in range(5):
            now += 260
            tick(world, now)
    holding = [name for name, found in conditions(world).items() if Condition.CORDONED in found]
    assert holding == ["gpu-01"]
    assert world.store.breaker() is None  # they came one by one: that they wait is no news
    waits = world.store.node("gpu-08")
    assert waits is not None
    assert waits.waiting == (
        "waits: not cordoned yet, the budget of rack hall/R1 is spent: "
        "1 of at most 1 node out (gpu-01: cordoned, REBOOT pending)"
    )


def test_two_machines_on_one_store_take_no_more_than_a_budget_together(
    make_world: Callable[..., TickContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have measured before either has written: the second one is told to decide again."""
    world = make_world(fleet=one_rack(8))
    now = in_service(world)
    monkeypatch.setattr(Store, "shared", property(lambda _: True))
    move = Move(TRANSITIONS[State.PRODUCTION, Event.REBOOT_NEEDED], "runner")
    views = [View(node, "active") for node in world.store.nodes()[:2]]
    purses = [Allowance(world, one_rack(8)), Allowance(world, one_rack(8))]
    pairs = list(zip(purses, views, strict=True))
    decided = [purse.spend(view, Decision((move,), "", now), now) for purse, view in pairs]
    assert all(move in decision.actions for decision in decided)
    purses[0].apply(views[0], decided[0], now)
    with pytest.raises(ConflictError, match="the budget of rack hall/R1 is spent"):
        purses[1].apply(views[1], decided[1], now)
    assert [node.state for node in world.store.nodes()].count(State.REBOOT) == 1


def test_a_fault_that_has_ended_the_work_asks_no_budget_for_its_cordon(
    make_world: Callable[..., TickContext],
) -> None:
    """Nothing is lost by it, and no new work comes to a dead GPU."""
    world = make_world(fleet=one_rack(8))
    now = in_service(world)
    file = world.settings.state_dir / "policy.yml"
    file.write_text("rules:\n  - {code: gpu.lost, at_once: true}\n", encoding="utf-8")
    world.settings = world.settings.model_copy(update={"policy_file": file})
    engine = world.engine
    assert isinstance(engine, Scripted)
    engine.script = lambda node, _stage: (lost(node) if node in {"gpu-01", "gpu-02"} else WELL, BUSY)
    cordoned: set[str] = set()
    for _ in range(4):
        now += 120
        tick(world, now)
        cordoned |= {name for name, found in conditions(world).items() if Condition.CORDONED in found}
        assert sum(node.state is not State.PRODUCTION for node in world.store.nodes()) <= 1
    assert cordoned == {"gpu-01", "gpu-02"}


def test_a_breaker_that_opened_takes_no_node_out_and_one_trial_closes_it(
    make_world: Callable[..., TickContext],
) -> None:
    """No cordon, no drain, no reboot but the trial's; sweeps go on; then the rest follows within the budget."""
    world = make_world(count=10)
    now = in_service(world)
    ruled(world, least=2, pause=600)
    well = sick(world, {f"gpu-{at:02}" for at in range(1, 7)})
    played(world, lambda world: world.store.breaker() is not None, now=now)
    opened = world.store.breaker()
    assert opened is not None
    out = {node.name for node in world.store.nodes() if node.state is not State.PRODUCTION}
    cordoned = {name for name, holding in conditions(world).items() if Condition.CORDONED in holding}
    assert len(out | cordoned) <= 3  # two are let, the third one opens it
    sweeps = len(world.store.runs_of("gpu-06", Stage.HEALTH_PASSIVE, 50))
    now = opened.opened_at
    while now < opened.half_open_at - 10:
        now += 10
        tick(world, now)
        assert {name for name, holding in conditions(world).items() if Condition.CORDONED in holding} <= cordoned
        assert well <= out
    assert len(world.store.runs_of("gpu-06", Stage.HEALTH_PASSIVE, 50)) > sweeps
    waits = world.store.node("gpu-06")
    assert waits is not None
    assert waits.waiting.startswith("waits: the circuit breaker is open since")
    (ticket,) = world.store.tickets()
    assert ticket.fault == "fleet/breaker"
    assert "fleet-runner breaker reset" in ticket.body
    now = played(world, lambda world: world.store.breaker() is None, now=now)
    assert world.store.tickets() == ()
    assert len(well - out) == 1
    played(world, lambda _world: len(well) == 6, now=now)


def test_a_breaker_closes_once_its_false_alarm_is_over(make_world: Callable[..., TickContext]) -> None:
    """Nobody can be its trial then; one node that people are asked about later is not held back."""
    world = make_world(count=10)
    tick(world, 1000.0)
    for at in range(1, 7):
        world.store.ask_breaker(Want(f"gpu-{at:02}", 1000.0, ()), Disruption(anew=True, may_try=True), LIMITS, 1000.0)
    opened = world.store.breaker()
    assert opened is not None
    late = opened.half_open_at + LIMITS.within
    assert world.store.judge_breaker(LIMITS, late - 1) == opened
    world.store.ask_breaker(Want("gpu-09", late, ()), Disruption(anew=True, may_try=False), LIMITS, late)
    assert world.store.judge_breaker(LIMITS, late) is None
    (ticket,) = world.store.tickets(open_only=False)
    assert ticket.closed_because == "no node could be tried, and few are about to leave service"


def test_a_trial_that_does_not_help_opens_the_breaker_for_longer(make_world: Callable[..., TickContext]) -> None:
    """One node a trial in triage, not all."""
    world = make_world(count=6)
    now = in_service(world)
    ruled(world, least=2, pause=100)
    sick(world, {f"gpu-{at:02}" for at in range(1, 7)}, Stage.DRAIN)
    engine = world.engine
    assert isinstance(engine, Scripted)
    engine.script = lambda _node, _stage: (XID, IDLE)
    for _ in range(70):
        now += 10
        tick(world, now)
    known = world.store.breaker()
    assert known is not None
    assert known.pause >= 200
    gone = [node for node in world.store.nodes() if node.state is not State.PRODUCTION]
    assert 1 <= len(gone) <= 4


def test_people_pass_an_open_breaker_and_nothing_keeps_a_node_from_coming_back(
    make_world: Callable[..., TickContext],
) -> None:
    """A request is carried out, a reboot under way ends in service, a reset by name closes it."""
    world = make_world(count=10)
    now = in_service(world)
    for at in range(6):
        world.store.ask_breaker(
            Want(f"gpu-{at + 2:02}", now, ("xid.79",)), Disruption(anew=True, may_try=False), LIMITS, now
        )
    opened = world.store.breaker()
    assert opened is not None
    assert not opened.trial
    world.store.leave_intent("gpu-01", IntentKind.REBOOT, "ann", now=now)
    now = played(world, lambda world: path(world)[-2:] == [State.REBOOT, State.PRODUCTION], now=now)
    assert world.store.breaker() == opened
    assert world.store.reset_breaker("ann", "the driver was rolled back", now)
    assert not world.store.reset_breaker("ann", "again", now)
    (ticket,) = world.store.tickets(open_only=False)
    assert ticket.closed_because == "ann reset the circuit breaker: the driver was rolled back"
    why, known = world.store.ask_breaker(
        Want("gpu-03", now, ("xid.79",)), Disruption(anew=True, may_try=True), LIMITS, now
    )
    assert (why, known) == ("", None)  # whoever waited follows; only new ones count


def test_a_breaker_survives_a_restart_and_two_processes_count_together(
    make_world: Callable[..., TickContext],
) -> None:
    """Whoever asks next, it is one count, one breaker and one trial."""
    world = make_world(count=8)
    tick(world, 1000.0)
    new = Disruption(anew=True, may_try=True)
    with Store.open(world.settings.store_url) as other:
        stores = (world.store, other, world.store)
        answers = [
            store.ask_breaker(Want(f"gpu-{at:02}", 1000.0, ()), new, LIMITS, 1000.0)[0]
            for at, store in enumerate(stores, 1)
        ]
    assert [bool(answer) for answer in answers] == [False, False, True]
    with Store.open(world.settings.store_url) as again:
        trial, _ = again.ask_breaker(Want("gpu-04", 2000.0, ()), new, LIMITS, 2000.0)
        other_one, known = world.store.ask_breaker(Want("gpu-05", 2000.0, ()), new, LIMITS, 2000.0)
    assert trial == ""
    assert "gpu-04 is tried first" in other_one
    assert world.store.breaker() == known
