"""A line of the journal as a channel sees it: what kind of news it is, and where it happened."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.lifecycle.runs import Entry
from fleet_runner.core.lifecycle.states import Event, State


class NewsKind(StrEnum):
    """Kinds of news, the most pressing first: that is their order in a message."""

    BREAKER = "breaker"  # too much wanted out of service: automation takes no node out
    ALARM_RAISED = "alarm_raised"
    MOVED = "moved"  # a node changed its state
    TICKET_OPENED = "ticket_opened"  # or opened again
    RUN_FAILED = "run_failed"  # a run failed, gave no verdict, or was lost
    HELD = "held"  # a person holds a node, or planned work begins; and when that ends
    CONDITION = "condition"  # any other condition: cordoned, draining, pending
    TICKET_CLOSED = "ticket_closed"
    ALARM_CLEARED = "alarm_cleared"


RANK: Mapping[NewsKind, int] = {what: rank for rank, what in enumerate(NewsKind)}
KINDS = ("transition", "condition", "ticket", "alarm", "run")
"""Kinds of lines of the journal that can be news at all."""

BREAKER_TICKET = "Circuit breaker:"
"""How the title of the breaker's ticket begins."""

MOVES: Mapping[Event, Remedy] = {
    Event.RESET_NEEDED: Remedy.RESET,
    Event.REBOOT_NEEDED: Remedy.REBOOT,
    Event.TRIAGE_NEEDED: Remedy.TRIAGE,
    Event.FIRMWARE_NEEDED: Remedy.REFLASH,
    Event.RMA: Remedy.RMA,
}
"""The remedies that a move carries out."""

_TICKET = re.compile(r"Ticket ([0-9]{1,18})( reopened| closed|, a note)?\b")
_ENDED_BADLY = re.compile(r"[A-Z][a-z_ ]{1,30}: (failed|unknown|lost)\b")
_HOLDS = ("Held: ", "Maintenance: ", "Released")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the journal that is news. `remedy` is "" where it is about none; `ticket` 0 likewise."""

    id: int
    at: float
    what: NewsKind
    node: str
    sentence: str
    by: str = ""
    to: State | None = None
    remedy: str = ""
    ticket: int = 0


@dataclass(frozen=True, slots=True)
class Location:
    """Where a node stands and whose it is; "" where nobody says."""

    site: str = ""
    device_type: str = ""
    tenant: str = ""


def line(entry: Entry, remedy: str = "") -> Line | None:
    """Return a line of the journal as news, None where it is none. `remedy` is its ticket's or alarm's."""
    what = _what(entry)
    if what is None:
        return None
    moved = MOVES.get(entry.event) if entry.event is not None else None
    told = remedy or (moved.value if moved is not None else "")
    return Line(entry.id, entry.at, what, entry.node, entry.sentence, entry.by, entry.to, told, ticket(entry))


def ticket(entry: Entry) -> int:
    """Return the number of the ticket that a line is about; 0 where it is about none."""
    found = _TICKET.match(entry.sentence) if entry.kind == "ticket" else None
    return int(found[1]) if found is not None else 0


def _what(entry: Entry) -> NewsKind | None:
    match entry.kind:
        case "transition":
            return NewsKind.MOVED
        case "condition":
            return NewsKind.HELD if entry.sentence.startswith(_HOLDS) else NewsKind.CONDITION
        case "ticket":
            return _about_ticket(entry.sentence)
        case "alarm":
            return NewsKind.ALARM_CLEARED if " is cleared: " in entry.sentence else NewsKind.ALARM_RAISED
        case "run":
            return NewsKind.RUN_FAILED if _ENDED_BADLY.match(entry.sentence) else None
        case _:
            return None


def _about_ticket(sentence: str) -> NewsKind | None:
    found = _TICKET.match(sentence)
    if found is None or found[2] == ", a note":
        return None
    if found[2] == " closed":
        return NewsKind.TICKET_CLOSED
    title = sentence[found.end() :].removeprefix(": ")
    return NewsKind.BREAKER if title.startswith(BREAKER_TICKET) else NewsKind.TICKET_OPENED
