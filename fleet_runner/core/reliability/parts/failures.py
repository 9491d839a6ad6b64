"""Which part failed where and when: faults become failures of the part that was in that place then."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.xid import XIDS
from fleet_runner.core.reliability.parts.stay import Episode, Stay

DAY = 86_400.0

ONE = 3 * DAY
"""Faults of one part that follow each other within this are one failure: a GPU that dies logs many codes."""

TOGETHER, MANY = 3_600.0, 3
"""So many parts of a kind that fail in one node within this time failed with the node, by no fault of their own."""

TWICE = 2 * DAY
"""For so long may a serial number be told in two places: the old one tells it until its last look is noticed."""

Place = tuple[str, str, str]
"""Kind of part, node, component."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One failure of a part: where it was, from when on, and the codes of the faults by which it was noticed."""

    stay: Stay
    at: float
    last_at: float
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Failed:
    """Every failure in the order of time, and how many faults count as none, by why."""

    failures: tuple[Failure, ...] = ()
    silences: Mapping[str, int] = field(default_factory=lambda: MappingProxyType(dict[str, int]()))


def of_hardware(code: str) -> bool:
    """Whether a fault speaks of a part: not of the application that ran on it, and not of what is foreseen."""
    family, _, number = code.partition(".")
    if family == "foresight":
        return False
    known = XIDS.get(int(number)) if family == "xid" and number.isdecimal() else None
    return known is None or known.remedy is not Remedy.RECORD


def place(stay: Stay) -> Place:
    """Return the place of a stay."""
    return stay.kind, stay.node, stay.component


def doubled(stays: Iterable[Stay]) -> frozenset[tuple[str, str]]:
    """Return kind and serial number of parts that were in two places at once: such a number names no part."""
    until: dict[tuple[str, str], tuple[float, Place]] = {}
    found: set[tuple[str, str]] = set()
    for stay in sorted(stays, key=lambda each: (each.first_at, each.id)):
        key = stay.kind, stay.serial
        known = until.get(key)
        if stay.serial and known is not None and stay.first_at < known[0] - TWICE and known[1] != place(stay):
            found.add(key)
        if known is None or stay.last_at >= known[0]:
            until[key] = stay.last_at, place(stay)
    return frozenset(found)


def failed(stays: Sequence[Stay], episodes: Iterable[Episode]) -> Failed:
    """Return the failures of parts; a fault of no known part is none."""
    silences = Counter[str]()
    mine: dict[int, list[Episode]] = defaultdict(list)
    by_id = {stay.id: stay for stay in stays}
    find = _Finder(stays)
    for each in episodes:
        if not of_hardware(each.code):
            silences["faults of applications, not of parts"] += 1
            continue
        stay = find.stay(each)
        if stay is None:
            silences["faults of no part that is followed"] += 1
        else:
            mine[stay.id].append(each)
    every = [failure for number, seen in mine.items() for failure in _merged(by_id[number], seen)]
    every.sort(key=lambda each: (each.at, each.stay.id))
    with_node = _with_node(every)
    if with_node:
        silences["failures of several parts of a node at once, which are the node's"] = len(with_node)
    return Failed(tuple(each for each in every if id(each) not in with_node), MappingProxyType(dict(silences)))


class _Finder:
    """Stays by node and component, to look up whom a fault is about."""

    def __init__(self, stays: Iterable[Stay]) -> None:
        self._at: dict[tuple[str, str], list[Stay]] = defaultdict(list)
        for stay in sorted(stays, key=lambda each: (each.first_at, each.id)):
            self._at[stay.node, stay.component].append(stay)

    def stay(self, fault: Episode) -> Stay | None:
        """Return the stay of the part that a fault is about: for "GPU 3 NVLink 2" that of "GPU 3"."""
        words = fault.component.split(" ")
        for size in range(len(words), 0, -1):
            here = self._at.get((fault.node, " ".join(words[:size])))
            if here and here[0].component:
                return self._then(here, fault)
        return None

    @staticmethod
    def _then(here: Sequence[Stay], fault: Episode) -> Stay:
        named = [each for each in here if fault.serial and each.serial == fault.serial] or here
        return next((each for each in reversed(named) if each.first_at <= fault.first_at), named[0])


def _merged(stay: Stay, seen: Iterable[Episode]) -> list[Failure]:
    found: list[Failure] = []
    for each in sorted(seen, key=lambda episode: (episode.first_at, episode.id)):
        last = found[-1] if found else None
        if last is not None and each.first_at <= last.last_at + ONE:
            codes = tuple(dict.fromkeys((*last.codes, each.code)))
            found[-1] = Failure(stay, last.at, max(last.last_at, each.last_at), codes)
        else:
            found.append(Failure(stay, each.first_at, each.last_at, (each.code,)))
    return found


def _with_node(every: Sequence[Failure]) -> set[int]:
    """Return which failures came with others of the same node and kind; they are in the order of time."""
    groups: dict[tuple[str, str], list[Failure]] = defaultdict(list)
    for each in every:
        groups[each.stay.node, each.stay.kind].append(each)
    found: set[int] = set()
    for mine in groups.values():
        for first in mine:
            near = [each for each in mine if 0 <= each.at - first.at <= TOGETHER]
            if len({each.stay.component for each in near}) >= MANY:
                found |= {id(each) for each in near}
    return found
