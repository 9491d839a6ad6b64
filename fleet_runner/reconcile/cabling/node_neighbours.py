"""What nodes last heard over LLDP, for a sweep of their Ethernet fabric whose switches cannot all be read."""

from collections import defaultdict
from collections.abc import Mapping

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.cabling.fabrics import Fabric
from fleet_runner.core.checks.catalogue import cabling_ethernet
from fleet_runner.core.checks.parsers import lldp
from fleet_runner.core.checks.parsers.neighbours.several import HeardByNode, before
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.runs import Stored
from fleet_runner.core.lifecycle.spool import Evidence

FRESH = 6 * 3600.0
"""Seconds for which a node's own check counts: somewhat longer than the usual pause between two sweeps."""


def neighbours(store: Store, fleet: Fleet, fabric: Fabric, now: float) -> str:
    """Return what the nodes of a fabric heard, as `several.before` writes it.

    All of them: which switch does not answer, the sweep itself finds out.
    """
    ports, switches = set(fabric.ports), defaultdict[str, set[str]](set)
    for cable in fleet.cables:
        for near, far in ((cable.a, cable.b), (cable.b, cable.a)):
            if near in ports and far.device in fabric.switches:
                switches[near.device].add(far.device)
    fresh = {
        name: each
        for name, each in store.newest(cabling_ethernet.NAME, sorted(switches)).items()
        if each.at >= now - FRESH
    }
    texts = store.pieces({digest for each in fresh.values() for digest in each.result.evidence})
    found = {name: _heard(each, texts) for name, each in fresh.items()}
    return before({name: (heard, switches[name]) for name, heard in sorted(found.items()) if heard is not None})


def _heard(stored: Stored, texts: Mapping[str, Evidence]) -> HeardByNode | None:
    """Return what a node's check heard; None where its text is gone."""
    for piece in filter(None, map(texts.get, stored.result.evidence)):
        try:
            return HeardByNode(stored.at, lldp.parse(piece.text))
        except EvidenceError:
            continue
    return None
