"""What follows from links that wear: hands, and never an act of the runner on a node, whoever manages it."""

from collections.abc import Callable

import pytest

from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.faults.confirmation import seen_once
from fleet_runner.core.inventory.records import Management
from fleet_runner.core.lifecycle.actions import Action, CloseTicket, Decision, Move, OpenTicket, SetCondition
from fleet_runner.core.lifecycle.decisions import decide
from fleet_runner.core.lifecycle.runs import Stored, Ticket
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.core.lifecycle.view import Timing
from fleet_runner.core.tickets.node_tickets import follow
from tests.core.checks.catalogue import test_fabric_counters as fabric
from tests.core.checks.catalogue.test_link_flaps import asked as flaps
from tests.core.checks.catalogue.test_optics import OPTICAL
from tests.core.checks.catalogue.test_optics import asked as modules
from tests.making import NOW, a_fabric, a_node, a_run, a_ticket, a_view, stored

BAD = {
    "link_flaps": (flaps(60, 120, 180), Stage.HEALTH_PASSIVE),
    "optics": (modules(OPTICAL.replace("2.281", "-13.8")), Stage.CABLING),
}
"""What a node's own checks say of a worn link, and in which sweep."""

SWEPT = (a_run(Stage.HEALTH_PASSIVE), a_run(Stage.CABLING, id=8))


def seen(result: Result, stage: Stage, at: float = NOW - 10.0, number: int = 3) -> Stored:
    """Return a result as the store has it."""
    return stored(*result.findings, check=result.check, stage=stage, at=at, id=number, verdict=result.verdict)


def after(check: str, management: Management, looks: int) -> Decision:
    """Return what follows for a serving node after one or two looks."""
    result, stage = BAD[check]
    assert result.verdict is Verdict.FAIL
    before = (seen(result, stage, NOW - 60.0, 2),) if looks > 1 else ()
    view = a_view(a_node(management=management), latest=(seen(result, stage),), before=before, runs=SWEPT)
    return decide(view, Timing(), NOW)


def acts(actions: tuple[Action, ...]) -> list[Action]:
    """Return what would take a node out of service, or stop work on it."""
    return [action for action in actions if isinstance(action, Move | SetCondition)]


@pytest.mark.parametrize("check", sorted(BAD))
@pytest.mark.parametrize("management", list(Management))
@pytest.mark.parametrize("looks", [1, 2])
def test_a_worn_link_moves_no_node_whoever_manages_it(check: str, management: Management, looks: int) -> None:
    """A tenant's work goes on; of customer-managed nodes, as of all others, it is recorded and ticketed only."""
    decision = after(check, management, looks)
    assert acts(decision.actions) == []
    assert not [action for action in decision.actions if isinstance(action, CloseTicket)]


@pytest.mark.parametrize("check", sorted(BAD))
@pytest.mark.parametrize("management", list(Management))
def test_a_worn_link_seen_twice_is_one_ticket_with_both_ends(check: str, management: Management) -> None:
    assert [action for action in after(check, management, 1).actions if isinstance(action, OpenTicket)] == []
    (ticket,) = [action for action in after(check, management, 2).actions if isinstance(action, OpenTicket)]
    assert ticket.remedy == "RECABLE"
    assert "1. At gpu-01 port ib0 (h rack A1 U4): unplug the cable" in ticket.body
    assert "2. At its other end, leaf-1 port 1 (h rack N1 U1): do the same." in ticket.body


HOUR = 3600.0


def served(counted: Callable[[float], int], *, downs: bool = False) -> tuple[list[str], int]:
    """Let two days pass over a cable between switches; return what became of its ticket, and the number of looks."""
    told: list[str] = []
    tickets: tuple[Ticket, ...] = ()
    looks, at, last = 0, 0.0, 0.0
    result, before = None, ()
    while at < 48 * HOUR:
        count = counted(at / HOUR)
        one, other = ((0, count), (0, count)) if downs else ((count, 1), (0, 1))
        seen_now = fabric.report({(fabric.LEAF, 33): one, (fabric.SPINE, 1): other})
        result = fabric.look(seen_now, result, at=at, ago=at - last)
        looks += 1
        now = Stored(looks, looks, fabric.FABRIC, Stage.FABRIC, fabric.NOW + at, result)
        view = a_view(a_fabric(name=fabric.FABRIC, since=0.0), latest=(now,), before=before, tickets=tickets)
        for action in follow(view):
            if isinstance(action, CloseTicket):
                told.append("closed")
                tickets = ()
            elif not tickets:
                told.append("opened")
                tickets = (
                    a_ticket(fault=action.fault, check=action.check, nodes=action.nodes, last_seen_at=action.at),
                )
        before, last = (now,), at
        at += 600.0 if seen_once(view) else 4 * HOUR
    return told, looks


@pytest.mark.parametrize("rate", [2, 3, 5, 10, 15, 17, 20, 100, 5000])
def test_steady_symbol_errors_are_one_ticket_that_stays(rate: int) -> None:
    """Few enough that ten minutes show none, or so many that the counter runs full."""
    assert served(lambda hours: min(65_535, int(rate * hours))) == (["opened"], 13)


def test_a_repaired_cables_ticket_is_closed_and_stays_so() -> None:
    assert served(lambda hours: int(15 * min(hours, 9.0))) == (["opened", "closed"], 13)


def test_a_link_that_goes_down_now_and_then_is_neither_ticketed_nor_looked_at_again() -> None:
    """Once in five hours."""
    assert served(lambda hours: int(hours / 5), downs=True) == ([], 12)


def test_a_link_that_goes_down_every_other_hour_is_one_ticket() -> None:
    assert served(lambda hours: int(hours / 2), downs=True) == (["opened"], 13)
