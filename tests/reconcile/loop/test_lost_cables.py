"""A cable between two switches that was heard before and now is not: a ticket after two sights, closed when back."""

import pytest

from fleet_runner.core.checks.verdicts import Remedy, Verdict
from tests.core.checks.catalogue.test_fabric_ethernet import CABLES, asked, heard
from tests.reconcile.loop.test_fabrics import Hall, Make

UPLINK = ("spine-1", "swp2")


@pytest.fixture
def hall(make_world: Make) -> Hall:
    """Three servers in service."""
    return Hall(make_world)


def test_a_lost_cable_has_one_ticket_that_closes_when_it_is_heard_again(hall: Hall) -> None:
    """What the sweeps between say comes from the check itself, each of which remembers the one before."""
    without = heard([pair for pair in CABLES if pair[1] != UPLINK])
    first = asked(heard(CABLES))
    lost = asked(without, before=first)
    still = asked(without, before=lost)
    back = asked(heard(CABLES), before=still)
    assert [each.verdict for each in (first, lost, still, back)] == [
        Verdict.PASS,
        Verdict.FAIL,
        Verdict.FAIL,
        Verdict.PASS,
    ]
    hall.swept(first)
    hall.swept(lost)
    assert hall.world.store.tickets() == ()
    hall.swept(still)
    (ticket,) = hall.world.store.tickets()
    assert (ticket.fault, ticket.remedy) == ("cabling/lost/leaf-2/spine-1", Remedy.RECABLE)
    assert "Ask both switches whether these ports are up: leaf-2 swp33, spine-1 swp2." in ticket.body
    hall.swept(asked(without, before=still))
    assert [each.id for each in hall.world.store.tickets()] == [ticket.id]
    hall.swept(back)
    assert hall.world.store.tickets() == ()


def test_a_cable_that_no_sweep_ever_heard_has_none(hall: Hall) -> None:
    without = asked(heard([pair for pair in CABLES if pair[1] != UPLINK]))
    for _ in range(3):
        hall.swept(without)
    assert hall.world.store.tickets() == ()
