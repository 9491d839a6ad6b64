"""The newest stored look at a fabric, held against the design once more: for its picture."""

from collections.abc import Iterator
from typing import NamedTuple

from fleet_runner.adapters.plays import profiles
from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import EvidenceError, SettingsError
from fleet_runner.core.cabling import extent
from fleet_runner.core.cabling.binding import bind
from fleet_runner.core.cabling.design import designed, guids, infiniband, places
from fleet_runner.core.cabling.explain import Fault, Places
from fleet_runner.core.cabling.fabrics import INFINIBAND, Fabric, fabrics
from fleet_runner.core.cabling.judge import hold
from fleet_runner.core.cabling.names import names
from fleet_runner.core.checks.parsers import fabric_capture
from fleet_runner.core.checks.parsers.discovery import Discovery
from fleet_runner.core.inventory import ansible, profile
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.runs import Ticket
from fleet_runner.core.tickets.node_tickets import CABLING, EYES
from fleet_runner.settings import Settings

_kept: list[tuple[Fleet, tuple[Fabric, ...]]] = []
"""The fabrics of the fleet that was looked at last: to find them takes a third of a second of 80,000 cables."""


class Seen(NamedTuple):
    """Faults as a capture shows them, and where their devices stand."""

    faults: tuple[Fault, ...]
    places: Places


def captured(store: Store, fleet: Fleet, ticket: Ticket) -> tuple[Fabric, str] | None:
    """Return the fabric of a cabling ticket and the hash of its newest capture; None where there is none."""
    if not ticket.fault.startswith(CABLING):
        return None
    named = set(ticket.nodes)
    for fabric in _fabrics(fleet):
        if fabric.kind == INFINIBAND and (fabric.name in named or not named.isdisjoint(fabric.switches)):
            found = next(_captures(store, (fabric.name, *ticket.nodes[:8])), None)
            if found is not None:
                return fabric, found
    return None


def _fabrics(fleet: Fleet) -> tuple[Fabric, ...]:
    found = next((mine for each, mine in tuple(_kept) if each is fleet), None)
    if found is None:
        found = tuple(fabrics(fleet))
        _kept[:] = [(fleet, found)]
    return found


def faults(store: Store, fleet: Fleet, settings: Settings, ticket: Ticket) -> Seen | None:
    """Return a cabling ticket's fault as the newest capture shows it: none there once it is repaired.

    None where no capture is kept, or it cannot be read.
    """
    found = captured(store, fleet, ticket)
    look = _read(store.evidence(found[1])) if found is not None else None
    if found is None or look is None:
        return None
    try:
        every, where = _judged(fleet, settings, found[0], look)
    except EvidenceError:
        return None
    return Seen(tuple(fault for fault in every if fault.key == ticket.fault), where)


def _captures(store: Store, names_of: tuple[str, ...]) -> Iterator[str]:
    """Yield the hashes of captures that are kept, of the fabric's own sweep first."""
    for name in names_of:
        for stored in store.latest_results(name):
            if stored.result.check in EYES[INFINIBAND]:
                for digest in stored.result.evidence:
                    if _read(store.evidence(digest)) is not None:
                        yield digest


def _read(text: str | None) -> Discovery | None:
    """Evidence may be of another read of the same check, or cut short."""
    try:
        return fabric_capture.read(text) if text is not None else None
    except EvidenceError:
        return None


def _judged(fleet: Fleet, settings: Settings, fabric: Fabric, look: Discovery) -> tuple[tuple[Fault, ...], Places]:
    plain = ansible.fabric(fleet)
    links, where = designed(plain, infiniband), places(plain)
    ports = [port for joined in links for port in joined]
    kinds = {name: fleet.devices[name].device_type for name in {port.device for port in ports} & fleet.devices.keys()}
    adapters = {kind: _adapters(settings, kind) for kind in set(kinds.values())}
    known = names(ports, guids(plain), {name: adapters[kind] for name, kind in kinds.items()}, links)
    seen = bind(look.links, known, look.unanswered)
    near = extent.near(links, fabric.switches, seen, where.servers)
    verdicts = hold(near, seen, where, share=settings.cabling_suspect_share)
    return extent.narrowed(verdicts, extent.own(links, fabric.switches), fabric.switches).faults, where


def _adapters(settings: Settings, device_type: str) -> dict[str, str]:
    """Return which interface each adapter is; without a profile, ports have the names of the design alone."""
    try:
        return profile.hca_interfaces(profiles.read(settings, device_type))
    except (SettingsError, EvidenceError):
        return {}
