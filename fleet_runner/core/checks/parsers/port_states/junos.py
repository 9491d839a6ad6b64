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
_NOTIFIED = re.compile(r"[ \t]*Congestion-notification: (?:(Disabled)|Enabled, Name: ([^\s,]{1,80}))\b.*", re.ASCII)
_PROFILE = re.compile(r"(?:Type: Input, )?Name: ([^\s,]{1,80}), Index: [0-9]{1,9}", re.ASCII)
_PRIORITY = re.compile(r"[ \t]*([01]{3})[ \t]+(Enabled|Disabled)(?:[ \t].*)?", re.ASCII)
_BITS = 2


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
    """Return the priorities of each profile whose table is whole; behind it stands what is of flow out."""
    told: dict[str, dict[int, bool]] = defaultdict(dict)
    name, inward = "", True
    for line in text.split("\n")[:-1]:  # a line without its end may have lost a part
        if begin := _PROFILE.fullmatch(line.strip()):
            name, inward = begin[1], True
        elif line.strip() == "Type: Output":
            inward = False
        elif name and inward and (row := _PRIORITY.fullmatch(line.rstrip())):
            told[name][int(row[1], _BITS)] = row[2] == "Enabled"
    return {
        each: frozenset(priority for priority, on in rows.items() if on)
        for each, rows in told.items()
        if len(rows) == PRIORITIES
    }


def _pfc(text: str, profiles: Mapping[str, frozenset[int]]) -> Iterator[tuple[str, frozenset[int]]]:
    """Yield the priorities of each port that says that it has no profile, or one that is known."""
    port = ""
    for line in text.split("\n")[:-1]:
        if begin := _PORT.match(line.strip()):
            port = begin[1]
        elif port and (row := _NOTIFIED.fullmatch(line.rstrip())):
            if row[1] or row[2] in profiles:
                yield port, frozenset() if row[1] else profiles[row[2]]
            port = ""


def _first(value: object, key: str) -> object:
    return next(iter(entries(get(value, key))), None)


def _data(value: object, key: str) -> str:
    told = get(_first(value, key), "data")
    return told.strip() if isinstance(told, str) else ""
