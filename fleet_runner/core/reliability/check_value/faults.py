"""Faults, told from what checks saw: what belongs together, which check was first, and what came of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.lifecycle.states import State
from fleet_runner.core.reliability.check_value.past import DAY, HOUR, FleetPast, StateHistory
from fleet_runner.core.reliability.parts.stay import Episode

TOGETHER = 2 * DAY
"""Seconds after its first sight within which what else is seen of a component is the same fault."""

PATIENCE = DAY
"""Seconds after which a fault that was told but once is not there any more: whatever looks had looked again."""

LOGS = frozenset({"xid", "kernel_log", "hca_events", "sel", "memory_errors", "link_flaps", "rebooted"})
"""Checks that read what a log tells once: that they do not tell it again says nothing."""

MENDED_HOURS = 12.0
"""Hours for which a fault would have stayed that was seen twice and mended: it did not pass by itself until then, and
nobody waits to see whether it would have."""

PUSHED = ""
"""The check of what was pushed, and not found by a look."""


class Confirmed(StrEnum):
    """Whether a fault was one."""

    YES = "yes"
    NO = "no"  # the next look did not see it, and nobody had done anything about it
    OPEN = "open"  # too new, or of a kind that is told but once


class Detection(NamedTuple):
    """A check that saw a fault, and when it did first."""

    check: str
    at: float


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of one component. `sights` are those who saw it, in their order, each once.

    `keys` are the keys under which it was told; `serving` whether the node was in service then; `seen` how often it
    was told. `mended` says that a repair or a remedy took it away, and it did not pass by itself. `unhelped` is how
    many remedies against it changed nothing.
    """

    node: str
    component: str
    sights: tuple[Detection, ...]
    keys: frozenset[str]
    last_at: float
    seen: int
    serving: bool = False
    confirmed: Confirmed = Confirmed.OPEN
    mended: bool = False
    unhelped: int = 0

    @property
    def first(self) -> Detection:
        """Return who saw it first."""
        return self.sights[0]

    @property
    def lead_hours(self) -> float | None:
        """Return by how much the first was ahead of the next; None where nobody else saw it."""
        return (self.sights[1].at - self.sights[0].at) / HOUR if len(self.sights) > 1 else None

    @property
    def lasts(self) -> float:
        """Return for how many hours it is there to be seen: as it was, and as is believed of one that was mended."""
        seen = (self.last_at - self.first.at) / HOUR
        return max(seen, MENDED_HOURS) if self.mended and self.seen > 1 else seen


def faults(episodes: Iterable[Episode], past: FleetPast) -> tuple[Fault, ...]:
    """Return the faults that began in a past, by when they did."""
    where, marked = StateHistory(past), _Marked(past)
    found = [
        _fault(mine, past, where, marked)
        for mine in _together(episodes)
        if past.since <= mine[0].first_at < past.until
    ]
    return tuple(sorted(found, key=lambda fault: (fault.first.at, fault.node, fault.component)))


def _together(episodes: Iterable[Episode]) -> list[list[Episode]]:
    """Put what is told of one component within a while beside each other, in the order of first sight."""
    groups: list[list[Episode]] = []
    going: dict[tuple[str, str], list[Episode]] = {}
    for each in sorted(episodes, key=lambda each: (each.first_at, each.id)):
        mine = going.get((each.node, each.component))
        if mine is None or each.first_at - mine[0].first_at > TOGETHER:
            mine = going[each.node, each.component] = []
            groups.append(mine)
        mine.append(each)
    return groups


class _Marked:
    """What was done against faults, by their keys."""

    def __init__(self, past: FleetPast) -> None:
        self.done: dict[str, list[bool | None]] = {}
        self.tickets = past.tickets
        for each in past.remedied:
            for key in each.faults:
                self.done.setdefault(key, []).append(each.helped)


def _fault(mine: list[Episode], past: FleetPast, where: StateHistory, marked: _Marked) -> Fault:
    begins: dict[str, float] = {}
    for each in mine:
        begins.setdefault(each.check, each.first_at)
    keys = frozenset(each.fault for each in mine)
    done = [helped for key in sorted(keys) for helped in marked.done.get(key, ())]
    one, last, seen = mine[0], max(each.last_at for each in mine), sum(each.seen for each in mine)
    serving = where.at(one.node, one.first_at) is State.PRODUCTION
    acted = bool(done) or bool(keys & marked.tickets) or where.sick_after(one.node, one.first_at) is not None
    if seen > 1 or len(begins) > 1 or True in done:
        confirmed = Confirmed.YES
    elif acted or begins.keys() & {*LOGS, PUSHED} or last + PATIENCE > past.until:
        confirmed = Confirmed.OPEN
    else:
        confirmed = Confirmed.NO
    sights = tuple(Detection(check, at) for check, at in begins.items())
    mended = True in done or where.is_mended_after(one.node, one.first_at)
    return Fault(one.node, one.component, sights, keys, last, seen, serving, confirmed, mended, done.count(False))


def is_active(check: str) -> bool:
    """Whether a check takes a node's GPUs from its tenants; one that is not known any more does not."""
    return check in CHECKS and CHECKS[check].active
