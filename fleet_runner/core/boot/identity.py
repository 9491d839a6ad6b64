"""Who a machine is: what it says of itself, held against the source of truth and against the boots that are armed."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from fleet_runner.core.boot.boots import Boot, Identity
from fleet_runner.core.inventory.records import NODE_ROLES, Fleet

UNFILLED = frozenset({
    "0", "0123456789", "123456789", "1234567890", "default", "default string", "empty", "invalid", "n/a", "na",
    "none", "not applicable", "not available", "not present", "not specified", "null", "o.e.m.", "oem",
    "serial number", "system serial number", "to be filled by o.e.m", "to be filled by o.e.m.", "unknown",
    "unspecified",
})  # fmt: skip
"""What firmware says for a serial number that nobody filled in: many machines say the same."""

UNFILLED_UUIDS = frozenset({
    "00000000-0000-0000-0000-000000000000",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
    "03000200-0400-0500-0006-000700080009",
    "00020003-0004-0005-0006-000700080009",
})  # fmt: skip
"""Likewise for UUIDs: SMBIOS's two ways to say "not set", and one that boards of several makers were sold with."""

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

Names = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Index:
    """Which devices have a MAC address, a serial number or a UUID; several names are a contradiction."""

    macs: Names = field(default_factory=dict[str, tuple[str, ...]])
    serials: Names = field(default_factory=dict[str, tuple[str, ...]])
    uuids: Names = field(default_factory=dict[str, tuple[str, ...]])
    nodes: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Doubt:
    """What a machine says does not lead to one node. `nodes` are those it is about."""

    nodes: tuple[str, ...]
    code: str
    sentence: str


def serial(text: str) -> str:
    """Return a serial number as it is compared, or "" where nobody filled it in."""
    found = " ".join(text.split()).lower()
    return "" if found in UNFILLED or not found.strip("0.-x") else found


def uuid(text: str) -> str:
    """Return a UUID in lower case, or "" where the text is none or nobody filled it in."""
    found = text.strip().lower()
    return found if _UUID.fullmatch(found) and found not in UNFILLED_UUIDS else ""


def swapped(text: str) -> str:
    """Return a UUID with the bytes of its first three fields reversed: before SMBIOS 2.6, nobody said which order."""
    fields = text.split("-")
    turned = ("".join(reversed([each[at : at + 2] for at in range(0, len(each), 2)])) for each in fields[:3])
    return "-".join([*turned, *fields[3:]])


def index(fleet: Fleet) -> Index:
    """Return which device has which MAC address and serial number in the source of truth."""
    macs: dict[str, tuple[str, ...]] = {}
    serials: dict[str, tuple[str, ...]] = {}
    for name in sorted(fleet.devices):
        device = fleet.devices[name]
        _add(macs, (each.mac for each in device.interfaces if each.mac and not each.mgmt_only), name)
        _add(serials, (serial(device.serial or ""),), name)
    return Index(
        macs, serials, {}, frozenset(each.name for each in fleet.devices.values() if each.role in NODE_ROLES)
    )


class Armed:
    """Which node is expected with what by its armed boot, which knows what the BMC says as well.

    Boots come and go one by one: many are armed in the time that it takes to go through all of them.
    """

    __slots__ = ("_macs", "_serials", "_uuids")

    def __init__(self) -> None:
        self._macs: dict[str, tuple[str, ...]] = {}
        self._serials: dict[str, tuple[str, ...]] = {}
        self._uuids: dict[str, tuple[str, ...]] = {}

    def add(self, boot: Boot) -> None:
        """Expect a node."""
        for names, values in self._parts(boot.expected):
            _add(names, values, boot.node)

    def drop(self, boot: Boot) -> None:
        """Expect it no more."""
        for names, values in self._parts(boot.expected):
            for value in filter(None, values):
                left = tuple(name for name in names.pop(value) if name != boot.node)
                if left:
                    names[value] = left

    def index(self, nodes: frozenset[str]) -> Index:
        """Return who is expected at this moment; only those that are nodes may boot."""
        return Index(self._macs, self._serials, self._uuids, nodes)

    def _parts(self, expected: Identity) -> tuple[tuple[dict[str, tuple[str, ...]], Iterable[str]], ...]:
        told = uuid(expected.uuid)
        return (
            (self._macs, expected.macs),
            (self._serials, (serial(expected.serial),)),
            (self._uuids, {told, swapped(told)}),
        )


def who(known: Index, said: Identity) -> str | Doubt | None:
    """Return the node that a machine is, why that cannot be told, or None for a machine that nobody knows.

    A MAC address that two devices have is always a contradiction. A serial number may be a chassis's, of several
    nodes; it then only has to agree with the rest.
    """
    says: list[tuple[str, tuple[str, ...]]] = []
    for mac in sorted(said.macs):
        owners = known.macs.get(mac, ())
        if len(owners) > 1:
            return Doubt(owners, "duplicate", f"MAC address {mac} belongs to {_and(owners)}; give it to one of them")
        says.append((f"MAC address {mac}", owners))
    if said.serial:
        found = serial(said.serial)
        says.append((f"serial number {found}", known.serials.get(found, ())))
    if said.uuid and known.uuids:
        found = uuid(said.uuid)
        says.append((f"UUID {found}", known.uuids.get(found, ())))
    return _agreed(known, [each for each in says if each[1]])


def contradiction(expected: Identity, said: Identity) -> str:
    """Return in words what a machine says of itself that an armed boot does not expect, or "".

    What either side does not know contradicts nothing. An address is nothing that a machine is: see `elsewhere`.
    """
    if expected.macs and not said.macs <= expected.macs:
        return f"it says MAC address {_and(sorted(said.macs - expected.macs))}, expected {_or(sorted(expected.macs))}"
    ours, theirs = serial(expected.serial), serial(said.serial)
    if ours and theirs and ours != theirs:
        return f"it says serial number {theirs}, expected {ours}"
    ours, theirs = uuid(expected.uuid), uuid(said.uuid)
    if ours and theirs and theirs not in (ours, swapped(ours)):
        return f"it says UUID {theirs}, expected {ours}"
    return ""


def unsaid(expected: Identity, said: Identity) -> str:
    """Return in words that a machine leaves out what would tell it from one that only has its MAC address, or "".

    Anybody can say a MAC address that he has seen. Where a serial number or a UUID is expected, one must be said.
    """
    ours, theirs = (serial(expected.serial), uuid(expected.uuid)), (serial(said.serial), uuid(said.uuid))
    if not any(ours) or any(one and other for one, other in zip(ours, theirs, strict=True)):
        return ""
    named = zip(("serial number ", "UUID "), ours, strict=True)
    return f"it does not say {_or(name + value for name, value in named if value)}"


def elsewhere(expected: Identity, source: str) -> str:
    """Return in words that a machine asks from another address than is expected of its family, or ""."""
    comparable = [each for each in sorted(expected.addresses) if _family(each) == _family(source)]
    if not comparable or source in comparable:
        return ""
    return f"it asks from {source}, expected {_or(comparable)}, and no DHCP server reported that lease"


def _agreed(known: Index, says: list[tuple[str, tuple[str, ...]]]) -> str | Doubt | None:
    if not says:
        return None
    left = set(says[0][1]).intersection(*(owners for _, owners in says))
    if len(left) != 1:
        every = tuple(sorted({name for _, owners in says for name in owners}))
        parts = ", ".join(f"{what} belongs to {_and(owners)}" for what, owners in says)
        if left:
            return Doubt(every, "duplicate", f"{parts}; record the MAC address of the interface that each boots from")
        return Doubt(every, "mismatch", f"one machine says all of this: {parts}; correct the source of truth")
    (name,) = left
    if name not in known.nodes:
        return Doubt((name,), "no_node", f"{name} has no lifecycle in the source of truth, so it is not booted")
    return name


def _add(names: dict[str, tuple[str, ...]], values: Iterable[str], name: str) -> None:
    for value in filter(None, values):
        if name not in names.get(value, ()):
            names[value] = (*names.get(value, ()), name)


def _family(address: str) -> bool:
    return ":" in address


def _and(words: Iterable[str]) -> str:
    return " and ".join(words)


def _or(words: Iterable[str]) -> str:
    return " or ".join(words)
