"""What happened to a ticket that is worth telling: lines of the outbox, and which sighting becomes one."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from fleet_runner.core.lifecycle.actions import OpenTicket
from fleet_runner.core.lifecycle.runs import Ticket

HOUR = 3600.0

AGAIN = 24 * HOUR
"""Seconds after which a ticket's text is brought up to date elsewhere, though nothing but figures changed in it."""

REWORDED = HOUR
"""Seconds between two lines about changed words: text that flaps between two sightings is no news each time."""

_FIGURES = re.compile(r"[0-9]+(?:[.,:][0-9]+)*")


class Act(StrEnum):
    """What happened to a ticket."""

    OPENED = "opened"
    CHANGED = "changed"  # what it says, or whom it names
    SEEN = "seen"  # again, and nothing that matters has changed: its text is brought up to date, without a note
    REOPENED = "reopened"
    CLOSED = "closed"
    NOTED = "noted"  # a person's words


@dataclass(frozen=True, slots=True)
class Change:
    """A line of the outbox. Ids grow: a tracker that knows one knows all before it, of the same ticket."""

    id: int
    ticket: int
    act: Act
    sentence: str
    by: str
    at: float


@dataclass(frozen=True, slots=True)
class LatestLines:
    """When a ticket's newest line of any kind was written, and that of its newest that told of a change."""

    at: float
    changed_at: float


def worth(before: Ticket, found: OpenTicket, lately: LatestLines, now: float) -> tuple[Act, str] | None:
    """Return what is worth telling of an open ticket that was seen again; None for most sightings.

    A new remedy or a further node is told at once, other words once an hour, figures and the fact that it is still
    seen once a day.
    """
    news = [*_remedy(before, found), *_nodes(before.nodes, found.nodes)]
    if not news and _reworded(before, found) and now - lately.changed_at >= REWORDED:
        news = [f"The finding has changed: {found.title}"]
    if news:
        return Act.CHANGED, " ".join(news)
    return (Act.SEEN, "The fault is still found.") if now - lately.at >= AGAIN else None


def _remedy(before: Ticket, found: OpenTicket) -> list[str]:
    return [] if before.remedy == found.remedy else [f"The remedy is now {found.remedy}, before: {before.remedy}."]


def _nodes(before: Collection[str], found: Collection[str]) -> list[str]:
    more = sorted(set(found) - set(before))
    return [f"It names {', '.join(more)} as well."] if more else []


def _reworded(before: Ticket, found: OpenTicket) -> bool:
    return _words(before.title, before.body) != _words(found.title, found.body)


def _words(*texts: str) -> str:
    """Return texts without their figures: a counter that grows is no news."""
    return _FIGURES.sub("0", "\n".join(texts))
