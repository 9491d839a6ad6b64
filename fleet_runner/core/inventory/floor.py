"""The fleet as people walk through it: sites, rows, racks, and in each its nodes, the highest unit first."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from fleet_runner.core.base.natural_order import natural
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.inventory.records import NODE_ROLES, Device, Fleet
from fleet_runner.core.lifecycle.diagram import kind
from fleet_runner.core.lifecycle.runs import Node, Ticket
from fleet_runner.core.lifecycle.states import Condition, State

ALARM, TICKET, UNKNOWN = "alarm", "ticket", "unknown"
"""What is wrong with a node that is no condition of it."""

MARKS: Mapping[str, tuple[str, str]] = {
    ALARM: ("A", "an alarm is active"),
    TICKET: ("T", "a ticket is open"),
    UNKNOWN: ("U", "the last check gave no answer"),
    Condition.HELD: ("H", "held: nothing moves it"),
    Condition.MAINTENANCE: ("M", "planned work"),
    Condition.DRAINING: ("D", "waits for its work to end"),
    Condition.CORDONED: ("C", "takes no new work"),
    Condition.PENDING: ("P", "a remedy is pending"),
    Condition.ADVISED: ("O", "a remedy is advised, but the policy observes only"),
}
"""What marks a node beside its colour: a letter, and what it means, the most pressing first."""

KINDS: Mapping[State, str] = {state: kind(state) for state in State}
LETTERS: Mapping[State, str] = {state: word[0] for state, word in KINDS.items()}
"""A state's kind in one letter, for pages that draw thousands: moving, serving, resting, watched, ended."""

CABLING = "cabling/"


class Location(NamedTuple):
    """Where a node stands and whose it is; "" where the source of truth does not say."""

    site: str = ""
    location: str = ""
    rack: str = ""
    unit: float | None = None
    tenant: str = ""


NOWHERE = Location()
"""Of a node that the source of truth does not know."""


class Plan(NamedTuple):
    """A rack with the names of its nodes, the highest unit first; `number` counts the racks of a fleet."""

    number: int
    place: Location
    names: tuple[str, ...]


class NodeTile(NamedTuple):
    """A node as it is drawn: `marks` are keys of MARKS, `codes` those of its open tickets and alarms."""

    node: Node
    place: Location
    marks: tuple[str, ...]
    codes: frozenset[str]


class FloorFilter(NamedTuple):
    """Which nodes are to be shown; what is empty narrows nothing. `condition` is a key of MARKS, or `in_use`."""

    site: str = ""
    rack: str = ""
    type: str = ""
    state: str = ""
    tenant: str = ""
    condition: str = ""
    fault: str = ""


class Shown(NamedTuple):
    """A rack with those of its nodes that are wanted."""

    plan: Plan
    spots: tuple[NodeTile, ...]

    @property
    def letters(self) -> list[str]:
        """Return a letter for each node: its kind's, as a capital where it is marked."""
        return [letter(spot) for spot in self.spots]

    @property
    def summary(self) -> str:
        """Return "3 serving, 1 resting, 2 marked"."""
        kinds: dict[str, int] = {}  # a Counter of a handful costs several times as much, and there are thousands
        for spot in self.spots:
            kinds[KINDS[spot.node.state]] = kinds.get(KINDS[spot.node.state], 0) + 1
        said = [f"{kinds[name]} {name}" for name in sorted(kinds, key=lambda name: (-kinds[name], name))]
        marked = sum(bool(spot.marks) for spot in self.spots)
        return ", ".join([*said, f"{marked} marked"] if marked else said)


class Row(NamedTuple):
    """A part of a site, "" where it is not known which, with its racks."""

    name: str
    racks: tuple[Shown, ...]


class Site(NamedTuple):
    """A site, "" for what the source of truth does not know, with its rows."""

    name: str
    rows: tuple[Row, ...]


def letter(spot: NodeTile) -> str:
    """Return the letter a node is drawn by among thousands."""
    small = LETTERS[spot.node.state]
    return small.upper() if spot.marks else small


def places(fleet: Fleet) -> dict[str, Location]:
    """Return where every node of the source of truth is."""
    return {name: place(fleet, device) for name, device in fleet.devices.items() if device.role in NODE_ROLES}


def place(fleet: Fleet, device: Device) -> Location:
    """Return where a device is."""
    rack = fleet.racks.get(f"{device.site}/{device.rack}") if device.rack else None
    location = rack.location or "" if rack is not None else ""
    return Location(device.site, location, device.rack or "", device.position, device.tenant or "")


def plans(known: Mapping[str, Location], names: Iterable[str]) -> tuple[Plan, ...]:
    """Return the racks that some nodes stand in, in the order of their names; without a rack those come last.

    Within a rack the highest unit is first, as it hangs there.
    """
    placed = {name: known.get(name, NOWHERE) for name in names}
    order: dict[Location, list[str]] = {}
    for name, where in placed.items():
        order.setdefault(where._replace(unit=None, tenant=""), []).append(name)
    racks = sorted(order, key=lambda rack: (not rack.site, _key(rack)))
    return tuple(Plan(number, rack, _hung(order[rack], placed)) for number, rack in enumerate(racks))


def _key(rack: Location) -> tuple[object, ...]:
    return natural(rack.site), not rack.rack, natural(rack.location), natural(rack.rack)


def _hung(names: Iterable[str], placed: Mapping[str, Location]) -> tuple[str, ...]:
    units = ((placed[name].unit, natural(name), name) for name in names)
    return tuple(name for *_, name in sorted(units, key=lambda each: (each[0] is None, -(each[0] or 0.0), each[1])))


def code(ticket: Ticket) -> str:
    """Return the code of a ticket's fault, as its key tells it; its check's name where that tells none."""
    first, *more = ticket.fault.split("/")
    if ticket.fault.startswith(CABLING) and more[0]:
        return f"cabling.{more[0]}"
    return more[0] if len(more) > 1 and first in ticket.nodes else ticket.check


def faults(tickets: Iterable[Ticket], alarms: Iterable[Alarm]) -> dict[str, dict[str, set[str]]]:
    """Return what is wrong with each node: for tickets and for alarms that count, the codes of their faults."""
    found: dict[str, dict[str, set[str]]] = {}
    for ticket in tickets:
        for name in ticket.nodes:
            found.setdefault(name, {}).setdefault(TICKET, set()).add(code(ticket))
    for alarm in alarms:
        if alarm.raised_at is not None and alarm.cleared_at is None:
            found.setdefault(alarm.node, {}).setdefault(ALARM, set()).add(alarm.code)
    return found


def spots(
    nodes: Iterable[Node], known: Mapping[str, Location], wrong: Mapping[str, Mapping[str, set[str]]]
) -> dict[str, NodeTile]:
    """Return every node as it is drawn, by name."""
    return {node.name: _spot(node, known.get(node.name, NOWHERE), wrong.get(node.name)) for node in nodes}


def _spot(node: Node, where: Location, wrong: Mapping[str, set[str]] | None) -> NodeTile:
    if not wrong and not node.conditions and not node.waiting.startswith("UNKNOWN"):
        return NodeTile(node, where, (), frozenset())
    holds = {*node.conditions, *(wrong or ())}
    if node.waiting.startswith("UNKNOWN"):
        holds.add(UNKNOWN)
    codes = frozenset[str]().union(*(wrong or {}).values())
    return NodeTile(node, where, tuple(mark for mark in MARKS if mark in holds), codes)


def is_wanted(spot: NodeTile, wanted: FloorFilter) -> bool:
    """Whether a node is to be shown."""
    at = spot.place
    return (
        wanted.site in {"", at.site}
        and wanted.rack.casefold() in {"", at.rack.casefold()}
        and wanted.type in {"", spot.node.device_type}
        and wanted.state in {"", spot.node.state.value, KINDS[spot.node.state]}
        and wanted.tenant in {"", at.tenant}
        and (not wanted.condition or wanted.condition in spot.marks or wanted.condition in spot.node.conditions)
        and (not wanted.fault or wanted.fault in spot.codes)
    )


def laid_out(racks: Iterable[Plan], drawn: Mapping[str, NodeTile], wanted: FloorFilter) -> tuple[Site, ...]:
    """Return the sites with their rows and racks, as far as anything in them is wanted."""
    every = wanted == FloorFilter()
    shown = [
        Shown(rack, found)
        for rack in racks
        if (found := tuple(drawn[name] for name in rack.names if every or is_wanted(drawn[name], wanted)))
    ]
    sites = groupby(shown, key=lambda each: each.plan.place.site)
    return tuple(Site(site, _rows(list(mine))) for site, mine in sites)


def _rows(racks: Sequence[Shown]) -> tuple[Row, ...]:
    rows = groupby(racks, key=lambda each: each.plan.place.location)
    return tuple(Row(name, tuple(mine)) for name, mine in rows)


def counts(drawn: Iterable[NodeTile]) -> dict[State, int]:
    """Return how many nodes are in each state, in the order of the states; those that none is in are left out."""
    found = Counter(spot.node.state for spot in drawn)
    return {state: found[state] for state in State if state in found}


class Segment(NamedTuple):
    """A state's part of a bar: where it begins and how wide it is, of 100."""

    state: State
    number: int
    x: float
    width: float


BAR = ("serving", "moving", "resting", "ended")
"""The kinds of states in a bar, from the left."""


def bar(found: Mapping[State, int]) -> tuple[Segment, ...]:
    """Return the states of nodes as one bar, by kind; their widths are as their numbers."""
    whole, drawn = sum(found.values()), list[Segment]()
    for state in sorted(found, key=lambda state: (BAR.index(KINDS[state]), list(State).index(state))):
        x = drawn[-1].x + drawn[-1].width if drawn else 0.0
        drawn.append(Segment(state, found[state], x, 100.0 * found[state] / whole))
    return tuple(drawn)
