"""What Ethernet switches say of their own ports: settings and errors, in the forms of SONiC, EOS and NVUE.

As a sweep keeps it: {"ports_of_switches": {device: {"ports": {port: {...}}} or {"unread": why}}}. What a command of a
maker does not tell, or an older release does not know, stays open: it is nobody's fault.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import json_object
from fleet_runner.core.inventory.roce import PRIORITIES

KEY = "ports_of_switches"

MOST = 4096
"""Ports of one switch: as many as the largest has lanes."""

LONGEST = 255
"""Characters of a port's name, and of a sentence that says why a switch was not read."""

UNCORRECTED, STORMS = "uncorrected", "storms"
"""Counts that are kept: blocks or symbols that FEC did not correct, and pause storms that a watchdog saw."""

_FEC = {
    "rs": "rs",
    "rs-fec": "rs",
    "reed-solomon": "rs",
    "fc": "baser",
    "fire-code": "baser",
    "none": "none",
    "off": "none",
}
_SPEED = re.compile(r"([0-9]{1,4}(?:\.5)?)G", re.ASCII)
_RULE = re.compile(r"-{2,}(?: +-{2,})+ *", re.ASCII)


@dataclass(frozen=True, slots=True)
class SwitchPort:
    """One port. None, "" and a count that is missing mean that the switch does not tell.

    `fec` is "rs", "baser" or "none", as ethtool has it; `pfc` the priorities with PFC.
    """

    mbps: int | None = None
    mtu: int | None = None
    fec: str = ""
    pfc: frozenset[int] | None = None
    counts: Mapping[str, int] = field(default_factory=dict[str, int])


class PortsOfSwitches(NamedTuple):
    """The ports of each switch that was read, by name, and of each other switch why it was not."""

    ports: Mapping[str, Mapping[str, SwitchPort]]
    unread: Mapping[str, str]


def sonic(said: Mapping[str, str]) -> dict[str, SwitchPort]:
    """Read `show interfaces status`, `show pfc priority`, `show pfcwd stats` and `… counters fec-stats` of SONiC."""
    rows = {row["interface"]: row for row in _table(said["status"]) if row.get("interface")}
    pfc = {row.get("interface"): _priorities(row.get("lossless priorities")) for row in _table(said.get("pfc", ""))}
    storms: dict[str, int] = {}
    for row in _table(said.get("watchdog", "")):
        name, seen = (
            row.get("queue", "").partition(":")[0],
            _whole(row.get("storm detected/restored", "").partition("/")[0]),
        )
        storms[name] = storms.get(name, 0) + (seen or 0)
    lost = {row.get("iface"): _whole(row.get("fec_uncorr")) for row in _table(said.get("fec", ""))}
    return {
        name: SwitchPort(
            mbps=_mbps(row.get("speed")),
            mtu=_whole(row.get("mtu")),
            fec=_FEC.get(row.get("fec", "").lower(), ""),
            pfc=pfc.get(name),
            counts=_known({UNCORRECTED: lost.get(name), STORMS: storms.get(name)}),
        )
        for name, row in rows.items()
    }


def eos(said: Mapping[str, str]) -> dict[str, SwitchPort]:
    """Read `show interfaces | json` of Arista EOS; its `bandwidth` is in bits per second."""
    found: dict[str, SwitchPort] = {}
    for name, port in _objects(json_object(said["interfaces"], "show interfaces").get("interfaces")):
        bandwidth, counted = port.get("bandwidth"), port.get("interfaceCounters")
        detail = counted.get("inputErrorsDetail") if isinstance(counted, dict) else None
        symbols = _count(detail.get("symbolErrors")) if isinstance(detail, dict) else None
        found[name] = SwitchPort(
            mbps=(_count(bandwidth) or 0) // 1_000_000 or None,
            mtu=_count(port.get("mtu")),
            counts=_known({UNCORRECTED: symbols}),
        )
    return found


def nvue(said: Mapping[str, str]) -> dict[str, SwitchPort]:
    """Read `nv show interface -o json` and `nv show qos roce -o json` of Cumulus Linux, whose PFC is the switch's."""
    roce = json_object(said["roce"], "nv show qos roce") if said.get("roce") else {}
    told = roce.get("pfc")
    pfc = _priorities(str(told.get("pfc-priority", ""))) if isinstance(told, dict) else None
    found: dict[str, SwitchPort] = {}
    for name, port in _objects(json_object(said["interfaces"], "nv show interface")):
        if port.get("type") == "swp" and isinstance(link := port.get("link"), dict):
            found[name] = SwitchPort(
                mbps=_mbps(str(link.get("speed"))),
                mtu=_count(link.get("mtu")),
                fec=_FEC.get(str(link.get("fec")), ""),
                pfc=pfc,
            )
    return found


READERS: Mapping[str, Callable[[Mapping[str, str]], dict[str, SwitchPort]]] = {
    "arista.eos.eos": eos,
    "dellemc.enterprise_sonic.sonic": sonic,
    "nvidia.nvue.nvue": nvue,
}
"""What reads the answers of a network operating system, by the names of `cabling.switches.PORTS`."""


def written(ports: Mapping[str, Mapping[str, SwitchPort]], unread: Mapping[str, str]) -> dict[str, Any]:
    """Return what switches say in the form that a sweep keeps, as plain JSON."""
    told: dict[str, Any] = {
        device: {"ports": {name[:LONGEST]: _plain(mine[name]) for name in sorted(mine)[:MOST]}}
        for device, mine in ports.items()
    }
    return {KEY: told | {device: {"unread": why[:LONGEST]} for device, why in unread.items()}}


def parse(text: str) -> PortsOfSwitches:
    """Return what switches say; EvidenceError for a text that is cut, or something else."""
    ports: dict[str, dict[str, SwitchPort]] = {}
    unread: dict[str, str] = {}
    devices = json_object(text, "the switches' ports").get(KEY)
    if not isinstance(devices, dict):
        raise EvidenceError(f"the switches' ports: expected the key {KEY!r} with an object for each switch")
    for device, told in devices.items():
        if isinstance(told, dict) and isinstance(told.get("unread"), str):
            unread[device] = told["unread"]
        elif isinstance(told, dict) and isinstance(told.get("ports"), dict):
            ports[device] = {name: _port(port) for name, port in _objects(told["ports"])}
        else:
            raise EvidenceError(f"the switches' ports: {device}: found {json.dumps(told)[:80]}, expected its ports")
    return PortsOfSwitches(ports, unread)


def _plain(port: SwitchPort) -> dict[str, Any]:
    told = {
        "mbps": port.mbps,
        "mtu": port.mtu,
        "fec": port.fec,
        "pfc": None if port.pfc is None else sorted(port.pfc),
    }
    return {name: value for name, value in (told | dict(port.counts)).items() if value is not None and value != ""}


def _port(told: Mapping[str, Any]) -> SwitchPort:
    pfc = told.get("pfc")
    return SwitchPort(
        _count(told.get("mbps")),
        _count(told.get("mtu")),
        str(told.get("fec") or ""),
        frozenset(each for each in pfc if _count(each) is not None) if isinstance(pfc, list) else None,
        _known({name: _count(told.get(name)) for name in (UNCORRECTED, STORMS)}),
    )


def _table(text: str) -> Iterator[dict[str, str]]:
    """Yield the rows of a table by its titles in lower case; dashes under them say where each one stands."""
    lines = text.expandtabs().split("\n")
    rule = next((at for at, line in enumerate(lines) if at and _RULE.fullmatch(line.lstrip())), None)
    if rule is None:
        return
    spans = [each.span() for each in re.finditer("-+", lines[rule])]
    titles = [lines[rule - 1][start:end].strip().lower() for start, end in spans]
    for line in lines[rule + 1 : -1]:  # a line without its end may have lost a part
        if not line.strip():
            return
        yield dict(zip(titles, (line[start:end].strip() for start, end in spans), strict=True))


def _objects(found: object) -> Iterator[tuple[str, dict[str, Any]]]:
    rows = found.items() if isinstance(found, dict) else ()
    return ((str(name), row) for name, row in rows if isinstance(row, dict))


def _mbps(told: str | None) -> int | None:
    speed = _SPEED.fullmatch(told or "")
    return int(float(speed[1]) * 1000) if speed else None


def _whole(told: str | None) -> int | None:
    """Return a number that may have commas between its thousands."""
    digits = (told or "").replace(",", "")
    return int(digits) if digits.isascii() and digits.isdecimal() else None


def _count(told: object) -> int | None:
    return told if isinstance(told, int) and not isinstance(told, bool) and told >= 0 else None


def _priorities(told: str | None) -> frozenset[int] | None:
    """Return priorities from "3,4"; of "" none are known, and "N/A" stands for none that are on."""
    words = [word.strip() for word in (told or "").split(",")]
    found = [_whole(word) for word in words]
    if told and all(each is not None and each < PRIORITIES for each in found):
        return frozenset(each for each in found if each is not None)
    return frozenset() if told == "N/A" else None


def _known(counts: Mapping[str, int | None]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count is not None}
