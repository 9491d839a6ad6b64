"""What is known of a fabric: its layers by design, its newest sweep, and what follows from each of its faults."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import NamedTuple

from fastapi import HTTPException

from fleet_runner.adapters.store import ResultFilter
from fleet_runner.core.cabling.explain import Kind
from fleet_runner.core.cabling.fabrics import FABRIC_TYPES, fabrics
from fleet_runner.core.cabling.kinds import said
from fleet_runner.core.cabling.sweeps import CABLING
from fleet_runner.core.cabling.topology import heat
from fleet_runner.core.cabling.topology.days import DAY, named
from fleet_runner.core.cabling.topology.layers import Layers, layers
from fleet_runner.core.checks.verdicts import Finding, Verdict
from fleet_runner.core.faults.confirmation import speaks
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.runs import Node, Stored
from fleet_runner.core.lifecycle.states import FABRICS, Stage
from fleet_runner.core.nvlink.domains import Domain
from fleet_runner.core.tickets.work_orders.locations import DeviceLocation, spot
from fleet_runner.reconcile.lifecycle.racks import domain_of
from fleet_runner.web.site import Site

OF_NODES: dict[str, str] = dict(
    zip(FABRIC_TYPES, ("cabling_infiniband", "cabling_ethernet", "gpu_fabric"), strict=True)
)
"""The check by which nodes that earn production see their own links, by what a fabric is."""

NODES = 100
"""Their newest failures that are looked at."""

SWEEPS = 2_000
"""Sweeps of a fabric that are looked back through: a year of one every four hours."""

ASKED = 20
"""Sweeps of a day that are asked for an answer, the newest first."""

BESIDE = {
    "fabric_counters": "Errors of links",
    "fabric_roce": "RoCE at switches' ports",
}
"""What a sweep looks at beside the cabling, by its check, as a page calls it."""

MOST = 50
"""Faults of each of these that a page shows."""

DEVICES = 6
"""Devices of a fault that are shown."""

NOTHING = Layers((), (), (), (), {}, {})

_kept: list[tuple[Fleet, dict[str, Layers]]] = []
"""The layers of the fleet that was looked at last: half a million tuples are not put in order for each look."""

KEPT = 15
"""Fabrics whose links are not counted again for each look, beside the newest."""

_sized: list[tuple[Layers, dict[tuple[int, str], int]]] = []


class Shown(NamedTuple):
    """A fault as a list shows it: what it is called, both ends, and the ticket that somebody works on, 0 for none."""

    finding: Finding
    kind: str
    spots: tuple[DeviceLocation, ...]
    more: int
    ticket: int


def known(here: Site, name: str) -> Node:
    """Return a fabric's row; 404 where the store knows none."""
    row = here.store.node(name)
    if row is None or row.state not in FABRICS:
        raise HTTPException(404, "there is no such fabric; /fabric lists all")
    return row


def layered(fleet: Fleet | None, name: str) -> Layers:
    """Return a fabric's layers; nothing where the source of truth does not know it, or not any more."""
    if fleet is None:
        return NOTHING
    kept = next((of for each, of in tuple(_kept) if each is fleet), None)
    if kept is None:
        kept = {each.name: layers(fleet, each) for each in fabrics(fleet)}
        _kept[:] = [(fleet, kept)]
    return kept.get(name, NOTHING)


def sized(it: Layers) -> dict[tuple[int, str], int]:
    """Return how many links each rail has at each leaf, counted once for all who look."""
    found = next((sizes for of, sizes in tuple(_sized) if of is it), None)
    if found is None:
        found = heat.sizes(it)
        _sized[:] = [*_sized[-KEPT:], (it, found)]
    return found


def domain(fleet: Fleet | None, row: Node) -> Domain | None:
    """Return the design of an NVLink domain; None for a fabric of cables, and where the source does not know it."""
    return domain_of(fleet, row) if fleet is not None else None


def newest(here: Site, name: str) -> Stored | None:
    """Return what the newest sweep said."""
    return next((each for each in here.store.latest_results(name) if each.result.check in CABLING), None)


def beside(here: Site, name: str) -> list[tuple[Stored, list[Shown], int]]:
    """Return what else the newest sweep said: each result with its first faults, and how many there are."""
    answers = [each for each in here.store.latest_results(name) if each.result.check in BESIDE]
    # These findings name their fabric where no node is meant: it is no place to go to.
    found = {
        each.id: [
            replace(one, nodes=tuple(node for node in one.nodes if node != name)) for one in each.result.findings
        ]
        for each in answers
    }
    return [(each, shown(here, found[each.id][:MOST]), len(found[each.id])) for each in answers]


def counters(here: Site, name: str) -> Stored | None:
    """Return what the newest look at a fabric's counters said: of InfiniBand's, else of Ethernet's."""
    answers = {each.result.check: each for each in here.store.latest_results(name)}
    return next((answers[check] for check in BESIDE if check in answers), None)


def findings(here: Site, name: str, nodes: Collection[str]) -> list[Finding]:
    """Return what is wrong as the newest sweep saw it, and as nodes see it that no sweep answers for."""
    stored = newest(here, name)
    found = {each.fault: each for each in (stored.result.findings if stored is not None else ())}
    inside, asked = frozenset(nodes), set[str]()
    check = OF_NODES[known(here, name).device_type]
    for each in here.store.find_results(ResultFilter(check=check, verdict=Verdict.FAIL), limit=NODES):
        if each.node in inside and each.node not in asked:
            asked.add(each.node)
            still = any(one.id == each.id for one in here.store.latest_results(each.node))
            found |= {one.fault: one for one in each.result.findings if still and one.fault not in found}
    return list(found.values())


def ticketed(here: Site) -> dict[str, int]:
    """Return the open ticket of each fault."""
    return {ticket.fault: ticket.id for ticket in here.store.tickets()}


def shown(here: Site, every: Iterable[Finding]) -> list[Shown]:
    """Return faults as a list shows them, those with the most devices last."""
    fleet, tickets = here.fleet(), ticketed(here)
    return [_shown(fleet, each, tickets.get(each.fault, 0)) for each in every]


def _shown(fleet: Fleet | None, finding: Finding, ticket: int) -> Shown:
    devices = tuple(dict.fromkeys((*finding.nodes, *finding.devices)))
    spots = tuple(spot(fleet, name) for name in devices[:DEVICES])
    return Shown(finding, _kind(finding.code), spots, max(0, len(devices) - DEVICES), ticket)


def _kind(code: str) -> str:
    word = code.removeprefix("cabling.")
    return said(Kind(word)) if word in set(Kind) else word.replace(".", ": ").replace("_", " ")


def days(here: Site, name: str) -> list[str]:
    """Return the days of which sweeps are kept, the newest first."""
    runs = here.store.runs(name, limit=SWEEPS)
    return list(dict.fromkeys(named(run.opened_at) for run in reversed(runs) if run.stage is Stage.FABRIC))


def of_day(here: Site, name: str, start: float) -> Stored | None:
    """Return what the newest sweep of a day said that said anything."""
    runs = here.store.runs(name, since=start, limit=SWEEPS)
    asked = [run for run in reversed(runs) if run.stage is Stage.FABRIC and run.opened_at < start + DAY]
    for run in asked[:ASKED]:
        for each in here.store.results(run.id):
            if each.result.check in CABLING and speaks(each.result):
                return each
    return None
