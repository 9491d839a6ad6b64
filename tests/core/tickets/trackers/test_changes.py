"""Which sighting of an open ticket is worth telling, and how a ticket is named elsewhere."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.lifecycle.actions import OpenTicket
from fleet_runner.core.tickets.trackers.changes import AGAIN, REWORDED, Act, LatestLines, worth
from fleet_runner.core.tickets.trackers.links import marker
from tests.making import NOW, a_ticket

BEFORE = a_ticket(title="gpu-01: 12 errors", body="Replace it.")
SAME = OpenTicket("cable-1", "cabling", "gpu-01: 12 errors", "Replace it.", ("gpu-01",), "RECABLE")
JUST_NOW = LatestLines(NOW - 300.0, NOW - 300.0)


def test_the_same_again_is_worth_nothing_for_a_day() -> None:
    """Then its text is brought up to date, without a note."""
    assert worth(BEFORE, SAME, JUST_NOW, NOW) is None
    told = worth(BEFORE, SAME, LatestLines(NOW - AGAIN, 0.0), NOW)
    assert told is not None
    assert told[0] is Act.SEEN


def test_another_remedy_or_a_further_node_is_told_at_once() -> None:
    """Whatever was told a moment ago."""
    assert worth(BEFORE, replace(SAME, remedy="RMA"), JUST_NOW, NOW) == (
        Act.CHANGED,
        "The remedy is now RMA, before: RECABLE.",
    )
    assert worth(BEFORE, replace(SAME, nodes=("leaf-1", "gpu-01")), JUST_NOW, NOW) == (
        Act.CHANGED,
        "It names leaf-1 as well.",
    )


def test_other_words_are_told_once_an_hour() -> None:
    """Words that flap are no news each time."""
    reworded = replace(SAME, title="gpu-01: 13 faults")
    assert worth(BEFORE, reworded, JUST_NOW, NOW) is None
    assert worth(BEFORE, reworded, LatestLines(NOW - 300.0, NOW - REWORDED), NOW) == (
        Act.CHANGED,
        "The finding has changed: gpu-01: 13 faults",
    )


@given(st.integers(0, 10**9), st.floats(0, 10**6))
def test_figures_alone_are_never_a_note(count: int, share: float) -> None:
    """A counter that grows would fill a tracker."""
    grown = replace(SAME, title=f"gpu-01: {count} errors", body="Replace it.")
    assert worth(BEFORE, grown, JUST_NOW, NOW) is None
    dated = worth(replace(BEFORE, body="0.5 s"), replace(SAME, body=f"{share:.3f} s"), LatestLines(0.0, 0.0), NOW)
    assert dated is not None
    assert dated[0] is Act.SEEN


def test_a_marker_is_a_tickets_for_life_and_no_others() -> None:
    """Not that of the same number in another fleet, nor that of a second issue of the same ticket."""
    ticket = a_ticket()
    assert marker(ticket) == marker(replace(ticket, title="other", seen=9, closed_at=NOW, nodes=()))
    others = [
        replace(ticket, id=6),
        replace(ticket, fault="cable-2"),
        replace(ticket, opened_at=ticket.opened_at + 1e-3),
    ]
    assert len({marker(ticket), marker(ticket, 2), *map(marker, others)}) == 5
