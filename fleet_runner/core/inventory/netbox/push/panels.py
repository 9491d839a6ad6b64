"""Cables through patch panels: the ports, the trunks and the cords that a NetBox lacks of them.

A folder says which panels a cable passes, and not by which of their ports. So ports are made that are named after the
trunk, or after one end of the cable, and only on panels that are devices of the folder and have no ports of their own
in NetBox.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fleet_runner.core.inventory.netbox.push.step import Kind, PanelPort, Plan, Step
from fleet_runner.core.inventory.records import NODE_ROLES, PANEL, Cable, Fleet, Termination

INTERFACE, FRONT, REAR = "interface", "front", "rear"
TRUNK = "trunk "
TYPE = "other"
"""What ports are: a folder does not say which connectors they have."""

Ports = Mapping[PanelPort, bool]
"""The ports that panels have in NetBox, and whether a cable ends there."""


class _Point(NamedTuple):
    """An end of a cord: of a device's interface, or of a panel's front or rear port."""

    side: str
    device: str
    port: str


@dataclass(frozen=True, slots=True)
class Way:
    """A cable and the panels that it passes, from its first end on; `trunk` is between the first two of them."""

    cable: Cable
    panels: tuple[str, ...]
    trunk: str = ""

    @property
    def bundle(self) -> tuple[str, frozenset[str]]:
        """Return what the ways of one trunk have in common."""
        return self.trunk, frozenset(self.panels[:2])


def way(cable: Cable, fleet: Fleet) -> Way | None:
    """Return the way of a cable; None where it passes no panel, or one that is no device of the folder."""
    named = tuple(each.removeprefix(f"{PANEL} ") for each in cable.carriers if each.startswith(f"{PANEL} "))
    ends = {cable.a.device, cable.b.device}
    if not named or not fleet.devices.keys() >= {*named} or ends & {*named}:
        return None
    trunks = [each.removeprefix(TRUNK) for each in cable.carriers if each.startswith(TRUNK)]
    trunk = trunks[0] if len(trunks) == 1 and len(named) > 1 else ""
    if _apart(named, cable, fleet) > _apart(named[::-1], cable, fleet):
        named = named[::-1]
    return Way(cable, named, trunk)


def _apart(panels: Sequence[str], cable: Cable, fleet: Fleet) -> int:
    """Return how many ends stand in another rack than the panel beside them."""
    pairs = ((panels[0], cable.a.device), (panels[-1], cable.b.device))
    return sum(fleet.devices[one].rack != fleet.devices[other].rack for one, other in pairs)


def plan(missing: Iterable[Way], every: Iterable[Way], fleet: Fleet, ports: Ports) -> Plan:
    """Plan ways that NetBox lacks; `every` way of the folder tells the positions of a trunk."""
    bundles: dict[tuple[str, frozenset[str]], list[Cable]] = defaultdict(list)
    for each in every:
        if each.trunk:
            bundles[each.bundle].append(each.cable)
    ways = tuple(missing)
    own = {key for each in every for key in _ports(each, bundles)}
    foreign = {device for device, side, name in ports if (device, side, name) not in own}
    steps: dict[tuple[Kind, tuple[str, ...]], Step] = {}
    conflicts: list[str] = []
    for each in ways:
        taken = [panel for panel in each.panels if panel in foreign]
        if taken:
            conflicts.append(_foreign(each, taken[0]))
            continue
        for step in _steps(each, bundles, fleet, ports):
            steps.setdefault((step.kind, step.key), step)
    return Plan(tuple(steps.values()), tuple(conflicts))


def _foreign(each: Way, panel: str) -> str:
    text = (
        f"cable {each.cable.a} to {each.cable.b}: panel {panel} has ports of its own in NetBox, or others than those"
    )
    return f"{text} of a push, and the folder does not say which ports the cable uses; connect the cable in NetBox"


def _names(
    each: Way, bundles: Mapping[tuple[str, frozenset[str]], Sequence[Cable]]
) -> Iterator[tuple[str, str, int]]:
    """Return the front and the rear port at each panel, by their names, and the position between them."""
    own = str(each.cable.a)
    for at, _ in enumerate(each.panels):
        if each.trunk and at < 2:  # noqa: PLR2004  a trunk has two ends
            position = sorted(bundles[each.bundle], key=lambda cable: (cable.a, cable.b)).index(each.cable) + 1
            yield own, each.trunk, position
        else:
            yield own, own, 1


def _ports(each: Way, bundles: Mapping[tuple[str, frozenset[str]], Sequence[Cable]]) -> Iterator[PanelPort]:
    for panel, (front, rear, _) in zip(each.panels, _names(each, bundles), strict=True):
        yield PanelPort(panel, FRONT, front)
        yield PanelPort(panel, REAR, rear)


def _steps(
    each: Way, bundles: Mapping[tuple[str, frozenset[str]], Sequence[Cable]], fleet: Fleet, ports: Ports
) -> Iterator[Step]:
    points = [_Point(INTERFACE, *each.cable.a)]
    for at, (panel, (front, rear, position)) in enumerate(zip(each.panels, _names(each, bundles), strict=True)):
        count = len(bundles[each.bundle]) if rear == each.trunk else 1
        if PanelPort(panel, REAR, rear) not in ports:
            yield Step(Kind.REAR, (panel, rear), {"kind": TYPE, "positions": count})
        if PanelPort(panel, FRONT, front) not in ports:
            yield Step(Kind.FRONT, (panel, front), {"kind": TYPE, "rear": rear, "position": position})
        sides = [_Point(FRONT, panel, front), _Point(REAR, panel, rear)]
        points += sides if at % 2 == 0 else sides[::-1]
    points.append(_Point(INTERFACE, *each.cable.b))
    told = min(points[0], points[-1], key=lambda point: _rank(point, fleet))
    for one, other in zip(points[::2], points[1::2], strict=True):
        if not any(ports.get(PanelPort(point.device, point.side, point.port)) for point in (one, other)):
            yield _cord(each, (one, other), told)


def _rank(point: _Point, fleet: Fleet) -> tuple[bool, Termination]:
    return fleet.devices[point.device].role not in NODE_ROLES, Termination(point.device, point.port)


def _cord(each: Way, ends: tuple[_Point, _Point], told: _Point) -> Step:
    """Return a cord or a trunk; the cord at the end that reading looks at has the label of the cable."""
    one, other = ends
    label = each.cable.label if told in ends else ""
    if one.side == other.side == REAR and one.port == each.trunk:
        label = each.trunk
    values = {"label": label, "kind": each.cable.kind, "status": each.cable.status}
    kept = {name: value for name, value in values.items() if value}
    key = (one.device, one.port, other.device, other.port)
    return Step(Kind.CORD, key, {"sides": (one.side, other.side), **kept})


def passed(ways: Iterable[Way]) -> Collection[str]:
    """Return the panels that ways pass."""
    return sorted({panel for each in ways for panel in each.panels})
