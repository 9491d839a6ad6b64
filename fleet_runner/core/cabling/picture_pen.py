"""How the parts of a cabling picture are drawn: text that cannot break out, boxes, cables, and numbered actions."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from unicodedata import east_asian_width

from fleet_runner.core.base.printable import printable
from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.picture_layout import BOX_WIDTH, Box, Layout, Spot
from fleet_runner.core.cabling.plan import Action, Add, Exchange, Move, Record, Remove, Reseat, Restore

NAME, PLACE, INTERFACE = 26, 36, 14
"""Cells of a device's name, of its place and of a port's name that fit into a box."""

NUMBERED, PULLED = 0.36, 0.09
"""Where on a cable a step's number stands, and where a cross does, as shares of its way."""

PAIR = 2

BESIDE = 4
"""How far from the middle of a row an arrow leaves and, on its other side, one comes."""

LANES = 3
"""Arrows beside a box before the first lane is used again."""

_NEVER = re.compile("[\ud800-\udfff\ufffe\uffff]")
"""What no XML document may hold, and `printable` lets through."""


def clean(text: str) -> str:
    """Return text on one line that any XML document may hold; it still has to be escaped."""
    return _NEVER.sub("\ufffd", " ".join(printable(text).split()))


def cells(text: str) -> int:
    """Return how wide a text is, in letters of the Latin alphabet."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def clipped(text: str, most: int) -> str:
    """Return at most `most` cells of a text, with an ellipsis where something is left out."""
    found = clean(text)
    if cells(found) <= most:
        return found
    while cells(found) >= most:
        found = found[:-1]
    return f"{found}…"


def words(x: float, y: float, text: str, style: str = "", anchor: str = "start") -> str:
    """Draw a line of text; it is made harmless here and nowhere else."""
    styled = f' class="{style}"' if style else ""
    placed = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text{styled} x="{x:g}" y="{y:g}"{placed}>{escape(clean(text))}</text>'


def cross(x: float, y: float) -> str:
    """Draw the sign for a plug to pull."""
    return f'<path class="cross" d="M{x - 6:g} {y - 6:g}l12 12m0 -12l-12 12"/>'


def badge(x: float, y: float, number: str) -> str:
    """Draw the number of a step; nothing without one."""
    if not number:
        return ""
    return f'<circle class="number" cx="{x:g}" cy="{y:g}" r="10"/>' + words(x, y + 4, number, "digits")


@dataclass(frozen=True, slots=True)
class Pen:
    """Draws on one layout. `plugged` are the links that are there."""

    layout: Layout
    plugged: frozenset[Link]

    def cable(self, joined: Link, style: str) -> str:
        """Draw a cable in one of the styles "designed", "wrong" and "right"."""
        title = f"<title>{escape(clean(f'{style}: {joined.a} to {joined.b}'))}</title>"
        numbers = " ".join(f"{each:g}" for each in self._curve(joined)[2:])
        one = self.layout.spots[joined.a]
        return f'<path class="{style}" d="M{one.x:g} {one.y:g}C{numbers}">{title}</path>'

    def box(self, box: Box, places: Places) -> str:
        """Draw a device with its ports."""
        taken = {port for joined in self.plugged for port in joined}
        middle = box.x + BOX_WIDTH / 2
        place = clipped(places.place(box.device), PLACE)
        parts = [
            f'<rect class="box" x="{box.x:g}" y="{box.y:g}" width="{BOX_WIDTH}" height="{box.height:g}"/>',
            words(middle, box.y + 18, clipped(box.device, NAME), "name", "middle"),
            words(middle, box.y + 34, place, "place", "middle"),
        ]
        parts += [
            _port(port, spot, "plug" if port in taken else "empty")
            for port, spot in self.layout.spots.items()
            if port.device == box.device
        ]
        return "\n".join(parts)

    def actions(self, numbered: Sequence[tuple[Action, str]]) -> list[str]:
        """Draw what steps do, each with its number. Longer arrows run further out, below shorter ones' numbers."""
        spans = sorted(numbered, key=lambda each: self._span(each[0]))
        lanes = [(action, number, lane % LANES) for lane, (action, number) in enumerate(spans)]
        return [self._action(*each) for each in reversed(lanes)]

    def _action(self, action: Action, number: str, lane: int) -> str:
        """Draw what a step does; "" where that is outside the picture."""
        match action:
            case Move(stays, source, target):
                drawn = self._move(stays, source, target, (number, lane))
            case Remove(cable):
                drawn = self._pull(cable, cable.a) + self._pull(cable, cable.b) + self._at(cable, number)
            case Restore(what, links):
                drawn = self._restore(what, links, number)
            case Exchange(devices):
                drawn = self._exchange(devices, number)
            case Record(device, interface, _, _):
                drawn = self._note(device, interface, number)
            case Reseat(cable, rate):
                drawn = self._at(cable, number, rate)
            case Add(cable):  # pragma: no branch  the union ends here
                drawn = self._at(cable, number)
        return drawn

    def _span(self, action: Action) -> float:
        if not isinstance(action, Move):
            return 0.0
        one, other = self.layout.spots.get(action.source), self.layout.spots.get(action.target)
        return abs(one.y - other.y + 2 * BESIDE) if one and other else 0.0

    def _curve(self, joined: Link) -> tuple[float, ...]:
        """Return the four points of a cable's curve, as x and y in turn; both its ends are in the picture."""
        one, other = self.layout.spots[joined.a], self.layout.spots[joined.b]
        reach = max(70.0, abs(other.x - one.x) * 0.4)
        return (
            one.x, one.y, one.x + one.outwards * reach, one.y,
            other.x + other.outwards * reach, other.y, other.x, other.y,
        )  # fmt: skip

    def _drawn(self, joined: Link) -> bool:
        return all(port in self.layout.spots for port in joined)

    def _at(self, joined: Link, number: str, note: str = "") -> str:
        """Put a step's number onto a cable, a third of its way along: cables that cross do so half-way."""
        if not self._drawn(joined):
            return ""
        x, y = _along(self._curve(joined), NUMBERED)
        return badge(x, y, number) + (words(x + 14, y - 6, clipped(note, NAME), "on") if note else "")

    def _pull(self, joined: Link, port: Port) -> str:
        """Cross out the plug at a port, just in front of it."""
        if not self._drawn(joined):
            return ""
        x, y = _along(self._curve(joined), PULLED if port == joined.a else 1 - PULLED)
        return cross(x, y)

    def _move(self, stays: Port, source: Port, target: Port, named: tuple[str, int]) -> str:
        """Cross out the plug and lead it from its port to the other: behind the boxes if both are in one column."""
        number, lane = named
        one, other = self.layout.spots.get(source), self.layout.spots.get(target)
        if one is None or other is None:
            return ""
        pulled = self._pull(link(stays, source), source)
        if (one.x, one.right) != (other.x, other.right):
            reach = 60.0 + 24 * lane
            curve = (one.x, one.y, one.x + one.outwards * reach, one.y,
                     other.x + other.outwards * reach, other.y, other.x, other.y)  # fmt: skip
            return pulled + _arrow(curve) + badge(*_along(curve, 0.5), number)
        return pulled + self._behind(one, other, number, lane)

    def _behind(self, one: Spot, other: Spot, number: str, lane: int) -> str:
        """Draw an arrow between two rows of one column, on the side where no cable runs."""
        back = -one.outwards
        x, reach = one.x + back * BOX_WIDTH, back * (54.0 + 34 * lane)
        curve = (x, one.y + BESIDE, x + reach, one.y + BESIDE, x + reach, other.y - BESIDE, x, other.y - BESIDE)
        lines = "".join(f'<path class="lead" d="M{spot.x:g} {spot.y:g}H{x:g}"/>' for spot in (one, other))
        return lines + _arrow(curve) + badge(*_along(curve, 0.5), number)

    def _restore(self, what: str, links: tuple[Link, ...], number: str) -> str:
        """Number the device that is to be looked at, or the bundle that its cables share."""
        if (box := self.layout.box(what)) is not None:
            return badge(box.x + 16, box.y + 16, number)
        middles = [_along(self._curve(joined), 0.5) for joined in links if self._drawn(joined)]
        if not middles:
            return ""
        x, (top, bottom) = middles[0][0], (min(y for _, y in middles), max(y for _, y in middles))
        bar = f'<path class="carrier" d="M{x:g} {top - 9:g}V{bottom + 9:g}"/>'
        return bar + badge(x, (top + bottom) / 2, number) + words(x, top - 16, clipped(what, PLACE), "on", "middle")

    def _exchange(self, devices: tuple[str, ...], number: str) -> str:
        """Lead each device to the place of the next."""
        boxes = [self.layout.box(device) for device in devices]
        drawn = [(box, after) for box, after in zip(boxes, (*boxes[1:], boxes[0]), strict=True) if box and after]
        pairs = drawn[:1] if len(devices) == PAIR else drawn
        return "".join(self._trade(*pair, number, lane) for lane, pair in enumerate(pairs))

    def _trade(self, one: Box, other: Box, number: str, lane: int) -> str:
        left = not one.column
        x, reach = one.x + (0 if left else BOX_WIDTH), (-1 if left else 1) * (60.0 + 16 * (lane % LANES))
        far = other.x + (0 if left else BOX_WIDTH)
        curve = (x, one.y + 22, x + reach, one.y + 22, far + reach, other.y + 22, far, other.y + 22)
        return _arrow(curve, "move both" if not lane else "move") + badge(*_along(curve, 0.5), number)

    def _note(self, device: str, interface: str, number: str) -> str:
        spot, box = self.layout.spots.get(Port(device, interface)), self.layout.box(device)
        if spot is not None:
            return badge(spot.x - spot.outwards * (BOX_WIDTH - 16), spot.y, number)
        return badge(box.x + 16, box.y + 16, number) if box is not None else ""


def _port(port: Port, spot: Spot, style: str) -> str:
    anchor = "end" if spot.right else "start"
    return f'<rect class="{style}" x="{spot.x - 4.5:g}" y="{spot.y - 4.5:g}" width="9" height="9"/>' + words(
        spot.x - 12 * spot.outwards, spot.y + 4.5, clipped(port.interface, INTERFACE), "", anchor
    )


def _arrow(curve: tuple[float, ...], style: str = "move") -> str:
    x, y, *rest = curve
    return f'<path class="{style}" d="M{x:g} {y:g}C{" ".join(f"{each:g}" for each in rest)}"/>'


def _along(curve: tuple[float, ...], share: float) -> tuple[float, float]:
    """Return the point of a cubic curve that a share of its parameter leads to."""
    rest = 1 - share
    weights = (rest**3, 3 * share * rest**2, 3 * share**2 * rest, share**3)
    return (
        sum(weight * x for weight, x in zip(weights, curve[::2], strict=True)),
        sum(weight * y for weight, y in zip(weights, curve[1::2], strict=True)),
    )
