"""The picture of lemons: each node's score as a bar, divided among the signals that it comes from."""

from collections.abc import Sequence
from typing import NamedTuple

from fleet_runner.core.reliability.trends.picture_pen import Axis, cut, line, said, tag, ticks, words

WIDTH = 720.0
LEFT, RIGHT, TOP, ROW, BAR = 150.0, 690.0, 8.0, 30.0, 20.0

NAME = 18
"""Characters of a node's name for which there is room."""

KINDS = 6
"""Signals that can be told apart; the other ones share the last kind."""

ROOM = 90.0
"""Units that half of the mark's words take."""

LABEL = 16.0
"""Units that a part must be wide to carry the number of its signal."""


class Bar(NamedTuple):
    """A node, and what each signal adds to its score."""

    name: str
    parts: Sequence[tuple[str, float]]


def svg(bars: Sequence[Bar], mark: float | None = None, name: str = "Scores") -> str:
    """Return the picture; the number in a part is that of its signal in `signals`, `mark` the score to look from."""
    if not bars:
        return tag("p", "There is no score to draw.", class_="dim")
    numbers = {each: at for at, each in enumerate(signals(bars), start=1)}
    marks = ticks(0.0, max(*(total(each) for each in bars), mark or 0.0, 0.0) or 1.0, 6)
    x = Axis(0.0, marks[-1], LEFT, RIGHT)
    bottom = TOP + ROW * len(bars)
    inside = [line([(x.at(each), TOP), (x.at(each), bottom)], "grid") for each in marks]
    inside += [words(said(each), x.at(each), bottom + 16, anchor="middle") for each in marks]
    for at, each in enumerate(bars):
        inside += _row(each, TOP + ROW * at + (ROW - BAR) / 2, x, numbers)
    if mark is not None:
        inside.append(line([(x.at(mark), TOP), (x.at(mark), bottom)], "mark"))
        anchor = "end" if x.at(mark) > WIDTH - ROOM else "middle"
        inside.append(words(f"suggested from {said(mark)}", x.at(mark), bottom + 32, "limit", anchor))
    return tag("svg", "".join(inside), class_="lemons", viewBox=f"0 0 {WIDTH:g} {bottom + 40:g}", role="img",
               aria_label=sentence(bars, name))  # fmt: skip


def signals(bars: Sequence[Bar]) -> tuple[str, ...]:
    """Return the signals of these bars, those first that add most."""
    whole: dict[str, float] = {}
    for bar in bars:
        for signal, points in bar.parts:
            whole[signal] = whole.get(signal, 0.0) + max(0.0, points)
    return tuple(sorted((each for each in whole if whole[each]), key=lambda each: (-whole[each], each)))


def total(bar: Bar) -> float:
    """Return a node's whole score."""
    return sum(max(0.0, points) for _, points in bar.parts)


def sentence(bars: Sequence[Bar], name: str) -> str:
    """Return what the picture shows, for who cannot see it; the list below it has the rest."""
    told = ", ".join(f"{each.name} {said(total(each))}" for each in bars[:5])
    more = f" and {len(bars) - 5} more" if len(bars) > 5 else ""  # noqa: PLR2004  as many as above
    return f"{name}: {told}{more}."


def _row(bar: Bar, y: float, x: Axis, numbers: dict[str, int]) -> list[str]:
    found = [words(cut(bar.name, NAME), LEFT - 8, y + 15, "name", "end")]
    reached = 0.0
    for signal, points in sorted(bar.parts, key=lambda part: numbers.get(part[0], 0)):
        if points <= 0:
            continue
        begins, ends = x.at(reached), x.at(reached + points)
        kind = min(numbers[signal], KINDS) - 1
        found.append(tag("rect", class_=f"part c{kind}", x=f"{begins:g}", y=f"{y:g}", width=f"{ends - begins:.1f}",
                         height=f"{BAR:g}"))  # fmt: skip
        if ends - begins >= LABEL:
            found.append(words(str(numbers[signal]), (begins + ends) / 2, y + 15, "on", "middle"))
        reached += points
    return found
