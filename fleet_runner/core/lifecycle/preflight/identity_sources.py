"""What a node's BMC and its own system tell of the machine, from what was read of them."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import text_of
from fleet_runner.core.checks.check import Readings
from fleet_runner.core.checks.evidence import ReadEnd, Reading
from fleet_runner.core.checks.parsers import dmi_files, net_interfaces, redfish, redfish_machine
from fleet_runner.core.lifecycle.preflight.machine import BMC, SYSTEM, MachineReport

MACHINE, DMI, INTERFACES = "redfish_machine", "dmi", "network_interfaces"
READS = (MACHINE, DMI, INTERFACES)

_MAC = re.compile(r"[0-9a-f]{2}(?::[0-9a-f]{2}){5}")
_NO_MAC = "00:00:00:00:00:00"


def told(readings: Readings) -> tuple[MachineReport, MachineReport]:
    """Return what the BMC says, and what the system does; whoever could not be read says why."""
    return _bmc(readings), _system(readings)


def of_bmc(bodies: Mapping[str, Any]) -> MachineReport:
    """Return what a BMC says, from what was gathered of it: {URI: body, or None for what answered with an error}."""
    unread = tuple(uri for uri, body in bodies.items() if body is None)
    return _of(redfish.Gathered({uri: body for uri, body in bodies.items() if body is not None}, unread))


def _bmc(readings: Readings) -> MachineReport:
    try:
        return _of(redfish.gathered(_text(readings, MACHINE), "the BMC's system"))
    except EvidenceError as error:
        return MachineReport(BMC, why=str(error))


def _of(gathered: redfish.Gathered) -> MachineReport:
    found = redfish_machine.machine(gathered)
    return MachineReport(BMC, found.serials, (), found.uuid, _macs(found.macs), whole=found.whole)


def _system(readings: Readings) -> MachineReport:
    """Its DMI and its interfaces are read apart: a machine without the one may have the other."""
    said, trouble = MachineReport(SYSTEM, whole=False), list[str]()
    try:
        said = _dmi(readings)
    except EvidenceError as error:
        trouble.append(str(error))
    try:
        said = replace(said, macs=_interfaces(readings), every_mac=True)
    except EvidenceError as error:
        trouble.append(str(error))
    return said if len(trouble) < len((DMI, INTERFACES)) else MachineReport(SYSTEM, why="; ".join(trouble))


def _dmi(readings: Readings) -> MachineReport:
    found = dmi_files.parse(_text(readings, DMI))
    board = (found.board,) if found.board else ()
    return MachineReport(SYSTEM, found.serials, board, found.uuid, whole=found.whole)


def _interfaces(readings: Readings) -> frozenset[str]:
    found = net_interfaces.parse(_text(readings, INTERFACES))
    return _macs(frozenset(each.mac for each in found.interfaces.values()))


def _macs(found: frozenset[str]) -> frozenset[str]:
    return frozenset(mac for mac in found if _MAC.fullmatch(mac) and mac != _NO_MAC)


def _text(readings: Readings, name: str) -> str:
    reading: Reading | None = readings.get(name)
    if reading is None:
        raise EvidenceError(f"{name} was not read")
    if reading.end is not ReadEnd.OK:
        raise EvidenceError(f"{name}: {reading.error or reading.end.value}")
    return text_of(reading)
