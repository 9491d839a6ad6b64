"""Cables: both ends exist, no interface has two, and each has a status and carriers that mean something."""

from collections.abc import Iterator, Mapping

from fleet_runner.core.consistency.draft import Draft, Where
from fleet_runner.core.consistency.names import unknown
from fleet_runner.core.consistency.problem import Problem, show
from fleet_runner.core.records import CONNECTED, PLANNED, REMOVED, Cable, Device, Termination

STATUSES = (CONNECTED, PLANNED, REMOVED)


def problems(draft: Draft) -> Iterator[Problem]:
    """Find cables that end nowhere, end where they began, or end where another cable does."""
    devices = {found.record.name: found.record for found in draft.devices}
    interfaces = {name: _interfaces(device) for name, device in devices.items()}
    used: dict[Termination, Where] = {}
    for cable, where in draft.cables:
        yield from _said(cable, where)
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


def _said(cable: Cable, where: Where) -> Iterator[Problem]:
    if cable.status not in STATUSES:
        yield unknown(
            where("status"), f"the cable has the unknown status {show(cable.status)}", cable.status, STATUSES
        )
    twice = next((each for each in cable.carriers if cable.carriers.count(each) > 1), None)
    if twice is not None:
        text = f"the cable names {show(twice)} twice; name each trunk, panel and cage on its way once"
        yield Problem(where(twice.partition(" ")[0]), text)


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
