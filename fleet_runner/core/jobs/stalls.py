"""Where the ranks of a process group wait: the first collective or transfer that is not done, and who holds it up."""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import median

from fleet_runner.core.base.ranks import named
from fleet_runner.core.jobs.flight_recorder import State
from fleet_runner.core.jobs.process_groups import Step, Team

WHOLE_TIMEOUT = 0.9
"""A rank is late if it came by so much of the timeout behind the others: they had given up, or were about to."""

LOOKED_AT = 100
"""Collectives before the one that hangs in which ranks may have gone different ways; those before ended on all."""

COMPARED = 16
"""Earlier collectives by which the clocks of two ranks are compared."""

NEED_ALL = re.compile(r"all_?reduce|all_?gather|reduce_scatter|all_?to_?all|barrier")
"""Operations that no rank can end before all have joined; a broadcast's root may be done at once."""

_SEND = re.compile(r"send (\d{1,6})->(\d{1,6})", re.ASCII)
_RECEIVE = re.compile(r"recv (\d{1,6})<-(\d{1,6})", re.ASCII)


class Problem(StrEnum):
    """What holds a collective up; its value is the end of the event's code."""

    KINDS = "collective_mismatch"
    COUNTS = "size_mismatch"
    TYPES = "type_mismatch"
    MISSING = "rank_missing"
    NO_DUMP = "no_dump"
    NOT_STARTED = "rank_not_started"
    UNFINISHED = "rank_unfinished"
    LATE = "rank_late"
    INSIDE = "hang_inside"
    NO_PARTNER = "partner_missing"


SOFTWARE = (Problem.KINDS, Problem.COUNTS, Problem.TYPES)


@dataclass(frozen=True, slots=True)
class Stall:
    """One place where ranks wait.

    `place` names it in a sentence, `component` in short. `waiting` are the ranks that it keeps, `held_by` others
    that keep it, none where the programs disagree or nobody is behind. `at` is when the first rank entered it, in
    nanoseconds since 1970. `pending` has the number of each rank's record that is not done: what a rank asked for
    later may only be queued behind what it asked for before. `detail` says more; `lasts` what each rank did last in
    the group.
    """

    place: str
    component: str
    problem: Problem
    waiting: frozenset[int]
    held_by: frozenset[int] = frozenset()
    at: int | None = None
    pending: Mapping[int, int] = field(default_factory=dict[int, int])
    detail: str = ""
    line: str = ""
    lasts: Mapping[int, str] = field(default_factory=dict[int, str])


def of_collectives(team: Team) -> Stall | None:
    """Return the first collective of a group that is not done, or in which its ranks disagree."""
    number = _first_open(team)
    if number is not None:
        return _disagreement(team, number) or _held_up(team, number)
    last = _common(team)
    if (stall := _disagreement(team, last) or _late(team, last)) is not None:
        return stall
    if team.silent and any(_needs_all(steps[last]) for steps in team.steps.values() if last in steps):
        return _stall(team, last, Problem.NO_DUMP, team.silent)  # it came back, done or failed: nobody recorded which
    return None


def _common(team: Team) -> int:
    """Return the newest collective that all ranks joined whose dumps there are."""
    return min((max(mine, default=0) for mine in team.steps.values()), default=0)


def _needs_all(step: Step) -> bool:
    """Say whether it cannot have come back well without every rank, and whether it came back well is not recorded."""
    return step.host_only and NEED_ALL.match(step.kinds) is not None


def _first_open(team: Team) -> int | None:
    """Return the first collective that a rank has not ended; one before another that it ended is done, too."""
    found: list[int] = []
    for mine in team.steps.values():
        for number in sorted(mine, reverse=True):
            if mine[number].over:
                break
            found.append(number)
    behind = _common(team) + 1
    if any(_needs_all(mine[behind]) for mine in team.steps.values() if behind in mine):
        found.append(behind)
    return min(found, default=None)


def _stall(
    team: Team, number: int, problem: Problem, held_by: frozenset[int] = frozenset(), detail: str = ""
) -> Stall:
    mine = {rank: steps[number] for rank, steps in team.steps.items() if number in steps}
    first = mine[min(mine)]
    lasts = {rank: _last(steps) for rank, steps in team.steps.items()}
    created = [step.created for step in mine.values() if step.created is not None]
    over = all(step.over for step in mine.values())
    waiting = frozenset(rank for rank, step in mine.items() if over or not step.over)
    return Stall(
        f"{first.kinds} {number:,} of {team.label}",
        f"collective {number} of group {team.name}",
        problem,
        waiting if problem in SOFTWARE else waiting - held_by,
        held_by,
        min(created, default=None),
        {rank: step.entries[0].record for rank, step in mine.items() if not step.over},
        detail,
        first.line,
        lasts,
    )


def _last(steps: Mapping[int, Step]) -> str:
    if not steps:
        return "it joined no collective of the group"
    number = max(steps)
    where = f" ({steps[number].asked_at})" if steps[number].asked_at else ""
    done = "" if steps[number].over else ", not done"
    return f"its last there was {steps[number].kinds} {number:,}{where}{done}"


def _disagreement(team: Team, last: int) -> Stall | None:
    """Return the first number under which ranks do different things; sizes and types count where it stopped."""
    numbers = sorted({number for mine in team.steps.values() for number in mine if last - LOOKED_AT < number <= last})
    for number in numbers:
        mine = {rank: steps[number] for rank, steps in team.steps.items() if number in steps}
        asked: list[tuple[Problem, Callable[[Step], str]]] = [(Problem.KINDS, lambda step: step.kinds)]
        if number == last:
            asked += [(Problem.COUNTS, lambda step: step.counts), (Problem.TYPES, lambda step: step.types)]
        for problem, what in asked:
            ranks: dict[str, list[int]] = defaultdict(list)
            for rank, step in mine.items():
                ranks[what(step)].append(rank)
            if len(ranks) > 1:
                fewest = min(ranks.values(), key=len)
                odd = frozenset(fewest) if 2 * len(fewest) < len(mine) else frozenset[int]()
                told = "; ".join(f"{each or 'nothing'} on {named(who)}" for each, who in sorted(ranks.items()))
                return _stall(team, number, problem, held_by=odd, detail=told)
    return None


def _held_up(team: Team, number: int) -> Stall:
    """Return who keeps the others waiting in a collective that is not done."""
    absent = {rank for rank, steps in team.steps.items() if max(steps, default=0) < number}
    mine = {rank: steps[number] for rank, steps in team.steps.items() if number in steps}
    without = team.silent | team.unclear
    if absent:
        return _stall(team, number, Problem.MISSING, held_by=frozenset(absent) | without)
    if without:
        return _stall(team, number, Problem.NO_DUMP, held_by=without)
    scheduled = {rank for rank, step in mine.items() if step.state is State.SCHEDULED}
    if scheduled and any(step.state is State.STARTED for step in mine.values()):
        return _stall(team, number, Problem.NOT_STARTED, held_by=frozenset(scheduled))
    unfinished = {rank for rank, step in mine.items() if not step.over}
    if len(unfinished) < len(mine) and not all(step.host_only for step in mine.values()):
        return _stall(team, number, Problem.UNFINISHED, held_by=frozenset(unfinished))
    return _late(team, number) or _stall(team, number, Problem.INSIDE)


def _late(team: Team, number: int) -> Stall | None:
    """Return the rank that came to a collective when the others' time was over.

    Clocks differ between nodes: what a rank was behind in the collectives before is subtracted.
    """
    created = {rank: _times(steps, number) for rank, steps in team.steps.items()}
    found: list[tuple[float, int]] = []
    for rank, mine in created.items():
        others = [each for other, each in created.items() if other != rank]
        behind = {at: _behind(mine, others, at) for at in mine}
        before = [each for at, each in behind.items() if at < number and each is not None]
        now = behind.get(number)
        if now is not None and before:
            found.append((now - median(before), rank))
    worst, rank = max(found, default=(0.0, 0))
    limits = [
        each.timeout_ms * 1e6
        for other, steps in team.steps.items()
        if other != rank and number in steps
        for each in steps[number].entries
        if each.timeout_ms
    ]
    if not limits or worst < WHOLE_TIMEOUT * min(limits):
        return None
    detail = f"{worst / 1e9:,.1f} s after the others, whose timeout was {min(limits) / 1e9:,.1f} s"
    return _stall(team, number, Problem.LATE, held_by=frozenset({rank}), detail=detail)


def _times(steps: Mapping[int, Step], number: int) -> dict[int, int]:
    """Return when a rank entered a collective and those before it."""
    near = range(number - COMPARED, number + 1)
    return {at: steps[at].created or 0 for at in near if at in steps and steps[at].created}


def _behind(mine: Mapping[int, int], others: Sequence[Mapping[int, int]], at: int) -> float | None:
    theirs = [each[at] for each in others if at in each]
    return mine[at] - median(theirs) if theirs else None


def of_transfers(team: Team) -> Iterator[Stall]:
    """Yield transfers between two ranks of which one waits for the other, or both wait."""
    sends, receives = _pending(team, _SEND), _pending(team, _RECEIVE)
    for source, target in sorted({*sends, *((there, here) for here, there in receives)}):
        send, receive = sends.get((source, target)), receives.get((target, source))
        step = send or receive
        assert step is not None  # noqa: S101  one of them is where the pair is from
        place = f"a transfer from rank {source} to rank {target} in {team.label}"
        waiting = frozenset({source} if receive is None else {target} if send is None else {source, target})
        held_by = frozenset({source, target}) - waiting
        problem, detail = Problem.NO_PARTNER, ""
        if held_by & (team.silent | team.unclear):
            problem = Problem.NO_DUMP
        elif send is not None and receive is not None:
            given, taken = _given(send.entries[0].inputs), _given(receive.entries[0].outputs)
            problem = Problem.COUNTS if given != taken else Problem.INSIDE
            detail = f"{given:,} elements on rank {source}; {taken:,} elements on rank {target}"
        pending = {
            rank: step.entries[0].record for rank, step in ((source, send), (target, receive)) if step is not None
        }
        yield Stall(
            place,
            f"rank {source} to rank {target} of group {team.name}",
            problem,
            waiting,
            held_by,
            step.created,
            pending,
            detail,
            step.line,
        )


def _given(sizes: Sequence[Sequence[int]]) -> int:
    return sum(map(math.prod, sizes))


def _pending(team: Team, pattern: re.Pattern[str]) -> dict[tuple[int, int], Step]:
    """Return the first transfer of each rank with each other one that is not done, by both ranks."""
    found: dict[tuple[int, int], Step] = {}
    for rank, steps in team.transfers.items():
        for step in steps:
            told = pattern.fullmatch(step.entries[0].name.rpartition(":")[2])
            if told is None or step.over:
                continue
            here, there = int(told[1]), int(told[2])
            if max(here, there) < len(team.ranks) and team.ranks[here] == rank:
                found.setdefault((rank, team.ranks[there]), step)
    return found
