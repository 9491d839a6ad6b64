"""A job's evidence on a line of time: a lane for each node, a mark for each event, and the job's own bar."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from fleet_runner.core.base.durations import age

WIDTH, LEFT, LANE, TOP = 1_000.0, 150.0, 28.0, 34.0
"""Of the picture: its width, where time begins, how high a lane is, and where the first one begins."""

LANES = 24
"""Nodes that are drawn; the table has all."""

EDGE = 0.06
"""Of the time between the first and the last event, that is shown before and after it."""

SHORTEST = 60.0
"""Seconds that a picture shows at least."""

TICKS = 6
STEPS = (1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3_600.0, 4 * 3_600.0, 86_400.0)
"""Seconds between two ticks, from which the first is taken that gives few enough."""

NOWHERE = "the job"
"""The lane of what no node is named for."""


class Mark(NamedTuple):
    """An event: where it is, by how much it may have begun earlier, what it can be, and its words."""

    x: float
    y: float
    blur: float
    role: str
    words: str


class Label(NamedTuple):
    """Words at a place."""

    at: float
    words: str


class EvidenceTimeline(NamedTuple):
    """All of the picture; `bar` is from where to where the job ran, as far as the picture shows it."""

    height: float
    lanes: tuple[Label, ...]
    marks: tuple[Mark, ...]
    ticks: tuple[Label, ...]
    bar: tuple[float, float]
    left_out: int


def evidence_timeline(
    events: Iterable[Mapping[str, Any]], begun: float, ended: float | None
) -> EvidenceTimeline | None:
    """Return the events that have a time; None where none has.

    Of a job that ran for days, only the time around its events is shown. Ticks count from the job's end, of one that
    runs from its last event.
    """
    timed = [{**each, "at": float(each["at"])} for each in events if isinstance(each.get("at"), int | float)]
    if not timed:
        return None
    names = list(dict.fromkeys(str(each.get("node") or NOWHERE) for each in timed))
    lanes = {name: TOP + LANE * (at + 0.5) for at, name in enumerate(names[:LANES])}
    moments: list[float] = [each["at"] for each in timed]
    last, first = max(*moments, ended or begun), min(moments)
    span = max(SHORTEST, last - first)
    since, until = first - EDGE * span, max(last, first + span) + EDGE * span
    scale = (WIDTH - LEFT - 20) / (until - since)

    def place(at: float) -> float:
        return round(LEFT + (min(max(at, since), until) - since) * scale, 1)

    marks = tuple(
        Mark(
            place(each["at"]),
            lanes[name],
            round(min(place(each["at"]) - LEFT, float(each.get("blur") or 0.0) * scale), 1),
            str(each.get("role") or ""),
            f"{each.get('code') or ''}: {each.get('message') or ''}",
        )
        for each in timed
        if (name := str(each.get("node") or NOWHERE)) in lanes
    )
    zero = last if ended is None else ended
    return EvidenceTimeline(
        TOP + LANE * len(lanes) + 26,
        tuple(Label(y, name) for name, y in lanes.items()),
        marks,
        tuple(
            Label(place(at), words)
            for at, words in _ticks(since, until, zero, "end" if ended is not None else "last event")
        ),
        (place(begun), place(zero)),
        len(names) - len(lanes),
    )


def _ticks(since: float, until: float, zero: float, called: str) -> list[tuple[float, str]]:
    """Return moments a round time before and after the one from which they count, which has a name."""
    step = next((each for each in STEPS if (until - since) / each <= TICKS), (until - since) / TICKS)
    first, last = int((since - zero) // step) + 1, int((until - zero) // step)
    return [
        (zero + at * step, called if at == 0 else f"{age(abs(at) * step)} {'before' if at < 0 else 'after'}")
        for at in range(first, last + 1)
    ]
