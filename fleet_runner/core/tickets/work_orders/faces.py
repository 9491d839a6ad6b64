"""The ports of a device in a row, and those of a ticket marked: an SVG of what its design names, in order of number.

Nobody tells how a maker sets its ports: in one line, or in pairs above each other. So the numbers are what is drawn.
Where a port has none, or others of its kind are unknown, nothing is drawn: a wrong order is worse than none.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from fleet_runner.core.cabling.picture_pen import clipped, words
from fleet_runner.core.inventory.records import Device, Fleet
from fleet_runner.core.lifecycle.runs import Ticket
from fleet_runner.core.tickets.work_orders.sheets import sheet

MOST = 8
"""Devices that are drawn."""

CELL, HIGH, BETWEEN, LEFT, LINE, SAYS = 44, 30, 8, 12, 14, 16
"""Pixels: a port's width and height, between two cages, before the first port, between two rows, and of sentences."""

ROW = 8
"""Ports of a row, but for a cage that begins in it: they are read on a phone."""

ROWS = 4
"""Rows that are drawn whole; of more, those with a marked port and those next to them."""

LANES = 8
"""Ports that a cage has at most."""

LABEL, NAME, SAID, WIDE = 6, 40, 60, 440
"""Characters of a port, of a device and of a sentence that fit, and the pixels that these take."""

UNEVEN = "Numbers are missing between them: go by the number, do not count."
"""Of ports that are split in part, or of which the design has some."""

UNREAL = frozenset({"virtual", "bridge", "lag"})
"""Kinds of interfaces that are no sockets."""

_NUMBER = re.compile(r"[0-9]+", re.ASCII)
_IN_NUMBERS = "0123456789/:."
_NEXT = re.compile(r"(?: port)? ")
_LONGER = re.compile(r"[\w/]|[.:-]\w")
_DEVICE = re.compile(r"(?<![\w.-])[\w.-]*\w")

_STYLE = """
  text { font: 12px 'DejaVu Sans', system-ui, Helvetica, Arial, sans-serif; fill: #1f2933; text-anchor: middle; }
  .head { font-size: 15px; font-weight: 700; text-anchor: start; }
  .said { text-anchor: start; fill: #3e4c59; }
  .port { fill: #ffffff; stroke: #52606d; stroke-width: 1; }
  .cage { fill: #e4e7eb; stroke: #52606d; stroke-width: 1; }
  .meant { fill: #0b3d91; stroke: #000000; stroke-width: 2; }
  .told { fill: #ffffff; font-weight: 700; }
  .arrow { fill: #c8290b; }
""".strip("\n")


@dataclass(frozen=True, slots=True)
class Face:
    """Ports of one kind of a device in their order, by cage (of one, where it has no lanes), and those marked.

    `gaps` is where numbers are missing between them: who counts the sockets of the device then comes to another one.
    """

    device: str
    cages: tuple[tuple[str, ...], ...]
    meant: frozenset[str]
    gaps: bool = False

    @property
    def sentence(self) -> str:
        """Say where the marked ports are, for whoever does not see the picture."""
        ports = [port for cage in self.cages for port in cage]
        told = [f"{port} is number {ports.index(port) + 1} of {len(ports)}" for port in ports if port in self.meant]
        return f"{self.device}: {', '.join(told)}.{f' {UNEVEN}' if self.gaps else ''}"


def faces(fleet: Fleet, ticket: Ticket) -> tuple[Face, ...]:
    """Return the ports of a ticket's devices that its steps name, or, where they name none, its other words."""
    told = sheet(ticket)
    for text in (" ".join(told.steps), " ".join((ticket.title, *told.said))):
        if found := tuple(_faces(fleet, text)):
            return found[:MOST]
    return ()


def _faces(fleet: Fleet, text: str) -> Iterable[Face]:
    named: dict[str, set[str]] = {}
    for word in _DEVICE.finditer(text):
        device, after = fleet.devices.get(word[0]), _NEXT.match(text, word.end())
        at = after.end() if after else 0
        ports = [
            name
            for name in (_sockets(device) if device and after else ())
            if text.startswith(name, at) and not _LONGER.match(text, at + len(name))
        ]
        if ports:
            named.setdefault(word[0], set()).add(max(ports, key=len))
    for name, meant in named.items():
        every = _sockets(fleet.devices[name])
        for shape in sorted({_shape(port) for port in meant}):
            alike = sorted((port for port in every if _shape(port) == shape), key=_numbers)
            if "#" in shape and len(alike) > 1:
                yield Face(name, _cages(alike), frozenset(meant & set(alike)), gaps=_gaps(alike))


def _sockets(device: Device) -> tuple[str, ...]:
    ports = (each.name for each in device.interfaces if not each.mgmt_only and each.kind not in UNREAL)
    return tuple(dict.fromkeys(ports))


def _shape(port: str) -> str:
    return _NUMBER.sub("#", port)


def _numbers(port: str) -> tuple[int, ...]:
    return tuple(map(int, _NUMBER.findall(port)))


def _gaps(ports: Iterable[str]) -> bool:
    """Whether numbers stand unevenly: of a device's cards, of a card's ports or of a port's lanes."""
    beside: dict[tuple[int, ...], set[int]] = {}
    for numbers in map(_numbers, ports):
        for place, number in enumerate(numbers):
            beside.setdefault(numbers[:place], set()).add(number)
    return any(len({after - before for before, after in pairwise(sorted(mine))}) > 1 for mine in beside.values())


def _cages(ports: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return ports by what they share but for their last number, where that is a few each; else one by one."""
    cages = [tuple(mine) for _, mine in groupby(ports, key=lambda port: _numbers(port)[:-1])]
    several = len(cages) > 1 and 1 < max(map(len, cages)) <= LANES
    return tuple(cages) if several else tuple((port,) for port in ports)


def svg(every: Sequence[Face]) -> str:
    """Return the faces below each other as one SVG document."""
    y, width, parts = 0.0, float(WIDE), list[str]()
    for face in every:
        wide, high, drawn = _drawn(face, y)
        parts += drawn
        y, width = y + high, max(width, wide)
    parts.append(words(LEFT, y + 12, "In order of number; the device may set its ports otherwise.", "said"))
    y += 16
    size = f'width="{width:g}" height="{y + 8:g}" viewBox="0 0 {width:g} {y + 8:g}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
            "<title>Ports of this ticket, in the order of their numbers</title>",
            f"<style>\n{_STYLE}\n</style>",
            f'<rect width="{width:g}" height="{y + 8:g}" fill="#ffffff"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _drawn(face: Face, top: float) -> tuple[float, float, list[str]]:
    """Return how wide and high a device's ports are, and their parts."""
    rows = _rows(face.cages)
    meant = {at for at, row in enumerate(rows) if any(face.meant & set(cage) for cage in row)}
    near = {at + beside for at in meant for beside in (-1, 0, 1)}
    shown = [row for at, row in enumerate(rows) if len(rows) <= ROWS or at in near]
    told = [clipped(face.sentence.partition(": ")[2].removesuffix(f" {UNEVEN}"), SAID)]
    told += [UNEVEN] * face.gaps
    told += [f"{len(shown)} of {len(rows)} rows are drawn."] * (len(shown) < len(rows))
    parts = [words(LEFT, top + 22, clipped(face.device, NAME), "head")]
    parts += [words(LEFT, top + 40 + line * SAYS, said, "said") for line, said in enumerate(told)]
    y, wide = top + 54.0 + (len(told) - 1) * SAYS, 0.0
    for row in shown:
        x = float(LEFT)
        for cage in row:
            if len(cage) > 1:
                size = f'width="{len(cage) * CELL + 4}" height="{HIGH + 4}"'
                parts.append(f'<rect class="cage" x="{x - 2:g}" y="{y - 2:g}" {size} rx="4"/>')
            for port in cage:
                parts += _port(port, x, y, meant=port in face.meant)
                x += CELL
            x += BETWEEN if len(cage) > 1 else 0
        y, wide = y + HIGH + LINE, max(wide, x + LEFT)
    return wide, y - top, parts


def _rows(cages: Sequence[tuple[str, ...]]) -> list[list[tuple[str, ...]]]:
    rows: list[list[tuple[str, ...]]] = [[]]
    for cage in cages:
        if sum(map(len, rows[-1])) >= ROW:
            rows.append([])
        rows[-1].append(cage)
    return rows


def _port(port: str, x: float, y: float, *, meant: bool) -> Iterable[str]:
    """Draw a port with its name, or with the end of one that is longer: an arrow below it says that it is meant."""
    style = "meant" if meant else "port"
    yield f'<rect class="{style}" x="{x + 1:g}" y="{y:g}" width="{CELL - 2}" height="{HIGH}" rx="2"/>'
    label = port if len(port) <= LABEL else port[len(port.rstrip(_IN_NUMBERS)) :].lstrip("/:.")[-LABEL:]
    yield words(x + CELL / 2, y + HIGH / 2 + 4, label, "told" if meant else "")
    if meant:
        yield f'<path class="arrow" d="M{x + CELL / 2:g} {y + HIGH + 2:g}l7 11h-14z"/>'
