"""Juniper Junos: `show interfaces | display json`, in which each word stands in a list, as `data`, and PFC as text.

A port has PFC by a congestion notification profile, which says for which priorities. One that goes by code points of
DSCP does not, and is left open; so is a port of a bundle without one, since it may be the bundle's.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import enclosed
from fleet_runner.core.checks.parsers.neighbours.heard import entries, get, holders
from fleet_runner.core.checks.parsers.port_states.port import UNCORRECTED, SwitchPort, known, mbps, whole
from fleet_runner.core.inventory.roce import PRIORITIES

KEY = "interface-information"

FEC = {"none": "none", "fec74": "baser", "fec91": "rs", "fec108": "rs", "fec119": "rs", "fec134": "rs"}
"""Junos names encodings by the clause of IEEE 802.3: 74 is BASE-R's, the others are Reed-Solomon's."""


_PORT = re.compile(r"Physical interface: ([^\s,]{1,80}), Index: [0-9]{1,9}", re.ASCII)
_NOTIFIED = re.compile(
    r"[ \t]*Congestion-notification: (?:(Disabled)|Enabled, Name: ([^\s,]{1,80}))(?:[\s,].*)?", re.ASCII
)
_PROFILE = re.compile(r"(?:Type: (?:Input|Output), )?Name: ([^\s,]{1,80}), Index: [0-9]{1,9}", re.ASCII)
_PRIORITY = re.compile(r"[ \t]*([01]{3}|[01]{6})[ \t]+(Enabled|Disabled)(?:[ \t].*)?", re.ASCII)
_BITS = 2
_ALL = [f"{priority:03b}" for priority in range(PRIORITIES)]


def read(said: Mapping[str, str]) -> dict[str, SwitchPort]:
    """Read it; a port that is down tells no FEC and no PFC, and is not asked for its speed."""
    root = enclosed(said["interfaces"], (KEY,), "show interfaces | display json")
    rows = [
        row
        for holder in holders(root, KEY)
        for section in entries(get(holder, KEY))
        for row in entries(get(section, "physical-interface"))
    ]
    pfc = dict(_pfc(said.get("cos", ""), _profiles(said.get("profiles", ""))))
    found: dict[str, SwitchPort] = {}
    for row in rows:
        up = _data(row, "oper-status") == "up"
        mode = _data(_first(row, "ethernet-fec-mode"), "enabled_fec_mode").lower()
        lost = whole(_data(_first(row, "ethernet-fec-statistics"), "fec_nccw_count"))
        if name := _data(row, "name"):
            on = pfc.get(name) if up else None
            bundled = any(True for _ in holders(row, "ae-bundle-name"))
            found[name] = SwitchPort(
                mbps=mbps(_data(row, "speed")) if up else None,
                mtu=whole(_data(row, "mtu")),
                fec=FEC.get(mode, "") if up else "",
                pfc=None if bundled and not on else on,
                counts=known({UNCORRECTED: lost}),
            )
    if not found:
        raise EvidenceError(f"show interfaces | display json names no port, expected them below {KEY!r}")
    return found


def _profiles(text: str) -> dict[str, frozenset[int]]:
    """Return the priorities of each profile whose table is whole; what is of flow out is left out.

    One that has a row of DSCP beside them, one that says a row twice, or one that enables none is left open: it may
    go by what this table does not tell.
    """
    told: dict[str, list[tuple[str, str]]] = defaultdict(list)
    name, inward = "", True
    for line in text.split("\n")[:-1]:  # a line without its end may have lost a part
        words = line.strip()
        if words.startswith(("Type:", "Name:")):
            inward = not words.startswith("Type: Output")
            if "Name:" in words:
                name = found[1] if (found := _PROFILE.fullmatch(words)) else ""
        elif name and inward and (row := _PRIORITY.fullmatch(line.rstrip())):
            told[name].append((row[1], row[2]))
    return {
        each: frozenset(int(bits, _BITS) for bits, state in rows if state == "Enabled")
        for each, rows in told.items()
        if sorted(bits for bits, _ in rows) == _ALL and any(state == "Enabled" for _, state in rows)
    }


def _pfc(text: str, profiles: Mapping[str, frozenset[int]]) -> Iterator[tuple[str, frozenset[int]]]:
    """Yield the priorities of each port that says that it has no profile, or one that is known."""
    port = ""
    for line in text.split("\n")[:-1]:
        if line.strip().startswith("Physical interface:"):
            begin = _PORT.match(line.strip())
            port = begin[1] if begin else ""
        elif port and (row := _NOTIFIED.fullmatch(line.rstrip())):
            if row[1] or row[2] in profiles:
                yield port, frozenset() if row[1] else profiles[row[2]]
            port = ""


def _first(value: object, key: str) -> object:
    return next(iter(entries(get(value, key))), None)


def _data(value: object, key: str) -> str:
    told = get(_first(value, key), "data")
    return told.strip() if isinstance(told, str) else ""
