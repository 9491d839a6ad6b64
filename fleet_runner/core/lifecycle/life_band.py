"""A node's life as a band to draw: its states over the last months, one after the other, and the tickets it got."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from fleet_runner.core.lifecycle.diagram import kind
from fleet_runner.core.lifecycle.journey import Stay
from fleet_runner.core.lifecycle.runs import Ticket
from fleet_runner.core.lifecycle.states import State

HOUR = 3600.0
DAY = 24 * HOUR

SPAN = 90 * DAY
"""What a band shows at most; a younger node fills it."""

WIDTH = 1000.0
THIN = 2.0
"""What a stay of minutes is drawn as, of WIDTH: else nobody would see a reboot."""

STEPS = (HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY)
TICKS = 13
"""Times below the band, at most."""

MARKS = 60
"""Tickets that are marked, the newest."""


class Part(NamedTuple):
    """A stay: where it begins and how wide it is; `since` is None where nobody knows, `until` where it goes on."""

    state: State
    kind: str
    x: float
    width: float
    since: float | None
    until: float | None


class Tick(NamedTuple):
    """A time below the band, in UTC: "11-24", or "18:00" where the band is of days."""

    x: float
    words: str


class Mark(NamedTuple):
    """A ticket, where it was opened."""

    x: float
    ticket: Ticket


class Band(NamedTuple):
    """The whole picture; it begins at `since`, in epoch seconds."""

    since: float
    parts: tuple[Part, ...]
    ticks: tuple[Tick, ...]
    marks: tuple[Mark, ...]


def band(stays: Sequence[Stay], tickets: Iterable[Ticket], now: float) -> Band:
    """Return the band of a node's stays, which are in their order, up to now."""
    first = stays[0].since
    known = _lead(stays[0].until or now, now) if first is None else first
    since = min(now - HOUR, max(known, now - SPAN))
    scale = WIDTH / (now - since)

    def place(at: float) -> float:
        return round(min(max(0.0, (at - since) * scale), WIDTH), 1)

    parts: list[Part] = []
    for stay in stays:
        begins, ends = place(stay.since or since), place(now if stay.until is None else stay.until)
        if stay.until is None or stay.until > since:
            width = max(THIN, ends - begins)
            parts.append(
                Part(stay.state, kind(stay.state), min(begins, WIDTH - width), width, stay.since, stay.until)
            )
    shown = sorted((each for each in tickets if since <= each.opened_at <= now), key=lambda each: each.opened_at)
    marks = tuple(Mark(place(each.opened_at), each) for each in shown[-MARKS:])
    return Band(since, tuple(parts), _ticks(since, now, scale), marks)


def _lead(until: float, now: float) -> float:
    """Return from when on a stay is drawn of which nobody knows when it began: a tenth of the time since its end."""
    return until - (now - until) / 10


def _ticks(since: float, now: float, scale: float) -> tuple[Tick, ...]:
    step = next((each for each in STEPS if (now - since) / each <= TICKS), STEPS[-1])
    form = "%H:%M" if step < DAY else "%m-%d"
    first = -int(-since // step)
    times = (number * step for number in range(first, int(now // step) + 1))
    return tuple(Tick(round((at - since) * scale, 1), datetime.fromtimestamp(at, UTC).strftime(form)) for at in times)
