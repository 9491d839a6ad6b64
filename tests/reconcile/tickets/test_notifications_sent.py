"""What a tick tells whoever watches it: that a ticket opens, opens again or closes, not that it is seen again."""

import pytest

from fleet_runner.core.checks.verdicts import Result
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.reconcile.loop.control_loop import tick
from tests.reconcile.loop.test_fabrics import FABRIC, Hall, Make, fine, wrong


@pytest.fixture
def hall(make_world: Make) -> Hall:
    """Three servers in service."""
    return Hall(make_world)


def told(hall: Hall, says: tuple[Result, ...]) -> list[str]:
    """What is told from the moment a person asks for a sweep until what follows from it is done."""
    hall.sweep = says
    hall.world.store.leave_intent(FABRIC, IntentKind.RUN, "ann", detail="fabric", now=hall.now)
    said: list[str] = []
    for _ in range(4):
        hall.now += 5
        said += tick(hall.world, hall.now).moves
    return said


def test_a_line_is_told_when_a_ticket_opens_opens_again_or_closes(hall: Hall) -> None:
    """Once each; one sight opens none, and one more sight of an open one is no news."""
    title = "infiniband.hall: Swapped: cabling/1."
    assert told(hall, (wrong(),)) == []
    assert told(hall, (wrong(),)) == [f"Ticket 1: {title}"]
    assert told(hall, (wrong(),)) == []
    assert told(hall, (fine(),)) == [f"Ticket 1 closed: fabric_cabling on {FABRIC}: as designed"]
    assert told(hall, (wrong(),)) == []
    assert told(hall, (wrong(),)) == [f"Ticket 1 reopened: {title}"]


def test_nothing_follows_from_a_sweep_while_the_fabric_is_held(hall: Hall) -> None:
    """What it saw is kept; released, it counts."""
    hall.world.store.leave_intent(FABRIC, IntentKind.HOLD, "ann", reason="works", now=hall.now)
    assert told(hall, (wrong(),)) == told(hall, (wrong(),)) == []
    assert hall.world.store.tickets() == ()
    assert hall.waiting() == "held by ann: works; 1 fault seen, no ticket while it is held"
    hall.world.store.leave_intent(FABRIC, IntentKind.RELEASE, "ann", now=hall.now)
    hall.until(lambda: bool(hall.world.store.tickets()))
