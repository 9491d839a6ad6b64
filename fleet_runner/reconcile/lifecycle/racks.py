"""NVLink domains as the store knows them: racks that are one machine."""

from collections.abc import Iterable, Mapping

from fleet_runner.adapters.store import Store
from fleet_runner.core.cabling.fabrics import NVLINK_TYPE, Fabric, of_domain
from fleet_runner.core.checks.answers import code_of
from fleet_runner.core.checks.shared.leaks import DETECTED
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.runs import Node, Ticket
from fleet_runner.core.nvlink.domains import Domain, domains
from fleet_runner.core.nvlink.rack import SENSORS, Rack, Tray, leak_sentence, rack

SWEPT = "fabric_nvlink"

OUTSIDE = frozenset({"nvlink.switch_tray", "nvlink.switch_ports"})
"""Faults of a domain that lie outside of its compute trays: each of these lacks links until they are gone."""


def domain_of(fleet: Fleet, row: Node) -> Domain | None:
    """Return the design of an NVLink domain; None for what is none, and where the source does not know it.

    Cables are not looked at for it: in a large fleet that takes a second.
    """
    mine = domains(fleet) if row.device_type == NVLINK_TYPE else ()
    return next((each for each in mine if each.trays and of_domain(each).name == row.name), None)


def racked(store: Store, fleet: Fleet, row: Node, domain: Domain) -> Rack:
    """Return a domain's state, and that of everything in its racks."""
    sensors = store.newest(SENSORS, domain.trays)
    told = [(code_of(each.fault), set(each.nodes)) for each in store.tickets()]
    trays = {
        each.name: Tray(
            each.state,
            sensors[each.name].result if each.name in sensors else None,
            frozenset(code for code, nodes in told if each.name in nodes),
        )
        for each in store.some_nodes(domain.trays)
    }
    swept = store.newest(SWEPT, [row.name]).get(row.name)
    return rack(domain, fleet, trays, swept.result if swept is not None else None)


def leaks(store: Store, of: Iterable[Fabric]) -> Mapping[str, str]:
    """Return what is told to each domain of which trays leak, and to its other trays."""
    every = list(of)
    wet = {name for each in store.tickets() if _is_leak(each) for name in each.nodes} if every else set[str]()
    told: dict[str, str] = {}
    for fabric in every:
        trays = {port.device for port in fabric.ports}
        if said := leak_sentence(trays & wet):
            told |= dict.fromkeys((fabric.name, *(trays - wet)), said)
    return told


def ill(store: Store, of: Iterable[Fabric]) -> Mapping[str, str]:
    """Return why no firmware of a domain is begun now: a tray leaks, or its switch trays lost links."""
    every = list(of)
    wet = leaks(store, every)
    told = {name: wet[name] for name in (each.name for each in every) if name in wet}
    for name, stored in store.newest(SWEPT, [each.name for each in every]).items():
        lost = [each.message for each in stored.result.findings if each.code in OUTSIDE]
        if lost:
            told.setdefault(name, lost[0])
    return told


def _is_leak(ticket: Ticket) -> bool:
    """Whether a ticket is about coolant that was found; one about a doubt is not."""
    return code_of(ticket.fault) == DETECTED
