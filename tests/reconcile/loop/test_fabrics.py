"""Fabrics in the loop: swept on a schedule through nodes in service, their faults ticketed, closed, opened again."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from fleet_runner.adapters.plays.engine import Batch
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.inventory.records import Cable, Device, Fleet, Interface, Termination
from fleet_runner.core.lifecycle.runs import IntentKind, Outcome
from fleet_runner.core.lifecycle.states import Condition, Stage, State
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from tests.reconcile.scripted import GOOD, IDLE, XID, Scripted, a_fleet, in_state, played

Make = Callable[..., TickContext]
FABRIC = "infiniband.hall"
PORT = (Interface("ib0", "infiniband-ndr"),)


def cabled(count: int) -> Fleet:
    """So many servers with one port each, on one leaf."""
    plain = a_fleet(count)
    leaf = Device("leaf-1", "l", "leaf", "hall", interfaces=tuple(replace(PORT[0], name=f"p{n}") for n in range(9)))
    devices = {name: replace(device, interfaces=PORT) for name, device in plain.devices.items()}
    cables = tuple(Cable(Termination(name, "ib0"), Termination("leaf-1", f"p{n}")) for n, name in enumerate(devices))
    return replace(plain, devices=devices | {"leaf-1": leaf}, cables=cables)


def wrong(key: str = "cabling/1", *nodes: str, check: str = "fabric_cabling", **observed: Any) -> Result:
    """A look that found one fault."""
    named = nodes or ("gpu-01",)
    fault = Finding(
        "cabling.swap", "ib0", f"Swapped: {key}.", Remedy.RECABLE, key, named, ("Swap.",), (*named, "leaf-1")
    )
    return Result(check, Verdict.FAIL, "1 fault", (fault,), observed)


def fine(check: str = "fabric_cabling") -> Result:
    """A look that found nothing."""
    return Result(check, Verdict.PASS, "as designed", (), {"designed": 3, "matched": 3})


class Hall:
    """A hall in service whose sweeps say what the test wants."""

    def __init__(self, make: Make, *, count: int = 3) -> None:
        self.sweep: tuple[Result, ...] | None = (fine(),)
        self.of_nodes: dict[Stage, tuple[Result, ...]] = {}
        self.world = make(self._say, fleet=cabled(count))
        self.now = played(self.world, in_state(State.PRODUCTION))
        self.until(lambda: bool(self.sweeps()) and not self.sweeping())

    def _say(self, _node: str, stage: Stage) -> tuple[Result, ...] | None:
        if stage is Stage.FABRIC:
            return self.sweep
        usual = (GOOD, IDLE) if stage in {Stage.DRAIN, Stage.HEALTH_PASSIVE} else (GOOD,)
        return self.of_nodes.get(stage, usual)

    def until(self, over: Callable[[], bool], *, step: float = 5.0, most: int = 400) -> None:
        """Tick every so many seconds until something holds."""
        for _ in range(most):
            if over():
                return
            self.now += step
            tick(self.world, self.now)
        raise AssertionError(self.waiting())

    def swept(self, *says: Result) -> None:
        """Have a person ask for a sweep that says something, and look at what follows from it."""
        self.sweep = says
        before = len(self.sweeps())
        self.world.store.leave_intent(FABRIC, IntentKind.RUN, "ann", detail="fabric", now=self.now)
        self.until(lambda: len(self.sweeps()) > before and not self.sweeping())
        self.now += 5
        tick(self.world, self.now)

    def sweeping(self) -> bool:
        """Whether a sweep is open."""
        return any(run.node == FABRIC for run in self.world.store.open_runs())

    def sweeps(self) -> list[Batch]:
        """The sweeps that were started."""
        assert isinstance(self.world.engine, Scripted)
        return [batch for batch in self.world.engine.launched if batch.stage is Stage.FABRIC]

    def told(self) -> dict[str, Any]:
        """What the newest sweep was told."""
        return dict(self.sweeps()[-1].runs[FABRIC])

    def waiting(self) -> str:
        """What the fabric says of itself."""
        return self.world.store.fabrics()[0].waiting


@pytest.fixture
def hall(make_world: Make) -> Hall:
    """Three servers in service."""
    return Hall(make_world)


def test_a_fabric_waits_for_a_node_that_is_up_and_is_then_swept_on_schedule(make_world: Make) -> None:
    """Beside the nodes; it moves nowhere."""
    world = make_world(lambda _node, stage: (fine(),) if stage is Stage.FABRIC else (GOOD, IDLE), fleet=cabled(2))
    tick(world, 1000.0)
    (fabric,) = world.store.fabrics()
    assert (fabric.name, fabric.state) == (FABRIC, State.WATCHED)
    assert fabric.waiting.startswith("No node that is up has a port in this fabric, so nothing can read it;")
    played(world, in_state(State.PRODUCTION))
    for now in range(2000, 2000 + 29_000, 200):
        tick(world, float(now))
    first, second, third = world.store.runs(FABRIC)
    assert {first.outcome, second.outcome, third.outcome} == {Outcome.PASSED}
    assert second.opened_at - first.opened_at <= 14_400 + 200
    assert third.opened_at - second.opened_at == pytest.approx(14_400, abs=200)
    assert world.store.fabrics()[0].waiting.startswith("3 of 3 links as designed; next sweep at ")
    assert world.store.fabrics()[0].state is State.WATCHED


def test_a_ticket_takes_two_sights_and_is_closed_by_a_sweep_that_does_not_see_it(hall: Hall) -> None:
    """The second one comes by itself, soon."""
    hall.swept(wrong())
    assert hall.world.store.tickets() == ()
    assert "1 fault, 1 unconfirmed" in hall.waiting()
    asked = hall.now
    hall.until(lambda: bool(hall.world.store.tickets()), step=20.0)
    assert hall.now - asked == pytest.approx(600, abs=60)
    (ticket,) = hall.world.store.tickets()
    assert ticket.nodes == ("gpu-01", FABRIC, "leaf-1")
    assert ticket.body.startswith("infiniband.hall, 1 switch and 3 nodes of hall.\nSwapped: cabling/1.\n1. Swap.\n")
    assert [each.id for each in hall.world.store.tickets(node="gpu-01")] == [ticket.id]
    hall.swept(fine())
    assert hall.world.store.tickets() == ()
    assert hall.world.store.tickets(open_only=False)[0].closed_because == f"fabric_cabling on {FABRIC}: as designed"


def test_a_fault_that_returns_opens_its_ticket_again(hall: Hall) -> None:
    """After two sights, under its number; the history says so."""
    for says in (wrong(), wrong(), fine(), wrong()):
        hall.swept(says)
    assert hall.world.store.tickets() == ()
    hall.swept(wrong())
    (ticket,) = hall.world.store.tickets()
    assert (ticket.id, ticket.seen) == (1, 2)
    said = [entry.sentence for entry in hall.world.store.history(FABRIC) if entry.kind == "ticket"]
    assert said[-1] == "Ticket 1 reopened: infiniband.hall: Swapped: cabling/1."
    assert any("Ticket 1 reopened" in entry.sentence for entry in hall.world.store.history("gpu-01"))


def test_a_sweep_without_a_verdict_neither_confirms_nor_closes(hall: Hall) -> None:
    """It does not stand between two sights either."""
    silent = Result("fabric_cabling", Verdict.UNKNOWN, "the capture was cut")
    hall.swept(wrong())
    hall.swept(silent)
    assert hall.world.store.tickets() == ()
    assert hall.waiting().startswith("UNKNOWN: fabric_cabling: the capture was cut; next sweep at ")
    hall.swept(wrong())
    assert len(hall.world.store.tickets()) == 1
    hall.swept(silent)
    assert len(hall.world.store.tickets()) == 1


def test_a_suspect_capture_is_one_ticket_and_closes_no_other(hall: Hall) -> None:
    """However much it saw."""
    why = Finding(
        "cabling.suspect", FABRIC, "Half of it is gone.", Remedy.RECABLE, f"cabling/suspect/{FABRIC}", (FABRIC,)
    )
    suspect = Result("fabric_cabling", Verdict.FAIL, "suspect", (why,), {"suspect": "half of it"})
    for says in (wrong(), wrong(), suspect, suspect, suspect):
        hall.swept(says)
    assert sorted(ticket.fault for ticket in hall.world.store.tickets()) == ["cabling/1", f"cabling/suspect/{FABRIC}"]
    assert hall.waiting().startswith("Half of it is gone; next sweep at ")
    hall.swept(fine())
    assert hall.world.store.tickets() == ()


def test_nobody_is_sent_to_a_node_that_is_held(hall: Hall) -> None:
    """Until it is released."""
    hall.world.store.leave_intent("gpu-01", IntentKind.HOLD, "ann", now=hall.now)
    for says in (wrong(), wrong(), wrong()):
        hall.swept(says)
    assert hall.world.store.tickets() == ()
    assert "1 fault, 1 excused (gpu-01 is held)" in hall.waiting()
    hall.world.store.leave_intent("gpu-01", IntentKind.RELEASE, "ann", now=hall.now)
    hall.swept(wrong())
    assert len(hall.world.store.tickets()) == 1


def test_a_ticket_that_a_node_opened_in_verify_is_closed_by_a_sweep_that_looked_later(make_world: Make) -> None:
    """And the node's older sight does not open it again."""
    own = wrong(check="cabling_infiniband")

    def script(node: str, stage: Stage) -> tuple[Result, ...]:
        if stage is Stage.FABRIC:
            return (fine(),)
        return (own,) if (node, stage) == ("gpu-01", Stage.VERIFY) else (GOOD, IDLE)

    world = make_world(script, fleet=cabled(2))
    now = played(world, lambda world: any(run.stage is Stage.VERIFY for run in world.store.runs("gpu-01")))
    for _ in range(4):
        now += 5
        tick(world, now)
    (ticket,) = world.store.tickets()
    assert ticket.nodes == ("gpu-01", "leaf-1")
    world.store.leave_intent(FABRIC, IntentKind.RUN, "ann", detail="fabric", now=now)
    for _ in range(100):
        now += 60
        tick(world, now)
    (ticket,) = world.store.tickets(open_only=False)
    assert ticket.closed_because == f"fabric_cabling on {FABRIC}: as designed"


def railed(count: int) -> Fleet:
    """The same servers with a second port each, on a second leaf that nothing joins to the first."""
    one = cabled(count)
    ports = (*PORT, Interface("ib1", "infiniband-ndr"))
    devices = {
        name: replace(each, interfaces=ports) if name != "leaf-1" else each for name, each in one.devices.items()
    }
    devices["leaf-2"] = replace(one.devices["leaf-1"], name="leaf-2")
    more = [Cable(Termination(each.a.device, "ib1"), Termination("leaf-2", each.b.interface)) for each in one.cables]
    return replace(one, devices=devices, cables=(*one.cables, *more))


def test_fabrics_that_share_their_servers_leave_each_others_tickets_alone(make_world: Make) -> None:
    """What the second rail's sweep did not look at is not gone; what a node opened, the rail of its switch closes."""
    faulty, own = [True], wrong("cabling/2", "gpu-02", check="cabling_infiniband")

    def script(node: str, stage: Stage) -> tuple[Result, ...]:
        if stage is Stage.FABRIC:
            return (wrong() if node.endswith("leaf-1") and faulty else fine(),)
        return (own,) if (node, stage) == ("gpu-02", Stage.VERIFY) else (GOOD, IDLE)

    world = make_world(script, fleet=railed(3))
    serving = played(world, lambda world: any(node.state is State.PRODUCTION for node in world.store.nodes()))

    def swept(rail: str, now: float) -> float:
        name = f"{FABRIC}.{rail}"
        before = len(world.store.runs(name))
        world.store.leave_intent(name, IntentKind.RUN, "ann", detail="fabric", now=now)
        while len([run for run in world.store.runs(name) if run.ended_at]) <= before:
            now += 5
            tick(world, now)
        tick(world, now + 5)
        return now + 5

    def faults() -> list[str]:
        return sorted(ticket.fault for ticket in world.store.tickets())

    now = swept("leaf-2", swept("leaf-1", swept("leaf-1", serving)))
    assert faults() == ["cabling/1"]
    faulty.clear()
    swept("leaf-1", swept("leaf-2", now))
    assert faults() == []


def test_a_production_nodes_cabling_needs_two_sights_too(hall: Hall) -> None:
    """The second look is not left to the schedule."""
    hall.of_nodes[Stage.CABLING] = (wrong("lldp/1", "gpu-02", check="cabling_ethernet"),)
    hall.until(lambda: bool(hall.world.store.tickets()), step=60.0)
    looks = [hall.world.store.runs_of(node.name, Stage.CABLING, 2) for node in hall.world.store.nodes()]
    pauses = [late.opened_at - (early.ended_at or 0.0) for early, late in (each for each in looks if len(each) > 1)]
    assert min(pauses) == pytest.approx(600, abs=120)
    assert ": fleet-runner run cabling --node gpu-" in hall.world.store.tickets()[0].body


def test_a_sweep_is_told_who_can_look_what_was_seen_and_who_was_disturbed(make_world: Make) -> None:
    """Idle nodes in service first; a node that came to service lately had its links down until then."""
    hall = Hall(make_world, count=5)
    told = hall.told()
    assert told["observers"] == [["gpu-01", "ib0"], ["gpu-02", "ib0"], ["gpu-03", "ib0"]]
    assert told["suspect_share"] == 0.005
    hall.swept(Result("fabric_counters", Verdict.PASS, "quiet", observed={"counters": {"gpu-01": 7}}), fine())
    hall.swept(Result("fabric_counters", Verdict.UNKNOWN, "no permission"), fine())
    hall.world.store.leave_intent("gpu-01", IntentKind.HOLD, "ann", now=hall.now)
    hall.now += 3 * 86_400
    hall.swept(fine())
    told = hall.told()
    assert told["before"]["fabric_counters"]["observed"] == {"counters": {"gpu-01": 7}}
    assert set(told["before"]) == {"fabric_counters"}
    assert told["observers"][0] == ["gpu-02", "ib0"]
    assert told["disturbed"] == {}


def test_a_rebooted_node_is_disturbed_until_it_serves_again(hall: Hall) -> None:
    """For a while after, in the fabric's payload and in its own; nobody else is."""
    hall.now += 3 * 86_400
    hall.world.store.leave_intent("gpu-02", IntentKind.REBOOT, "ann", now=hall.now)
    seen: list[dict[str, float]] = []
    store = hall.world.store

    def serves_again() -> bool:
        row = store.node("gpu-02")
        assert row is not None
        if row.state is State.REBOOT and not seen:
            hall.swept(fine())
            seen.append(hall.told()["disturbed"])
        return bool(seen) and row.state is State.PRODUCTION and Condition.DRAINING not in row.conditions

    hall.until(serves_again)
    returned = store.node("gpu-02")
    assert returned is not None
    hall.swept(fine())
    assert hall.told()["disturbed"] == {"gpu-02": returned.since}
    engine = hall.world.engine
    assert isinstance(engine, Scripted)
    own = [batch for batch in engine.launched if batch.stage is Stage.HEALTH_PASSIVE][-1].runs
    assert own["gpu-02"]["disturbed"] == {"gpu-02": returned.since}
    assert all(run["disturbed"] == {} for name, run in own.items() if name != "gpu-02")


def test_a_node_that_is_worked_on_is_disturbed_now(hall: Hall) -> None:
    """Until after the sweep."""
    hall.of_nodes[Stage.HEALTH_PASSIVE] = (
        replace(XID, findings=(replace(XID.findings[0], remedy=Remedy.TRIAGE),)),
        IDLE,
    )
    hall.until(lambda: any(node.state is State.TRIAGE for node in hall.world.store.nodes()))
    (away,) = (node.name for node in hall.world.store.nodes() if node.state is State.TRIAGE)
    hall.swept(fine())
    assert hall.told()["disturbed"][away] > hall.now


def test_a_fabric_that_left_the_source_of_truth_rests(hall: Hall) -> None:
    """Like a node that left it."""
    hall.world.read_source = lambda: replace(cabled(3), cables=(), revision="2")
    before = len(hall.sweeps())
    for _ in range(50):
        hall.now += 1000
        tick(hall.world, hall.now)
    assert len(hall.sweeps()) == before
    assert hall.waiting() == "the source of truth does not know it any more; it is not swept"


def test_a_fabric_that_is_named_keeps_its_history_and_tickets_and_waits_for_its_sweep(hall: Hall) -> None:
    hall.swept(wrong())
    hall.swept(wrong())
    (ticket,) = hall.world.store.tickets()
    before = len(hall.world.store.runs(FABRIC))
    hall.world.store.leave_intent(FABRIC, IntentKind.RUN, "ann", detail="fabric", now=hall.now)
    hall.until(hall.sweeping, step=1.0)
    source = cabled(3)
    leaf = replace(source.devices["leaf-1"], context={"fabric_name": "rails"})
    named = replace(source, devices={**source.devices, "leaf-1": leaf}, revision="named")
    hall.world.read_source = lambda: named
    hall.world.fleet_read_at = 0.0
    tick(hall.world, hall.now)
    assert [each.name for each in hall.world.store.fabrics()] == [FABRIC]
    hall.until(lambda: [each.name for each in hall.world.store.fabrics()] == ["infiniband.hall.rails"])
    assert len(hall.world.store.runs("infiniband.hall.rails")) == before + 1
    (kept,) = hall.world.store.tickets()
    assert (kept.id, kept.fault, kept.opened_at) == (ticket.id, ticket.fault, ticket.opened_at)
    assert "infiniband.hall.rails" in kept.nodes
    hall.sweep = (fine(),)
    hall.world.store.leave_intent("infiniband.hall.rails", IntentKind.RUN, "ann", detail="fabric", now=hall.now)
    hall.until(lambda: not hall.world.store.tickets())


def test_a_retired_fabric_is_swept_no_more(hall: Hall) -> None:
    """Its history stays."""
    hall.world.store.leave_intent(FABRIC, IntentKind.RETIRE, "ann", now=hall.now)
    hall.until(lambda: hall.world.store.fabrics()[0].state is State.RETIRED)
    assert hall.world.store.due(hall.now + 1e9)
    assert FABRIC not in {node.name for node in hall.world.store.due(hall.now + 1e9)}


def test_an_idle_tick_reads_no_fleet(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every node is read only where a fabric is due."""
    hall.until(lambda: not hall.world.store.due(hall.now) and not hall.world.store.open_runs())
    asked: list[int] = []
    read = hall.world.store.nodes
    monkeypatch.setattr(hall.world.store, "nodes", lambda: asked.append(1) or read())
    for _ in range(20):
        tick(hall.world, hall.now)
    assert asked == []
    hall.swept(fine())
    assert asked


def test_a_fabric_takes_none_of_the_budget(hall: Hall) -> None:
    """One node of three may be out, whatever stands beside them."""
    hall.of_nodes[Stage.HEALTH_PASSIVE] = (XID, IDLE)
    most = 0
    for _ in range(60):
        hall.now += 5
        tick(hall.world, hall.now)
        most = max(most, sum(node.state is State.REBOOT for node in hall.world.store.nodes()))
    assert most == 1
