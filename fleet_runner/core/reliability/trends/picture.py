"""The picture of a trend: one part's numbers day by day, between its peers', towards its pass mark.

It reads without colour: the part's own line is thick and has a dot for each day, its peers are a band, the pass mark
is dashed, and what is expected is dotted within a wedge.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple

from fleet_runner.core.base.plural import counted
from fleet_runner.core.reliability.trends.picture_pen import (
    Axis,
    Point,
    area,
    date,
    day_ticks,
    line,
    pieces,
    said,
    tag,
    ticks,
    words,
)

WIDTH, HEIGHT = 720.0, 264.0
LEFT, RIGHT, TOP, BOTTOM = 58.0, 694.0, 30.0, 222.0

FARTHEST = 60
"""Days ahead that are drawn; a crossing that lies beyond is said and not shown."""

DOTS = 120
"""Up to so many days each has a dot."""

FLAT = 0.1
"""Of the share of its own size that a picture of numbers which never change is high."""

Numbers = Sequence[float | None]


class Band(NamedTuple):
    """What peers told day by day: the tenth, the fiftieth and the ninetieth of a hundred."""

    low: Numbers
    middle: Numbers
    high: Numbers


class Crossing(NamedTuple):
    """In how many days from the last one a part is expected to reach its mark: at the soonest, likely, at the latest.

    `latest` is None where it may never.
    """

    soonest: float
    likely: float
    latest: float | None


@dataclass(frozen=True, slots=True)
class Trend:
    """What is drawn: `days` since the epoch, and for each of them what was told, None where nothing was.

    `name` is what it is of, `unit` the numbers' unit; `since` is the day from which something is seen.
    """

    name: str
    unit: str
    days: Sequence[int]
    own: Numbers
    peers: Band | None = None
    mark: float | None = None
    crossing: Crossing | None = None
    since: int | None = None


def svg(trend: Trend) -> str:
    """Return the picture; a sentence as its text alternative."""
    own = _finite(trend.own)
    if not own:
        return tag("p", "There are no numbers to draw.", class_="dim")
    ahead = _ahead(trend)
    x = Axis(trend.days[0], max(trend.days[-1] + ahead, trend.days[0] + 1), LEFT, RIGHT)
    marks = _heights(trend, own)
    y = Axis(marks[0], marks[-1], BOTTOM, TOP)
    inside = (
        *_grid(trend, x, y, marks, ahead),
        *_peers(trend, x, y),
        *_since(trend, x),
        *_mark(trend, y),
        *_forecast(trend, x, y, ahead),
        *_own(trend, x, y),
    )
    return tag("svg", "".join(inside), class_="trend", viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}", role="img",
               aria_label=sentence(trend))  # fmt: skip


def sentence(trend: Trend) -> str:
    """Return what the picture shows, for who cannot see it."""
    own = _finite(trend.own)
    if not own:
        return f"{trend.name}: there are no numbers."
    span = f"{date(trend.days[0])} to {date(trend.days[-1])}"
    told = [f"{trend.name}, {span}: from {said(own[0])} to {said(own[-1])} {trend.unit}".rstrip()]
    middle = _finite(trend.peers.middle) if trend.peers else []
    if middle:
        told.append(f"its peers' middle went from {said(middle[0])} to {said(middle[-1])}")
    if trend.mark is not None:
        told.append(f"the pass mark is {said(trend.mark)}")
    if trend.crossing is not None:
        told.append(f"it is expected to reach that {crossing_words(trend.crossing)}")
    return "; ".join(told) + "."


def crossing_words(crossing: Crossing) -> str:
    """Return when a mark is expected to be reached."""
    latest = f"and {crossing.latest:.0f}" if crossing.latest is not None else "days and never"
    days = " days" if crossing.latest is not None else ""
    return f"in {counted(f'{crossing.likely:.0f}', 'day')} (between {crossing.soonest:.0f} {latest}{days})"


def _finite(numbers: Numbers) -> list[float]:
    return [each for each in numbers if each is not None and isfinite(each)]


def _ahead(trend: Trend) -> int:
    if trend.crossing is None or trend.mark is None:
        return 0
    latest = trend.crossing.likely * 2 if trend.crossing.latest is None else trend.crossing.latest
    return min(FARTHEST, max(7, round(latest) + 1))


def _heights(trend: Trend, own: list[float]) -> tuple[float, ...]:
    shown = [*own, *(number for row in trend.peers or () for number in _finite(row))]
    low, high = min(shown), max(shown)
    if trend.mark is not None and (trend.crossing is not None or _near(trend.mark, low, high)):
        low, high = min(low, trend.mark), max(high, trend.mark)
    if high - low <= abs(high) * 1e-6:
        room = FLAT * abs(high) or 1.0
        low, high = low - room if low else 0.0, high + room
    return ticks(low, high)


def _near(mark: float, low: float, high: float) -> bool:
    """Whether a mark is so near to the numbers that these still show beside it."""
    room = 2 * (high - low)
    return low - room <= mark <= high + room


def _grid(trend: Trend, x: Axis, y: Axis, marks: Sequence[float], ahead: int) -> Iterable[str]:
    for mark in marks:
        yield line([(LEFT, y.at(mark)), (RIGHT, y.at(mark))], "grid")
        yield words(said(mark), LEFT - 8, y.at(mark) + 4, anchor="end")
    yield words(trend.unit, 4, 14)
    for day in day_ticks(trend.days[0], trend.days[-1] + ahead):
        yield line([(x.at(day), BOTTOM), (x.at(day), BOTTOM + 5)], "grid")
        yield words(date(day), x.at(day), BOTTOM + 20, anchor="middle")
    if ahead:
        today = x.at(trend.days[-1])
        yield line([(today, TOP), (today, BOTTOM)], "today")
        yield words("last report", today, BOTTOM + 35, anchor="middle")


def _points(trend: Trend, numbers: Numbers, x: Axis, y: Axis) -> list[Point | None]:
    rows = zip(trend.days, numbers, strict=True)
    return [(x.at(day), y.at(each)) if each is not None and isfinite(each) else None for day, each in rows]


def _peers(trend: Trend, x: Axis, y: Axis) -> Iterable[str]:
    if trend.peers is None:
        return
    low, middle, high = (_points(trend, row, x, y) for row in trend.peers)
    both = [(under, over) if under and over else None for under, over in zip(low, high, strict=True)]
    found: list[list[tuple[Point, Point]]] = [[]]
    for each in both:
        if each is not None:
            found[-1].append(each)
        elif found[-1]:
            found.append([])
    for piece in found:
        corners = [over for _, over in piece] + [under for under, _ in reversed(piece)]
        if len(piece) > 1:
            yield area(corners, "band")
    yield from (line(piece, "middle") for piece in pieces(middle) if len(piece) > 1)


def _since(trend: Trend, x: Axis) -> Iterable[str]:
    if trend.since is not None and trend.days[0] <= trend.since <= trend.days[-1]:
        yield line([(x.at(trend.since), TOP), (x.at(trend.since), BOTTOM)], "since")
        late = x.at(trend.since) > (LEFT + RIGHT) / 2
        yield words(f"since {date(trend.since)}", x.at(trend.since) + (-5 if late else 5), TOP + 10, "note",
                    "end" if late else "start")  # fmt: skip


def _mark(trend: Trend, y: Axis) -> Iterable[str]:
    if trend.mark is None:
        return
    if not y.low <= trend.mark <= y.high:
        where = "above" if trend.mark > y.high else "below"
        yield words(f"pass mark {said(trend.mark)}, {where} this picture", RIGHT, TOP + 10, "limit", "end")
        return
    at = y.at(trend.mark)
    yield line([(LEFT, at), (RIGHT, at)], "mark")
    yield words(f"pass mark {said(trend.mark)}", LEFT + 6, at - 6 if at > TOP + 16 else at + 16, "limit")


def _forecast(trend: Trend, x: Axis, y: Axis, ahead: int) -> Iterable[str]:
    told = [
        (day, each) for day, each in zip(trend.days, trend.own, strict=True) if each is not None and isfinite(each)
    ]
    if not ahead or trend.crossing is None or trend.mark is None:
        return
    begins = (float(told[-1][0]), told[-1][1])
    until = float(trend.days[-1] + ahead)
    today = float(trend.days[-1])
    soonest = _reached(begins, today + trend.crossing.soonest, trend.mark, until)
    likely = _reached(begins, today + trend.crossing.likely, trend.mark, until)
    level = (until, begins[1])
    latest = level if trend.crossing.latest is None else _reached(begins, today + trend.crossing.latest, trend.mark,
                                                                  until)  # fmt: skip
    corners = [begins, soonest]
    if latest[0] > soonest[0] and soonest[1] == trend.mark:
        corners.append((latest[0], trend.mark))
    corners.append(latest)
    yield area([(x.at(day), y.at(each)) for day, each in corners], "wedge")
    yield line([(x.at(day), y.at(each)) for day, each in (begins, likely)], "expected")
    if likely[1] == trend.mark:
        yield tag("circle", class_="hit", cx=f"{x.at(likely[0]):g}", cy=f"{y.at(trend.mark):g}", r="5")


def _reached(begins: Point, day: float, mark: float, until: float) -> Point:
    """Return where a straight way to the mark ends: there, or at the picture's edge."""
    day = max(day, begins[0])
    if day <= until:
        return day, mark
    return until, begins[1] + (mark - begins[1]) * (until - begins[0]) / (day - begins[0])


def _own(trend: Trend, x: Axis, y: Axis) -> Iterable[str]:
    points = _points(trend, trend.own, x, y)
    yield from (line(piece, "own") for piece in pieces(points) if len(piece) > 1)
    known = [each for each in points if each is not None]
    if len(known) <= DOTS:
        yield from (tag("circle", class_="dot", cx=f"{px:g}", cy=f"{py:g}", r="2.6") for px, py in known)
    else:
        yield from (
            tag("circle", class_="dot", cx=f"{piece[0][0]:g}", cy=f"{piece[0][1]:g}", r="2.6")
            for piece in pieces(points)
            if len(piece) == 1
        )
