"""Lines become messages: what is collected, when it is told, and how many say no more than their number.

Every line that concerns a channel is shown in one message, or counted in it: `total` is the lines of the items shown
and the `rest`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import floor
from typing import NamedTuple

from fleet_runner.core.tickets.notifications.channel import Channel
from fleet_runner.core.tickets.notifications.lines import RANK, Line, NewsKind

SHOWN = 20
"""Items of a message; others are counted."""

NAMED = 8
"""Nodes of an item that are named; others are counted."""

HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class ChannelPosition:
    """How far a channel is told: all lines up to `told`, urgent ones up to `urgent`, which is no less.

    `asked` is the last line of a message that may have gone out, 0 while none may, and `asked_urgent` whether that
    holds urgent lines alone; it is sent again as it was. `sent` messages went out in the hour `hour`. `away_at` is
    since when it could not be told, None while it can.
    """

    name: str
    told: int
    urgent: int = 0
    asked: int = 0
    asked_urgent: bool = False
    tries: int = 0
    due_at: float = 0.0
    detail: str = ""
    told_at: float | None = None
    hour: int = 0
    sent: int = 0
    away_at: float | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """What one sentence says, of one node or of several; `lines` counts all of them."""

    what: NewsKind
    at: float
    sentence: str
    nodes: tuple[str, ...]
    ticket: int = 0
    lines: int = 1


@dataclass(frozen=True, slots=True)
class Collected:
    """Lines that wait for a message: some to show, all counted."""

    total: int = 0
    first_at: float = 0.0
    last_at: float = 0.0
    first: int = 0
    last: int = 0
    counts: Mapping[NewsKind, int] = field(default_factory=dict[NewsKind, int])
    items: tuple[Item, ...] = ()

    @property
    def rest(self) -> int:
        """Return how many lines no item tells of."""
        return self.total - sum(item.lines for item in self.items)


class DueMessage(NamedTuple):
    """What is to be told now: up to which line, and whether that is what is urgent alone."""

    last: int
    urgent: bool
    lines: Collected


def collect(before: Collected, lines: Iterable[Line]) -> Collected:
    """Add lines to what was collected; of many, the most pressing and then the oldest are shown."""
    total, counts, items = before.total, dict(before.counts), list(before.items)
    first_at, last_at, first, last = before.first_at, before.last_at, before.first, before.last
    for line in lines:
        first_at = min(first_at, line.at) if total else line.at
        last_at = max(last_at, line.at) if total else line.at
        first, last, total = first or line.id, line.id, total + 1
        counts[line.what] = counts.get(line.what, 0) + 1
        _show(items, line)
    return Collected(total, first_at, last_at, first, last, counts, tuple(items))


def _show(items: list[Item], line: Line) -> None:
    """Show a line: with others that say the same at the same moment, or at its place if there is room."""
    for index, item in enumerate(items):
        if (item.what, item.at, item.sentence) == (line.what, line.at, line.sentence):
            items[index] = replace(item, nodes=(*item.nodes, line.node)[:NAMED], lines=item.lines + 1)
            return
    items.append(Item(line.what, line.at, line.sentence, (line.node,), line.ticket))
    items.sort(key=lambda item: RANK[item.what])
    del items[SHOWN:]


def due(channel: Channel, standing: ChannelPosition, waiting: Collected, now: float) -> bool:
    """Whether what was collected is to be told now: it waited for others long enough, and the hour has room."""
    if not waiting.total or (standing.hour == floor(now / HOUR) and standing.sent >= channel.most_per_hour):
        return False
    waited = now - waiting.first_at
    return waited >= channel.group_seconds or waited < 0  # a clock that was set back keeps nothing waiting


def key(standing: ChannelPosition, letter: DueMessage) -> str:
    """Return what names a message for good: the same lines, told again, have the same."""
    kind = "urgent" if letter.urgent else "all"
    began = standing.urgent if letter.urgent else standing.told
    return f"fleet-runner.{standing.name}.{kind}.{began + 1}-{letter.last}"


def was_away(standing: ChannelPosition, lines: Collected) -> bool:
    """Whether lines waited because the channel could not be told, and not to be told together."""
    away, told = standing.away_at, standing.told_at
    return away is not None and lines.last_at > away and (told is None or told < away or lines.first_at <= told)
