"""A node's own links: each designed cable, and what its newest checks of cabling saw of it, in words."""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from fleet_runner.core.base.natural_order import natural
from fleet_runner.core.cabling.design import infiniband
from fleet_runner.core.checks.verdicts import UNSURE, Finding, Verdict
from fleet_runner.core.inventory.records import CONNECTED, Cable, Fleet, Interface, Termination
from fleet_runner.core.lifecycle.runs import Stored

INFINIBAND, ETHERNET = "cabling_infiniband", "cabling_ethernet"

NAMED = 4
"""Ports that a finding names; where it has so many, others may be concerned, too."""


class LinkStatus(StrEnum):
    """What is known of a link."""

    AS_DESIGNED = "as designed"
    DIFFERS = "differs"
    NOT_KNOWN = "not known"


class NodeCable(NamedTuple):
    """A designed cable of a node: its own port, the far end, where that is, and what was seen.

    `result` is the id of the result that says so, None where there is none.
    """

    port: str
    far: Termination
    place: str
    label: str
    stand: LinkStatus
    said: str
    at: float | None = None
    result: int | None = None


def wires(fleet: Fleet, node: str, latest: Iterable[Stored]) -> tuple[NodeCable, ...]:
    """Return the links of a node in the order of its ports, as far as the source of truth knows it."""
    newest = {stored.result.check: stored for stored in latest}
    device = fleet.devices.get(node)
    ports = {port.name: port for port in device.interfaces} if device is not None else {}
    found = (_wire(fleet, cable, mine, ports, newest) for cable, mine in _own(fleet.cables, node))
    return tuple(sorted(found, key=lambda wire: (natural(wire.port), wire.far)))


def _own(cables: Iterable[Cable], node: str) -> Iterator[tuple[Cable, Termination]]:
    for cable in cables:
        if node in {cable.a.device, cable.b.device}:
            yield cable, cable.a if cable.a.device == node else cable.b


def _wire(
    fleet: Fleet, cable: Cable, mine: Termination, ports: Mapping[str, Interface], newest: Mapping[str, Stored]
) -> NodeCable:
    far = cable.b if mine == cable.a else cable.a
    port = ports.get(mine.interface)
    place = fleet.place(far.device)
    if cable.status != CONNECTED:
        return NodeCable(
            mine.interface, far, place, cable.label, LinkStatus.NOT_KNOWN, f"The cable is {cable.status}."
        )
    if port is None or port.mgmt_only:
        said = "It is not checked: the node's own system does not see this port."
        return NodeCable(mine.interface, far, place, cable.label, LinkStatus.NOT_KNOWN, said)
    stored = newest.get(INFINIBAND if infiniband(port.kind) else ETHERNET)
    if stored is None:
        said = "No check of its cabling has been answered yet."
        return NodeCable(mine.interface, far, place, cable.label, LinkStatus.NOT_KNOWN, said)
    stand, said = _seen(stored, mine, far)
    return NodeCable(mine.interface, far, place, cable.label, stand, said, stored.at, stored.id)


def _seen(stored: Stored, mine: Termination, far: Termination) -> tuple[LinkStatus, str]:
    """Return what a check saw of a link. A port that nobody can tell of is not known, also where others fail."""
    result = stored.result
    finding = next((each for each in result.findings if _names(each, mine, far)), None)
    if finding is not None:
        return LinkStatus.DIFFERS, finding.message
    told = "designed" in result.observed
    if result.verdict is Verdict.SKIPPED or not told:
        return LinkStatus.NOT_KNOWN, result.message
    if _unsure(result.observed, mine, far):
        said = result.message if result.verdict is Verdict.UNKNOWN else "No answer from it."
        return LinkStatus.NOT_KNOWN, said
    return LinkStatus.AS_DESIGNED, f"{mine} is connected to {far}."


def _names(finding: Finding, mine: Termination, far: Termination) -> bool:
    ports = finding.component.split(", ")
    if str(mine) in ports or str(far) in ports:
        return True
    return len(ports) >= NAMED and {mine.device, far.device} <= {*finding.devices, *finding.nodes}


def _unsure(observed: Mapping[str, Any], mine: Termination, far: Termination) -> bool:
    if mine.interface in _listed(observed.get("silent")):
        return True
    pair = {mine.device, far.device}
    return any(_is(each, pair) for each in _listed(observed.get(UNSURE)))


def _is(each: object, pair: set[str]) -> bool:
    """Whether what could not be told is a link's device, or the two that it joins."""
    if isinstance(each, str):
        return each in pair
    return sorted(map(str, _listed(each))) == sorted(pair)


def _listed(value: object) -> list[Any]:
    """Return a list that a check is to have observed, [] for anything else: results outlive their checks."""
    return value if isinstance(value, list) else []
