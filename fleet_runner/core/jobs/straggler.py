"""Which rank all others wait for, in a job that goes on but slowly.

In synchronous training every rank takes the same time for a step, so step times name nobody. What differs is a rank's
own work: from the end of one collective to its beginning of the next, on its own clock. Whoever works longest holds
the others up, and these spend the difference inside the collective. Where the accelerator measured the time inside
it (TORCH_NCCL_ENABLE_TIMING), that tells who came last.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from fleet_runner.core.base.plural import counted
from fleet_runner.core.jobs.flight_recorder import Dump, Entry
from fleet_runner.core.jobs.process_groups import HOST_ONLY
from fleet_runner.core.jobs.stalls import NEED_ALL

FEWEST = 20
"""Collectives that a rank has to have worked for, and of which all ranks tell."""

FEWEST_RANKS = 4
"""Of two or three nobody knows who is the odd one."""

SHARE = 0.8
"""Of its collectives a straggler comes last to at least so many."""

SLOWER = 1.1
"""How many times as long as the median rank a straggler works at least."""

BEGUN = 1_000_000
"""Nanoseconds of work, in the median, below which a difference means nothing."""

POLLED = 100_000_000
"""Nanoseconds between two looks of PyTorch's watchdog (kWatchdogThreadSleepMillis). It learns of an accelerator's
ends by so much too late, and on some ranks each time later than on others."""


@dataclass(frozen=True, slots=True)
class Straggler:
    """A rank that works longer than the others before each collective: seconds of its own, and of the median rank."""

    rank: int
    own: float
    others: float
    last: int
    of: int

    @property
    def sentence(self) -> str:
        """Say it."""
        return (
            f"came last to {self.last} of {counted(self.of, 'collective')}: it worked"
            f" {self.own * 1000:,.0f} ms before each, the others {self.others * 1000:,.0f} ms in the median; without"
            f" it the job would be up to {self.own / self.others:.1f} times as fast"
        )


def find(dumps: Mapping[int, Dump]) -> Straggler | None:
    """Return the rank that holds the others up; None where none does, or it cannot be told.

    Only collectives of the group of all ranks count, and only those that tell when they ended. One rank is always
    last by chance: that alone makes no straggler.
    """
    work, least = _work(dumps, _timed), 0
    if len(_common(work, len(dumps))) < FEWEST:
        work, least = _work(dumps, _gaps), 0 if all(map(_is_exact, dumps.values())) else POLLED
    common = _common(work, len(dumps))
    if len(common) < FEWEST or len(dumps) < FEWEST_RANKS:
        return None
    own = {rank: median(work[number][rank].spent for number in common) for rank in dumps}
    slowest = max(own, key=lambda rank: own[rank])
    others = median(each for rank, each in own.items() if rank != slowest)
    last = sum(max(work[number], key=lambda rank: work[number][rank].late) == slowest for number in common)
    if others < BEGUN or own[slowest] < max(SLOWER * others, others + least) or last < SHARE * len(common):
        return None
    return Straggler(slowest, own[slowest] / 1e9, others / 1e9, last, len(common))


class _Work(NamedTuple):
    """What a rank worked before a collective, in nanoseconds; who is the latest has the largest `late`."""

    spent: int
    late: float


def _common(work: Mapping[int, Mapping[int, _Work]], ranks: int) -> list[int]:
    return [number for number, mine in work.items() if len(mine) == ranks]


def _is_exact(dump: Dump) -> bool:
    """Return whether ends are known as they happen: of what no accelerator carries out."""
    return all(each.backend in HOST_ONLY for each in dump.entries)


def _work(
    dumps: Mapping[int, Dump], pieces: Callable[[Iterable[Entry]], Iterable[tuple[int, _Work]]]
) -> dict[int, dict[int, _Work]]:
    """Return, by the number of a collective, what each rank worked before it."""
    found: dict[int, dict[int, _Work]] = defaultdict(dict)
    for rank, dump in dumps.items():
        whole = {group.name for group in dump.groups if len(group.ranks) == len(dumps)}
        mine = [each for each in dump.entries if each.group in whole and not each.is_p2p]
        for number, work in pieces(mine):
            found[number][rank] = work
    return found


def _timed(entries: Iterable[Entry]) -> Iterator[tuple[int, _Work]]:
    """Yield work by the time that the accelerator measured inside a collective.

    The latest rank is in there for the shortest time, if none can leave before all are there.
    """
    for before, each in _pairs(entries):
        if each.duration_ms is not None and each.completed is not None and NEED_ALL.search(each.kind):
            spent = each.completed - before - int(each.duration_ms * 1e6)
            yield each.collective, _Work(max(0, spent), -each.duration_ms)


def _gaps(entries: Iterable[Entry]) -> Iterator[tuple[int, _Work]]:
    """Yield work from the end of one collective to when the next one was asked for."""
    for before, each in _pairs(entries):
        if each.created is not None:
            spent = max(0, each.created - before)
            yield each.collective, _Work(spent, spent)


def _pairs(entries: Iterable[Entry]) -> Iterator[tuple[int, Entry]]:
    """Yield each collective that follows another, with the moment at which that one ended."""
    before: Entry | None = None
    for each in entries:
        if before is not None and before.completed is not None and each.collective == before.collective + 1:
            yield before.completed, each
        before = each
