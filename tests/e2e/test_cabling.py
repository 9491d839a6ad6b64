"""Exchanges of cables in production: seen twice, one ticket; put right, closed; exchanged again, reopened."""

from typing import TYPE_CHECKING

import pytest

from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.lifecycle.runs import Ticket
from fleet_runner.core.lifecycle.states import State

if TYPE_CHECKING:
    from fleet_runner.core.lifecycle.runs import Node
    from tests.e2e.conftest import Fleet

FABRIC = "infiniband.lab"
SERVERS = ("swapped_cables", "gpu-01", "--rail", "3", "--with", "gpu-02")
UPLINKS = ("swapped_uplinks", "gpu-01", "--rail", "2", "--with-rail", "5")


def tickets(fleet: "Fleet") -> tuple[Ticket, ...]:
    """Every ticket there ever was."""
    with fleet.store() as store:
        return store.tickets(open_only=False)


def sights(fleet: "Fleet", fault: str, until: float) -> int:
    """How many sweeps saw a fault, up to a moment."""
    with fleet.store() as store:
        found = [each for run in store.runs(FABRIC) for each in store.results(run.id)]
    return sum(each.at <= until and any(one.fault == fault for one in each.result.findings) for each in found)


def lab(fleet: "Fleet", *words: str) -> None:
    """Change something in the lab, and have the fabric swept at once, as whoever does not want to wait."""
    assert fleet.run("lab", *words, "--dir", ".").returncode == 0
    assert fleet.run("run", "fabric", "--node", FABRIC).returncode == 0


def serving(fleet: "Fleet") -> None:
    """Bring all nodes into production, and wait for a sweep that sees every link."""
    fleet.serve()

    def all_serve(rows: "dict[str, Node]") -> bool:
        fleet.certify_all(rows)
        return bool(rows) and all(node.state is State.PRODUCTION for node in rows.values())

    def all_seen(_rows: "dict[str, Node]") -> bool:
        with fleet.store() as store:
            newest = {each.result.check: each.result for each in store.latest_results(FABRIC)}
        found = newest.get("fabric_cabling")
        return found is not None and found.verdict is Verdict.PASS and not found.observed["unsure"]

    fleet.until(all_serve)
    fleet.until(all_seen)


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_an_exchange_in_production_is_one_ticket_however_often_it_comes_back(fleet: "Fleet") -> None:
    """Of two servers first; then, while that ticket is open, of two leaves at their spine."""
    serving(fleet)
    assert tickets(fleet) == ()
    lab(fleet, "inject", *SERVERS)
    fleet.until(lambda _rows: tickets(fleet))
    [ticket] = tickets(fleet)
    assert (ticket.check, ticket.remedy) == ("fabric_cabling", "RECABLE")
    assert {FABRIC, "gpu-01", "gpu-02", "leaf-4"} <= set(ticket.nodes)
    assert sights(fleet, ticket.fault, ticket.opened_at) == 2
    assert ticket.body.count("Plug the cable that comes from") == 2
    assert all(word in ticket.body for word in ("ib3", "leaf-4", "rack", "U"))

    lab(fleet, "fix", *SERVERS[:2])
    fleet.until(lambda _rows: all(each.closed_at for each in tickets(fleet)))

    lab(fleet, "inject", *SERVERS)
    fleet.until(lambda _rows: any(each.closed_at is None for each in tickets(fleet)))
    [again] = tickets(fleet)
    assert (again.id, again.fault) == (ticket.id, ticket.fault)
    assert sights(fleet, ticket.fault, again.last_seen_at) >= 4

    lab(fleet, "inject", *UPLINKS)
    fleet.until(lambda _rows: len(tickets(fleet)) == 2)
    [other] = [each for each in tickets(fleet) if each.id != ticket.id]
    assert set(other.nodes) == {FABRIC, "leaf-3", "leaf-6", "spine-1"}
    assert other.body.count("Plug the cable that comes from") == 2
    assert all(each.closed_at is None for each in tickets(fleet))
