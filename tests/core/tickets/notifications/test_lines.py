"""Lines of the journal as news."""

from dataclasses import replace

import pytest

from fleet_runner.core.lifecycle.runs import Entry
from fleet_runner.core.lifecycle.states import Event, State
from fleet_runner.core.tickets.notifications.lines import NewsKind, line, ticket

ENTRY = Entry(7, "gpu-01", 100.0, "ticket", "Ticket 12: gpu-01: worn out", "runner")


@pytest.mark.parametrize(
    ("kind", "sentence", "expected"),
    [
        ("ticket", "Ticket 12: gpu-01: worn out", NewsKind.TICKET_OPENED),
        ("ticket", "Ticket 12 reopened: gpu-01: worn out", NewsKind.TICKET_OPENED),
        ("ticket", "Ticket 12 closed: the check passes", NewsKind.TICKET_CLOSED),
        ("ticket", "Ticket 12 closed by hand: known", NewsKind.TICKET_CLOSED),
        ("ticket", "Ticket 12, a note: the part is on its way", None),
        ("ticket", "something else", None),
        ("ticket", "Ticket 12: Circuit breaker: automation takes no node out of service", NewsKind.BREAKER),
        ("alarm", "Alarm xid.79 of GPU 3: it fell off the bus", NewsKind.ALARM_RAISED),
        ("alarm", "Alarm xid.79 of GPU 3 is cleared: silence", NewsKind.ALARM_CLEARED),
        ("condition", "Held: its fans are looked at", NewsKind.HELD),
        ("condition", "Maintenance: new power supplies", NewsKind.HELD),
        ("condition", "Released: automation continues.", NewsKind.HELD),
        ("condition", "Draining: GPU 3", NewsKind.CONDITION),
        ("run", "Health passive: failed; GPU 3", NewsKind.RUN_FAILED),
        ("run", "Burn in: lost (a person asked); nobody saw its end", NewsKind.RUN_FAILED),
        ("run", "Cabling: unknown; no answer", NewsKind.RUN_FAILED),
        ("run", "Cabling: passed", None),
        ("boot", "Boot 3: It answers ssh", None),
    ],
)
def test_a_line_is_one_kind_of_news_or_none(kind: str, sentence: str, expected: NewsKind | None) -> None:
    """By its kind and how its sentence begins."""
    found = line(replace(ENTRY, kind=kind, sentence=sentence))
    assert (found.what if found else None) is expected


def test_a_move_says_where_to_and_which_remedy_it_carries_out() -> None:
    """A move that carries out none has none."""
    moved = replace(ENTRY, kind="transition", sentence="…", event=Event.REBOOT_NEEDED, to=State.REBOOT)
    found, start = line(moved), line(replace(moved, event=Event.START, to=State.PROVISION))
    assert found is not None
    assert start is not None
    assert (found.what, found.to, found.remedy) == (NewsKind.MOVED, State.REBOOT, "REBOOT")
    assert start.remedy == ""


def test_a_line_about_a_ticket_has_its_number_and_its_remedy() -> None:
    """Another one has neither."""
    found = line(ENTRY, "RMA")
    assert found is not None
    assert (found.ticket, found.remedy) == (12, "RMA")
    assert ticket(replace(ENTRY, kind="alarm")) == ticket(replace(ENTRY, sentence="a ticket")) == 0
