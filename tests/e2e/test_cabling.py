"""An exchange of cables in production: seen twice, one ticket; put right, closed; exchanged again, reopened."""

from typing import TYPE_CHECKING

import pytest

from fleet_runner.core.lifecycle import State
from fleet_runner.core.runs import Ticket
from fleet_runner.core.verdicts import Verdict

if TYPE_CHECKING:
    from fleet_runner.core.runs import Node
    from tests.e2e.conftest import Fleet

pytestmark = pytest.mark.timeout(600)

FABRIC = "infiniband.lab"


def tickets(fleet: "Fleet") -> tuple[Ticket, ...]:
    """Every ticket there ever was."""
    with fleet.store() as store:
        return store.tickets(open_only=False)


def sights(fleet: "Fleet", fault: str, until: float) -> int:
    """How many sweeps saw a fault, up to a moment."""
    with fleet.store() as store:
        found = [each for run in store.runs(FABRIC) for each in store.results(run.id)]
    return sum(each.at <= until and any(one.fault == fault for one in each.result.findings) for each in found)


def sweep(fleet: "Fleet") -> None:
    """Have the fabric swept now, as a person does who does not want to wait."""
    assert fleet.run("run", "fabric", FABRIC).returncode == 0


def serving(fleet: "Fleet") -> None:
    """Bring all nodes into production, and wait for a sweep that finds nothing."""
    fleet.serve()

    def all_serve(rows: "dict[str, Node]") -> bool:
        fleet.certify_all(rows)
        return bool(rows) and all(node.state is State.PRODUCTION for node in rows.values())

    def passes(_rows: "dict[str, Node]") -> bool:
        with fleet.store() as store:
            newest = {each.result.check: each.result for each in store.latest_results(FABRIC)}
        found = newest.get("fabric_cabling")
        return (
            found is not None
            and found.verdict is Verdict.PASS
            and found.observed["matched"] == found.observed["designed"]
        )

    fleet.until(all_serve)
    fleet.until(passes)


@pytest.mark.parametrize(
    ("fault", "options", "touched", "moves"),
    [
        ("swapped_cables", ("--rail", "3", "--with", "gpu-02"), ("gpu-01", "gpu-02", "leaf-4"), ("ib3", "leaf-4")),
        (
            "swapped_uplinks",
            ("--rail", "2", "--with-rail", "5"),
            ("leaf-3", "leaf-6", "spine-1"),
            ("leaf-3", "leaf-6"),
        ),
    ],
)
def test_an_exchange_in_production_is_one_ticket_however_often_it_comes_back(
    fleet: "Fleet", fault: str, options: tuple[str, ...], touched: tuple[str, ...], moves: tuple[str, ...]
) -> None:
    serving(fleet)
    assert tickets(fleet) == ()
    inject = ("lab", "inject", fault, "gpu-01", *options, "--dir", ".")
    assert fleet.run(*inject).returncode == 0
    sweep(fleet)
    fleet.until(lambda _rows: tickets(fleet))
    [ticket] = tickets(fleet)
    assert (ticket.check, ticket.remedy) == ("fabric_cabling", "RECABLE")
    assert {FABRIC, *touched} <= set(ticket.nodes)
    assert sights(fleet, ticket.fault, ticket.opened_at) == 2
    assert ticket.body.count("Plug the cable that comes from") == 2
    assert all(word in ticket.body for word in (*moves, "rack", "U"))

    assert fleet.run("lab", "fix", fault, "gpu-01", "--dir", ".").returncode == 0
    sweep(fleet)
    fleet.until(lambda _rows: all(each.closed_at for each in tickets(fleet)))

    assert fleet.run(*inject).returncode == 0
    sweep(fleet)
    fleet.until(lambda _rows: any(each.closed_at is None for each in tickets(fleet)))
    [again] = tickets(fleet)
    assert (again.id, again.fault) == (ticket.id, ticket.fault)
    assert sights(fleet, ticket.fault, again.last_seen_at) >= 4
