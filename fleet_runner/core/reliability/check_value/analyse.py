"""Which checks pay: a row for each check, and the schedule that its finds speak for."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from fleet_runner.core.base.plural import counted
from fleet_runner.core.reliability.check_value import faults as told
from fleet_runner.core.reliability.check_value.faults import PUSHED, Confirmed, Fault, is_active
from fleet_runner.core.reliability.check_value.past import DAY, HOUR, MINUTE, WEEK_DAYS, Cost, FleetPast
from fleet_runner.core.reliability.check_value.schedule import FEWEST, WEEK, Caught, Proposed, Timed, propose
from fleet_runner.core.reliability.parts.stay import Episode

MOST_CHECKS = 500
"""Checks that are told of; there are fewer, but a store may hold names of checks that were."""


@dataclass(frozen=True, slots=True)
class Paid:
    """What a check found, and what that took.

    `first` counts the faults that it was the first to see, `alone` those that nobody else saw, and `later` those that
    another had seen before. `lead_hours` is the median by which it was ahead of the next. `unconfirmed` are faults
    that it alone saw and the next look did not; `unhelped` remedies against its finds that changed nothing. Minutes
    are a node's, in service, and None where nobody could tell how long a look takes.
    """

    check: str
    active: bool
    first: int
    alone: int
    later: int
    lead_hours: float | None
    unconfirmed: int
    unhelped: int
    looks_a_day: float
    seconds_a_look: float | None
    minutes_a_week: float | None
    faults_an_hour: float | None
    sentence: str


@dataclass(frozen=True, slots=True)
class Row:
    """A test in a proposed schedule: at one of how many rounds it comes, and what that takes."""

    check: str
    every: int
    words: str
    minutes_a_week: float
    proposed_minutes_a_week: float
    only_it: int
    sentence: str


@dataclass(frozen=True, slots=True)
class Plan:
    """A proposed schedule of the tests of nodes in service; what is None could not be told, and `why` says why.

    `miss` is the share of faults that it is expected to miss of those that are found today, with its 95 % interval.
    """

    faults: int
    minutes_a_week: float
    proposed_minutes_a_week: float | None
    miss: float | None
    miss_low: float | None
    miss_high: float | None
    later_hours: float | None
    steps: tuple[Row, ...]
    why: str
    sentence: str


@dataclass(frozen=True, slots=True)
class CheckValue:
    """Which checks paid in a span."""

    since: float
    until: float
    nodes: int
    faults: int
    unconfirmed: int
    checks: tuple[Paid, ...]
    plan: Plan

    @property
    def sentences(self) -> tuple[str, ...]:
        """Return what a person reads first."""
        days = (self.until - self.since) / DAY
        dubious = f"; {self.unconfirmed} of them were not confirmed by the next look" if self.unconfirmed else ""
        return (
            f"{counted(self.faults, 'fault')} on {counted(self.nodes, 'node')} in {days:.3g} days{dubious}.",
            self.plan.sentence,
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types."""
        kept, plan = self.checks[:MOST_CHECKS], asdict(self.plan)
        plan["steps"] = list(plan["steps"])
        return {
            "since_at": self.since,
            "until_at": self.until,
            "days": (self.until - self.since) / DAY,
            "nodes": self.nodes,
            "faults": self.faults,
            "unconfirmed": self.unconfirmed,
            "sentences": list(self.sentences),
            "checks": [asdict(each) for each in kept],
            "cut": len(self.checks) - len(kept),
            "schedules": [{"where": "service", "name": "in service", **plan}],
        }


def analyse(episodes: Iterable[Episode], past: FleetPast) -> CheckValue:
    """Judge the checks by the faults that began in a past."""
    found = told.faults(episodes, past)
    costs = {cost.check: cost for cost in past.costs}
    names = sorted({*costs, *(sight.check for fault in found for sight in fault.sights)})
    rows = [_paid(name, found, costs.get(name) or Cost(name, 0.0, None), len(past.here), past.days) for name in names]
    rows.sort(key=lambda row: (-row.first, -row.alone, row.check))
    dubious = sum(fault.confirmed is Confirmed.NO for fault in found)
    return CheckValue(
        past.since, past.until, len(past.here), len(found), dubious, tuple(rows), _plan(found, tuple(costs.values()))
    )


def _paid(check: str, found: Sequence[Fault], cost: Cost, nodes: int, days: float) -> Paid:
    mine = [fault for fault in found if fault.first.check == check]
    later = sum(any(sight.check == check for sight in fault.sights[1:]) for fault in found)
    leads = [fault.lead_hours for fault in mine if fault.lead_hours is not None]
    seconds = cost.seconds_a_look
    minutes = None if seconds is None else seconds / MINUTE * cost.looks_a_day * WEEK_DAYS
    hours = minutes / 60 * days / WEEK_DAYS * nodes if minutes else 0.0
    row = Paid(
        check,
        is_active(check),
        len(mine),
        len(mine) - len(leads),
        later,
        median(leads) if leads else None,
        sum(fault.confirmed is Confirmed.NO for fault in mine),
        sum(fault.unhelped for fault in mine),
        cost.looks_a_day,
        seconds,
        minutes,
        len(mine) / hours if hours else None,
        "",
    )
    return Paid(**{**asdict(row), "sentence": _sentence(row)})


def _sentence(row: Paid) -> str:
    name = "what was pushed" if row.check == PUSHED else row.check
    text = f"{name} found {counted(row.first, 'fault')} first"
    if row.first:
        text += f", {row.alone} of them alone"
    if row.lead_hours is not None:
        text += f", the others {_hours(row.lead_hours)} before the next"
    if row.later:
        text += f"; it saw {row.later} that others had seen before"
    if row.minutes_a_week:
        text += f"; it took {_number(row.minutes_a_week)} minutes a node and week"
    if row.unconfirmed:
        text += f"; {row.unconfirmed} were not confirmed by the next look"
    if row.unhelped:
        text += f"; {counted(row.unhelped, 'remedy', 'remedies')} against its finds changed nothing"
    return text


def _plan(found: Sequence[Fault], costs: Sequence[Cost]) -> Plan:
    tests = [
        Timed(cost.check, cost.seconds_a_look / MINUTE, 24 / cost.looks_a_day)
        for cost in costs
        if is_active(cost.check) and cost.seconds_a_look and cost.looks_a_day and 24 / cost.looks_a_day <= WEEK
    ]
    names = {test.check for test in tests}
    mine = [fault for fault in found if _counts(fault, names)]
    proposed = propose(tests, [_caught(fault, names) for fault in mine])
    today = sum(test.minutes_a_week(1) for test in tests)
    if proposed is None:
        many = counted(len(mine), "fault")
        why = (
            f"not enough data: active tests found {many} in service, expected at least {FEWEST}"
            if tests
            else "no active test is run at nodes in service at least once a week"
        )
        return Plan(len(mine), today, None, None, None, None, None, (), why, f"No schedule is proposed: {why}.")
    after = sum(test.minutes_a_week(proposed.plan[test.check]) for test in tests)
    only = [fault.first.check for fault in mine if len(fault.sights) == 1]
    rows = [_row(test, proposed.plan[test.check], only.count(test.check)) for test in tests]
    rows.sort(key=lambda row: (-row.minutes_a_week, row.check))
    miss = proposed.miss
    text = _proposal(today, after, proposed)
    return Plan(len(mine), today, after, *miss, proposed.later_hours, tuple(rows), "", text)


def _counts(fault: Fault, names: set[str]) -> bool:
    """Whether a schedule of tests has to find a fault: one in service, that a test saw, and that was one."""
    return fault.serving and fault.confirmed is not Confirmed.NO and any(s.check in names for s in fault.sights)


def _caught(fault: Fault, names: set[str]) -> Caught:
    """Return a fault as a schedule sees it; of all that is no test, the soonest counts."""
    hours: dict[str, float] = {}
    for check, at in fault.sights:
        hours.setdefault(check if check in names else "", (at - fault.first.at) / HOUR)
    return Caught(fault.node, hours, fault.lasts)


def _proposal(today: float, after: float, proposed: Proposed) -> str:
    now = f"In service, active tests take {_number(today)} minutes a node and week"
    if after == today:
        return f"{now}; no rarer schedule finds the same."
    miss = f"an expected {proposed.miss.value:.1%} (at most {proposed.miss.high:.1%})"
    then = f"{_number(after)} would find the same faults but {miss}, {_hours(proposed.later_hours)} later on average"
    return f"{now}; {then}."


def _row(test: Timed, every: int, only: int) -> Row:
    now, after = test.minutes_a_week(1), test.minutes_a_week(every)
    alone = f"; {counted(only, 'fault')} nobody else found" if only else ""
    if every == 1:
        return Row(
            test.check, every, "at each round", now, after, only, f"{test.check}: at each round, as today{alone}"
        )
    words = f"at one of {every} rounds"
    return Row(
        test.check, every, words, now, after, only,
        f"{test.check}: {words}, {_number(after)} instead of {_number(now)} minutes a node and week{alone}",
    )  # fmt: skip


def _hours(hours: float) -> str:
    return f"{hours * 60:.0f} minutes" if hours < 1 else f"{hours:.3g} hours"


def _number(minutes: float) -> str:
    return f"{minutes:,.0f}" if minutes >= 100 else f"{minutes:.3g}"  # noqa: PLR2004  three digits matter
