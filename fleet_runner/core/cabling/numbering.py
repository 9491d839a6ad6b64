"""Which number each designed port of the switches in a capture has, as names and cables tell."""

import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain

from fleet_runner.core.cabling.directors import asic, port_key
from fleet_runner.core.cabling.ends import bind_end, switch_of
from fleet_runner.core.cabling.indexed_ends import IndexedEnds
from fleet_runner.core.cabling.links import Port
from fleet_runner.core.cabling.names import Names, device_of
from fleet_runner.core.cabling.port_index import Answers, by_number
from fleet_runner.core.cabling.port_numbers import Numbering, fitting
from fleet_runner.core.checks.parsers.discovery import FabricLink, FabricPort
from fleet_runner.core.checks.parsers.fabric_links import FabricLinks, Face, columns


def numbered(known: Names, seen: Iterable[FabricLink]) -> Names:
    """Return the names with numbers for all switches that are seen, as far as names and cables tell them.

    Those come first whose names leave one way, by which a port is designed for each number that is seen. Of several
    others those come first that have the most cables to known ports: they tell of the rest.
    """
    told = columns(seen if known.ways else ())
    devices = [_seen_switch(face, known) if known.ways else "" for face in told.faces]
    left = {device for device in devices if device in known.ways and device not in known.numbers}
    plain = _with_one_way(told, devices, left, known)
    numbers = {**known.numbers, **{device: _answers(device, known.ways[device][0], known) for device in plain}}
    return replace(known, numbers=numbers | _by_cables(told, devices, left - plain, replace(known, numbers=numbers)))


def _with_one_way(told: FabricLinks, devices: Sequence[str], left: Collection[str], known: Names) -> set[str]:
    """Return the switches with one way to number them, by which a port is designed for each number that is seen."""
    ones = {device: frozenset(known.ways[device][0].values()) for device in left if len(known.ways[device]) == 1}
    allowed = [ones.get(device, range(sys.maxsize)) for device in devices]
    ends = chain(zip(told.near, told.near_ports, strict=True), zip(told.far, told.far_ports, strict=True))
    odd = {face for face, number in (ends if ones else ()) if number not in allowed[face]}
    return ones.keys() - {devices[face] for face in odd}


def _by_cables(
    told: FabricLinks, devices: Sequence[str], left: Collection[str], known: Names
) -> dict[str, Mapping[str, Port]]:
    """Return the numbers of the switches that are left, of those whose cables tell them."""
    numbers: dict[str, Mapping[str, Port]] = {}
    cables = _cables(told, devices, left)
    faced: list[_Facing] = [
        _nothing if device in left else _Faced(face, known).__getitem__
        for face, device in zip(told.faces if left else (), devices, strict=False)
    ]
    plugged: dict[str, Plugged] = {}
    waiting, changed = {*left}, {*left}
    while waiting:
        plugged.update((device, _plugged(device, cables[device], faced)) for device in changed)
        shares = {device: _known_share(plugged[device]) for device in waiting}
        surest = max(shares.values())
        chosen = {device for device, share in shares.items() if share == surest}
        goals: dict[str, dict[int, Port]] = {}
        for device in chosen:
            way = fitting(known.ways[device], [(goal, at) for goal, at in plugged[device] if goal is not None])
            if way:
                numbers[device], goals[device] = _answers(device, way, known), _goals(device, way, known)
        for face, device in enumerate(devices if goals else ()):
            if device in goals:
                faced[face] = goals[device].get
        waiting -= chosen
        beside = {face for device in goals for _, face, _ in cables[device]}
        changed = waiting.intersection(devices[face] for face in beside)
    return numbers


_Cable = tuple[int, int, int]
"""The number of a switch's port, and of what is plugged into it: the face, by its place, and the number."""

Plugged = list[tuple[str | None, int]]
"""For each cable of a switch, the port that its far end is designed to be in, and the number of the one it is in.

A port is None where nothing tells which the far end is, or where it is designed to be elsewhere.
"""


_Facing = Callable[[int], Port | None]
"""What gives the port that is designed at the other end of each number of a face; None where nothing tells it."""


class _Faced(dict[int, Port | None]):
    """The ports that are designed at the other ends of a face's numbers, each looked up once."""

    def __init__(self, face: Face, known: Names) -> None:
        super().__init__()
        self._face = face
        self._known = known

    def __missing__(self, number: int) -> Port | None:
        name, kind, guid = self._face
        end = bind_end(FabricPort(name, number, kind, guid), self._known)
        found = self[number] = self._known.far.get(end)
        return found


def _nothing(_: int) -> None:
    """Tell nothing of a switch whose ports are not numbered yet."""


def _cables(told: FabricLinks, devices: Sequence[str], left: Collection[str]) -> Mapping[str, list[_Cable]]:
    """Return the cables of each switch that is left."""
    found: dict[str, list[_Cable]] = defaultdict(list)
    mine = [found[device].append if device in left else None for device in devices]
    rows = zip(told.near, told.near_ports, told.far, told.far_ports, strict=True)
    for near, number, far, far_number in rows if left else ():
        if add := mine[near]:
            add((number, far, far_number))
        if add := mine[far]:
            add((far_number, near, number))
    return found


def _plugged(device: str, cables: Iterable[_Cable], faced: Sequence[_Facing]) -> Plugged:
    """Return what is known of the cables of a switch."""
    return [
        (goal[1] if (goal := faced[face](far)) is not None and goal[0] == device else None, number)
        for number, face, far in cables
    ]


def _known_share(told: Plugged) -> float:
    return sum(goal is not None for goal, _ in told) / len(told)


def _answers(device: str, way: Numbering, known: Names) -> Mapping[str, Port]:
    """Return a switch's ports by what one way to count gives for their numbers."""
    spoken = known.spoken[device]
    if not isinstance(spoken, Answers):
        return {str(number): Port(device, name) for name, number in way.items()}
    return Answers(
        spoken.every, spoken.mine, *_places(tuple(map(spoken.names.__getitem__, way)), tuple(way.values()))
    )


@lru_cache(maxsize=256)
def _places(places: tuple[int, ...], numbers: tuple[int, ...]) -> tuple[Mapping[str, int], Sequence[int]]:
    """Return which of a switch's ports answers to each number, in both forms that `Answers` has; devices share it."""
    names = dict(zip(map(str, numbers), places, strict=True))
    return names, by_number(names)


def _goals(device: str, way: Numbering, known: Names) -> dict[int, Port]:
    """Return the port that is designed at the other end of each number of a switch."""
    spoken, far = known.spoken[device], known.far
    if isinstance(spoken, Answers) and isinstance(far, IndexedEnds):
        ports, mine, names = far.index.ports, spoken.mine, spoken.names
        return {number: ports[mine[names[name]] ^ 1] for name, number in way.items()}
    return {number: goal for name, number in way.items() if (goal := far.get(Port(device, name)))}


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
    ports = {port for device in here for port in _numberless(device, known)}
    names = {face.name for face in told.faces if face.kind == "SW"}
    directors = {device_of(part.device, known)[0] for name in names if (part := asic(name))}
    of_directors = (port for device in directors for port in known.spoken.get(device, {}).values())
    return frozenset(ports | {port for port in of_directors if not port_key(port.interface)})


def _numberless(device: str, known: Names) -> set[Port]:
    """Return the designed ports of a switch to which no number leads."""
    spoken, numbers = known.spoken[device], known.numbers.get(device, {})
    if isinstance(spoken, Answers) and len(numbers) == len(spoken.mine):
        return set()
    return {port for port in spoken.values() if port in known.far}.difference(numbers.values())
