"""Switches whose cables are all off by the same number of ports: counted otherwise, or plugged one port too far.

A fabric tells numbers alone, so nobody can tell the two apart: names without their zero ("Port 1" is the second) look
like a bundle that was shifted as a whole. Servers' cables tell it: two switches that are both counted otherwise
confirm most of each other's. Some may be plugged wrongly besides, and one may seem right by that.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from fleet_runner.core.cabling.directors import port_key
from fleet_runner.core.cabling.links import Link, Port
from fleet_runner.core.cabling.port_numbers import BELIEVED, SEEMING

FEWEST = 3
"""Cables of a switch, at least, that are off alike: of fewer each is a fault of its own."""

_LAST = re.compile(r"([0-9]{1,9})$", re.ASCII)


def shifted(
    expected: Mapping[Port, Port], seen: Collection[Link], wrong: Iterable[Link], servers: Collection[str]
) -> frozenset[str]:
    """Return these switches. `expected` is what `links.matching` returns, `wrong` the seen links not designed."""
    doubted = _doubted(expected, wrong, servers)
    of_servers: dict[str, Counter[int | None]] = {}
    of_switches: dict[str, Counter[int | None]] = {}
    for a, b in seen if doubted else ():
        for port, far in ((a, b), (b, a)):
            if port.device not in doubted:
                continue
            goal = expected.get(far)
            here = goal is not None and goal.device == port.device
            if far.device in servers and not here:
                continue
            offsets = of_servers if far.device in servers else of_switches
            off = _offset(port, goal) if goal is not None and here else None
            offsets.setdefault(port.device, Counter())[off] += 1
    none = Counter[int | None]()
    devices = of_servers.keys() | of_switches.keys()
    return frozenset(each for each in devices if _off(of_servers.get(each, none), of_switches.get(each, none)))


def _doubted(expected: Mapping[Port, Port], wrong: Iterable[Link], servers: Collection[str]) -> frozenset[str]:
    """Return the switches with enough cables that are off alike."""
    offsets: Counter[tuple[str, int | None]] = Counter()
    for a, b in wrong:
        for port, far in ((a, b), (b, a)):
            goal = expected.get(far)
            if goal is not None and goal.device == port.device and port.device not in servers:
                offsets[port.device, _offset(port, goal)] += 1
    return frozenset(device for (device, off), count in offsets.items() if off and count >= FEWEST)


def _off(hosts: Counter[int | None], uplinks: Counter[int | None]) -> bool:
    """Whether most cables of a switch are off alike, and next to none is in its designed port.

    Where all of its cables to switches are, its ports are counted as designed, and a bundle of servers is off.
    """
    told = hosts if hosts.total() >= FEWEST else hosts + uplinks
    (offset, count), *_ = told.most_common(1)
    most = bool(offset) and count >= max(FEWEST, BELIEVED * told.total(), SEEMING * told[0])
    return most and (told is not hosts or not uplinks or uplinks[0] < uplinks.total())


def _offset(seen: Port, goal: Port) -> int | None:
    """Return by how many ports a cable is off; None where its port is called otherwise than the designed one."""
    if seen == goal:
        return 0
    told, designed = (port_key(port.interface) or port.interface for port in (seen, goal))
    at, wanted = _LAST.search(told), _LAST.search(designed)
    alike = at and wanted and told[: at.start()] in {designed[: wanted.start()], ""}
    return int(at[1]) - int(wanted[1]) if at and wanted and alike else None
