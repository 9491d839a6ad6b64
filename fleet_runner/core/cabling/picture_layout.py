"""Where everything stands in the picture of a fault, in pixels: devices in columns, servers at the left.

`picture` draws it. Nothing here knows colours or words.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fleet_runner.core.cabling.links import Link, Port

BOX_WIDTH = 230
GAP = 300
"""Between two columns: where cables run."""
MARGIN = 112
"""Beside the outer columns: where arrows run."""
HEAD = 44
"""The part of a box that holds a device's name and place."""
ROW = 24
BETWEEN = 22
"""Between two boxes of a column."""


class Spot(NamedTuple):
    """Where a port is: on a box's left or right edge."""

    x: float
    y: float
    right: bool

    @property
    def outwards(self) -> int:
        """Return the direction in which its cable leaves."""
        return 1 if self.right else -1


@dataclass(frozen=True, slots=True)
class Box:
    """A device, its upper left corner, and the height that its ports need."""

    device: str
    column: int
    x: float
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Layout:
    """Every device and port of a fault, and how much room they take."""

    boxes: tuple[Box, ...]
    spots: Mapping[Port, Spot]
    width: float
    height: float

    def box(self, device: str) -> Box | None:
        """Return a device's box, if it is in the picture."""
        return next((box for box in self.boxes if box.device == device), None)


def layout(links: Sequence[Link], alone: Iterable[Port], servers: frozenset[str]) -> Layout:
    """Place the devices of some links, and of ports without any, from (0, 0) downwards."""
    every = {*alone, *(port for joined in links for port in joined)}
    columns = _columns({port.device for port in every}, links, servers)
    right = _right_sides(every, links, columns)
    sides = {device: _sides(device, every, right) for device in sorted(columns, key=natural)}
    height = {device: HEAD + ROW * max(map(len, held)) + 8 for device, held in sides.items()}
    tall: dict[int, float] = {}
    for device, column in columns.items():
        tall[column] = tall.get(column, 0.0) + height[device] + BETWEEN
    highest = max(tall.values(), default=0.0)
    below = {column: (highest - each) / 2 for column, each in tall.items()}
    boxes: list[Box] = []
    spots: dict[Port, Spot] = {}
    for device, held in sides.items():
        column = columns[device]
        box = Box(device, column, MARGIN + column * (BOX_WIDTH + GAP), below[column], height[device])
        below[column] += box.height + BETWEEN
        boxes.append(box)
        for side, ports in enumerate(held):
            for row, port in enumerate(ports):
                spots[port] = Spot(box.x + BOX_WIDTH * side, box.y + HEAD + ROW * (row + 0.5), bool(side))
    last = max(columns.values(), default=0)
    return Layout(tuple(boxes), spots, 2 * MARGIN + (last + 1) * BOX_WIDTH + last * GAP, highest)


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key that sorts "leaf-2" before "leaf-10"."""
    words = re.findall(r"[0-9]{1,9}|[^0-9]+", name)
    return tuple((0, int(word), "") if word[0] in "0123456789" else (1, 0, word) for word in words)


def _sides(device: str, ports: Iterable[Port], right: set[Port]) -> tuple[list[Port], list[Port]]:
    """Return a device's ports at its left edge and at its right one, in the order in which people count them."""
    mine = sorted((port for port in ports if port.device == device), key=lambda port: natural(port.interface))
    return [port for port in mine if port not in right], [port for port in mine if port in right]


def _columns(devices: set[str], links: Iterable[Link], servers: frozenset[str]) -> dict[str, int]:
    """Put servers into column 0 and each switch one further than what it is joined to.

    Switches that nothing joins to a server take turns between two columns.
    """
    beside: dict[str, set[str]] = {device: set() for device in devices}
    for a, b in links:
        beside[a.device].add(b.device)
        beside[b.device].add(a.device)
    columns = _away(sorted(devices & servers), beside)
    for device in sorted(devices, key=natural):
        if device not in columns:
            columns |= {other: away % 2 for other, away in _away([device], beside).items()}
    return columns


def _away(starts: list[str], beside: Mapping[str, set[str]]) -> dict[str, int]:
    """Return how many cables each device is away from the nearest of some, as far as they reach."""
    found = dict.fromkeys(starts, 0)
    ahead = list(starts)
    while ahead:
        device = ahead.pop(0)
        for other in sorted(beside[device] - found.keys()):
            found[other] = found[device] + 1
            ahead.append(other)
    return found


def _right_sides(ports: Iterable[Port], links: Iterable[Link], columns: Mapping[str, int]) -> set[Port]:
    """Return the ports on their box's right edge: those of the left column, and those whose cable goes right."""
    far: dict[Port, int] = {}
    for a, b in links:
        far.setdefault(a, columns[b.device])
        far.setdefault(b, columns[a.device])
    return {port for port in ports if not columns[port.device] or far.get(port, 0) > columns[port.device]}
