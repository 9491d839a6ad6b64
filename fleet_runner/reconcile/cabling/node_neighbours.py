"""What nodes last heard over LLDP, for a sweep of their Ethernet fabric whose switches cannot all be read."""

from typing import Any

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.cabling.fabrics import Fabric
from fleet_runner.core.checks.catalogue import cabling_ethernet, fabric_ethernet
from fleet_runner.core.checks.parsers import lldp
from fleet_runner.core.checks.parsers.neighbours.several import HeardByNode
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.runs import Stored

FRESH = 6 * 3600.0
"""Seconds for which a node's own check counts: somewhat longer than the usual pause between two sweeps."""


def neighbours(store: Store, fleet: Fleet, fabric: Fabric, now: float) -> dict[str, dict[str, Any]]:
    """Return what nodes heard, by node, beside switches that nobody can ask, or that the last sweep did not read."""
    away = fabric.switches - fabric.asked | _unread(store.latest_results(fabric.name))
    ends = ((near, far) for cable in fleet.cables for near, far in ((cable.a, cable.b), (cable.b, cable.a)))
    ports = set(fabric.ports)
    nodes = {near.device for near, far in ends if far.device in away and near in ports}
    found = {name: _heard(store, name, now - FRESH) for name in sorted(nodes)}
    return {name: each.written() for name, each in found.items() if each is not None}


def _unread(latest: tuple[Stored, ...]) -> frozenset[str]:
    """Return the switches that the last sweep did not read."""
    found = next((each.result for each in latest if each.result.check == fabric_ethernet.NAME), None)
    unread = found.observed.get("unread") if found is not None else ()
    return frozenset(map(str, unread)) if isinstance(unread, list | tuple) else frozenset()


def _heard(store: Store, node: str, since: float) -> HeardByNode | None:
    """Return what a node's last check heard; None where it is too old, or its text is gone."""
    for stored in store.latest_results(node):
        if stored.result.check == cabling_ethernet.NAME and stored.at >= since:
            for text in filter(None, map(store.evidence, stored.result.evidence)):
                try:
                    return HeardByNode(stored.at, lldp.parse(text))
                except EvidenceError:
                    continue
    return None
