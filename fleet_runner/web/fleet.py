"""What the fleet's pages are drawn from: read once for all who look at the same moment, and again when it changes."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NamedTuple

from fastapi import Request

from fleet_runner.adapters.store.lifecycle.floor import Mark
from fleet_runner.core.inventory import floor
from fleet_runner.core.inventory.floor import FloorFilter, Location, NodeTile, Plan
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle import days
from fleet_runner.core.lifecycle.days import Day
from fleet_runner.core.lifecycle.runs import Entry, Node, Run, Ticket
from fleet_runner.core.lifecycle.service_time import ServiceTime, service_time
from fleet_runner.core.lifecycle.states import SERVING
from fleet_runner.core.schedules.retention import DAY
from fleet_runner.reconcile.lifecycle.queue import queued
from fleet_runner.reconcile.loop.notices import Notice, notices
from fleet_runner.web.site import Site

FRESH_SECONDS = 1.0
"""For how long nobody asks whether anything changed."""

SAID_SECONDS = 2.0
"""For how long warnings and the queue are as they were: files and several tables are read for them."""

HOUR = 3600.0
SPAN_DAYS, WEEK_DAYS = 30, 7
NEWEST = 15
"""Transitions that are shown."""

PICTURES = 8
"""Drawn floors that are kept, one for each filter, of at most half a megabyte each."""


@dataclass(frozen=True, slots=True)
class Look:
    """The fleet at one moment. `tag` is of no other; `fleet` is None where no source of truth could be read."""

    tag: str
    fleet: Fleet | None
    places: Mapping[str, Location]
    racks: tuple[Plan, ...]
    spots: Mapping[str, NodeTile]
    fabrics: tuple[Node, ...]
    runs: tuple[Run, ...]
    tickets: tuple[Ticket, ...]
    moves: tuple[Entry, ...]
    choices: Mapping[str, tuple[str, ...]]


class Said(NamedTuple):
    """What is said beside the picture: warnings, and why batches of nodes have not begun."""

    notices: tuple[Notice, ...] = ()
    queued: Mapping[str, str] = {}


@dataclass(slots=True)
class Floor:
    """What was read last. One thread reads at a time, the others have what it read."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    looked: tuple[float, Mark, Look] | None = None
    planned: tuple[Fleet | None, tuple[str, ...], Mapping[str, Location], tuple[Plan, ...]] | None = None
    said: tuple[float, Said] | None = None
    counted: tuple[float, tuple[Day, ...]] | None = None
    timed: tuple[float, ServiceTime] | None = None
    pictures: OrderedDict[FloorFilter, tuple[str, str]] = field(
        default_factory=OrderedDict[FloorFilter, tuple[str, str]]
    )

    def look(self, here: Site) -> Look:
        """Return the fleet as it was at most a second ago."""
        with self.lock:
            now, fleet = here.steady(), here.fleet()
            if self.looked is not None and self.looked[2].fleet is fleet and now - self.looked[0] < FRESH_SECONDS:
                return self.looked[2]
            with here.store.one_moment():
                mark = here.store.mark()
                if self.looked is not None and self.looked[2].fleet is fleet and self.looked[1] == mark:
                    found = self.looked[2]
                else:
                    found = self._read(here, fleet, mark)
            self.looked = (now, mark, found)
            return found

    def _read(self, here: Site, fleet: Fleet | None, mark: Mark) -> Look:
        store = here.store
        nodes, tickets = store.nodes(), store.tickets()
        places, racks = self._plan(fleet, tuple(node.name for node in nodes))
        wrong = floor.faults(tickets, store.standing_alarms())
        spots = floor.spots(nodes, places, wrong)
        choices = {
            "site": tuple(sorted({plan.place.site for plan in racks} - {""})),
            "type": tuple(sorted({node.device_type for node in nodes})),
            "tenant": tuple(sorted({place.tenant for place in places.values()} - {""})),
            "fault": tuple(sorted({code for each in wrong.values() for codes in each.values() for code in codes})),
        }
        revision = (*mark, fleet.revision if fleet is not None else None)
        tag = sha256(repr(revision).encode()).hexdigest()[:12]
        moves = store.recent_moves(NEWEST)
        return Look(tag, fleet, places, racks, spots, store.fabrics(), store.open_runs(), tickets, moves, choices)

    def _plan(self, fleet: Fleet | None, names: tuple[str, ...]) -> tuple[Mapping[str, Location], tuple[Plan, ...]]:
        """Put nodes into their racks: to sort 10,000 takes longest of all, and racks seldom change."""
        if self.planned is None or self.planned[0] is not fleet or self.planned[1] != names:
            places = floor.places(fleet) if fleet is not None else {}
            self.planned = (fleet, names, places, floor.plans(places, names))
        return self.planned[2:]

    def say(self, here: Site) -> Said:
        """Return what keeps the fleet, or some nodes, from going on, as it was at most two seconds ago."""
        with self.lock:
            now = here.steady()
            if self.said is None or now - self.said[0] >= SAID_SECONDS:
                told = tuple(notices(here.settings, here.store, here.clock()))
                self.said = (now, Said(told, queued(here.settings, here.store)))
            return self.said[1]

    def days(self, here: Site, look: Look) -> tuple[Day, ...]:
        """Return how many nodes were in each kind of state on the last days, as it was at most an hour ago."""
        with self.lock:
            steady, now = here.steady(), here.clock()
            if self.counted is None or steady - self.counted[0] >= HOUR:
                began, moves = here.store.moved(now - SPAN_DAYS * DAY)
                found = days.days((spot.node for spot in look.spots.values()), moves, began, now)
                self.counted = (steady, found)
            return self.counted[1]

    def service(self, here: Site, look: Look) -> ServiceTime:
        """Return how long nodes served and were out in the last seven days, as it was at most an hour ago."""
        with self.lock:
            steady, now = here.steady(), here.clock()
            if self.timed is None or steady - self.timed[0] >= HOUR:
                nodes, since = [spot.node for spot in look.spots.values()], now - WEEK_DAYS * DAY
                moves = here.store.passages(since)
                out = {move.node for move in moves} | {node.name for node in nodes if node.state not in SERVING}
                first = here.store.served_first(out)
                self.timed = (steady, service_time(nodes, moves, first, since, now))
            return self.timed[1]

    def picture(self, look: Look, wanted: FloorFilter, draw: Callable[[], str]) -> str:
        """Return the racks as a page draws them, drawn anew where anything changed."""
        with self.lock:
            tag, found = self.pictures.pop(wanted, ("", ""))
            if tag != look.tag:
                found = draw()
            self.pictures[wanted] = (look.tag, found)
            while len(self.pictures) > PICTURES:
                self.pictures.popitem(last=False)
            return found


_MAKING = threading.Lock()


def kept(request: Request) -> Floor:
    """Return what the application of a request keeps."""
    state = request.app.state
    with _MAKING:
        if not hasattr(state, "floor"):
            state.floor = Floor()
        found: Floor = state.floor
        return found
