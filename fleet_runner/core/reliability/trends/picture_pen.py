"""What the pictures of trends are drawn with: escaped tags, round numbers on an axis, and days in words.

Nothing in a picture has a style of its own: classes say what a line is, and the page's sheet how it looks, so that a
picture is as light or dark as what is around it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from itertools import pairwise
from math import ceil, floor, isfinite, log10

from fleet_runner.core.base.printable import printable

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
"""What a step between ticks may be, times a power of ten."""

DAY_STEPS = (1, 2, 7, 14, 28, 56, 91, 182)
"""Days between ticks, from which the first is taken that gives few enough."""

DAY = 86_400

LONGEST = 60
"""Characters of a name in a picture; what is longer is cut."""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Axis:
    """Where numbers from `low` to `high` lie between `begins` and `ends`, in the picture's units."""

    low: float
    high: float
    begins: float
    ends: float

    def at(self, value: float) -> float:
        """Return where a number lies; what is beyond the axis lies at its end."""
        whole = self.high - self.low
        share = (min(max(value, self.low), self.high) - self.low) / whole if whole else 0.5
        return round(self.begins + share * (self.ends - self.begins), 1)


def tag(name: str, inside: str = "", **attributes: object) -> str:
    """Return an element; its attributes are escaped, what is inside is SVG. `class_` and `text_anchor` read so."""
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(printable(str(value)))}"' for key, value in attributes.items()
    )
    return f"<{name}{told}>{inside}</{name}>"


def words(text: str, x: float, y: float, kind: str = "tick", anchor: str = "start") -> str:
    """Return text at a point."""
    return tag("text", escape(cut(text)), class_=kind, x=f"{x:g}", y=f"{y:g}", text_anchor=anchor)


def cut(text: str, longest: int = LONGEST) -> str:
    """Return a name as a picture has room for it."""
    clean = printable(text)
    return clean if len(clean) <= longest else f"{clean[: longest - 1]}…"


def line(points: Sequence[Point], kind: str) -> str:
    """Return a line through points."""
    return tag("polyline", class_=kind, points=" ".join(f"{x:g},{y:g}" for x, y in points))


def area(points: Sequence[Point], kind: str) -> str:
    """Return a filled shape."""
    return tag("polygon", class_=kind, points=" ".join(f"{x:g},{y:g}" for x, y in points))


def pieces(points: Sequence[Point | None]) -> list[list[Point]]:
    """Return the unbroken pieces of a line: where nothing was told, nothing is drawn."""
    found: list[list[Point]] = [[]]
    for each in points:
        if each is not None:
            found[-1].append(each)
        elif found[-1]:
            found.append([])
    return [piece for piece in found if piece]


def ticks(low: float, high: float, most: int = 5) -> tuple[float, ...]:
    """Return round numbers from at or below `low` to at or above `high`, at most about so many."""
    least = max((high - low) / most, 1e-12, abs(high) * 1e-9)
    power = 10.0 ** floor(log10(least))
    step = next(power * each for each in STEPS if power * each >= least * 0.999)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return tuple(at * step for at in range(first, max(last, first + 1) + 1))


def day_ticks(first: int, last: int, most: int = 7) -> tuple[int, ...]:
    """Return days from the first to the last for an axis, evenly apart."""
    step = next((each for each in DAY_STEPS if (last - first) / each <= most), max(1, (last - first) // most))
    return tuple(range(first, last + 1, step))


def said(value: float) -> str:
    """Return a number as an axis or a sentence has it: four digits that matter, and no more noughts than needed."""
    if not isfinite(value):
        return "—"
    if abs(value) >= 10_000:  # noqa: PLR2004  from here on, digits after the point say nothing
        return f"{value:,.0f}"
    text = f"{value:.4g}"
    return f"{value:g}" if "e" in text and abs(value) >= 1e-4 else text  # noqa: PLR2004  as `:g` itself


def date(day: int) -> str:
    """Return a day (since the epoch, UTC) in words: "3 Nov"."""
    moment = datetime.fromtimestamp(day * DAY, UTC)
    return f"{moment.day} {moment:%b}"


def steps(points: Sequence[Point]) -> list[Point]:
    """Return the corners of a staircase that keeps each height until the next point."""
    found: list[Point] = list(points[:1])
    for (_, before), (x, y) in pairwise(points):
        found += [(x, before), (x, y)]
    return found
