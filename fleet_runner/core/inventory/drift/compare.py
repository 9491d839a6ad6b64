"""Differences between a device's record and what its checks observed last.

Only what was seen differs: a part that no check saw may be missing, which is a fault and its check's to judge, or may
just not have been read. So every difference has something observed in it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.inventory.drift.difference import SHOWN, Difference, Kind, proposable
from fleet_runner.core.inventory.records import Device, Part
from fleet_runner.core.lifecycle.runs import Node, Stored
from fleet_runner.core.lifecycle.states import State

PARTS: Mapping[str, tuple[str, str]] = {
    "parts_gpu": ("gpu", "gpus"),
    "parts_dimm": ("dimm", "dimms"),
    "parts_nvme": ("nvme", "drives"),
}
"""Checks that see serial numbers of parts: the parts' kind, and the key under which they count them."""

FIRMWARE = frozenset({"firmware.drift", "nvme.firmware", "ib.firmware"})
"""Findings about a version that is none of the accepted ones."""

LINK = "cabling."
"""How findings about links begin."""


HANDS = frozenset(
    {State.REGISTERED, State.PROVISION, State.ONBOARD, State.VERIFY, State.TRIAGE, State.DEBUG, State.RMA}
)
"""States in which people change parts and cables, or have just done so."""


class Expected(NamedTuple):
    """A device's record, and which interface each of its adapters is ("mlx5_0" -> "ib0")."""

    device: Device
    adapters: Mapping[str, str]


def differences(expected: Expected, results: Iterable[Stored]) -> tuple[Difference, ...]:
    """Return what differs by the newest results of one node's checks, in the order of the kinds."""
    found = (each for stored in results for each in _of(expected, stored))
    return tuple(sorted(found, key=lambda each: (list(Kind).index(each.kind), each.name)))


def dated(found: Iterable[Difference], node: Node) -> tuple[Difference, ...]:
    """Propose nothing that was seen before hands may have changed it: it may be the record that is newer."""
    if node.state not in HANDS:
        return tuple(found)
    return tuple(
        replace(each, before=node.state.value, proposed="") if each.at < node.since else each for each in found
    )


def fabric_links(results: Iterable[Stored]) -> tuple[Difference, ...]:
    """Return the links of a fabric that are not as designed, by the newest results of its checks."""
    return tuple(each for stored in results for each in _findings(stored))


def each_fault_once(found: Iterable[Difference]) -> tuple[Difference, ...]:
    """Leave one difference of those that tell of one fault: a link has two ends, and its fabric sees it as well."""
    faults: dict[str, Difference] = {}
    for each in found:
        faults.setdefault(each.fault or f"{each.node} {each.kind} {each.name} {each.observed}", each)
    return tuple(faults.values())


def _of(expected: Expected, stored: Stored) -> Iterable[Difference]:
    judged = _JUDGES.get(stored.result.check)
    return chain(judged(expected, stored) if judged else (), _findings(stored))


def _device(expected: Expected, stored: Stored) -> Iterator[Difference]:
    """Each system of the server tells its serial number; one of them is the device's."""
    told = sorted(set(_texts(stored.result.observed.get("serials")).values()))
    if told and expected.device.serial not in told:
        one = told[0] if len(told) == 1 else ""
        yield _difference(stored, (Kind.DEVICE, "serial number"), expected.device.serial, " or ".join(told), one)


def _parts(expected: Expected, stored: Stored) -> Iterator[Difference]:
    kind, count = PARTS[stored.result.check]
    mine = [part for part in expected.device.parts if part.kind == kind]
    serials = stored.result.observed.get("serials")
    listed = _texts(dict(enumerate(serials)) if isinstance(serials, list | tuple) else serials)
    by_slot = {part.slot: listed[part.slot] for part in mine if part.slot in listed}
    for part in mine:
        if part.slot in by_slot and by_slot[part.slot] != part.serial:
            seen = by_slot[part.slot]
            yield _difference(stored, (Kind.PART, part.slot), part.serial, seen, seen)
    rest = [part for part in mine if part.slot not in by_slot]
    strange = sorted(set(listed.values()) - set(by_slot.values()) - {part.serial for part in mine})
    whole = stored.result.observed.get(count) == len(listed)
    yield from _strangers(stored, _open(rest, set(listed.values())), strange, whole=whole)


def _open(parts: Iterable[Part], seen: set[str]) -> list[Part]:
    return [part for part in parts if part.serial not in seen]


def _strangers(stored: Stored, parts: list[Part], strange: list[str], *, whole: bool) -> Iterator[Difference]:
    """Say which parts' places those may be in that the source does not know; of one and one it is certain.

    Unless a part of the node keeps its serial number to itself: then it may be the one that the source knows.
    """
    if not strange:
        return
    seen = " or ".join(strange)
    one = strange[0] if whole and len(parts) == len(strange) == 1 else ""
    for part in parts:
        yield _difference(stored, (Kind.PART, part.slot or "a part"), part.serial, seen, one)
    if not parts:
        kind = PARTS[stored.result.check][0]
        yield _difference(stored, (Kind.PART, f"one more {kind}"), "no such part", seen, "")


def _guids(expected: Expected, stored: Stored) -> Iterator[Difference]:
    seen = _texts(stored.result.observed.get("guids"))
    named = {expected.adapters[adapter]: guid for adapter, guid in seen.items() if adapter in expected.adapters}
    yield from _ports(stored, Kind.GUID, named, {each.name: each.guid for each in expected.device.interfaces})


def _macs(expected: Expected, stored: Stored) -> Iterator[Difference]:
    seen = _texts(stored.result.observed.get("macs"))
    yield from _ports(stored, Kind.MAC, seen, {each.name: each.mac for each in expected.device.interfaces})


def _ports(
    stored: Stored, kind: Kind, seen: Mapping[str, str], known: Mapping[str, str | None]
) -> Iterator[Difference]:
    for name, value in seen.items():
        if name in known and known[name] != value.lower():
            yield _difference(stored, (kind, name), known[name], value.lower(), value.lower())


def _findings(stored: Stored) -> Iterator[Difference]:
    for finding in stored.result.findings:
        if finding.code in FIRMWARE:
            kind = Kind.FIRMWARE
        elif finding.code.startswith(LINK) and finding.remedy is not Remedy.RECORD:
            kind = Kind.LINK
        else:
            continue
        yield Difference(
            node=stored.node,
            kind=kind,
            name=finding.component,
            check=stored.result.check,
            at=stored.at,
            message=finding.message,
            fault=finding.fault,
        )


def _difference(stored: Stored, what: tuple[Kind, str], source: str | None, observed: str, one: str) -> Difference:
    kind, name = what
    return Difference(
        node=stored.node,
        kind=kind,
        name=name,
        check=stored.result.check,
        at=stored.at,
        source=source or "",
        observed=observed,
        proposed=proposable(one),
    )


def _texts(found: Any) -> dict[str, str]:
    """Return what of a mapping is text that says something, cut to what is shown; it comes from a node."""
    rows = found.items() if isinstance(found, Mapping) else ()
    return {str(name): value.strip()[:SHOWN] for name, value in rows if isinstance(value, str) and value.strip()}


_JUDGES: Mapping[str, Callable[[Expected, Stored], Iterator[Difference]]] = {
    **dict.fromkeys(PARTS, _parts),
    "parts_hca": _guids,
    "nic_ports": _macs,
    "chassis_health": _device,
}
