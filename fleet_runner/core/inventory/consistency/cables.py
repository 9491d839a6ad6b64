"""Cables: both ends exist, no interface has two, and each has a status that NetBox knows."""

from collections.abc import Iterator, Mapping

from fleet_runner.core.inventory.consistency.draft import Draft, Where
from fleet_runner.core.inventory.consistency.names import unknown
from fleet_runner.core.inventory.consistency.problem import Problem, show
from fleet_runner.core.inventory.records import CONNECTED, PLANNED, REMOVED, Device, Termination

STATUSES = (CONNECTED, PLANNED, REMOVED)
"""What a cable's status may be; NetBox takes no others."""


def problems(draft: Draft) -> Iterator[Problem]:
    """Find cables that end nowhere, where they began, or where another one does, and statuses that mean nothing."""
    devices = {found.record.name: found.record for found in draft.devices}
    interfaces = {name: _interfaces(device) for name, device in devices.items()}
    used: dict[Termination, Where] = {}
    for cable, where in draft.cables:
        if cable.status not in STATUSES:
            text = f"the cable has the unknown status {show(cable.status)}"
            yield unknown(where("status"), text, cable.status, STATUSES)
        if cable.a == cable.b:
            yield Problem(where(), f"both ends of the cable are {show(cable.a)}; correct one")
            continue
        for side, end in (("a", cable.a), ("b", cable.b)):
            missing = _missing(where(side), end, interfaces)
            if missing is not None:
                yield missing
            elif used.setdefault(end, where) is not where:
                text = f"{show(end)} already has the cable of {used[end]()}; an interface takes one"
                yield Problem(where(side), text)


def _interfaces(device: Device) -> frozenset[str]:
    return frozenset(interface.name for interface in device.interfaces)


def _missing(where: str, end: Termination, interfaces: Mapping[str, frozenset[str]]) -> Problem | None:
    if end.device not in interfaces:
        return unknown(where, f"the cable ends at unknown device {show(end.device)}", end.device, interfaces)
    known = interfaces[end.device]
    if end.interface not in known:
        text = f"the cable ends at {show(end.interface)}, an interface that device {show(end.device)} lacks"
        return unknown(where, text, end.interface, known)
    return None
