"""The picture of the lifecycle: an SVG whose boxes, arrows and words come from the tables in `lifecycle`."""

from html import escape

from fleet_runner.core.lifecycle.diagram_layout import (
    ARROWS,
    BOX_HEIGHT,
    BOX_WIDTH,
    CENTRES,
    FRAME,
    FRAMED,
    HEIGHT,
    WIDTH,
    WITH_PEOPLE,
    Arrow,
)
from fleet_runner.core.lifecycle.states import (
    ENDED,
    FABRICS,
    HOUR,
    MINUTE,
    MOVING,
    SERVING,
    STATES,
    TRANSITIONS,
    Event,
    State,
    Transition,
)

_STYLE = """
  text { font: 12px system-ui, 'DejaVu Sans', Helvetica, Arial, sans-serif; fill: #1f2933; }
  .name { font-weight: 600; font-size: 14px; text-anchor: middle; }
  .limit { font-size: 11px; fill: #52606d; text-anchor: middle; }
  .event { paint-order: stroke; stroke: #ffffff; stroke-width: 4px; stroke-linejoin: round; }
  .box { stroke-width: 1.5; rx: 9; }
  .moving { fill: #e3f0fd; stroke: #2f7fd0; }
  .serving { fill: #dff5e6; stroke: #23964b; }
  .resting { fill: #fdf2d6; stroke: #c28a12; }
  .watched { fill: #efe6fb; stroke: #7c4dcb; }
  .ended { fill: #eceff2; stroke: #7b8794; }
  .frame { fill: #fffaf0; stroke: #c28a12; stroke-dasharray: 5 4; rx: 12; }
  .head { fill: #52606d; }
  .arrow { fill: none; stroke: #52606d; stroke-width: 1.5; marker-end: url(#head); stroke-linejoin: round; }
""".strip("\n")

_ARROW_HEAD = """
<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto">
  <path class="head" d="M0 0 10 5 0 10z"/></marker></defs>
""".strip("\n")

_LEGEND = (
    ("moving", "the runner works on it, with a deadline and an attempt cap"),
    ("resting", "it waits; no stage runs"),
    ("serving", "it serves tenants"),
    ("watched", "a fabric, not a node: swept on a schedule"),
    ("ended", "nothing leaves it"),
)


def kind(state: State) -> str:
    """What colour a state has: moving, serving, resting, watched or ended."""
    if state in MOVING:
        return "moving"
    if state in SERVING:
        return "serving"
    if state in FABRICS:
        return "watched"
    return "ended" if state in ENDED else "resting"


def svg() -> str:
    """The whole lifecycle as one SVG document."""
    x, y, width, height = FRAME
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        "<title>The lifecycle of a node</title>",
        f"<style>\n{_STYLE}\n</style>",
        _ARROW_HEAD,
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="12" fill="#ffffff"/>',
        f'<rect class="frame" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"/>',
        f'<text x="{x + 12:g}" y="{y + 18:g}">a person works on it</text>',
        *(_line(FRAMED[to], events) for to, events in framed().items()),
        *(_line(ARROWS[pair], events) for pair, events in single().items()),
        *(_box(state) for state in STATES),
        _retired_note(),
        *_legend(),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def framed() -> dict[State, tuple[Event, ...]]:
    """Places that every state people work in leads to by the same events: drawn once, from their frame."""
    shared = set[tuple[State, Event]].intersection(
        *({(row.to, row.event) for row in _drawn() if row.state is state} for state in WITH_PEOPLE)
    )
    events = {to: _in_order({event for at, event in shared if at is to}) for to in State}
    return {to: found for to, found in events.items() if found}


def single() -> dict[tuple[State, State], tuple[Event, ...]]:
    """Every other pair of states that transitions join, with their events."""
    common = framed()
    pairs: dict[tuple[State, State], set[Event]] = {}
    for row in _drawn():
        if row.state not in WITH_PEOPLE or row.event not in common.get(row.to, ()):
            pairs.setdefault((row.state, row.to), set()).add(row.event)
    return {pair: _in_order(events) for pair, events in pairs.items()}


def limit(seconds: float) -> str:
    """A deadline as people say it: "6 h", or "40 min" where it is no whole number of hours."""
    return f"{seconds / HOUR:g} h" if seconds % HOUR == 0 else f"{seconds / MINUTE:g} min"


def _drawn() -> tuple[Transition, ...]:
    """Everything but retiring and another machine in a node's place: notes instead of an arrow from every box."""
    return tuple(row for row in TRANSITIONS.values() if row.to not in ENDED and row.event is not Event.REPLACED)


def _in_order(events: set[Event]) -> tuple[Event, ...]:
    return tuple(event for event in Event if event in events)


def _words(events: tuple[Event, ...]) -> str:
    return escape(" or ".join(event.value.replace("_", " ") for event in events))


def _line(arrow: Arrow, events: tuple[Event, ...]) -> str:
    points = " ".join(f"{x:g},{y:g}" for x, y in arrow.corners)
    x, y = arrow.label
    return (
        f'<polyline class="arrow" points="{points}"/>\n'
        f'<text class="event" x="{x:g}" y="{y:g}" text-anchor="{arrow.anchor}">{_words(events)}</text>'
    )


def _box(state: State) -> str:
    x, y = CENTRES[state]
    place = STATES[state]
    tries = f"{limit(place.deadline)}, {place.attempts} tries" if place.deadline is not None else ""
    return (
        f'<g><title>{escape(place.meaning)}</title><rect class="box {kind(state)}" x="{x - BOX_WIDTH / 2:g}"'
        f' y="{y - BOX_HEIGHT / 2:g}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}"/>\n'
        f'<text class="name" x="{x:g}" y="{y - 3 if tries else y + 5:g}">{state.value}</text>\n'
        f'<text class="limit" x="{x:g}" y="{y + 15:g}">{tries}</text></g>'
    )


def _retired_note() -> str:
    x, y = CENTRES[State.RETIRED]
    return f'<text x="{x:g}" y="{y - BOX_HEIGHT / 2 - 10:g}" text-anchor="middle">from any state: retire</text>'


def _legend() -> list[str]:
    parts = []
    x = 24.0
    for name, meaning in _LEGEND:
        parts.append(f'<rect class="box {name}" x="{x:g}" y="12" width="18" height="14"/>')
        parts.append(f'<text x="{x + 25:g}" y="23">{meaning}</text>')
        x += 54 + 6.6 * len(meaning)
    return parts
