"""What Ethernet switches say of their own ports: settings and errors, in the forms of six makers and OpenConfig's.

As a sweep keeps it: {"ports_of_switches": {device: {"ports": {port: {...}}} or {"unread": why}}}. What a command of a
maker does not tell, or an older release does not know, stays open: it is nobody's fault.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import json_object
from fleet_runner.core.checks.parsers.port_states import eos, junos, modules, nvue, nxos, openconfig, os10, sonic
from fleet_runner.core.checks.parsers.port_states.port import COUNTS, SwitchPort, count, known, objects

KEY = "ports_of_switches"

MOST = 4096
"""Ports of one switch: as many as the largest has lanes."""

LONGEST = 255
"""Characters of a port's name, and of a sentence that says why a switch was not read."""


class PortsOfSwitches(NamedTuple):
    """The ports of each switch that was read, by name, and of each other switch why it was not."""

    ports: Mapping[str, Mapping[str, SwitchPort]]
    unread: Mapping[str, str]


READERS: Mapping[str, Callable[[Mapping[str, str]], dict[str, SwitchPort]]] = {
    "arista.eos.eos": eos.read,
    "cisco.nxos.nxos": nxos.read,
    "dellemc.enterprise_sonic.sonic": sonic.read,
    "dellemc.os10.os10": os10.read,
    "junipernetworks.junos.junos": junos.read,
    "nvidia.nvue.nvue": nvue.read,
    "openconfig": openconfig.read,
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
            ports[device] = {name: _port(port) for name, port in objects(told["ports"])}
        else:
            raise EvidenceError(f"the switches' ports: {device}: found {json.dumps(told)[:80]}, expected its ports")
    return PortsOfSwitches(ports, unread)


def _plain(port: SwitchPort) -> dict[str, Any]:
    told: dict[str, Any] = {
        "mbps": port.mbps,
        "mtu": port.mtu,
        "fec": port.fec,
        "pfc": None if port.pfc is None else sorted(port.pfc),
    }
    told |= {"dcbx": port.dcbx or None, "ecn": None if port.ecn is None else sorted(port.ecn)} | dict(port.counts)
    told["alarms"] = modules.written(port.alarms) or None
    return {name: value for name, value in told.items() if value is not None and value != ""}


def _port(told: Mapping[str, Any]) -> SwitchPort:
    return SwitchPort(
        count(told.get("mbps")),
        count(told.get("mtu")),
        str(told.get("fec") or ""),
        _priorities(told.get("pfc")),
        known({name: count(told.get(name)) for name in COUNTS}),
        told.get("dcbx") is True,
        _priorities(told.get("ecn")),
        modules.read(told.get("alarms")),
    )


def _priorities(told: object) -> frozenset[int] | None:
    return frozenset(each for each in told if count(each) is not None) if isinstance(told, list) else None
