"""How many nodes may have their firmware updated at a time: per fleet, per rack, and by what a rack may draw.

Only beginning asks for a slot. A node that has one keeps it until it leaves `firmware`, whatever the limits become.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fleet_runner.core.base.plural import counted


@dataclass(frozen=True, slots=True)
class Limits:
    """`fleet` and `rack` count nodes; `watts` is what one rack may draw for updates, 0 for no limit."""

    fleet: int = 50
    rack: int = 4
    watts: float = 0.0


@dataclass(frozen=True, slots=True)
class Load:
    """What is being updated now, by rack too; nodes in no known rack count for the fleet alone."""

    fleet: int
    racks: Mapping[str, int]
    watts: Mapping[str, float]


def measure(nodes: Iterable[tuple[str, float]]) -> Load:
    """Count the nodes that are being updated, given as (rack, watts), rack "" where unknown."""
    load = Load(0, {}, {})
    for rack, watts in nodes:
        load = take(load, rack, watts)
    return load


def refusal(load: Load, rack: str, watts: float, limits: Limits) -> str:
    """Say why one more node of `rack`, which draws so many `watts`, may not begin now; "" where it may."""
    if load.fleet >= limits.fleet:
        return f"{load.fleet} of at most {counted(limits.fleet, 'node')} of the fleet have their firmware updated"
    if not rack:
        return ""
    if load.racks.get(rack, 0) >= limits.rack:
        most = counted(limits.rack, "node")
        return f"{load.racks[rack]} of at most {most} of rack {rack} have their firmware updated"
    drawn = load.watts.get(rack, 0.0)
    if limits.watts and watts > limits.watts:
        return (
            f"it draws {watts:g} W while it is updated, and firmware_rack_watts lets rack {rack} draw"
            f" {limits.watts:g} W; a person must raise it"
        )
    if limits.watts and drawn + watts > limits.watts:
        return f"updates in rack {rack} draw {drawn:g} of at most {limits.watts:g} W, and it would draw {watts:g} W"
    return ""


def take(load: Load, rack: str, watts: float) -> Load:
    """Return the load after one more node of `rack` began."""
    if not rack:
        return Load(load.fleet + 1, load.racks, load.watts)
    racks = Counter(load.racks)
    racks[rack] += 1
    return Load(load.fleet + 1, racks, {**load.watts, rack: load.watts.get(rack, 0.0) + watts})
