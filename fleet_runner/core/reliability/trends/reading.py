"""What one node told, in the order of time: whose numbers they are, of which day, and what befell its parts."""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fleet_runner.core.reliability.parts import identities
from fleet_runner.core.reliability.parts.events import Episodes
from fleet_runner.core.reliability.parts.places import Places
from fleet_runner.core.reliability.parts.stay import Episode
from fleet_runner.core.reliability.trends import samples
from fleet_runner.core.reliability.trends.metrics import Kind, Metric
from fleet_runner.core.reliability.trends.samples import Group, Readers

DAY = 86_400

AHEAD = 300.0
"""Seconds that a clock may be ahead of ours."""

NEVER = 2.0**32
"""A moment that no clock tells: the year 2106."""


class Reading(NamedTuple):
    """One result, as far as it matters here. `told_by` is the hash of its first evidence, "" without one."""

    run: int
    id: int
    at: float
    check: str
    observed: Mapping[str, Any]
    findings: Sequence[Mapping[str, Any]]
    told_by: str


@dataclass(slots=True)
class Numbers:
    """Numbers of one metric in the order in which they were told: whose, when, and what."""

    stays: "array[int]" = field(default_factory=lambda: array("I"))
    at: "array[float]" = field(default_factory=lambda: array("d"))
    values: "array[float]" = field(default_factory=lambda: array("d"))

    def add(self, stay: int, at: float, value: float) -> None:
        """Add one."""
        self.stays.append(stay)
        self.at.append(at)
        self.values.append(value)


@dataclass(slots=True)
class ReadingBuffer:
    """What nodes told until it is summed up: of each metric, and what was not believed, by why.

    `ahead` is the earliest moment of what waits for its time, 0 where nothing does.
    """

    metrics: Sequence[Metric]
    readers: Readers
    ahead: float = 0.0
    numbers: defaultdict[int, Numbers] = field(default_factory=lambda: defaultdict(Numbers))
    left_out: dict[str, int] = field(default_factory=dict)

    def leave_out(self, why: str, times: int = 1) -> None:
        """Count what is not believed."""
        if times:
            self.left_out[why] = self.left_out.get(why, 0) + times

    def wait(self, at: float) -> None:
        """Take note of what is told of a time to come: it is read when that has come."""
        self.ahead = min(self.ahead or at, at)
        self.leave_out("ahead")

    def is_test(self, groups: Sequence[Group]) -> bool:
        """Whether what is read so are measurements of an active test."""
        return self.metrics[groups[0].wanted[0].number].kind is Kind.MEASURED


def read(
    told: Iterable[Reading], places: Places, befell: Episodes, heap: ReadingBuffer, whose: tuple[str, float]
) -> None:
    """Read a node's results. `whose` is its name, and up to which moment results are read.

    Within a run, what tells identities is read first: its numbers are those of the parts that were there then. What
    is told of long ago is told late, and is of its day.
    """
    node, until = whose
    tests: set[tuple[str, str]] = set()
    for each in sorted(told, key=lambda each: (each.run, each.check not in identities.TOLD, each.id)):
        if not 0 <= each.at < NEVER:
            heap.leave_out("clock")
            continue
        if each.at > until:
            heap.wait(each.at)
            continue
        for identity in identities.read(each.check, each.observed):
            places.see(identity, each.at)
        groups = heap.readers.get(each.check, ())
        if groups and not _again(each, groups, heap, tests):
            for part, component, numbers in samples.read(groups, each.observed, heap.left_out):
                stay = places.find(part, component, each.at)
                if stay is None:
                    heap.leave_out("crowd", len(numbers))
                    continue
                for metric, value in numbers:
                    heap.numbers[metric].add(stay, each.at, value)
        for finding in each.findings:
            heap.leave_out("crowd", _befall(finding, each, node, (places, befell)))


def _again(each: Reading, groups: Sequence[Group], heap: ReadingBuffer, tests: set[tuple[str, str]]) -> bool:
    """Whether a result is of a test that was judged before, or that still runs: it counts once, at its end."""
    if each.observed.get("working") is True:
        return True
    key = each.check, each.told_by
    if not each.told_by or not heap.is_test(groups):
        return False
    again = key in tests
    tests.add(key)
    return again


def _befall(finding: Mapping[str, Any], each: Reading, node: str, known: tuple[Places, Episodes]) -> int:
    """Take note of a fault; return of how many nodes there was no room. A fabric's checks name those it is about."""
    places, befell = known
    component, named = str(finding.get("component", "")), [str(name) for name in finding.get("nodes") or ()]
    lost = 0
    for name in [node] if node in named or not named else named:
        words = component, str(finding.get("code", "")), str(finding.get("fault", "")), each.check
        serial = places.serial(component) if name == node else ""
        lost += not befell.see(Episode(0, name, *words, serial, each.at, each.at))
    return lost
