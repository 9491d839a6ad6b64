"""Places where one part after the other fails, and parts that fail wherever they are, beyond what chance explains.

The first failure is given: any part may fail once. What follows it is held against how often others of the kind fail
(a Poisson tail over the time since), and of all those that failed once, so many are told that at most one in ten is
chance. A place whose board was sent back since begins anew.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, NamedTuple

from fleet_runner.core.base.plural import counted
from fleet_runner.core.reliability.forecasts import Foresight, Kind
from fleet_runner.core.reliability.parts import chance
from fleet_runner.core.reliability.parts.failures import DAY, Failed, Failure, Place, doubled, failed, place
from fleet_runner.core.reliability.parts.rates import Rate, Rates
from fleet_runner.core.reliability.parts.stay import Episode, Stay
from fleet_runner.core.reliability.parts.travels import named
from fleet_runner.core.tickets.rma_cases import Case

DAYS = 400.0
"""Days that are looked back on, as long as faults are kept."""

PARTS = 3
"""Different parts that must have failed in a place."""

NODES = 2
"""Nodes in which a part must have failed."""

QUIET = 90 * DAY
"""After so long without a failure a place or part is no longer suspected."""

HERE = 7 * DAY
"""A part that was seen this lately is where it was seen; a node in repair may be silent for some days."""

LOOK = 3_600.0
"""For so long, at the least, a part was in its place that failed again there: it is not seen at every moment."""

LISTED = 500
LINES = 20


@dataclass(frozen=True, slots=True)
class Given:
    """What is looked at: all stays, the faults and cases since `since`, device types by node where known."""

    since: float
    until: float
    stays: Sequence[Stay]
    episodes: Sequence[Episode] = ()
    cases: Sequence[Case] = ()
    types: Mapping[str, str] = field(default_factory=lambda: MappingProxyType(dict[str, str]()))


@dataclass(frozen=True, slots=True)
class Repeat:
    """A place or a part that fails again and again; `failures` are the first of each part, or in each node."""

    kind: Kind
    stay: Stay
    failures: tuple[Failure, ...]
    expected: float
    chance: float
    here: bool = True

    @property
    def sentence(self) -> str:
        """Say what is seen, and what to do about it."""
        since = _day(self.failures[0].at)
        against = f"since {since}, where {_small(self.expected)} more than the first are to be expected"
        many, part = len(self.failures), f"{self.stay.kind} {self.stay.serial}"
        if self.kind is Kind.SLOT:
            return (
                f"{many} different parts failed in {named(self.stay)} of {self.stay.node} {against}: look at the"
                " board, its power and its cooling before another part goes in"
            )
        places = ", ".join(f"{each.stay.node} {each.stay.slot or each.stay.component}" for each in self.failures)
        there = "" if self.here else "; it is in none of the nodes now"
        return f"{part} failed in {many} nodes ({places}) {against}: it is the part, send it back{there}"

    def lines(self) -> list[dict[str, Any]]:
        """Return the evidence, failure by failure, the newest where there are many."""
        return [{"at": each.at, "sentence": self._line(each)} for each in self.failures[-LINES:]]

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types."""
        stay = self.stay
        return {
            "kind": stay.kind, "serial": stay.serial if self.kind is Kind.PART else "", "node": stay.node,
            "component": stay.component, "slot": stay.slot, "failures": len(self.failures),
            "expected": float(f"{self.expected:.3g}"), "chance": float(f"{self.chance:.3g}"), "here": self.here,
            "first_at": self.failures[0].at, "last_at": self.failures[-1].at, "sentence": self.sentence,
            "lines": self.lines(),
        }  # fmt: skip

    def foresight(self) -> Foresight:
        """Return it as what is foreseen of a node."""
        told = self.to_json()
        keys = ("failures", "expected", "chance", "first_at", "last_at", "lines")
        numbers = {key: told[key] for key in keys}
        return Foresight(
            self.kind, self.stay.node, self.stay.component, self.sentence, serial=told["serial"], numbers=numbers
        )

    def _line(self, each: Failure) -> str:
        codes = ", ".join(each.codes)
        if self.kind is Kind.SLOT:
            return f"{_day(each.at)}: {each.stay.kind} {each.stay.serial} failed with {codes}"
        return f"{_day(each.at)}: failed in {each.stay.node} {named(each.stay)} with {codes}"


@dataclass(frozen=True, slots=True)
class Parts:
    """What parts and places speak of. `moved` counts by kind the parts that were in more than one node."""

    since: float
    until: float
    failures: int
    rates: tuple[Rate, ...]
    slots: tuple[Repeat, ...]
    parts: tuple[Repeat, ...]
    moved: Mapping[str, int]
    silences: Mapping[str, int]

    def foresights(self) -> tuple[Foresight, ...]:
        """Return what is foreseen: of places, and of parts that are in a node now."""
        return tuple(each.foresight() for each in (*self.slots, *self.parts) if each.here)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types: the first of each list, which is in the order of how sure it is."""
        return {
            "since_at": self.since, "until_at": self.until, "sentences": list(self._sentences()),
            "rates": [each.to_json() for each in self.rates[:LISTED]],
            "slots": [each.to_json() for each in self.slots[:LISTED]],
            "parts": [each.to_json() for each in self.parts[:LISTED]],
            "moved": [{"kind": kind, "parts": number} for kind, number in sorted(self.moved.items())],
            "silences": [{"sentence": why, "count": many} for why, many in sorted(self.silences.items())],
            "left_out": sum(max(0, len(rows) - LISTED) for rows in (self.rates, self.slots, self.parts)),
        }  # fmt: skip

    def _sentences(self) -> Iterable[str]:
        days = (self.until - self.since) / DAY
        moved, places, parts = sum(self.moved.values()), len(self.slots), len(self.parts)
        yield (
            f"{counted(self.failures, 'failure')} of parts in {days:.0f} days; {counted(moved, 'part')} in more than"
            f" one node. {counted(places, 'place')} and {counted(parts, 'part')} failed again beyond chance; of those"
            f" listed, at most one in {1 / chance.FALSE:.0f} is chance."
        )
        if not self.rates:
            yield "Not enough data: no part was seen for a while."


class _Suspect(NamedTuple):
    """What failed more than once: its failures that count, and how much there is of it."""

    stay: Stay
    failures: tuple[Failure, ...]
    seconds: float
    after: float


def analyse(given: Given) -> Parts:
    """Find the places and the parts that fail again."""
    span = given.since, given.until
    twice = doubled(given.stays)
    stays = [each for each in given.stays if each.last_at >= span[0] and (each.kind, each.serial) not in twice]
    told = failed(stays, (each for each in given.episodes if span[0] <= each.first_at < span[1]))
    known = [each for each in told.failures if each.stay.serial]
    rates = Rates(stays, told.failures, given.types)
    slots = _slots(stays, _after_repair(known, given.cases), rates, span)
    bad = {place(each.stay) for each in slots}
    parts = _parts(stays, [each for each in known if place(each.stay) not in bad], rates, span)
    moved: dict[str, int] = defaultdict(int)
    for (kind, _), mine in _by_part(stays).items():
        moved[kind] += len({each.node for each in mine}) > 1
    return Parts(
        *span, len(told.failures), rates.every(), slots, parts, {kind: many for kind, many in moved.items() if many},
        _silent(told, len(known), len(twice)),
    )  # fmt: skip


def _silent(told: Failed, known: int, twice: int) -> Mapping[str, int]:
    silences = dict(told.silences)
    silences["failures of parts whose serial number is not known"] = len(told.failures) - known
    silences["serial numbers that were reported in two places at once"] = twice
    return {why: many for why, many in silences.items() if many}


def _after_repair(failures: Iterable[Failure], cases: Iterable[Case]) -> list[Failure]:
    """Leave out failures in nodes that went back as a whole since."""
    mended: dict[str, float] = {}
    for case in cases:
        if case.ended_at is not None and not case.parts:
            mended[case.node] = max(case.ended_at, mended.get(case.node, 0.0))
    return [each for each in failures if each.at >= mended.get(each.stay.node, 0.0)]


def _slots(
    stays: Iterable[Stay], failures: Iterable[Failure], rates: Rates, span: tuple[float, float]
) -> tuple[Repeat, ...]:
    mine: dict[Place, dict[str, Failure]] = defaultdict(dict)
    for each in failures:
        mine[place(each.stay)].setdefault(each.stay.serial, each)
    here: dict[Place, list[Stay]] = defaultdict(list)
    for stay in stays:
        here[place(stay)].append(stay)
    suspects = [_suspect(here[where], list(firsts.values()), span) for where, firsts in sorted(mine.items())]
    return _told(Kind.SLOT, suspects, rates, span[1])


def _parts(
    stays: Iterable[Stay], failures: Iterable[Failure], rates: Rates, span: tuple[float, float]
) -> tuple[Repeat, ...]:
    mine: dict[tuple[str, str], dict[str, Failure]] = defaultdict(dict)
    for each in failures:
        mine[each.stay.kind, each.stay.serial].setdefault(each.stay.node, each)
    here = _by_part(stays)
    travelled = [(part, firsts) for part, firsts in sorted(mine.items()) if len({at.node for at in here[part]}) > 1]
    suspects = [_suspect(here[part], list(firsts.values()), span) for part, firsts in travelled]
    return _told(Kind.PART, suspects, rates, span[1])


def _by_part(stays: Iterable[Stay]) -> dict[tuple[str, str], list[Stay]]:
    found: dict[tuple[str, str], list[Stay]] = defaultdict(list)
    for stay in stays:
        if stay.serial:
            found[stay.kind, stay.serial].append(stay)
    return found


def _suspect(stays: Sequence[Stay], failures: Sequence[Failure], span: tuple[float, float]) -> _Suspect:
    ordered = tuple(sorted(failures, key=lambda each: each.at))
    newest = max(stays, key=lambda each: (each.last_at, each.id))
    # who failed again was there since some look before: in no time at all chance would make nothing fail
    after = max(sum(_overlap(each, ordered[0].at, span[1]) for each in stays), LOOK * (len(ordered) - 1))
    return _Suspect(newest, ordered, sum(_overlap(each, *span) for each in stays), after)


def _overlap(stay: Stay, since: float, until: float) -> float:
    return max(0.0, min(stay.last_at, until) - max(stay.first_at, since))


def _told(kind: Kind, suspects: Iterable[_Suspect], rates: Rates, until: float) -> tuple[Repeat, ...]:
    """Return those that chance does not explain, the surest first."""
    tried: list[Repeat] = []
    for each in suspects:
        rate = rates.without(each.stay, len(each.failures), each.seconds)
        if rate is not None:
            expected = rate * each.after
            likely = chance.at_least(len(each.failures) - 1, expected)
            here = each.stay.last_at >= until - HERE or kind is Kind.SLOT
            tried.append(Repeat(kind, each.stay, each.failures, expected, likely, here))
    stand = chance.told([each.chance for each in tried])
    fewest = PARTS if kind is Kind.SLOT else NODES
    found = [
        each
        for each, told in zip(tried, stand, strict=True)
        if told and len(each.failures) >= fewest and each.failures[-1].last_at >= until - QUIET
    ]
    return tuple(sorted(found, key=lambda each: (each.chance, each.stay.node, each.stay.component)))


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).date().isoformat()


def _small(number: float) -> str:
    return f"{number:.2g}" if number >= 0.001 else "fewer than 0.001"  # noqa: PLR2004  digits enough for a reader
