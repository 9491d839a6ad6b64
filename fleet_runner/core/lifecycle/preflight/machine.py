"""Is the machine that answers the one of the source of truth: its serial number first, then its MAC addresses.

A node has two who can tell, its BMC and its own system, and they may be two machines: an address that was given
twice, a cable in the wrong port. So each is judged by itself, and both must agree.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from fleet_runner.core.base.printable import printable
from fleet_runner.core.boot import identity
from fleet_runner.core.boot.expected import boots

BMC, SYSTEM = "its BMC", "its system"

SHOWN = 4
"""Serial numbers or MAC addresses that a sentence names."""

_MAC = re.compile(r"[0-9a-f]{2}(?::[0-9a-f]{2}){5}")
_LOCAL = 0x02
"""The bit of a MAC address's first byte that says: given by software, as to bridges and virtual machines."""


class Match(StrEnum):
    """Whether a machine that tells of itself is the designed one."""

    SAME = "same"
    OTHER = "other"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Designed:
    """What the source of truth knows a machine by: its serial number, "" where it has none, and its MAC addresses."""

    serial: str
    macs: frozenset[str]


@dataclass(frozen=True, slots=True)
class MachineReport:
    """What one of the two says of the machine. `why` says why it told nothing, "" where it told something.

    `serials` are those of the system and its chassis: which of them a site writes down differs. `boards` prove a
    machine and never contradict it. `whole` is false where one of the serial numbers could not be read; `every_mac`
    says that all of its interfaces are listed, so that one that is missing is not there.
    """

    who: str
    serials: tuple[str, ...] = ()
    boards: tuple[str, ...] = ()
    uuid: str = ""
    macs: frozenset[str] = frozenset()
    whole: bool = True
    every_mac: bool = False
    why: str = ""


class Answer(NamedTuple):
    """Whether one of the two is the designed machine, by what that was told ("serial", "mac"), and a sentence."""

    told: MachineReport
    match: Match
    by: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Identity:
    """Both answers together. `doubt` says why they may be two machines, "" where nothing tells so."""

    answers: tuple[Answer, ...]
    doubt: str

    @property
    def match(self) -> Match:
        """OTHER where one of them is another machine, SAME where one is the designed one and nothing is in doubt."""
        found = {answer.match for answer in self.answers}
        if Match.OTHER in found:
            return Match.OTHER
        return Match.SAME if Match.SAME in found and not self.doubt else Match.UNKNOWN

    @property
    def sentence(self) -> str:
        """Say why the match is what it is."""
        if self.match is Match.UNKNOWN and self.doubt:
            return self.doubt
        return "; ".join(answer.sentence for answer in self.answers if answer.match is self.match)


def designed(device: Mapping[str, Any]) -> Designed:
    """Return what a device (`fleet_device`) is known by; what nobody filled in counts for nothing."""
    serial = str(device.get("serial") or "")
    found = (str(each.get("mac") or "").lower() for each in device.get("interfaces") or () if boots(each))
    return Designed(serial.strip() if identity.serial(serial) else "", frozenset(filter(_MAC.fullmatch, found)))


def identify(known: Designed, told: Sequence[MachineReport]) -> Identity:
    """Return who answers, from what each of them tells."""
    answers = tuple(_answer(known, each) for each in told)
    proven = all(answer.match is Match.SAME and answer.by == "serial" for answer in answers)
    return Identity(answers, "" if proven else _apart(told))


def strangers(known: Designed, told: MachineReport) -> str:
    """Say that none of the designed MAC addresses is in the machine; "" where one is, or nobody can tell."""
    real = {mac for mac in told.macs if not int(mac[:2], 16) & _LOCAL}
    if not known.macs or not told.every_mac or not real or told.macs & known.macs:
        return ""
    return (
        f"{told.who} has MAC address {_some(real)}, and none of the source of truth's: {_some(known.macs)}; "
        "correct the source of truth, or find the machine that it describes"
    )


def _answer(known: Designed, told: MachineReport) -> Answer:
    if told.why:
        return Answer(told, Match.UNKNOWN, "", f"{told.who} gave no identity: {told.why}")
    wanted = identity.serial(known.serial)
    system, boards = _filled(told.serials), _filled(told.boards)
    if wanted and wanted in system | boards:
        return Answer(told, Match.SAME, "serial", f"{told.who} says serial number {known.serial}")
    if wanted and system and told.whole:
        words = (
            f"{told.who} says serial number {_some(system.values())}, the source of truth {known.serial}; "
            "find out which machine answers, or correct the source of truth"
        )
        return Answer(told, Match.OTHER, "serial", words)
    return _by_mac(known, told, wanted)


def _by_mac(known: Designed, told: MachineReport, wanted: str) -> Answer:
    same = told.macs & known.macs
    if same:
        return Answer(told, Match.SAME, "mac", f"{told.who} has MAC address {_some(same)}")
    if strange := strangers(known, told):
        return Answer(told, Match.OTHER, "mac", strange)
    if not wanted and not known.macs:
        words = "the source of truth has no serial number and no MAC address of it; record its serial number"
    elif wanted:
        words = f"{told.who} says no serial number that could be compared with {known.serial}"
    else:
        words = f"the source of truth has no serial number for it, and {told.who} lists none of its MAC addresses"
    return Answer(told, Match.UNKNOWN, "", words)


def _apart(told: Sequence[MachineReport]) -> str:
    """Say that those who tell something tell of two machines: by their serial numbers, else by their UUIDs."""
    spoke = [each for each in told if not each.why]
    for at, one in enumerate(spoke):
        for other in spoke[at + 1 :]:
            if words := _differ(one, other):
                return f"{words}: are these two machines? Compare both addresses with the source of truth"
    return ""


def _differ(one: MachineReport, other: MachineReport) -> str:
    mine, theirs = (_filled((*each.serials, *each.boards)) for each in (one, other))
    if mine.keys() & theirs.keys():
        return ""
    if mine and theirs and one.whole and other.whole:
        return (
            f"{one.who} says serial number {_some(mine.values())}, {other.who} serial number {_some(theirs.values())}"
        )
    ours, its = identity.uuid(one.uuid), identity.uuid(other.uuid)
    if ours and its and ours not in (its, identity.swapped(its)):
        return f"{one.who} says UUID {ours}, {other.who} UUID {its}"
    return ""


def _filled(serials: Collection[str]) -> dict[str, str]:
    """Return the serial numbers that somebody filled in: as they are compared, and as they are shown."""
    found = {identity.serial(each): printable(each.strip())[:60] for each in serials}
    return {key: shown for key, shown in found.items() if key}


def _some(values: Collection[str]) -> str:
    shown = sorted(values)
    more = f" and {len(shown) - SHOWN} more" if len(shown) > SHOWN else ""
    return " or ".join(shown[:SHOWN]) + more
