"""A schedule of active tests that finds the same faults in less time, and what it is expected to miss.

The idea of SuperBench's selector (Xiong et al., USENIX ATC 2024): each test is worth the faults that no other finds,
by the minutes it takes. Here no test is dropped: what it did not find in a month it may find in the next. It comes at
one of several rounds instead, once a week at the least. From all tests at every round, the step that saves the most
minutes for what it misses is taken, until none is within bounds. What the schedule is expected to miss is not counted
on the faults that it was made from: those of a fifth of the nodes at a time are held against a schedule that was made
from the others'.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple
from zlib import crc32

from fleet_runner.core.reliability.check_value.share import Share, share

EVERY = (1, 2, 4, 12, 24, 168)
"""Of how many rounds a test may come at one."""

WEEK = 168.0
"""Hours after which each test comes at the latest."""

MOST_MISSED = 0.02
"""The share of the faults that a schedule may miss of those that it was made from."""

MOST_LATER = 12.0
"""Hours by which a schedule may find a fault later, on average."""

FEWEST = 20
"""Faults of fewer say nothing about a schedule."""

FOLDS = 5

SPECK = 1e-6
"""A miss that is as good as none: what saves more comes first then."""


class Timed(NamedTuple):
    """A test as it is today: minutes of one look, and hours from one round to the next."""

    check: str
    minutes: float
    hours: float

    def minutes_a_week(self, every: int) -> float:
        """Return what it takes of a node if it comes at one of so many rounds."""
        return self.minutes * WEEK / (self.hours * every)


class Caught(NamedTuple):
    """A fault by the hours after its first sight at which each test, or "" for whatever is no test, saw it.

    `lasts` is for how many hours it is there to be seen. One of 3 hours is met by each hourly round, and by rounds of
    12 hours once in three times: before it was seen first it was there for up to an hour.
    """

    node: str
    hours: Mapping[str, float]
    lasts: float


Plan = Mapping[str, int]
"""At one of how many rounds each test comes."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """A plan, the share of faults that it is expected to miss, and how many hours later it finds the others."""

    plan: Plan
    miss: Share
    later_hours: float


def propose(tests: Sequence[Timed], faults: Sequence[Caught]) -> Proposed | None:
    """Return a schedule, and what to expect of it; None where there are too few faults to tell."""
    if len(faults) < FEWEST or not tests:
        return None
    hours, made = _hours(tests), plan(tests, faults)
    missed = 0.0
    later: list[float] = []
    for fold in range(FOLDS):
        others = plan(tests, [fault for fault in faults if _fold(fault) != fold])
        outcomes = [outcome(fault, others, hours) for fault in faults if _fold(fault) == fold]
        missed += sum(miss for miss, _ in outcomes)
        later += [late for _, late in outcomes]
    if set(made.values()) == {1}:  # it is today's, and finds what is found today
        return Proposed(made, Share(0.0, 0.0, 0.0), 0.0)
    held_out = share(missed, len(faults))
    best = share(sum(outcome(fault, made, hours)[0] for fault in faults), len(faults))
    return Proposed(made, held_out._replace(low=min(held_out.low, best.low)), fmean(later))


def _fold(fault: Caught) -> int:
    """Keep the faults of a node together: they may have one cause."""
    return crc32(fault.node.encode(errors="replace")) % FOLDS


def _hours(tests: Sequence[Timed]) -> Mapping[str, float]:
    return {test.check: test.hours for test in tests}


def outcome(fault: Caught, made: Plan, hours: Mapping[str, float]) -> tuple[float, float]:
    """Return how likely a plan misses a fault, and by how many hours it finds it later, if it does.

    A test that comes at one of n rounds is late by half of the n - 1 rounds left out, on average. What is no test
    comes as it did.
    """
    missed, soonest = 1.0, float("inf")
    for check, at in fault.hours.items():
        every, between = made.get(check, 1), hours.get(check, 0.0)
        missed *= 0.0 if every == 1 else max(0.0, 1 - (fault.lasts + between) / (every * between))
        soonest = min(soonest, at + (every - 1) / 2 * between)
    return missed, soonest


class _Step(NamedTuple):
    check: str
    every: int
    missed: float
    later: float
    price: float


def plan(tests: Sequence[Timed], faults: Sequence[Caught]) -> Plan:
    """Return how often each test has to come, greedily; what finds nothing comes once a week."""
    made = dict.fromkeys((test.check for test in tests), 1)
    hours, most = _hours(tests), MOST_MISSED * len(faults)
    by_test = {test.check: [fault for fault in faults if test.check in fault.hours] for test in tests}
    missed = later = 0.0
    while True:
        steps = [
            step
            for test in tests
            for every in EVERY
            if every > made[test.check] and every * test.hours <= WEEK
            for step in [_step(test, every, made, by_test[test.check], hours)]
            if missed + step.missed <= most + SPECK and later + step.later <= MOST_LATER * len(faults) + SPECK
        ]
        if not steps:
            return made
        best = min(steps, key=lambda step: (step.price, step.check, step.every))
        made[best.check] = best.every
        missed, later = missed + best.missed, later + best.later


def _step(test: Timed, every: int, made: Plan, mine: Sequence[Caught], hours: Mapping[str, float]) -> _Step:
    """Return what it costs to have a test come less often: faults missed, hours later, and what a minute costs."""
    after = {**made, test.check: every}
    missed = later = 0.0
    for fault in mine:
        (miss, late), (missed_now, late_now) = outcome(fault, after, hours), outcome(fault, made, hours)
        missed += miss - missed_now
        later += late * (1 - miss) - late_now * (1 - missed_now)
    saved = test.minutes_a_week(made[test.check]) - test.minutes_a_week(every)
    spent = max(0.0, missed) / MOST_MISSED + max(0.0, later) / MOST_LATER
    return _Step(test.check, every, missed, later, (spent + SPECK) / saved)
