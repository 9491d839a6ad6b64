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
from fleet_runner.core.checks.parsers.port_states.modules import (
    RX_POWER,
    TEMPERATURE,
    TX_POWER,
    Measured,
    alarms,
    measure,
)
from fleet_runner.core.checks.parsers.port_states.port import (
    UNCORRECTED,
    SwitchPort,
    known,
    mbps,
    whole,
)
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
_LIGHT = (
    (RX_POWER, ("laser-rx-optical-power-dbm", "rx-signal-avg-optical-power-dbm"), "laser-rx-power"),
    (TX_POWER, ("laser-output-power-dbm",), "laser-tx-power"),
)
"""What is measured of light, how Junos calls it (of a lane, or a module of one), and how its limits."""

_BITS = 2
_ALL = [f"{priority:03b}" for priority in range(PRIORITIES)]


def read(said: Mapping[str, str]) -> dict[str, SwitchPort]:
    """Read it; a port that is down tells no FEC and no PFC, and is not asked for its speed."""
    root = enclosed(said["interfaces"], (KEY,), "show interfaces | display json")
    rows = list(_rows(root))
    modules = {_data(row, "name"): row for row in _rows(_optics(said.get("modules", "")))}
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
                alarms=alarms(_measured(_first(modules.get(name), "optics-diagnostics"))) if up else (),
            )
    if not found:
        raise EvidenceError(f"show interfaces | display json names no port, expected them below {KEY!r}")
    return found


def _optics(text: str) -> object:
    try:
        return enclosed(text, (KEY,), "show interfaces diagnostics optics | display json")
    except EvidenceError:
        return {}


def _rows(root: object) -> Iterator[object]:
    for holder in holders(root, KEY):
        for section in entries(get(holder, KEY)):
            yield from entries(get(section, "physical-interface"))


def _measured(module: object) -> Iterator[Measured]:
    """Yield what a module measures, and its lanes, against the limits that the module has for all of them."""
    low, high = (measure(_data(module, f"module-temperature-{end}-alarm-threshold")) for end in ("low", "high"))
    yield Measured(TEMPERATURE, 0, measure(_data(module, "module-temperature")), low, high)
    lanes = list(entries(get(module, "optics-diagnostics-lane-values"))) or [module]
    for lane in lanes:
        number = whole(_data(lane, "lane-index")) or 0
        for what, names, limit in _LIGHT:
            value = next((told for name in names if (told := measure(_data(lane, name))) is not None), None)
            low, high = (measure(_data(module, f"{limit}-{end}-alarm-threshold-dbm")) for end in ("low", "high"))
            yield Measured(what, number, value, low, high)


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
