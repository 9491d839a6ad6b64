"""A simulated NVL72 in the loop: bring-up, a leak, sensors that lie or are gone, a lost switch tray, partition, IMEX.

The rack is physical (`tests.nvlink_rack`): what its tools and BMCs say is judged by the real checks. Each fault leads
to the one right move, and costs no other tray its work.
"""

import json
from collections.abc import Callable

import pytest

from fleet_runner.core.faults.signals.redfish import read
from fleet_runner.core.faults.signals.signal import Source
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import Condition, Stage, State
from fleet_runner.reconcile.lifecycle.racks import domain_of, ill, racked
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from tests.making import an_alarm
from tests.nvlink_rack import DETECTORS, DOMAIN, LEAKS, TRAYS, WET, Nvl72
from tests.reconcile.scripted import Scripted, played

Make = Callable[..., TickContext]
SEVENTH = "a03-tray-7"
ROPE = (SEVENTH, DETECTORS[2])


class Hall:
    """The rack and the loop that looks after it."""

    def __init__(self, make: Make) -> None:
        self.rack = Nvl72()
        self.world = make(self.rack.plays, fleet=self.rack.fleet)
        assert isinstance(self.world.engine, Scripted)
        self.world.engine.piece = 20_000  # what 18 trays say together is one line
        self.now = played(self.world, _serve)
        self.run(6)

    def run(self, ticks: int, step: float = 60.0) -> None:
        """Have time go by."""
        for _ in range(ticks):
            self.now += step
            tick(self.world, self.now)

    def posted(self, *ropes: tuple[str, str]) -> None:
        """Have BMCs post that the state of a detector changed, as GB200's do."""
        for tray, rope in ropes:
            event = {
                "MessageId": "ResourceEvent.1.3.0.ResourceStatusChangedCritical",
                "MessageSeverity": "Critical",
                "Message": f"The health of resource `{rope}` has changed to Critical.",
                "OriginOfCondition": {"@odata.id": f"{LEAKS}/{rope}"},
            }
            [signal] = read(json.dumps({"Events": [event]}), self.now, tray)
            alarm = an_alarm(
                id=0, node=tray, code=signal.code, component=signal.component, remedy=signal.remedy,
                fault=f"{tray}/{signal.code}/{signal.component}", source=Source.REDFISH, message=signal.message,
                first_at=self.now, last_at=self.now, heard_at=self.now, raised_at=self.now,
            )  # fmt: skip
            self.world.store.keep_alarms([tray], lambda _, alarm=alarm: [alarm], self.now)

    def swept(self) -> None:
        """Have a person ask for a sweep, and the loop for the second one that confirms what it saw."""
        for _ in range(2):
            self.world.store.leave_intent(DOMAIN, IntentKind.RUN, "ann", detail="fabric", now=self.now)
            self.run(3, 20.0)

    def says(self, name: str) -> str:
        """What a tray or the domain says in `status`."""
        row = self.world.store.node(name)
        assert row is not None
        return row.waiting

    def state(self, name: str = SEVENTH) -> tuple[State, bool]:
        """Where a tray is, and whether it takes new work."""
        row = self.world.store.node(name)
        assert row is not None
        return row.state, Condition.CORDONED not in row.conditions

    def sentence(self) -> str:
        """What the rack's page says of it."""
        row = self.world.store.node(DOMAIN)
        assert row is not None
        domain = domain_of(self.rack.fleet, row)
        assert domain is not None
        return racked(self.world.store, self.rack.fleet, row, domain).sentence

    def harmed(self, *but: str) -> set[str]:
        """The trays that do not serve or take no work, and those that were booted since they serve."""
        cold = {name for name in TRAYS if self.state(name) != (State.PRODUCTION, True)}
        assert isinstance(self.world.engine, Scripted)
        booted = {
            name
            for each in self.world.engine.launched
            if each.stage in {Stage.REBOOT, Stage.RESET}
            for name in each.runs
        }
        return (cold | booted) - set(but)


def _serve(world: TickContext) -> bool:
    trays = [node for node in world.store.nodes() if node.name in TRAYS]
    return len(trays) == len(TRAYS) and all(node.state is State.PRODUCTION for node in trays)


@pytest.fixture
def hall(make_world: Make) -> Hall:
    """An NVL72 that was brought up: every tray through Day 0, the domain swept."""
    return Hall(make_world)


def test_a_leak_calls_people_at_once_drains_its_tray_and_is_told_to_the_others(hall: Hall) -> None:
    """Its work goes on until it ends: nobody allowed more. The others serve."""
    hall.rack.used = {SEVENTH}
    hall.rack.volts[ROPE] = WET
    hall.posted(ROPE)
    hall.run(4)
    [ticket] = hall.world.store.tickets()
    assert ticket.fault == f"{SEVENTH}/leak.detected/{DETECTORS[2]}"
    assert hall.state() == (State.PRODUCTION, False)
    row = hall.world.store.node(SEVENTH)
    assert row is not None
    assert row.conditions[Condition.PENDING].detail == "TRIAGE"
    told = f"{SEVENTH} leaks: power it off, close its coolant valves"
    heard = set[str]()
    for _ in range(8):  # a tray that is being looked at says that
        hall.run(1, 20.0)
        heard |= {name for name in (*TRAYS, DOMAIN) if told in hall.says(name)}
    assert heard == {*TRAYS, DOMAIN} - {SEVENTH}
    assert hall.sentence().startswith(f"{SEVENTH} leaks: power it off")
    hall.rack.used = set()
    hall.run(6)
    assert hall.state()[0] is State.TRIAGE
    assert hall.harmed(SEVENTH) == set()


@pytest.mark.nightly
def test_two_trays_that_leak_are_what_they_share(hall: Hall) -> None:
    """The whole rack is told; the budget lets one of them leave by itself, people were called for both."""
    ropes = (ROPE, ("a03-tray-12", DETECTORS[0]))
    hall.rack.volts |= dict.fromkeys(ropes, WET)
    hall.posted(*ropes)
    hall.run(8)
    assert {each.nodes[0] for each in hall.world.store.tickets()} == {SEVENTH, "a03-tray-12"}
    assert hall.says(DOMAIN).startswith(
        f"2 compute trays leak ({SEVENTH}, a03-tray-12): power the whole rack off, close its coolant valves"
    )
    assert hall.harmed(SEVENTH, "a03-tray-12") == set()
    assert {hall.state(name)[0] for name in (SEVENTH, "a03-tray-12")} == {State.PRODUCTION, State.TRIAGE}


def test_a_detector_that_lies_ends_no_work_and_is_forgotten(hall: Hall) -> None:
    """Its BMC calls it Critical and its rope reads dry: a person looks. Once it says OK, all is as it was."""
    hall.rack.used = {SEVENTH}
    hall.rack.says[ROPE] = "Critical"
    hall.posted(ROPE)
    hall.run(4)
    [ticket] = hall.world.store.tickets()
    assert "/leak.suspected/" in ticket.fault
    assert not any("leaks" in hall.says(name) for name in (*TRAYS, DOMAIN))
    assert hall.sentence() == f"a leak is suspected at {SEVENTH}: look"
    assert hall.harmed(SEVENTH) == set()
    hall.rack.says.clear()
    hall.run(15)
    assert (hall.world.store.tickets(), hall.harmed()) == ((), set())
    assert hall.state() == (State.PRODUCTION, True)


@pytest.mark.nightly
@pytest.mark.parametrize("state", ["OK", "Critical"])
def test_detectors_that_are_gone_are_neither_wet_nor_dry(hall: Hall, state: str) -> None:
    """Whatever their BMCs say of them: no tray is drained, none is called dry."""
    hall.rack.gone = {(name, each) for name in TRAYS for each in DETECTORS}
    hall.rack.says = dict.fromkeys(hall.rack.gone, state)
    hall.posted(ROPE, ("a03-tray-12", DETECTORS[0]))
    hall.run(6)
    assert (hall.world.store.tickets(), hall.harmed()) == ((), set())
    latest = {each.result.check: each.result for each in hall.world.store.latest_results(SEVENTH)}
    assert set(latest["sensors"].observed["leak_detectors"].values()) == {"unknown"}
    assert latest["sensors"].verdict.value == "UNKNOWN"


@pytest.mark.parametrize("warm", [True, pytest.param(False, marks=pytest.mark.nightly)])
def test_a_wet_detector_that_goes_mute_is_not_called_dry(hall: Hall, warm: bool) -> None:
    """Nor where its BMC tells of something else: its ticket stays, and its tray takes no work."""
    hall.rack.used = {SEVENTH}
    hall.rack.volts[ROPE] = WET
    hall.posted(ROPE)
    hall.run(4)
    hall.rack.gone = {(SEVENTH, each) for each in DETECTORS}
    hall.rack.warm = {SEVENTH} if warm else set()
    hall.run(14)
    latest = {each.result.check: each.result.verdict for each in hall.world.store.latest_results(SEVENTH)}
    assert latest["sensors"] == ("FAIL" if warm else "UNKNOWN")
    assert [each.fault for each in hall.world.store.tickets()] == [f"{SEVENTH}/leak.detected/{DETECTORS[2]}"]
    assert hall.state() == (State.PRODUCTION, False)
    assert hall.sentence().startswith(f"{SEVENTH} leaks: power it off")
    hall.rack.gone.clear()
    hall.rack.volts.clear()
    hall.run(15)
    assert (hall.world.store.tickets(), hall.state()) == ((), (State.PRODUCTION, True))


def test_a_rack_that_was_brought_up_is_one_machine_and_a_lost_switch_tray_of_it_one_ticket(hall: Hall) -> None:
    """It is named; the trays that lost its links are left alone, and say so."""
    assert hall.says(DOMAIN).startswith("18 compute trays with 72 GPUs are one NVLink domain")
    assert hall.sentence() == "well: 18 compute trays and 9 switch trays are one machine"
    assert (hall.world.store.tickets(), hall.harmed()) == ((), set())
    hall.rack.dark = {"a03-switch-3"}
    hall.run(4)
    hall.swept()
    hall.run(10)
    [ticket] = hall.world.store.tickets()
    assert (ticket.check, "a03-switch-3" in ticket.nodes) == ("fabric_nvlink", True)
    assert "the switch tray a03-switch-3 is lost" in hall.sentence()
    fabrics = hall.world.fabrics.values()
    assert ill(hall.world.store, fabrics) == {DOMAIN: hall.sentence()}  # no firmware of it is begun
    assert hall.harmed() == set()
    hall.rack.dark.clear()
    hall.swept()
    assert hall.world.store.tickets() == ()
    assert ill(hall.world.store, fabrics) == {}


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("fault", "code", "words"),
    [("clique", "nvlink.partition", "lies in clique 9, expected 1"), ("imex", "imex.inactive", "IMEX")],
)
def test_a_tray_in_another_partition_or_without_imex_is_one_ticket(
    hall: Hall, fault: str, code: str, words: str
) -> None:
    """For this tray, which goes on serving; nobody else is named."""
    if fault == "clique":
        hall.rack.cliques[SEVENTH] = "9"
    else:
        hall.rack.no_imex = {SEVENTH}
    hall.swept()
    [ticket] = hall.world.store.tickets()
    assert f"/{code}/" in ticket.fault
    assert words in ticket.title
    assert SEVENTH in ticket.nodes
    assert not set(TRAYS) & set(ticket.nodes) - {SEVENTH}
    assert hall.harmed() == set()
