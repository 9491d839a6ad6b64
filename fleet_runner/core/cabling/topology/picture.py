"""A fabric drawn in layers: spines above leaves above nodes, and in which of its links something is wrong.

A layer of more devices than one can tell apart is drawn in groups: leaves by their rail, nodes by their rack, else
all as one. It reads without colour: what is wrong is thick, and its count stands on it. A link within a layer, of an
MLAG pair, is a bow above it; one within a group is not drawn, and is counted at the group's corner if it is wrong.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from fleet_runner.core.cabling.links import Link
from fleet_runner.core.cabling.picture_layout import natural
from fleet_runner.core.cabling.picture_pen import clipped, words
from fleet_runner.core.cabling.topology.layers import MIXED, Layers

MOST = 24
"""Boxes of a layer."""

BOX, HIGH, GAP, MARGIN = 92, 34, 12, 16
LEVEL = 170
"""From one layer to the next."""

BOW = 26
"""How high above its layer a link within it is drawn, doubled: the middle of the bow is half as high."""

NAME = 13
"""Cells of a name that fit into a box."""

ONE = {"spines": "spine", "leaves": "leaf", "nodes": "node"}

_STYLE = """
  text { font: 11px 'DejaVu Sans', system-ui, Helvetica, Arial, sans-serif; fill: #1f2933; }
  .head { font-size: 13px; font-weight: 700; }
  .paper { fill: #ffffff; }
  .box { fill: #f5f7fa; stroke: #52606d; stroke-width: 1.5; }
  .box.bad { stroke: #b3261e; stroke-width: 3.5; }
  .line { stroke: #9aa5b1; stroke-width: 1; fill: none; }
  .bad-line { stroke: #b3261e; stroke-width: 3.5; fill: none; }
  .count { fill: #b3261e; stroke: #ffffff; stroke-width: 1; }
  .digits { fill: #ffffff; font-weight: 700; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6ebf0; } .paper { fill: #12171d; } .box { fill: #1b222b; stroke: #a7b3c0; }
    .line { stroke: #52606d; } .box.bad, .bad-line { stroke: #ff9c94; }
    .count { fill: #ff9c94; stroke: #12171d; } .digits { fill: #12171d; }
  }
""".strip("\n")


@dataclass(frozen=True, slots=True)
class _Layer:
    """One layer: its title, its boxes by name with their words, and in which of them each device is."""

    title: str
    boxes: tuple[tuple[str, str], ...]
    inside: dict[str, str]


def svg(it: Layers, wrong: Collection[Link]) -> str:
    """Return the picture as one SVG document; the same fabric gives the same text."""
    levels = [each for each in (_spines(it), _leaves(it), _nodes(it)) if each.boxes]
    width = max([480, *(2 * MARGIN + len(each.boxes) * (BOX + GAP) for each in levels)])
    height = max(1, len(levels)) * LEVEL - LEVEL + HIGH + 70
    places = {
        (level, box): ((width - len(each.boxes) * (BOX + GAP) + GAP) / 2 + number * (BOX + GAP), 36.0 + level * LEVEL)
        for level, each in enumerate(levels)
        for number, (box, _) in enumerate(each.boxes)
    }
    inside = {device: (level, box) for level, each in enumerate(levels) for device, box in each.inside.items()}
    counted = _counted(it, wrong, inside)
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    drawn = sorted(counted.items(), key=_last)
    lines = [_line(places[one], places[other], bad) for (one, other), bad in drawn if one != other]
    inner = [_line(places[one], places[one], bad) for (one, other), bad in drawn if one == other and bad]
    ill = {end for pair, bad in counted.items() if bad for end in pair}
    parts = [_box(places[level, box], text, bad=(level, box) in ill)
             for level, each in enumerate(levels) for box, text in each.boxes]  # fmt: skip
    heads = [words(MARGIN, 22 + level * LEVEL, each.title, "head") for level, each in enumerate(levels)]
    nothing = [] if levels else [words(MARGIN, 22, "Nothing is designed in this fabric.", "head")]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
            "<title>The fabric in layers; what is not as designed is thick, with a count</title>",
            f"<style>\n{_STYLE}\n</style>",
            f'<rect class="paper" width="{width}" height="{height}"/>',
            *lines, *parts, *inner, *heads, *nothing,
            "</svg>\n",
        ]
    )  # fmt: skip


def _spines(it: Layers) -> _Layer:
    return _layer("spines", it.spines, lambda _: "spines")


def _leaves(it: Layers) -> _Layer:
    rails: dict[str, set[int]] = {name: set() for name in it.leaves}
    for joined in it.links:
        for port in joined:
            if port.device in rails and it.rail(joined) != MIXED:
                rails[port.device].add(it.rail(joined))
    return _layer("leaves", it.leaves, lambda name: _rail(rails[name]))


def _rail(found: set[int]) -> str:
    return f"rail {min(found)}" if len(found) == 1 else "several rails"


def _nodes(it: Layers) -> _Layer:
    return _layer("nodes", it.nodes, lambda name: it.racks[name] or "no rack")


def _layer(title: str, names: Sequence[str], group: Callable[[str], str]) -> _Layer:
    """Draw each device, else each group, else all as one."""
    alone, grouped, whole = {name: name for name in names}, {name: group(name) for name in names}, "*"
    inside = next(each for each in (alone, grouped, dict.fromkeys(names, whole)) if len(set(each.values())) <= MOST)
    counts = Counter(inside.values())
    boxes = sorted(counts, key=natural)
    if inside is alone:
        said = boxes
    elif boxes == [whole]:
        said = [_many(len(names), title)]
    else:
        said = [f"{box.rpartition('/')[2]}: {counts[box]:,}" for box in boxes]
    return _Layer(_many(len(names), title), tuple(zip(boxes, said, strict=True)), inside)


def _many(count: int, title: str) -> str:
    return f"{count:,} {ONE[title] if count == 1 else title}"


End = tuple[int, str]


def _counted(it: Layers, wrong: Collection[Link], inside: dict[str, End]) -> dict[tuple[End, End], int]:
    """Count what is wrong between each two boxes, or within one; links out of the fabric are not drawn."""
    found: dict[tuple[End, End], int] = {}
    for joined in it.links:
        ends = sorted(inside[port.device] for port in joined if port.device in inside)
        if len(ends) > 1:
            pair = (ends[0], ends[1])
            found[pair] = found.get(pair, 0) + (joined in wrong)
    return found


def _last(counted: tuple[tuple[End, End], int]) -> tuple[bool, tuple[End, End]]:
    """What is wrong is drawn last, on top."""
    return counted[1] > 0, counted[0]


def _line(one: tuple[float, float], other: tuple[float, float], bad: int) -> str:
    (x, y), (far_x, far_y) = one, other
    style = "bad-line" if bad else "line"
    near, far = x + BOX / 2, far_x + BOX / 2
    if one == other:
        line, middle = "", (x + BOX, y)
    elif y == far_y:
        middle = (near + far) / 2, y - BOW / 2
        line = f'<path class="{style}" d="M{near:g} {y:g}Q{middle[0]:g} {y - BOW:g} {far:g} {y:g}"/>'
    else:
        line = f'<line class="{style}" x1="{near:g}" y1="{y + HIGH:g}" x2="{far:g}" y2="{far_y:g}"/>'
        middle = (near + 2 * far) / 3, (y + HIGH + 2 * far_y) / 3
    if not bad:
        return line
    badge = f'<circle class="count" cx="{middle[0]:g}" cy="{middle[1]:g}" r="10"/>'
    return line + badge + words(middle[0], middle[1] + 4, f"{bad}", "digits", "middle")


def _box(at: tuple[float, float], text: str, *, bad: bool) -> str:
    style = "box bad" if bad else "box"
    frame = f'<rect class="{style}" x="{at[0]:g}" y="{at[1]:g}" width="{BOX}" height="{HIGH}" rx="5"/>'
    return frame + words(at[0] + BOX / 2, at[1] + 21, clipped(text, NAME), "", "middle")
