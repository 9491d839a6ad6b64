"""Whether the proposed schedule and the proposed limits keep what they promise, on fleets whose truth is known.

`python benchmarks/worth.py [FLEETS] [--nodes N]` makes up so many fleets, each from its own seed.

- *schedule*: in 30 days nodes get faults of several kinds: such that stay and such that pass after some hours, seen
  by one test or by several, at each look or at some, or by a passive check as well. Tests come each hour and see what
  is there then. From what they saw a schedule is proposed (`core.reliability.check_value`). Then five times as many
  faults befall the same fleet, and are looked for with the schedule of today and with the proposed one: what two
  rounds of the first see and the other does not find is the true miss, which is held against the expected one and its
  interval.
- *false alarms*: tests fail without a fault now and then. How many of those are called unconfirmed, and how many
  faults are called that wrongly.
- *limits*: GPUs' margins, at rest and at work, node by node a little different (normal, or with heavy tails), and
  some nodes that get 15 C warmer for the last days. How many good nodes of the next month the limit flags, against
  the bound that is told with it, and how many of the bad.
"""

import argparse
import math
import random
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import NamedTuple

from fleet_runner.core.checks.baseline import Margin
from fleet_runner.core.lifecycle.states import State
from fleet_runner.core.reliability.check_value.analyse import CheckValue, analyse
from fleet_runner.core.reliability.check_value.faults import Confirmed, faults
from fleet_runner.core.reliability.check_value.limits import LIMITS, Look, learn, replay
from fleet_runner.core.reliability.check_value.past import DAY, Cost, FleetPast, Moved
from fleet_runner.core.reliability.check_value.share import share
from fleet_runner.core.reliability.parts.stay import Episode

DAYS = 30
TESTS = {
    "gpu_bandwidth": 60.0,
    "nccl_allreduce": 90.0,
    "ib_write": 120.0,
    "gemm": 45.0,
    "training": 330.0,
    "dcgm": 900.0,
}
"""Seconds of each; every hour."""

STAYS = math.inf
FALSE = 2e-6
"""How likely a look of a test fails without a fault."""


class Fault(NamedTuple):
    """A kind of fault: how many a node gets in 30 days, how many hours it lasts, and who sees it how surely."""

    rate: float
    hours: float
    seen: Mapping[str, float]


KINDS = (
    Fault(0.10, STAYS, {"gpu_bandwidth": 1.0, "nccl_allreduce": 0.9}),
    Fault(0.06, STAYS, {"ib_write": 1.0, "nccl_allreduce": 1.0}),
    Fault(0.06, STAYS, {"gemm": 0.7, "training": 1.0, "dcgm": 1.0}),
    Fault(0.05, 3.0, {"gemm": 1.0}),
    Fault(0.04, 30.0, {"nccl_allreduce": 0.8, "training": 0.5}),
    Fault(0.20, STAYS, {"gpu_errors": 1.0, "gemm": 0.5, "dcgm": 0.9}),
    Fault(0.02, STAYS, {"dcgm": 1.0}),
)
"""What a round of an hour and a sweep of five minutes meet."""

PASSIVE = 1 / 12

OUT, PEOPLE = 1.0, 4.0
"""Hours after which a node is taken out, for two rounds must see a fault, and after which people look into it."""


@dataclass(frozen=True)
class Hit:
    """A fault of the truth: its kind, its node, when it began and when it passes."""

    kind: Fault
    node: str
    at: float
    until: float


def befallen(chance: random.Random, nodes: Sequence[str]) -> Iterator[Hit]:
    """Yield the faults of a month."""
    for kind in KINDS:
        for node in nodes:
            if chance.random() < kind.rate:
                at = chance.random() * (DAYS - 3) * 24
                lasts = kind.hours if math.isinf(kind.hours) else chance.expovariate(1 / kind.hours)
                yield Hit(kind, node, at, at + lasts)


def sights(chance: random.Random, hit: Hit, plan: Mapping[str, int]) -> dict[str, float]:
    """Return when who sees a fault first; after 72 hours nobody waits any longer."""
    found: dict[str, float] = {}
    for check, sure in hit.kind.seen.items():
        every = plan.get(check, 1) * (1.0 if check in TESTS else PASSIVE)
        at = hit.at + chance.random() * every
        while at < min(hit.until, hit.at + 72):
            if chance.random() < sure:
                found[check] = at
                break
            at += every
    return found


def told(chance: random.Random, hits: Sequence[Hit], nodes: Sequence[str]) -> tuple[list[Episode], list[Moved], int]:
    """Return what tests told of a month, who was taken out for it, and how many of it were no faults."""
    episodes: list[Episode] = []
    moves: list[Moved] = []
    for number, hit in enumerate(hits):
        seen = sights(chance, hit, {})
        if not seen:
            continue
        first = min(seen.values())
        for check, at in seen.items():
            if at > first + OUT:
                continue  # the node is out by then
            last = max(at, min(hit.until, first + OUT))
            episodes.append(episode(len(episodes), (hit.node, f"part {number}", check), at, last))
        if hit.until > first + OUT:  # two rounds saw it; people find it if it is still there when they look
            mended = hit.until > first + OUT + PEOPLE
            moves += [
                Moved(hit.node, (first + OUT) * 3_600, State.PRODUCTION, State.TRIAGE),
                Moved(hit.node, (first + 24) * 3_600, State.TRIAGE, State.ONBOARD, mended),
                Moved(hit.node, (first + 25) * 3_600, State.BURN_IN, State.PRODUCTION),
            ]
    false = 0
    for check in TESTS:
        for _ in range(round(chance.gauss(FALSE * len(nodes) * 24 * DAYS, 1))):
            at = chance.random() * (DAYS - 3) * 24
            episodes.append(episode(len(episodes), (chance.choice(nodes), f"false {false}", check), at, at))
            false += 1
    return episodes, moves, false


def episode(number: int, who: tuple[str, str, str], first: float, last: float) -> Episode:
    """Return what a store keeps of a fault of a node's component that a check saw at rounds of an hour."""
    node, component, check = who
    seen = 1 + math.floor(last - first + 1e-9)
    return Episode(number, node, component, "x", f"{component}/{check}", check, "", first * 3_600, last * 3_600, seen)


@dataclass
class Outcome:
    """What one fleet came to."""

    worth: CheckValue
    missed: float
    later: float
    false: int
    dubious: tuple[int, int]
    seconds: float


def fleet(seed: int, nodes: Sequence[str]) -> Outcome:
    """Make up a fleet, judge its checks, and try the proposal on the month after."""
    chance = random.Random(seed)
    episodes, moves, false = told(chance, list(befallen(chance, nodes)), nodes)
    costs = [Cost(name, 24.0, seconds) for name, seconds in TESTS.items()] + [Cost("gpu_errors", 288.0, 0.5)]
    here = dict.fromkeys(nodes, State.PRODUCTION)
    began = time.process_time()
    past = FleetPast(0.0, DAYS * DAY, here, tuple(moves), costs=tuple(costs))
    worth = analyse(episodes, past)
    seconds = time.process_time() - began
    unconfirmed = [each.component for each in faults(episodes, past) if each.confirmed is Confirmed.NO]
    wrong = sum(not name.startswith("false") for name in unconfirmed)
    plan = {row.check: row.every for row in worth.plan.steps}
    found = missed = 0
    later: list[float] = []
    for hit in (each for _ in range(5) for each in befallen(chance, nodes)):
        today = sights(chance, hit, {})
        if not today.keys() & TESTS.keys() or hit.until < min(today.values()) + OUT:
            continue  # what passes within the hour cannot be told from a test that was wrong
        found += 1
        then = sights(chance, hit, plan)
        if then:
            later.append(min(then.values()) - min(today.values()))
        else:
            missed += 1
    return Outcome(
        worth,
        missed / found if found else 0.0,
        fmean(later) if later else 0.0,
        false,
        (len(unconfirmed) - wrong, wrong),
        seconds,
    )


def tell_schedules(outcomes: Sequence[Outcome]) -> None:
    """Say what was expected of schedules, and what came true."""
    made = [each for each in outcomes if each.worth.plan.miss is not None]
    plans = [each.worth.plan for each in made]
    within = sum(each.missed <= (each.worth.plan.miss_high or 0.0) for each in made) / len(made)
    faults, proposed = median(p.faults for p in plans), median(p.proposed_minutes_a_week or 0.0 for p in plans)
    expected, true = fmean(p.miss or 0.0 for p in plans), fmean(each.missed for each in made)
    later = fmean(p.later_hours or 0.0 for p in plans), fmean(each.later for each in made)
    print(f"schedule: {len(made)} of {len(outcomes)} fleets had faults enough, a median of {faults:.0f}")
    print(f"  minutes a node and week: {plans[0].minutes_a_week:.0f} today, {proposed:.0f} proposed (median)")
    print(f"  missed: {expected:.2%} expected, {true:.2%} true; within the told bound in {within:.0%} of fleets")
    print(f"  later: {later[0]:.1f} hours expected, {later[1]:.1f} true")
    print(f"  analysis: {median(each.seconds for each in outcomes) * 1000:.0f} ms of CPU (median)")


def tell_alarms(outcomes: Sequence[Outcome]) -> None:
    """Say how many of what was no fault is told as unconfirmed."""
    false, right = sum(each.false for each in outcomes), sum(each.dubious[0] for each in outcomes)
    told, wrong = sum(each.worth.faults for each in outcomes), sum(each.dubious[1] for each in outcomes)
    print(
        f"false alarms: {right} of {false} are told as not confirmed, and {wrong} of {told - false} faults wrongly so"
    )


MARGIN = next(limit for limit in LIMITS if limit.key == "limits.gpu_tlimit_margin_celsius")


LOOKS, LAST = 96, 32
"""Looks at a node in a month, and how many of them a node that gets warmer is warmer at."""


def month(chance: random.Random, base: float, warmer: float) -> list[float]:
    """Return what a node's worst GPU told at its looks, at rest or at work; at the last ones it may be warmer."""
    looks = (base + chance.choice((0.0, 25.0)) + chance.gauss(0, 1.5) for _ in range(LOOKS))
    return [value - (warmer if at >= LOOKS - LAST else 0.0) for at, value in enumerate(looks)]


class Held(NamedTuple):
    """The bound that is told with a limit, and which share it flags: of good nodes a month later, and of bad ones."""

    bound: float
    good: float
    bad: float


def limits(seed: int, nodes: int, *, heavy: bool) -> Held | None:
    """Learn a limit from good nodes, and hold their next month and that of 40 bad nodes against it."""
    chance = random.Random(seed)

    def base() -> float:
        odd = chance.gauss(0, 1) / math.sqrt(chance.gammavariate(1.5, 1) / 1.5) if heavy else chance.gauss(0, 1)
        return 30 + 2 * odd

    bases = [base() for _ in range(nodes)]
    learned = learn(MARGIN, looks(month(chance, each, 0) for each in bases), {}, Margin())
    if learned.mark is None:
        return None
    after = replay(MARGIN, learned.mark, looks(month(chance, each, 0) for each in bases), {})
    bad = replay(MARGIN, learned.mark, looks(month(chance, base(), 15) for _ in range(40)), {})
    bound = share(len(learned.outside), nodes).high
    return Held(bound, len(after.flagged) / nodes, len(bad.flagged) / 40)


def looks(months: Iterable[Sequence[float]]) -> list[Look]:
    """Return months of nodes as looks."""
    return [Look(str(node), float(at), value) for node, mine in enumerate(months) for at, value in enumerate(mine)]


def tell_limits(fleets: int, nodes: int, *, heavy: bool) -> None:
    """Say what learned limits flagged."""
    each = [limits(seed, nodes, heavy=heavy) for seed in range(fleets)]
    held = [one for one in each if one is not None]
    kept = sum(one.good <= one.bound for one in held) / len(held)
    good, bad = fmean(one.good for one in held), fmean(one.bad for one in held)
    kind = "nodes with heavy tails" if heavy else "normal nodes"
    print(f"limits, {kind}: learned in {len(held)} of {fleets} fleets of {nodes} good nodes")
    print(f"  good nodes flagged a month later: {good:.2%}, within the told bound in {kept:.0%} of fleets")
    print(f"  nodes that got 15 C warmer flagged: {bad:.1%}")


def main() -> None:
    """Make up fleets, and say what was promised and what came true."""
    parser = argparse.ArgumentParser()
    parser.add_argument("fleets", nargs="?", type=int, default=100)
    parser.add_argument("--nodes", type=int, default=400)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    given = parser.parse_args()
    nodes = [f"gpu-{at:05}" for at in range(given.nodes)]
    outcomes = [fleet(seed, nodes) for seed in range(given.first, given.first + given.fleets)]
    last = given.first + given.fleets - 1
    print(f"{given.fleets} fleets of {given.nodes} nodes, {DAYS} days, seeds {given.first} to {last}")
    tell_schedules(outcomes)
    tell_alarms(outcomes)
    for heavy in (False, True):
        tell_limits(given.fleets, 100, heavy=heavy)


if __name__ == "__main__":
    main()
