"""The words of a report: its summary, spans of time, and how a figure stands beside the week before."""

from datetime import UTC, datetime
from math import ceil
from statistics import median
from typing import NamedTuple

from fleet_runner.core.base.plural import counted
from fleet_runner.core.lifecycle.states import State
from fleet_runner.core.reliability.report.figures import Figures
from fleet_runner.core.reliability.report.rows import Span
from fleet_runner.core.reliability.report.stories import BringUp

NOTHING = "not enough data"
FEW = 2
"""Bring-ups of which a median says something."""

SAME = 0.02
"""A share by which a figure may differ and be called the same."""

NINETY = 0.9


class Change(NamedTuple):
    """A figure beside the one of the week before: an arrow, and the words that say the same."""

    label: str
    now: str
    before: str
    arrow: str
    words: str


class Stay(NamedTuple):
    """How much of the time of bring-ups went into a state."""

    state: State
    seconds: float
    share: float


def duration(seconds: float) -> str:
    """Return a span of time as people say it."""
    for unit, size in (("d", 86_400.0), ("h", 3_600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f}".removesuffix(".0") + f" {unit}"
    return f"{max(0.0, seconds):.0f} s"


def hours(seconds: float) -> str:
    """Return node hours."""
    return f"{seconds / 3600:,.1f}" if seconds < 100 * 3600 else f"{seconds / 3600:,.0f}"


def share(value: float | None) -> str:
    """Return a share in percent, as exact as is needed near 100."""
    if value is None:
        return NOTHING
    return f"{value * 100:.2f} %" if value > 0.99 else f"{value * 100:.1f} %"  # noqa: PLR2004  percent


def moment(at: float) -> str:
    """Return a moment, in UTC."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M}"


def heading(span: Span) -> str:
    """Return what a span is called: a week by its number, anything else by its ends."""
    begins, ends = (datetime.fromtimestamp(at, UTC) for at in (span.since, span.until))
    midnight = begins.hour == begins.minute == 0
    if midnight and begins.isoweekday() == 1 and span.seconds == 7 * 86_400:
        year, number, _ = begins.isocalendar()
        return f"Week {number} of {year}"
    return f"{begins:%Y-%m-%d %H:%M} to {ends:%Y-%m-%d %H:%M} UTC"


def middle(found: tuple[BringUp, ...]) -> str:
    """Return the median of bring-ups."""
    return duration(median(each.seconds for each in found)) if len(found) >= FEW else NOTHING


def most(found: tuple[BringUp, ...]) -> str:
    """Return how long nine of ten bring-ups took at most."""
    rows = sorted(each.seconds for each in found)
    return duration(rows[ceil(NINETY * len(rows)) - 1]) if len(rows) >= FEW else NOTHING


def stays(found: tuple[BringUp, ...]) -> tuple[Stay, ...]:
    """Return how the time of bring-ups divides among states, in the order of states."""
    spent = {state: sum(each.states.get(state, 0.0) for each in found) for state in State}
    whole = sum(spent.values())
    return tuple(Stay(state, seconds, seconds / whole) for state, seconds in spent.items() if seconds)


def summary(found: Figures, before: Figures) -> tuple[str, str, str]:
    """Return three sentences: how much served, what came up, what is wrong most and what helps."""
    if found.availability is None:
        first = "No node served, or was taken out of service."
    else:
        lost = found.lost[0] if found.lost and found.lost[0].seconds else None
        why = f"; most of it to {lost.cause} ({hours(lost.seconds)} h)" if lost else ""
        first = (
            f"{counted(found.nodes, 'node')} served {share(found.availability)} of the time and lost "
            f"{hours(found.lost_seconds)} node hours{why}."
        )
    many = len(found.bring_ups)
    told = f", in {middle(found.bring_ups)} (median)" if many >= FEW else ""
    second = f"{counted(many or 'No', 'node')} came up into production{told}; "
    second += f"{_beside(many, len(before.bring_ups))}."
    helped = sum(each.helped for each in found.remedies)
    tried = sum(each.helped + each.failed + each.unknown for each in found.remedies)
    cured = f"remedies helped {helped} of {counted(tried, 'time')}" if tried else "no remedy was tried"
    third = f"{counted(found.opened, 'ticket')} opened and {found.closed} closed, "
    third += f"{counted(len(found.standing), 'stands open', 'stand open')}; {cured}."
    return first, second, third


def changes(found: Figures, before: Figures) -> tuple[Change, ...]:
    """Return the figures that matter beside those of the week before."""
    shares, spent = (found.availability, before.availability), (found.lost_seconds, before.lost_seconds)
    counts = (
        ("Nodes brought up", len(found.bring_ups), len(before.bring_ups)),
        ("Times a node left production", found.left, before.left),
        ("Tickets opened", found.opened, before.opened),
        ("Tickets open at the end", len(found.standing), len(before.standing)),
    )
    return (
        Change("Availability", share(shares[0]), share(shares[1]), *_way(*shares)),
        Change("Lost node hours", hours(spent[0]), hours(spent[1]), *_way(*spent)),
        *(Change(label, str(now), str(then), *_way(now, then)) for label, now, then in counts),
    )


def _way(now: float | None, then: float | None) -> tuple[str, str]:
    if now is None or then is None:
        return "", NOTHING
    if abs(now - then) <= SAME * max(abs(now), abs(then)) and (now == then or isinstance(now, float)):
        return "→", "as before"
    return ("↑", "more") if now > then else ("↓", "less")


def _beside(now: int, then: int) -> str:
    if now == then:
        return "as many as in the week before"
    return f"{abs(now - then)} {'more' if now > then else 'fewer'} than in the week before"
