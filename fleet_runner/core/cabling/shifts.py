"""Switches whose every cable is off by the same number of ports: counted otherwise, or plugged one port too far.

A fabric tells numbers alone, so nobody can tell the two apart: names without their zero ("Port 1" is the second) look
like a bundle that was shifted as a whole.
"""

import re
from collections.abc import Collection, Mapping

from fleet_runner.core.cabling.binding import Bound
from fleet_runner.core.cabling.links import Link, Port

FEWEST = 3
"""Cables of a switch, at least, that are off alike: of fewer each is a fault of its own."""

_LAST = re.compile(r"([0-9]{1,9})$", re.ASCII)


def shifted(expected: Mapping[Port, Port], seen: Bound, servers: Collection[str]) -> frozenset[str]:
    """Return these switches. `expected` is what `links.matching` returns."""
    wrong = [joined for joined in seen.links if expected.get(joined.a) != joined.b]
    offsets: dict[str, list[int | None]] = {}
    for a, b in wrong:
        for port, far in ((a, b), (b, a)):
            goal = expected.get(far)
            if port.device not in servers and goal is not None and goal.device == port.device:
                offsets.setdefault(port.device, []).append(_offset(port, goal))
    off = {device for device, each in offsets.items() if len(each) >= FEWEST and len({*each}) == 1 and each[0]}
    if not off:
        return frozenset()
    return frozenset(off.difference(*(_devices(joined) for joined in seen.links.keys() - set(wrong))))


def _devices(joined: Link) -> tuple[str, str]:
    return joined.a.device, joined.b.device


def _offset(seen: Port, goal: Port) -> int | None:
    """Return by how many ports a cable is off; None where its port is called otherwise than the designed one."""
    at, wanted = _LAST.search(seen.interface), _LAST.search(goal.interface)
    alike = at and wanted and seen.interface[: at.start()] in {goal.interface[: wanted.start()], ""}
    return int(at[1]) - int(wanted[1]) if at and wanted and alike else None
