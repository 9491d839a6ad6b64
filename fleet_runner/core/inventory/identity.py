"""Which node is which machine: by serial number, UUID, BMC address and MAC addresses, never by its name alone.

The store keeps what the source of truth said of each node's machine. What the source says now is compared with that:
a machine under another name keeps its history; two records of one machine, or another serial number under the same
name, are refused until a person has corrected or confirmed them.
"""

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from fleet_runner.core.boot.identity import serial, uuid
from fleet_runner.core.inventory.records import Device

UUID_KEY = "system_uuid"
"""The key of a config context that gives a device's SMBIOS system UUID; NetBox has no field for it."""


@dataclass(frozen=True, slots=True)
class DesignedMachine:
    """What the source of truth says of a node's machine, as it is compared; "" and no MACs where it says nothing.

    `bmc` is the BMC's address without its mask; `macs` are those of all interfaces, the BMC's too.
    """

    serial: str = ""
    uuid: str = ""
    bmc: str = ""
    macs: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Renamed:
    """A machine that the store knows under another name than the source has for it now; `why` is its evidence."""

    old: str
    new: str
    why: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a node is not touched; `machine` is the one that the source gives it now, if only that changed."""

    sentence: str
    machine: DesignedMachine | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What became of the names that the store and the source of truth have; others are the same, or new."""

    renamed: tuple[Renamed, ...] = ()
    refused: Mapping[str, Refused] = field(default_factory=dict[str, Refused])


def machine(device: Device) -> DesignedMachine:
    """Return what a record says of its machine; placeholders that firmware leaves are no serial numbers."""
    return DesignedMachine(
        serial(device.serial or "").upper(),
        uuid(str(device.context.get(UUID_KEY) or "")),
        (device.oob_address or "").partition("/")[0].lower(),
        frozenset(each.mac for each in device.interfaces if each.mac),
    )


def merged(known: DesignedMachine, said: DesignedMachine) -> DesignedMachine:
    """Return what is known of a machine after the source was read again: what it no longer says is kept."""
    return DesignedMachine(
        known.serial or said.serial, said.uuid or known.uuid, said.bmc or known.bmc, said.macs or known.macs
    )


def compare(
    known: Mapping[str, DesignedMachine],
    devices: Iterable[Device],
    taken: Container[str] = (),
    unread: Mapping[str, str] | None = None,
) -> Comparison:
    """Compare the machines of the known nodes with the source's devices, of one reading of the whole source.

    `taken` are names that no machine can be given, such as those of retired nodes. `unread` are devices whose record
    cannot be used, with the reason: they have their names, and nothing is done to them.
    """
    left = unread or {}
    said = {device.name: machine(device) for device in devices}
    clashes = _clashes(said)
    moves = _closed(_moves(known, said, clashes, left), known, said, taken)
    stay = [name for name, each in known.items() if name in said and _is_same(each, said[name])]
    same = {name: merged(known[name], said[name]) for name in stay}
    unknown = {name: Refused(f"its record cannot be used: {left[name]}") for name in known if name in left}
    refused = unknown | clashes | _unclear({**known, **same}, said, clashes.keys() | set(moves.values()))
    renamed = tuple(Renamed(old, new, _evidence(known[old], said[new])) for old, new in sorted(moves.items()))
    return Comparison(renamed, refused)


def groups(renamed: Iterable[Renamed]) -> tuple[tuple[Renamed, ...], ...]:
    """Return what has to be renamed at once: each new name that is an old one as well waits for no other."""
    left = {each.old: each for each in renamed}
    found: list[tuple[Renamed, ...]] = []
    for first in sorted(left.keys() - {each.new for each in left.values()}) + sorted(left):
        group: list[Renamed] = []
        name = first
        while name in left:
            group.append(left.pop(name))
            name = group[-1].new
        if group:
            found.append(tuple(group))
    return tuple(found)


def retold(said: Any, names: Mapping[str, str]) -> Any:
    """Return plain JSON with names of nodes in the place of others, where they stand as words."""
    if isinstance(said, str):
        words = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
        return re.sub(rf"(?<![\w.-])(?:{words})(?![\w-]|\.\w)", lambda found: names[found[0]], said)
    if isinstance(said, list):
        return [retold(each, names) for each in said]
    if isinstance(said, dict):
        return {name: retold(each, names) for name, each in said.items()}
    return said


def _clashes(said: Mapping[str, DesignedMachine]) -> dict[str, Refused]:
    """Refuse records that claim one machine: the same serial number, UUID, BMC address or MAC address."""
    first: dict[str, str] = {}
    twice: set[str] = set()
    for name, each in said.items():
        for value in (each.serial, each.uuid, each.bmc, *each.macs):  # no value of one kind is one of another kind
            if value and first.setdefault(value, name) != name:
                twice |= {first[value], name}
    found: dict[str, Refused] = {}
    for words, claimed in sorted(_places({name: said[name] for name in twice}).items()):
        if len(claimed) > 1:
            both = " and ".join(sorted(claimed))
            sentence = (
                f"the source of truth has one machine as {both}: they have the same {words}; nothing is done to any"
                " of them until the wrong record is corrected there"
            )
            found |= {name: Refused(sentence) for name in claimed if name not in found}
    return found


def _words(found: DesignedMachine) -> list[str]:
    """Return what tells a machine from every other one, in words that are its keys as well."""
    said = (("serial", found.serial), ("system UUID", found.uuid), ("BMC address", found.bmc))
    return [f"{kind} {value}" for kind, value in said if value] + [f"MAC address {mac}" for mac in sorted(found.macs)]


def _moves(
    known: Mapping[str, DesignedMachine],
    said: Mapping[str, DesignedMachine],
    clashes: Mapping[str, Refused],
    unread: Container[str],
) -> dict[str, str]:
    """Return the new name of each machine whose old one is gone, or another machine's, if just one fits it."""
    found = [name for name in known if name not in unread]
    gone = {name for name in found if name not in said or not _is_same(known[name], said[name])}
    places = _places({name: known[name] for name in gone - clashes.keys()})
    claims: dict[str, list[str]] = {}
    for name in sorted(said.keys() - clashes.keys() - (known.keys() - gone)):
        near = set(chain.from_iterable(places.get(words, ()) for words in _words(said[name]))) - {name}
        old = [each for each in near if _is_moved(known[each], said.get(each), said[name])]
        if len(old) == 1:
            claims.setdefault(old[0], []).append(name)
    return {old: names[0] for old, names in claims.items() if len(names) == 1}


def _closed(
    moves: dict[str, str],
    known: Mapping[str, DesignedMachine],
    said: Mapping[str, DesignedMachine],
    taken: Container[str],
) -> dict[str, str]:
    """Return the moves whose new name is free, and whose old name is gone or another's, once all are made."""
    while True:
        given = set(moves.values())
        kept = {
            old: new
            for old, new in moves.items()
            if new not in taken and (new not in known or new in moves) and (old not in said or old in given)
        }
        if len(kept) == len(moves):
            return kept
        moves = kept


def _unclear(
    known: Mapping[str, DesignedMachine], said: Mapping[str, DesignedMachine], clear: set[str]
) -> dict[str, Refused]:
    """Refuse what the evidence does not settle: another serial number under a name, or a machine of another node."""
    left = sorted(said.keys() - clear)
    places = _places(known) if known and not known.keys() >= set(left) else {}
    found: dict[str, Refused] = {}
    for name in left:
        mine, now = known.get(name), said[name]
        if mine is not None and mine.serial and now.serial and mine.serial != now.serial:
            found[name] = Refused(_replaced(name, mine, now), now)
        elif mine is None and places:
            near = set(chain.from_iterable(places.get(words, ()) for words in _words(now)))
            others = sorted(each for each in near if _may_be(known[each], now))
            if others:
                found[name] = Refused(_unsettled(others, now, known[others[0]]))
    return found


def _replaced(name: str, known: DesignedMachine, said: DesignedMachine) -> str:
    return (
        f"its serial was {known.serial}, the source of truth says {said.serial} now; nothing is done to it until the"
        f" source is corrected, or a person says that the chassis was replaced: fleet-runner rma replaced {name}"
    )


def _unsettled(others: list[str], said: DesignedMachine, known: DesignedMachine) -> str:
    shared = next(words for words in _words(said) if words in _words(known))
    return (
        f"it may be the machine of {' or '.join(others)}, which has the same {shared}, and the source of truth does"
        f" not settle it; nothing is done to it until its serial is corrected there, or {others[0]} is retired"
    )


def _places(machines: Mapping[str, DesignedMachine]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, each in machines.items():
        for words in _words(each):
            found.setdefault(words, []).append(name)
    return found


def _is_same(known: DesignedMachine, said: DesignedMachine) -> bool:
    """Whether a name is still the same machine's; without serial numbers, all else together says that it is not."""
    if known.serial and said.serial:
        return known.serial == said.serial
    return not (known.bmc and said.bmc and known.bmc != said.bmc and _are_other(known.macs, said.macs))


def _is_moved(known: DesignedMachine, there: DesignedMachine | None, said: DesignedMachine) -> bool:
    """Whether a known machine is the one of another name now; `there` is what its own name is now, if anything."""
    if there is not None and _stayed(known, there):
        return False
    if known.serial and said.serial:
        return known.serial == said.serial
    pairs = ((known.uuid, said.uuid), (known.bmc, said.bmc))
    differ = any(one and other and one != other for one, other in pairs)
    if differ or (known.macs - said.macs and said.macs - known.macs):
        return False
    return sum(bool(one) and one == other for one, other in pairs) + len(known.macs & said.macs) > 1


def _stayed(known: DesignedMachine, there: DesignedMachine) -> bool:
    """Whether all but its serial number is still at the old name: then the number was changed, not the name."""
    if known.macs and there.macs:
        return bool(known.macs & there.macs)
    return bool(known.bmc) and known.bmc == there.bmc


def _may_be(known: DesignedMachine, said: DesignedMachine) -> bool:
    """Whether a new record may be a known machine, of which something agrees: two serial numbers settle it."""
    if known.serial and said.serial:
        return known.serial == said.serial
    return bool(known.macs & said.macs) or not _are_other(known.macs, said.macs)


def _are_other(known: frozenset[str], said: frozenset[str]) -> bool:
    return bool(known and said) and not known & said


def _evidence(known: DesignedMachine, said: DesignedMachine) -> str:
    """Say by what a machine was known again."""
    if known.serial and known.serial == said.serial:
        return f"same serial {known.serial}"
    shared = [words for words in _words(said) if words in _words(known)]
    return f"same {shared[0]} and {shared[1]}, and nothing differs"
