"""The fleet's nodes by every name that a sender may know them by, and who may speak at which address.

It is read beside the work and never in its way.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from threading import Event

import structlog

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.faults.signals.places import Places
from fleet_runner.core.faults.signals.speakers import Networks, Speakers, owners
from fleet_runner.core.inventory.records import Fleet, nodes

log = structlog.get_logger()

EVERY_SECONDS = 30.0
"""Pause between two looks at the fleet."""

ASKED_SECONDS = 2.0
"""Pause before it is looked at again because somebody was told of that is not on it."""


class Roll:
    """Who is in the fleet, and of which device type; `stranger` is set by whoever meets one that is not.

    `relays` are the networks of those that may speak for every node.
    """

    def __init__(self, store: Store, read: Callable[[], Fleet], relays: Networks = ()) -> None:
        self._store = store
        self._read = read
        self.types: Mapping[str, str] = {}
        self._fleet: Fleet | None = None
        self.places = Places.of(())
        self.speakers = Speakers(relays=relays, known=False)
        self.stranger = Event()

    def keep(self, stop: Event) -> None:
        """Look again and again, until told to stop."""
        while not stop.wait(ASKED_SECONDS):
            if self.stranger.wait(EVERY_SECONDS - ASKED_SECONDS):
                self.stranger.clear()
            if not stop.is_set():
                self.refresh()

    def refresh(self) -> None:
        """Look now; where something cannot be read, what was known of it stays."""
        types, fleet = self.types, self._fleet
        try:
            types = self._store.node_types()
            fleet = self._read()
        except FleetError as error:
            log.warning("the fleet's nodes are known as they last were", why=str(error))
        if types != self.types or fleet is not self._fleet:
            self.types, self._fleet = types, fleet
            self.places = Places.of(types, _aliases(fleet) if fleet is not None else {})
            self.speakers = replace(self.speakers, own=_owners(fleet), known=fleet is not None)


def _aliases(fleet: Fleet) -> dict[str, str]:
    """Return nodes by their addresses, those of their BMCs and the GUIDs of their ports."""
    found: dict[str, str] = {}
    for device in nodes(fleet):
        guids = (each.guid for each in device.interfaces)
        addresses = (device.primary_address, device.oob_address)
        found |= {each.partition("/")[0]: device.name for each in (*addresses, *guids) if each}
    return found


def _owners(fleet: Fleet | None) -> dict[str, frozenset[str]]:
    """Return the nodes whose own each address is: their systems' and their BMCs'."""
    mine = nodes(fleet) if fleet is not None else ()
    return owners((device.name, (device.primary_address, device.oob_address)) for device in mine)
