"""Hands on cables: what is plugged where in the lab, exchanging two ends and putting them back as designed."""

from collections.abc import Iterable

from fleet_runner.lab import plan
from fleet_runner.lab.folder import Lab, LabError, locked, read, write_json

End = tuple[str, str]
"""A device and its interface."""

Cables = list[list[str]]


def plug_all(lab: Lab, servers: int) -> None:
    """Plug every cable as designed."""
    with locked(lab.root):
        write_json(lab.fabric, {"cables": [list(plug) for plug in plan.cables(servers)]})


def swap(lab: Lab, first: End, second: End) -> None:
    """Exchange the far ends of two cables of servers, or of leaves, as somebody does who mixes them up."""
    if first == second:
        raise LabError(f"{first[0]} {first[1]} cannot be exchanged with itself; name another rail or node")
    for device, _ in (first, second):
        if device not in plan.leaves():
            lab.known(device)
    with locked(lab.root):
        cables: Cables = read(lab.fabric)["cables"]
        one, other = _of(cables, first), _of(cables, second)
        one[2:], other[2:] = other[2:], one[2:]
        write_json(lab.fabric, {"cables": cables})


def restore(lab: Lab, ends: Iterable[End]) -> None:
    """Plug these cables back where the design has them."""
    with locked(lab.root):
        cables: Cables = read(lab.fabric)["cables"]
        designed = {(plug.a, plug.a_port): plug for plug in plan.cables(int(read(lab.about)["servers"]))}
        for end in ends:
            plug = designed[end]
            _of(cables, end)[2:] = [plug.b, plug.b_port]
        write_json(lab.fabric, {"cables": cables})


def _of(cables: Cables, end: End) -> list[str]:
    for cable in cables:
        if (cable[0], cable[1]) == end:
            return cable
    raise LabError(f"nothing is plugged into {end[0]} {end[1]}")
