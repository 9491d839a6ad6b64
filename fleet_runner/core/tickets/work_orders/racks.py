"""A rack as one stands before it: an SVG with every unit, each device in its place, and those that are meant marked.

Names come from the source of truth: they are clipped, escaped and made printable. It reads without colour: what is
meant is dark, with an arrow on either side.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fleet_runner.core.cabling.picture_pen import clipped, words
from fleet_runner.core.inventory.records import Device, Fleet, Rack, rack_key

UNIT, WIDTH, LEFT, TOP = 15, 300, 44, 40
"""Pixels: of a unit's height, of the rack's inside, before it, and above it."""

NAME = 30
"""Cells of a name that fit."""

TALLEST, MOST = 100, 100
"""Units and devices that are drawn: no real rack has more."""

BESIDE = 28

_STYLE = """
  text { font: 12px 'DejaVu Sans', system-ui, Helvetica, Arial, sans-serif; fill: #1f2933; }
  .head { font-size: 15px; font-weight: 700; }
  .unit { font-size: 10px; fill: #3e4c59; }
  .frame { fill: #ffffff; stroke: #1f2933; stroke-width: 3; }
  .line { stroke: #dfe4ea; stroke-width: 1; }
  .box { fill: #e4e7eb; stroke: #52606d; stroke-width: 1; }
  .meant { fill: #0b3d91; stroke: #000000; stroke-width: 2; }
  .told { fill: #ffffff; font-weight: 700; font-size: 13px; }
  .arrow { fill: #c8290b; stroke: #ffffff; stroke-width: 1; }
""".strip("\n")


@dataclass(frozen=True, slots=True)
class Elevation:
    """A rack, what stands in it with how many units each has, and which of that is meant."""

    rack: Rack
    devices: tuple[tuple[Device, float], ...]
    meant: frozenset[str]


def elevations(fleet: Fleet, names: Sequence[str]) -> tuple[Elevation, ...]:
    """Return the racks of some devices, each once, in the order of the devices; of what has a place in a rack."""
    placed = [each for name in names if (each := fleet.devices.get(name)) and each.rack and each.position is not None]
    keys = dict.fromkeys(rack_key(each.site, each.rack or "") for each in placed)
    inside: dict[str, list[tuple[Device, float]]] = {key: [] for key in keys if key in fleet.racks}
    for device in fleet.devices.values():
        there = inside.get(rack_key(device.site, device.rack)) if device.rack else None
        if there is not None and device.position is not None:
            kind = fleet.device_types.get(device.device_type)
            there.append((device, kind.u_height if kind is not None else 1.0))
    meant = frozenset(each.name for each in placed)
    return tuple(Elevation(fleet.racks[key], tuple(there[:MOST]), meant) for key, there in inside.items())


def svg(every: Sequence[Elevation]) -> str:
    """Return racks side by side as one SVG document."""
    step = LEFT + WIDTH + BESIDE
    width = max(1, len(every)) * step + 8
    height = max((_tall(each.rack) for each in every), default=2) * UNIT + TOP + 14
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    parts = [part for number, each in enumerate(every) for part in _drawn(each, number * step)]
    nothing = [] if every else [words(12, 30, "No place in a rack is known.", "head")]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
            "<title>Where to stand: the rack, with the devices of this ticket marked</title>",
            f"<style>\n{_STYLE}\n</style>",
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
            *parts,
            *nothing,
            "</svg>\n",
        ]
    )


def _tall(rack: Rack) -> int:
    return max(1, min(rack.u_height, TALLEST))


def _drawn(it: Elevation, left: int) -> Iterable[str]:
    rack, tall = it.rack, _tall(it.rack)
    where = " · ".join(word for word in (rack.site, rack.location or "", f"rack {rack.name}") if word)
    yield words(left + 12, 22, clipped(where, NAME + 10), "head")
    yield f'<rect class="frame" x="{left + LEFT}" y="{TOP}" width="{WIDTH}" height="{tall * UNIT}"/>'
    for number in range(tall):
        y = TOP + (tall - number) * UNIT
        yield words(left + LEFT - 8, y - 3, f"U{rack.starting_unit + number}", "unit", "end")
        if number:
            yield f'<path class="line" d="M{left + LEFT + 2} {y}h{WIDTH - 4}"/>'
    for device, units in sorted(it.devices, key=lambda pair: pair[0].name in it.meant):
        yield from _box(it, device, units, left)


def _box(it: Elevation, device: Device, units: float, left: int) -> Iterable[str]:
    """What is mounted at the rear is drawn in the right half, so that what is before it stays to be seen."""
    tall, meant = _tall(it.rack), device.name in it.meant
    below = (device.position or 0.0) - it.rack.starting_unit
    if below < 0 or below >= tall:
        return
    high = max(0.5, min(units, tall - below))
    half = WIDTH / 2 if device.face == "rear" else 0.0
    x, y = left + LEFT + 2 + half, TOP + (tall - below - high) * UNIT + 1
    style = "meant" if meant else "box"
    size = f'width="{WIDTH - 4 - half:g}" height="{high * UNIT - 2:g}"'
    yield f'<rect class="{style}" x="{x:g}" y="{y:g}" {size} rx="2"/>'
    middle = y + high * UNIT / 2 + 3
    name = clipped(device.name, NAME // 2 if half else NAME)
    yield words(x + 8, middle, f"{name}  U{device.position:g}" if meant else name, "told" if meant else "")
    if meant:
        right = left + LEFT + WIDTH
        yield f'<path class="arrow" d="M{right + 22} {middle - 12:g}v16l-18 -8z"/>'
