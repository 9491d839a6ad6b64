"""Which number each designed port of the switches in a capture has, as names and cables tell."""

from collections.abc import Iterable
from dataclasses import replace

from fleet_runner.core.cabling.directors import asic, port_key
from fleet_runner.core.cabling.ends import bind_end, switch_of
from fleet_runner.core.cabling.links import Port
from fleet_runner.core.cabling.names import Names, device_of
from fleet_runner.core.cabling.port_numbers import fitting
from fleet_runner.core.checks.parsers.discovery import FabricLink, FabricPort
from fleet_runner.core.checks.parsers.fabric_links import FabricLinks, Face, columns


def numbered(known: Names, seen: Iterable[FabricLink]) -> Names:
    """Return the names with numbers for all switches that are seen, as far as names and cables tell them.

    Of several switches those are numbered first that have the most cables to known ports: they tell of the others.
    """
    told = columns(seen if known.ways else ())
    cables = [
        (device, end.port, far)
        for one, other, _, _ in (told if _open_switches(told, known) else ())
        for end, far in ((one, other), (other, one))
        if (device := _seen_switch(end, known)) in known.ways and device not in known.numbers
    ]
    while cables:
        plugged = _plugged(cables, known)
        surest = max(map(_known_share, plugged.values()))
        chosen = {device for device, told in plugged.items() if _known_share(told) == surest}
        numbers = dict(known.numbers)
        for device in chosen:
            way = fitting(known.ways[device], [(goal, at) for goal, at in plugged[device] if goal is not None])
            if way:
                numbers[device] = {str(number): Port(device, name) for name, number in way.items()}
        known = replace(known, numbers=numbers)
        cables = [each for each in cables if each[0] not in chosen]
    return known


Plugged = list[tuple[str | None, int]]
"""For each cable of a switch, the port that its far end is designed to be in, and the number of the one it is in.

A port is None where nothing tells which the far end is, or where it is designed to be elsewhere.
"""


def _plugged(cables: Iterable[tuple[str, int, FabricPort]], known: Names) -> dict[str, Plugged]:
    """Return what is known of the cables of each switch: its name, a port's number, and the far end."""
    found: dict[str, Plugged] = {}
    for device, number, far in cables:
        goal = known.far.get(bind_end(far, known))
        told = goal.interface if goal and goal.device == device else None
        found.setdefault(device, []).append((told, number))
    return found


def _known_share(told: Plugged) -> float:
    return sum(goal is not None for goal, _ in told) / len(told)


def _seen_switch(end: FabricPort | Face, known: Names) -> str:
    """Return which switch an end is of; "" for another device, and for a director, which names its ports in full."""
    if end.kind != "SW" or asic(end.name):
        return ""
    identified = known.guids.get(end.guid)
    return identified.device if identified else switch_of(end.name, known)[0]


def _open_switches(seen: FabricLinks, known: Names) -> set[str]:
    """Return the switches that are seen and whose names leave several ways to number their ports."""
    switches = (face for face in (seen.faces if known.ways else ()) if face.kind == "SW")
    return {_seen_switch(face, known) for face in switches} & known.ways.keys()


def unmapped_ports(seen: Iterable[FabricLink], known: Names) -> frozenset[Port]:
    """Return the designed ports of switches that are seen, and to which no number leads."""
    told = columns(seen)
    here = _open_switches(told, known)
    ports = {port for port in known.far if port.device in here} if here else set[Port]()
    ports = ports.difference(*(known.numbers.get(device, {}).values() for device in here))
    names = {face.name for face in told.faces if face.kind == "SW"}
    directors = {device_of(part.device, known)[0] for name in names if (part := asic(name))}
    of_directors = (port for device in directors for port in known.spoken.get(device, {}).values())
    return frozenset(ports | {port for port in of_directors if not port_key(port.interface)})
