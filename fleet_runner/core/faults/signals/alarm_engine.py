"""Where signals become alarms: known again, counted, held back until they count, and cleared.

Everything is kept for each node by itself, so that what one node tells costs no other its place, its memory or its
turn; and apart again by whether its sender was authenticated, so that forged words neither raise, hide nor end what
came with proof. Nothing here is stored: alarms that changed are given back, and a desk begins again from stored ones.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import count

from fleet_runner.core.faults.rules.effect import Following
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.faults.signals.memory import Memory, Outcome, ended, marked
from fleet_runner.core.faults.signals.node_alarms import Desktop
from fleet_runner.core.faults.signals.signal import Signal, Source
from fleet_runner.core.faults.signals.standing import NEVER, STORED_EVERY, StandingAlarm, opened, restored

MOST_ALARMS = 200_000
"""Alarms that stand at once in a whole fleet; each node has its share of them, within the next two limits."""

ALARMS_A_NODE = 256
"""Alarms of one node that stand at once; signals that would open another are refused."""

FEWEST_A_NODE = 16

MOST_MEMORIES = 100_000
"""Kinds of faults and components without an alarm of which something is remembered; each node has its share."""

SETTLES = 5.0
"""Seconds after which an alarm clears that was taken back by a node that tells too much."""

STAYS = 3600.0
"""Seconds after which one clears that was taken back by a node whose alarms come and go too often."""

TAKEN_BACK = "its sender ended it"
ELSEWHERE = "another process cleared it"


@dataclass(frozen=True, slots=True)
class SignalOutcome:
    """What became of signals: alarms to store now, in this order, and how many signals met which end.

    `refused` counts by node those that told nothing but that an alarm goes on, or for which there was no room.
    """

    changed: tuple[Alarm, ...]
    outcomes: Mapping[Outcome, int]
    refused: Mapping[str, int]


Side = tuple[str, bool]
"""A node, and whether what is told of it is authenticated."""


class AlarmEngine:
    """The alarms that stand, by node; one process has one, for all its listeners."""

    def __init__(self, following: Callable[[str, str], Following]) -> None:
        """Take what follows from a node's code: asked once for each alarm."""
        self._following = following
        self._nodes: dict[Side, Desktop] = {}
        self._order = count()
        self._due: list[tuple[float, int, StandingAlarm]] = []

    @classmethod
    def of(cls, alarms: Iterable[Alarm], following: Callable[[str, str], Following]) -> "AlarmEngine":
        """Begin from stored alarms: those that stand, and lately cleared ones, whose signals may come again."""
        desk = cls(following)
        for alarm in alarms:
            node = desk._nodes.setdefault(_side(alarm), Desktop())
            key = alarm.code, alarm.component
            if alarm.cleared_at is None:
                node.standing[key] = restored(alarm, following(alarm.node, alarm.code))
            elif key not in node.standing:
                node.memories[key] = Memory(times=[alarm.first_at, alarm.last_at], before=alarm.last_at)
        for node in desk._nodes.values():
            for each in node.standing.values():
                each.waits |= node.ripen(each, each.heard_at)
                desk._schedule(each)
        return desk

    def __len__(self) -> int:
        return sum(len(node.standing) for node in self._nodes.values())

    @property
    def next_at(self) -> float:
        """Return when `due` may have something to tell; at the earliest, and never too late."""
        return self._due[0][0] if self._due else NEVER

    def hear(self, signals: Iterable[Signal], now: float) -> SignalOutcome:
        """Take signals, in any order; return the alarms that must be stored now."""
        changed: dict[int, StandingAlarm] = {}
        outcomes: Counter[Outcome] = Counter()
        refused: Counter[str] = Counter()
        for signal in signals:
            outcome = self._take(signal, now, changed)
            outcomes[outcome] += 1
            if outcome is Outcome.REFUSED:
                refused[signal.node] += 1
        return SignalOutcome(tuple(each.alarm(now) for each in changed.values()), outcomes, refused)

    def due(self, now: float) -> tuple[Alarm, ...]:
        """Return the alarms that clear or come to count with time alone, and those whose count was not stored yet."""
        changed: dict[int, StandingAlarm] = {}
        while self._due and self._due[0][0] <= now:
            when, _, each = heapq.heappop(self._due)
            if each.cleared_at is not None or when != each.due_at:
                continue
            each.due_at = NEVER
            node = self._nodes[_side(each)]
            counts = each.held_at <= each.quiet_at and node.ripen(each, now)
            if now >= each.quiet_at:
                self._clear(node, each, now, _silence(each, now))
                _give(each, changed, now)
            elif now >= each.over_at:
                self._clear(node, each, now, TAKEN_BACK)
                _give(each, changed, now)
            else:
                if counts or each.waits:
                    _give(each, changed, now)
                self._schedule(each)
        return tuple(each.alarm(now) for each in changed.values())

    def unstored(self, now: float) -> tuple[Alarm, ...]:
        """Return the alarms whose count was not stored yet: for a process that ends."""
        every = (each for node in self._nodes.values() for each in node.standing.values())
        return tuple(each.alarm(now) for each in every if each.waits)

    def cleared(self, alarms: Iterable[Alarm], now: float) -> tuple[Alarm, ...]:
        """Take over alarms that others cleared; return those of which more was heard since: they stand on, as new."""
        again: list[Alarm] = []
        for alarm in alarms:
            node = self._nodes.get(_side(alarm))
            each = node.standing.get((alarm.code, alarm.component)) if node else None
            if node is None or each is None or alarm.cleared_at is None:
                continue
            if each.heard_at <= alarm.cleared_at:
                self._clear(node, each, alarm.cleared_at, alarm.cleared_because)
            else:
                each.id = 0
                again.append(each.alarm(now))
        return tuple(again)

    def learn(self, known: Iterable[tuple[str, Iterable[Alarm]]], now: float) -> None:
        """Take over what is stored of some nodes where others opened, cleared or heard more of alarms."""
        for name, stored in known:
            every = tuple(stored)
            for proven in (True, False):
                self._learn((name, proven), [each for each in every if each.authenticated is proven], now)

    def _learn(self, side: Side, stored: Iterable[Alarm], now: float) -> None:
        """Do that for one side of a node."""
        rows = {(alarm.code, alarm.component): alarm for alarm in stored}
        node = self._nodes.get(side)
        if node is None:
            if not rows:
                return
            node = self._nodes[side] = Desktop()
        for key in node.standing.keys() - rows.keys():
            self._clear(node, node.standing[key], now, ELSEWHERE)
        for key, alarm in rows.items():
            each = node.standing.get(key)
            if each is None:
                each = node.standing[key] = restored(alarm, self._following(side[0], alarm.code))
                each.waits |= node.ripen(each, now)
            else:
                node.agree(each, alarm)
            self._schedule(each)

    def _take(self, signal: Signal, now: float, changed: dict[int, StandingAlarm]) -> Outcome:
        node = self._nodes.get(_side(signal))
        if node is None:
            node = self._nodes[_side(signal)] = Desktop()
        each = node.standing.get((signal.code, signal.component))
        if each is not None and now >= each.quiet_at:
            self._clear(node, each, now, _silence(each, now))
            _give(each, changed, now)
            each = None
        if signal.ended:
            return self._end(node, each, signal, now, changed)
        if each is None:
            return self._open(node, signal, now, changed)
        mark = marked(signal)
        outcome = each.memory.judge(signal, mark)
        if outcome is not Outcome.TAKEN:
            return outcome
        if mark in each.memory.recent or _is_the_same(each, signal):  # it goes on
            each.memory.keep(mark, signal.at)
            each.refresh(signal.at, now)
            self._schedule(each)
            return Outcome.REPEATED
        if not node.tells.draw(now) and each.raised_at is not None:
            each.refresh(signal.at, now)
            self._schedule(each)
            return Outcome.REFUSED
        return self._add(node, each, signal, now, changed)

    def _open(self, node: Desktop, signal: Signal, now: float, changed: dict[int, StandingAlarm]) -> Outcome:
        key = signal.code, signal.component
        memory = node.memories.get(key) or Memory()
        outcome = memory.judge(signal, marked(signal))
        if outcome is not Outcome.TAKEN:
            return outcome
        if len(node.standing) >= self._share(MOST_ALARMS, ALARMS_A_NODE):
            return Outcome.REFUSED
        node.tells.draw(now)
        node.memories.pop(key, None)
        each = opened(signal, self._following(signal.node, signal.code), memory)
        node.standing[key] = each
        return self._add(node, each, signal, now, changed)

    def _add(
        self, node: Desktop, each: StandingAlarm, signal: Signal, now: float, changed: dict[int, StandingAlarm]
    ) -> Outcome:
        each.memory.keep(marked(signal), signal.at)
        changes = each.take(signal, now)
        if node.ripen(each, now) or changes or now >= each.stored_at + STORED_EVERY:
            _give(each, changed, now)
        for other in tuple(node.waiting.values()):
            if other.code != each.code:
                if node.ripen(other, now):
                    _give(other, changed, now)
                self._schedule(other)
        self._schedule(each)
        return Outcome.TAKEN

    def _end(
        self, node: Desktop, each: StandingAlarm | None, signal: Signal, now: float, changed: dict[int, StandingAlarm]
    ) -> Outcome:
        if each is None:
            return self._remember_end(node, signal, now)
        if signal.source not in (each.source, Source.OPERATOR):
            return Outcome.REFUSED
        memory = each.memory
        if memory.recent.get(ended(signal), -NEVER) >= signal.at:
            return Outcome.REPEATED
        memory.keep(ended(signal), signal.at)
        if signal.key and each.opened:
            each.opened.discard(signal.key)
            if each.opened:
                return Outcome.TAKEN
        elif signal.at < each.last_at:
            memory.ended_at = max(memory.ended_at, signal.at)
            each.forget(signal.at)
            self._schedule(each)
            return Outcome.LATE
        memory.ended_at = max(memory.ended_at, signal.at)
        room = node.ends.draw(now)
        if room and node.tells.draw(now):
            self._clear(node, each, now, TAKEN_BACK)
            _give(each, changed, now)
        else:
            each.over_at = now + (SETTLES if room else STAYS)
            self._schedule(each)
        return Outcome.TAKEN if room else Outcome.STAYS

    def _remember_end(self, node: Desktop, signal: Signal, now: float) -> Outcome:
        """What is over before it was heard of: it may still arrive, or never does."""
        if not node.tells.draw(now):
            return Outcome.REFUSED
        memory = node.memories.setdefault((signal.code, signal.component), Memory())
        memory.keep(ended(signal), signal.at)
        memory.ended_at = max(memory.ended_at, signal.at)
        self._trim(node)
        return Outcome.TAKEN

    def _clear(self, node: Desktop, each: StandingAlarm, at: float, because: str) -> None:
        node.clear(each, at, because)
        self._trim(node)

    def _trim(self, node: Desktop) -> None:
        """Forget what is oldest of a node that has more than its share."""
        while len(node.memories) > self._share(MOST_MEMORIES, ALARMS_A_NODE):
            del node.memories[next(iter(node.memories))]

    def _share(self, whole: int, most: int) -> int:
        return min(most, max(FEWEST_A_NODE, whole // len(self._nodes)))

    def _schedule(self, each: StandingAlarm) -> None:
        """Have an alarm looked at in time; one that is due later than planned is found so when it is looked at."""
        when = each.next_at
        if when < each.due_at:
            each.due_at = when
            heapq.heappush(self._due, (when, next(self._order), each))


def _side(told: Signal | Alarm | StandingAlarm) -> Side:
    return told.node, told.authenticated


def _is_the_same(each: StandingAlarm, signal: Signal) -> bool:
    """Whether what a cluster says goes on since before it was heard of last, maybe by an earlier process."""
    return signal.source is Source.CLUSTER and signal.began is not None and signal.began <= each.last_at


def _give(each: StandingAlarm, changed: dict[int, StandingAlarm], now: float) -> None:
    """Have an alarm given back, as it will be when all signals were heard."""
    changed[id(each)] = each
    each.stored_at, each.waits = now, False


def _silence(each: StandingAlarm, now: float) -> str:
    return f"no more signals for {now - each.heard_at:.0f} seconds"
