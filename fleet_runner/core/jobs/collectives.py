"""What the flight recorder dumps of all ranks say about a job that hung: who held whom up, and where it began.

A rank that is missing or behind is a symptom: its program, its node or its GPU may be why. Only programs that
disagree are a cause, and no hardware's doing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from fleet_runner.core.base.plural import counted
from fleet_runner.core.base.ranks import SHOWN, named
from fleet_runner.core.jobs.event import Area, Event, Role
from fleet_runner.core.jobs.flight_recorder import Dump
from fleet_runner.core.jobs.process_groups import Team, expected, teams
from fleet_runner.core.jobs.stalls import SOFTWARE, Problem, Stall, of_collectives, of_transfers

_LOOK = "look at its stack and output, and at its node's kernel log, first"

_SAYS = {
    Problem.KINDS: "{place}: the ranks call different operations: {detail}; their programs went different ways: look"
    " for a branch that depends on the rank or on its data",
    Problem.COUNTS: "{place}: the ranks give different sizes: {detail}; look for data that differs between ranks",
    Problem.TYPES: "{place}: the ranks give different types: {detail}; look for a rank with another precision",
    Problem.MISSING: "{rank} never joined {place}, in which {waiting} {wait}; {last}; {look}",
    Problem.NO_DUMP: "{rank} left no record that tells whether it joined {place}, in which {waiting} {wait}: it"
    " ended, hung too hard to write one, or its file is not here; {look}",
    Problem.NOT_STARTED: "{rank} asked for {place}, and its GPU has not begun it, as others have; {look}",
    Problem.UNFINISHED: "{rank} has not ended {place}, as others have; {look}",
    Problem.LATE: "{rank} joined {place} {detail}; {look}",
    Problem.INSIDE: "all joined {place}, and {waiting} have not ended it: the operation itself hangs, for which the"
    " network, a GPU or the library can be the reason; look at link events, Xids and counters of their nodes",
    Problem.NO_PARTNER: "{rank} has not asked for its part of {place}, in which {waiting} {wait}; {look}",
}
"""What is told of each kind."""


def analyse(dumps: Mapping[int, Dump], world: int = 0) -> list[Event]:
    """Return what happened, where it began first, then what follows from that.

    `dumps` are by rank of the whole job, those that there are; `world` is how many ranks it has, 0 where that is not
    known: then the dumps' process groups tell.
    """
    if not dumps:
        return []
    ranks = expected(dumps, world)
    source = f"flight recorder dumps of {len(dumps)} of {counted(len(ranks), 'rank')}"
    groups = teams(dumps, world)
    stalls = [each for group in groups for each in _of(group)]
    roots, cycles, follow = _order(stalls)
    events = [event for stall in roots for event in _events(stall, stalls, source)]
    events += [_deadlock(each, source) for each in cycles]
    told = {event.rank for event in events}
    events += [_following(each, stalls, source) for each in follow]
    events += _without_dump(ranks - set(dumps) - told, source)
    if not stalls:
        events.insert(0, _nothing(dumps, groups, source))
    return events


def _of(group: Team) -> Iterator[Stall]:
    if (stall := of_collectives(group)) is not None:
        yield stall
    yield from of_transfers(group)


def _free(stall: Stall, stalls: Sequence[Stall]) -> frozenset[int]:
    """Return who holds a stall up and waits nowhere else."""
    elsewhere = {rank for other in stalls if other is not stall for rank in other.waiting}
    return stall.held_by - elsewhere


def _order(stalls: Sequence[Stall]) -> tuple[list[Stall], list[list[Stall]], list[Stall]]:
    """Return where it began, oldest first; circles that wait for each other; and what only follows."""
    roots = [
        each for each in stalls if each.problem in SOFTWARE or _free(each, stalls) or _first_of_all(each, stalls)
    ]
    waits = {
        index: {
            other
            for other, there in enumerate(stalls)
            if other != index and each not in roots and there.waiting & each.held_by
        }
        for index, each in enumerate(stalls)
    }
    reached = {index: _reached(index, waits) for index in waits}
    circles = {
        frozenset(other for other in reached[index] if index in reached[other])
        for index in waits
        if index in reached[index] and not any(stalls[other] in roots for other in reached[index])
    }
    if stalls and not roots and not circles:
        roots = [min(stalls, key=lambda each: (each.problem is not Problem.INSIDE, _age(each)))]
    used = [stalls[index] for circle in circles for index in circle] + roots
    return (
        sorted(roots, key=_age),
        [sorted((stalls[index] for index in circle), key=_age) for circle in sorted(circles, key=min)],
        sorted((each for each in stalls if each not in used), key=_age),
    )


def _first_of_all(stall: Stall, stalls: Sequence[Stall]) -> bool:
    """Say whether all are in it, and none of them asked for something before that is not done either."""
    return stall.problem is Problem.INSIDE and all(
        other.pending.get(rank, record) >= record for rank, record in stall.pending.items() for other in stalls
    )


def _reached(start: int, waits: Mapping[int, set[int]]) -> set[int]:
    found: set[int] = set()
    todo = list(waits[start])
    while todo:
        index = todo.pop()
        if index not in found:
            found.add(index)
            todo += waits[index]
    return found


def _age(stall: Stall) -> tuple[bool, bool, int, str]:
    return stall.problem not in SOFTWARE, stall.at is None, stall.at or 0, stall.place


def _events(stall: Stall, stalls: Sequence[Stall], source: str) -> Iterator[Event]:
    """Yield what is told of a stall: one event for each rank that holds it up, one for all where they are many."""
    software = stall.problem in SOFTWARE
    culprits = stall.held_by if software else _free(stall, stalls)
    alone = len(culprits) == 1 if software else 0 < len(culprits) <= SHOWN
    for rank in sorted(culprits) if alone else [None]:
        problem = stall.problem
        if problem is Problem.MISSING and rank is not None and rank not in stall.lasts:
            problem = Problem.NO_DUMP
        message = _SAYS[problem].format(
            place=stall.place,
            detail=stall.detail,
            waiting=named(stall.waiting),
            wait=_wait(stall),
            rank=named(culprits if rank is None else [rank]),
            last="how far each came is in its dump" if rank is None else stall.lasts.get(rank, ""),
            look=_LOOK,
        )
        event = _event(stall, Role.CAUSE if software else Role.SYMPTOM, problem, message, source)
        yield replace(event, rank=rank)


def _wait(stall: Stall) -> str:
    return "waits" if len(stall.waiting) == 1 else "wait"


def _event(stall: Stall, role: Role, code: str, message: str, source: str) -> Event:
    return Event(
        None if stall.at is None else stall.at / 1e9,
        Area.SOFTWARE if role is Role.CAUSE else Area.UNKNOWN,
        role,
        f"job.{code}",
        message,
        component=stall.component,
        line=stall.line,
        source=source,
    )


def _deadlock(circle: Sequence[Stall], source: str) -> Event:
    parts = "; ".join(
        f"{named(each.waiting)} {_wait(each)} in {each.place} for {named(each.held_by)}" for each in circle
    )
    message = (
        f"the ranks wait for each other in a circle: {parts}; their programs use process groups or transfers in"
        " different orders: look for a branch that depends on the rank"
    )
    return _event(circle[0], Role.CAUSE, "group_order", message, source)


def _following(stall: Stall, stalls: Sequence[Stall], source: str) -> Event:
    ranks = stall.held_by or stall.waiting
    where = next(each.place for each in stalls if each is not stall and (each.waiting | each.held_by) & ranks)
    whom = f" for {named(stall.held_by)}" if stall.held_by else ""
    message = f"{named(stall.waiting)} {_wait(stall)} in {stall.place}{whom}, and that follows from {where}"
    return _event(stall, Role.CONTEXT, "collective_follows", message, source)


def _without_dump(ranks: frozenset[int], source: str) -> list[Event]:
    if not ranks:
        return []
    message = f"{named(ranks)} left no flight recorder dump, and nobody is seen to wait for it"
    rank = min(ranks) if len(ranks) == 1 else None
    return [Event(None, Area.UNKNOWN, Role.CONTEXT, "job.dump_missing", message, source=source, rank=rank)]


def _nothing(dumps: Mapping[int, Dump], groups: Sequence[Team], source: str) -> Event:
    if groups:
        numbers = sum(len(dump.entries) for dump in dumps.values())
        message = f"nothing is stuck in the flight recorder dumps: all of {counted(numbers, 'operation')} are done"
        return Event(None, Area.UNKNOWN, Role.CONTEXT, "job.nothing_stuck", message, source=source)
    message = (
        "the flight recorder dumps hold no operation: the job ended before its first one, or they were written"
        " without (TORCH_FR_BUFFER_SIZE=0)"
    )
    return Event(None, Area.UNKNOWN, Role.CONTEXT, "job.nothing_recorded", message, source=source)
