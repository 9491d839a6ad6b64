"""Hands on cables: what is plugged where in the lab, exchanging two ends and putting them back as designed."""

from collections.abc import Iterable

from fleet_runner.lab import ethernet, plan
from fleet_runner.lab.folder import Lab, LabError, locked, read, write_json

End = tuple[str, str]
"""A device and its interface."""

Cables = list[list[str]]


def designed(servers: int, *, rails: bool) -> tuple[plan.Plug, ...]:
    """Return every designed cable of a lab with or without Ethernet rails."""
    return (*plan.cables(servers), *(ethernet.cables(servers) if rails else ()))


def plug_all(lab: Lab, servers: int, *, rails: bool = False) -> None:
    """Plug every cable as designed."""
    with locked(lab.root):
        write_json(lab.fabric, {"cables": [list(plug) for plug in designed(servers, rails=rails)]})


def swap(lab: Lab, first: End, second: End) -> None:
    """Exchange the far ends of two cables of servers, or of leaves, as somebody does who mixes them up."""
    if first == second:
        raise LabError(f"{first[0]} {first[1]} cannot be exchanged with itself; name another rail or node")
    for device, _ in (first, second):
        if device not in plan.leaves():
            lab.known(device)
    with locked(lab.root):
        fabric = read(lab.fabric)
        cables: Cables = fabric["cables"]
        one, other = _of(cables, first), _of(cables, second)
        one[2:], other[2:] = other[2:], one[2:]
        write_json(lab.fabric, fabric)


def power(lab: Lab, switch: str, *, on: bool) -> None:
    """Take a switch's power away, or give it back."""
    with locked(lab.root):
        fabric = read(lab.fabric)
        dead = [each for each in fabric.pop("dead", []) if each != [switch]] + ([] if on else [[switch]])
        write_json(lab.fabric, fabric | ({"dead": dead} if dead else {}))


def unplug(lab: Lab, ends: Iterable[End]) -> None:
    """Take out the cables that begin at these ends."""
    gone = {*ends}
    with locked(lab.root):
        fabric = read(lab.fabric)
        fabric["cables"] = [cable for cable in fabric["cables"] if (cable[0], cable[1]) not in gone]
        write_json(lab.fabric, fabric)


def plug(lab: Lab, ends: Iterable[End]) -> None:
    """Put cables in that begin at these ends, as designed, where there are none."""
    with locked(lab.root):
        fabric = read(lab.fabric)
        places = _designed(lab)
        there = {(cable[0], cable[1]) for cable in fabric["cables"]}
        fabric["cables"] += [list(places[end]) for end in ends if end not in there]
        order = {end: at for at, end in enumerate(places)}
        fabric["cables"].sort(key=lambda cable: order[cable[0], cable[1]])
        write_json(lab.fabric, fabric)


def restore(lab: Lab, ends: Iterable[End]) -> None:
    """Plug these cables back where the design has them."""
    with locked(lab.root):
        fabric, places = read(lab.fabric), _designed(lab)
        for end in ends:
            cable = places[end]
            _of(fabric["cables"], end)[2:] = [cable.b, cable.b_port]
        write_json(lab.fabric, fabric)


def _designed(lab: Lab) -> dict[End, plan.Plug]:
    """Return every designed cable of a lab by the end where it begins."""
    about = read(lab.about)
    every = designed(int(about["servers"]), rails=about.get("rails", False))
    return {(cable.a, cable.a_port): cable for cable in every}


def _of(cables: Cables, end: End) -> list[str]:
    for cable in cables:
        if (cable[0], cable[1]) == end:
            return cable
    raise LabError(f"nothing is plugged into {end[0]} {end[1]}")
