"""What somebody means who types or scans a name, serial number, address, rack, fabric or ticket number."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from fleet_runner.core.inventory.records import Device, Fleet
from fleet_runner.core.lifecycle.runs import Ticket

NODE, DEVICE, RACK, TICKET, FABRIC = "node", "device", "rack", "ticket", "fabric"

SHORTEST = 3
"""Characters from which a part of a serial number is looked for: fewer are in nearly every one."""

ADDRESS = 12
"""Characters of the shortest address; no other word is looked at as one, of some hundred thousand."""

_ADDRESS = re.compile(r"(?:0x)?((?:[0-9a-f]{2}[:.-]?){5,7}[0-9a-f]{2}|[0-9a-f]{4}(?:[:.][0-9a-f]{4}){2,3})")


class Found(NamedTuple):
    """Something that fits: what it is, its key (a name, SITE/RACK, a ticket's number), and what of it fits."""

    kind: str
    key: str
    because: str


@dataclass(frozen=True, slots=True)
class Words:
    """All words that name a fleet's devices, in one text with a line for each device: `names` has whose line it is.

    Each line begins at `starts` with a line break and the device's name. To look through one text takes a millisecond
    at 10,000 nodes, and through their parts and ports one by one a hundred times as long.
    """

    text: str = ""
    starts: tuple[int, ...] = ()
    names: tuple[str, ...] = ()

    def named(self, key: str) -> Iterator[str]:
        """Yield devices of which it is a word, whole."""
        return self._having(f"\n{key}\t", f"\t{key}\t")

    def holding(self, part: str) -> Iterator[str]:
        """Yield devices with a text in their words; those whose name begins with it come first, and once more."""
        return self._having(f"\n{part}", part)

    def _having(self, *texts: str) -> Iterator[str]:
        for text in texts:
            at = self.text.find(text)
            while at >= 0:
                line = bisect_right(self.starts, at)
                yield self.names[line - 1]
                at = self.text.find(text, self.starts[line]) if line < len(self.starts) else -1


def worded(fleet: Fleet) -> Words:
    """Put a fleet's words into one text."""
    lines: list[str] = []
    starts: list[int] = []
    at, devices = 0, sorted(fleet.devices.values(), key=lambda device: device.name)
    for device in devices:
        told = _words_of(device)
        joined = "\t".join(told).casefold()
        plain = joined.split("\t")
        if plain != joined.split():  # a word has spaces
            plain = list(map(_plain, told))
        bare = [_bare(word) for word in plain if len(word) >= ADDRESS]
        line = "\n" + "\t".join(dict.fromkeys((*plain, *bare))) + "\t"
        lines.append(line)
        starts.append(at)
        at += len(line)
    return Words("".join(lines), tuple(starts), tuple(device.name for device in devices))


@dataclass(frozen=True, slots=True)
class Known:
    """Where is looked: the source of truth and its words, the names of the store's nodes and fabrics, and tickets."""

    fleet: Fleet | None
    words: Words
    nodes: frozenset[str]
    tickets: tuple[Ticket, ...] = ()
    fabrics: tuple[str, ...] = ()


def exact(known: Known, text: str) -> tuple[Found, ...]:
    """Return what a text names as a whole, however it is written; each thing once."""
    wanted = _key(text)
    found = (found for found, words in _every(known, known.words.named(wanted)) if wanted in map(_key, words))
    return tuple(_fresh(found)) if wanted else ()


def alike(known: Known, text: str, most: int) -> tuple[Found, ...]:
    """Return at most so many things of which a text names a part."""
    wanted = _plain(text)
    if not wanted:
        return ()
    told = (
        found
        for found, words in _every(known, known.words.holding(wanted))
        if any(wanted in _plain(word) for word in words)
        and (found.because == found.key or found.kind == TICKET or len(wanted) >= SHORTEST)
    )
    return tuple(islice(_fresh(told), most))


def _plain(word: str) -> str:
    return " ".join(word.casefold().split())


def _key(word: str) -> str:
    """Return a word as it is compared: addresses in one form, whether with colons, dashes, dots or 0x."""
    return _bare(_plain(word))


def _bare(plain: str) -> str:
    address = _ADDRESS.fullmatch(plain)
    return re.sub("[:.-]", "", address[1]) if address else plain


def _every(known: Known, near: Iterable[str]) -> Iterator[tuple[Found, tuple[str, ...]]]:
    """Yield everything that may be meant, with the words that name it; of devices, `near` alone."""
    fleet = known.fleet
    devices = fleet.devices if fleet is not None else {}
    for name in sorted(known.nodes - devices.keys()):
        yield Found(NODE, name, name), (name,)
    for key, rack in (fleet.racks if fleet is not None else {}).items():
        yield Found(RACK, key, key), (rack.name, key)
    for name in known.fabrics:
        yield Found(FABRIC, name, name), (name,)
    for name in near:
        yield from _of_device(devices[name], NODE if name in known.nodes else DEVICE)
    for ticket in known.tickets:
        yield Found(TICKET, str(ticket.id), ticket.title), (f"#{ticket.id}", str(ticket.id), ticket.title)


def _words_of(device: Device) -> list[str]:
    """Return all words that name a device, its name first: those of `_of_device`, without what it says of them."""
    serials = (device.serial, *(part.serial for part in device.parts))
    addresses = (word for port in device.interfaces for word in (port.mac, port.guid))
    return [device.name, *(word for word in (*serials, *addresses) if word)]


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


def _fresh(every: Iterable[Found]) -> Iterator[Found]:
    """Yield each thing once, for the first reason."""
    told = set[tuple[str, str]]()
    for found in every:
        if (found.kind, found.key) not in told:
            told.add((found.kind, found.key))
            yield found
