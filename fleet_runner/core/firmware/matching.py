"""Which entries of a BMC's inventory the rows of a catalogue speak of, and what keeps that from being certain."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from fleet_runner.core.firmware.catalogue import Catalogue, Component
from fleet_runner.core.firmware.inventory import Entry, running

_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class Match:
    """The entries of each row, in the catalogue's order and theirs by number, and a sentence for each trouble.

    With any trouble nothing may be sent: what the catalogue means is not certain.
    """

    rows: tuple[tuple[Component, tuple[Entry, ...]], ...]
    troubles: tuple[str, ...]


def match(catalogue: Catalogue, entries: Mapping[str, Entry]) -> Match:
    """Find the running entries of every row of a catalogue."""
    listed = sorted(running(entries).values(), key=lambda entry: numbered(entry.id))
    rows = tuple((row, tuple(entry for entry in listed if speaks_of(row, entry))) for row in catalogue.components)
    troubles = [trouble for row, mine in rows for trouble in _counted(row, mine)]
    troubles += [f"the BMC gives no version of {entry.id}" for _, mine in rows for entry in mine if not entry.version]
    for entry in listed:
        names = [row.name for row, mine in rows if entry in mine]
        if len(names) > 1:
            troubles.append(f"{entry.id} is meant by {' and '.join(names)} of the catalogue, expected one of them")
    return Match(rows, tuple(dict.fromkeys(troubles)))


def speaks_of(row: Component, entry: Entry) -> bool:
    """Whether a row of the catalogue means an entry."""
    named = fnmatchcase(entry.segment, row.inventory_id) or fnmatchcase(entry.id, row.inventory_id)
    return named and (not row.inventory_name or fnmatchcase(entry.name, row.inventory_name))


def numbered(name: str) -> tuple[tuple[str | int, ...], ...]:
    """Return what sorts names by the numbers in them: NIC2 before NIC10."""
    return tuple((1, int(part), part) if part.isdecimal() else (0, part) for part in _DIGITS.split(name))


def _counted(row: Component, mine: tuple[Entry, ...]) -> Iterator[str]:
    who = f"{row.name} ({meant(row)})"
    if not mine:
        yield f"the BMC lists no {who}; is the host on?"
        return
    glob = any(letter in row.inventory_id + row.inventory_name for letter in "*?[")
    count = row.count if row.count is not None or glob else 1
    if count is not None and len(mine) != count:
        yield f"the BMC lists {len(mine)} of {who}, expected {count}; is the host on?"


def meant(row: Component) -> str:
    """Return what a row looks for, as its author wrote it."""
    return f"{row.inventory_id}, called {row.inventory_name}" if row.inventory_name else row.inventory_id
