"""The picture of faults: an SVG of the devices concerned, with the designed cables, the plugged ones and the moves.

Names come from whoever wrote a node description: everything is bounded, escaped and made printable. It reads without
colour: designed is dashed, wrong is thick with a cross at the plug to pull, a move is a numbered arrow.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fleet_runner.core.cabling.explain import Fault, Places
from fleet_runner.core.cabling.kinds import said
from fleet_runner.core.cabling.links import Link
from fleet_runner.core.cabling.picture_layout import MARGIN, layout, natural
from fleet_runner.core.cabling.picture_pen import Pen, badge, cells, clean, cross, words
from fleet_runner.core.cabling.plan import Action, Add, Exchange, Move, Record, Remove, Reseat, Restore

FAULTS = 20
"""Faults that one picture shows."""
LINKS = 40
"""Links of a fault that it draws, as designed and as plugged: two exchanged servers of eight rails have 32."""
STEPS = 40
WIDTH = 984
"""Of a picture of two columns; one of more columns is wider."""
LINE = 18
LETTERS = 136
"""Characters of a line of text in a picture of two columns."""
LINES = 6
"""Lines of one sentence; what is longer is cut."""

_STYLE = """
  text { font: 13px 'DejaVu Sans', system-ui, Helvetica, Arial, sans-serif; fill: #1f2933; }
  .head { font-size: 15px; font-weight: 700; }
  .name { font-weight: 700; }
  .place { font-size: 11px; fill: #3e4c59; }
  .on { paint-order: stroke; stroke: #ffffff; stroke-width: 5px; stroke-linejoin: round; font-weight: 700; }
  .box { fill: #f5f7fa; stroke: #52606d; stroke-width: 1.5; rx: 6; }
  .plug { fill: #1f2933; stroke: #1f2933; stroke-width: 1.5; }
  .empty { fill: #ffffff; stroke: #1f2933; stroke-width: 1.5; }
  .designed { fill: none; stroke: #0072b2; stroke-width: 2; stroke-dasharray: 7 5; }
  .wrong { fill: none; stroke: #c8290b; stroke-width: 3.5; }
  .right { fill: none; stroke: #52606d; stroke-width: 1.5; }
  .cross { fill: none; stroke: #000000; stroke-width: 3; }
  .move { fill: none; stroke: #000000; stroke-width: 1.75; marker-end: url(#tip); }
  .both { marker-start: url(#tip); }
  .number { fill: #000000; stroke: #ffffff; stroke-width: 1.5; }
  .digits { fill: #ffffff; font-weight: 700; font-size: 12px; text-anchor: middle; }
  .lead { stroke: #9aa5b1; stroke-width: 1; stroke-dasharray: 1 3; }
  .carrier { stroke: #000000; stroke-width: 7; stroke-linecap: round; }
  .rule { stroke: #9aa5b1; stroke-width: 1; }
""".strip("\n")

_TIP = (
    '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" markerHeight="9" '
    'orient="auto-start-reverse"><path d="M0 0 10 5 0 10z"/></marker></defs>'
)


@dataclass(frozen=True, slots=True)
class _Panel:
    """One fault's part of the picture: its lines of SVG, from y = 0, and its size."""

    parts: tuple[str, ...]
    width: float
    height: float


def svg(faults: Sequence[Fault], places: Places) -> str:
    """Return one SVG document that shows the faults below each other; the same faults give the same text."""
    shown = [_panel(fault, places, number) for number, fault in enumerate(faults[:FAULTS], start=1)]
    width = max([WIDTH, *(panel.width for panel in shown)])
    parts: list[str] = []
    y = 66.0
    for panel in shown:
        parts.append(f'<line class="rule" x1="16" y1="{y:g}" x2="{width - 16:g}" y2="{y:g}"/>')
        parts.append(f'<g transform="translate(0 {y + 14:g})">')
        parts += [*panel.parts, "</g>"]
        y += panel.height + 34
    more = len(faults) - len(shown)
    ending = f"and {more} more faults that are not drawn" if more else "" if shown else "No fault: nothing to draw."
    if ending:
        parts.append(words(20, y + 10, ending, "name"))
        y += 30
    size = f'width="{width:g}" height="{y:g}" viewBox="0 0 {width:g} {y:g}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
            "<title>Cables as designed and as plugged</title>",
            f"<style>\n{_STYLE}\n</style>",
            _TIP,
            f'<rect width="{width:g}" height="{y:g}" fill="#ffffff"/>',
            *_legend(),
            *parts,
            "</svg>\n",
        ]
    )


def _panel(fault: Fault, places: Places, number: int) -> _Panel:
    """Draw a fault: its sentence, its devices and cables, its steps."""
    drawing = _drawing(fault, places)
    width = max(WIDTH, drawing.width)
    most = int(LETTERS * width / WIDTH)
    parts = [words(20, 14, f"{number}. {said(fault.kind)}", "head")]
    y = 14.0
    for line in _wrapped(fault.message, most):
        y += LINE
        parts.append(words(20, y, line))
    y += 20
    parts += [f'<g transform="translate({(width - drawing.width) / 2:g} {y:g})">', *drawing.parts, "</g>"]
    y += drawing.height + 4
    for count, step in enumerate(fault.steps[:STEPS], start=1):
        for row, line in enumerate(_wrapped(step, most - 4)):
            y += LINE
            parts.append(words(44, y, line))
            if not row:
                parts.append(words(20, y, f"{count}.", "name"))
    if len(fault.steps) > STEPS:
        y += LINE
        parts.append(words(44, y, f"and {len(fault.steps) - STEPS} more steps that are not shown"))
    return _Panel(tuple(parts), width, y + 6)


def _drawing(fault: Fault, places: Places) -> _Panel:
    """Draw the devices and cables of a fault."""
    designed, plugged = set(fault.expected), set(fault.observed)
    every = sorted(designed | plugged, key=_ordered)  # what is wrong at a port next to what is right there
    links = sorted(every[:LINKS], key=lambda joined: joined not in designed)
    alone = fault.ports if not every else ()
    where = layout(links, sorted(alone)[: 2 * LINKS], places.servers)
    pen = Pen(where, frozenset(plugged))
    parts = [pen.cable(joined, _style(joined, designed, plugged)) for joined in links]
    parts += [pen.box(box, places) for box in where.boxes]
    parts += pen.actions([(action, _number(action, fault.steps, places)) for action in fault.actions])
    height = where.height
    if len(every) > len(links):
        height += LINE
        parts.append(words(MARGIN, height, f"and {len(every) - len(links)} more links that are not drawn"))
    return _Panel(tuple(parts), where.width, height)


def _style(joined: Link, designed: set[Link], plugged: set[Link]) -> str:
    if joined not in designed:
        return "wrong"
    return "right" if joined in plugged else "designed"


def _legend() -> list[str]:
    """Say once what each stroke means."""
    strokes = (("designed", "designed"), ("wrong", "plugged and wrong"), ("right", "plugged as designed"))
    parts: list[str] = []
    x = 20.0
    for kind, meaning in strokes:
        parts.append(f'<path class="{kind}" d="M{x:g} 24h44"/>')
        parts.append(words(x + 52, 28, meaning))
        x += 82 + 8 * len(meaning)
    parts += [cross(x + 8, 24), words(x + 22, 28, "plug to pull")]
    parts += [badge(x + 140, 24, "2"), words(x + 156, 28, "the step that does it")]
    parts += ['<rect class="plug" x="20" y="43" width="9" height="9"/>', words(38, 52, "port with a plug")]
    parts += ['<rect class="empty" x="180" y="43" width="9" height="9"/>', words(198, 52, "empty port")]
    return parts


def _number(action: Action, steps: Sequence[str], places: Places) -> str:
    """Return the number of the first step that names all that an action is about; none where no step does."""
    told: tuple[str, ...]
    match action:
        case Move(stays, _, target):
            told = (places.port(stays), places.port(target))
        case Restore(what, _):
            told = (what,)
        case Exchange(devices):
            told = devices
        case Record(device, _, _, _):
            told = (device,)
        case Add(cable) | Remove(cable) | Reseat(cable, _):  # pragma: no branch  the union ends here
            told = (places.port(cable.a), places.port(cable.b))
    return next((f"{number}" for number, step in enumerate(steps, 1) if all(each in step for each in told)), "")


def _ordered(joined: Link) -> tuple[object, ...]:
    return tuple((natural(port.device), natural(port.interface)) for port in joined)


def _wrapped(text: str, most: int) -> list[str]:
    """Break a text into lines of at most `most` cells, inside a word only if the word is longer."""
    lines = [""]
    for word in clean(text).split():
        for piece in (word[start : start + most // 2] for start in range(0, len(word), most // 2)):
            if lines[-1] and cells(lines[-1]) + 1 + cells(piece) > most:
                lines.append("")
            lines[-1] += f" {piece}" if lines[-1] else piece
    if len(lines) > LINES:
        lines = [*lines[: LINES - 1], f"{lines[LINES - 1]} …"]
    return lines
