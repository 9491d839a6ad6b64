"""What somebody means who types or scans a name, a serial number, an address, a rack or a ticket's number."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from fleet_runner.core.inventory.records import Device, Fleet
from fleet_runner.core.lifecycle.runs import Ticket

NODE, DEVICE, RACK, TICKET = "node", "device", "rack", "ticket"

SHORTEST = 3
"""Characters from which a part of a serial number is looked for: fewer are in nearly every one."""

_ADDRESS = re.compile(r"(?:0x)?((?:[0-9a-f]{2}[:.-]?){5,7}[0-9a-f]{2}|[0-9a-f]{4}(?:[:.][0-9a-f]{4}){2,3})")


class Found(NamedTuple):
    """Something that fits: what it is, its key (a name, SITE/RACK, a ticket's number), and what of it fits."""

    kind: str
    key: str
    because: str


@dataclass(frozen=True, slots=True)
class Known:
    """Where is looked: the source of truth, the names of the store's nodes, and tickets."""

    fleet: Fleet | None
    nodes: frozenset[str]
    tickets: tuple[Ticket, ...] = ()


def exact(known: Known, text: str) -> tuple[Found, ...]:
    """Return what a text names as a whole, however it is written; each thing once."""
    wanted = _key(text)
    return _once(found for found, words in _every(known) if wanted in map(_key, words)) if wanted else ()


def alike(known: Known, text: str, most: int) -> tuple[Found, ...]:
    """Return at most so many things of which a text names a part."""
    wanted = text.strip().casefold()
    if not wanted:
        return ()
    told = (
        found
        for found, words in _every(known)
        if any(wanted in word.casefold() for word in words)
        and (found.because == found.key or found.kind == TICKET or len(wanted) >= SHORTEST)
    )
    return tuple(islice(_fresh(told), most))


def _key(word: str) -> str:
    """Return a word as it is compared: addresses in one form, whether with colons, dashes, dots or 0x."""
    plain = word.strip().casefold()
    address = _ADDRESS.fullmatch(plain)
    return re.sub("[:.-]", "", address[1]) if address else plain


def _every(known: Known) -> Iterator[tuple[Found, tuple[str, ...]]]:
    """Yield everything that may be meant, with the words that name it."""
    for ticket in known.tickets:
        yield Found(TICKET, str(ticket.id), ticket.title), (f"#{ticket.id}", str(ticket.id))
    fleet = known.fleet
    devices = fleet.devices if fleet is not None else {}
    for name in sorted(known.nodes - devices.keys()):
        yield Found(NODE, name, name), (name,)
    for key, rack in (fleet.racks if fleet is not None else {}).items():
        yield Found(RACK, key, key), (rack.name, key)
    for device in devices.values():
        yield from _of_device(device, NODE if device.name in known.nodes else DEVICE)


def _of_device(device: Device, kind: str) -> Iterator[tuple[Found, tuple[str, ...]]]:
    yield Found(kind, device.name, device.name), (device.name,)
    if device.serial:
        yield Found(kind, device.name, f"serial {device.serial}"), (device.serial,)
    for part in device.parts:
        if part.serial:
            yield Found(kind, device.name, f"{part.slot} ({part.model}), serial {part.serial}"), (part.serial,)
    for port in device.interfaces:
        words = tuple(word for word in (port.mac, port.guid) if word)
        if words:
            yield Found(kind, device.name, f"{port.name}, {' '.join(words)}"), words


def _once(every: Iterable[Found]) -> tuple[Found, ...]:
    return tuple(_fresh(every))


def _fresh(every: Iterable[Found]) -> Iterator[Found]:
    """Yield each thing once, for the first reason."""
    told = set[tuple[str, str]]()
    for found in every:
        if (found.kind, found.key) not in told:
            told.add((found.kind, found.key))
            yield found
