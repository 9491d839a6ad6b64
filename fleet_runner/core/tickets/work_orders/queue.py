"""The tickets that wait for hands, by where somebody stands for them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from fleet_runner.core.base.natural_order import natural
from fleet_runner.core.inventory.records import Fleet, rack_key
from fleet_runner.core.lifecycle.runs import Ticket
from fleet_runner.core.tickets.work_orders.locations import DeviceLocation, spot, walking
from fleet_runner.core.tickets.work_orders.sheets import ordered

WALKING, OLDEST = "walking", "oldest"
"""How stops follow each other: as one walks past them, or where the longest waiting ticket is first."""

WORK = {
    "RECABLE": "cables to move",
    "REFLASH": "firmware to correct",
    "TRIAGE": "a fault to find",
    "RMA": "a part to send back",
}
"""What a remedy means to hands; others are said as they are."""


@dataclass(frozen=True, slots=True)
class TicketFilter:
    """Which tickets somebody looks for; what is empty narrows nothing."""

    site: str = ""
    remedy: str = ""
    text: str = ""
    order: str = WALKING


@dataclass(frozen=True, slots=True)
class Task:
    """A ticket, and where each of its devices stands, the first one first."""

    ticket: Ticket
    spots: tuple[DeviceLocation, ...]

    @property
    def room(self) -> tuple[str, str, str]:
        """Return where somebody stands first: at the first device whose rack is known, else whose site is."""
        known = sorted((each for each in self.spots if each.site), key=lambda each: not each.rack)
        return known[0].room if known else ("", "", "")


@dataclass(frozen=True, slots=True)
class Stop:
    """A place to stand, and the tickets there, oldest first."""

    room: tuple[str, str, str]
    tasks: tuple[Task, ...]


def tasks(tickets: Iterable[Ticket], fleet: Fleet | None) -> tuple[Task, ...]:
    """Return tickets with their places."""
    return tuple(Task(each, tuple(spot(fleet, name) for name in ordered(each))) for each in tickets)


def chosen(every: Iterable[Task], wanted: TicketFilter) -> tuple[Task, ...]:
    """Return the tickets that somebody looks for."""
    return tuple(each for each in every if _fits(each, wanted))


def stops(every: Iterable[Task], order: str = WALKING) -> tuple[Stop, ...]:
    """Return where to go, one after the other."""
    by_room: dict[tuple[str, str, str], list[Task]] = {}
    for task in sorted(every, key=lambda each: (each.ticket.opened_at, each.ticket.id)):
        by_room.setdefault(task.room, []).append(task)
    found = [Stop(room, tuple(there)) for room, there in by_room.items()]
    return tuple(found if order == OLDEST else sorted(found, key=lambda stop: walking(stop.room)))


def _fits(task: Task, wanted: TicketFilter) -> bool:
    ticket, text = task.ticket, wanted.text.strip().casefold()
    said = (
        f"#{ticket.id}",
        ticket.title,
        ticket.check,
        *ticket.nodes,
        *(word for each in task.spots for word in each),
    )
    return (
        (not wanted.site or any(each.site == wanted.site for each in task.spots))
        and (not wanted.remedy or ticket.remedy == wanted.remedy)
        and (not text or any(text in word.casefold() for word in said))
    )


def by_rack(tickets: Iterable[Ticket], fleet: Fleet) -> tuple[tuple[str, int], ...]:
    """Count tickets by rack, those with most first; one about devices in two racks counts for both."""
    counted = Counter(rack for ticket in tickets for rack in _racks(ticket, fleet))
    return tuple(sorted(counted.items(), key=lambda each: (-each[1], natural(each[0]))))


def _racks(ticket: Ticket, fleet: Fleet) -> set[str]:
    devices = [device for name in ticket.nodes if (device := fleet.devices.get(name)) is not None]
    return {rack_key(device.site, device.rack) for device in devices if device.rack}
