"""Which rank all others wait for, in a job that goes on but slowly.

In synchronous training every rank takes the same time for a step, so step times name nobody. What differs is a rank's
own work: from the end of one collective to its beginning of the next, on its own clock. Whoever works longest holds
the others up, and these spend the difference inside the collective.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median

from fleet_runner.core.base.plural import counted
from fleet_runner.core.jobs.flight_recorder import Dump, Entry

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
    work = _work(dumps)
    common = [number for number, mine in work.items() if len(mine) == len(dumps)]
    if len(common) < FEWEST or len(dumps) < FEWEST_RANKS:
        return None
    own = {rank: median(work[number][rank] for number in common) for rank in dumps}
    slowest = max(own, key=lambda rank: own[rank])
    others = median(each for rank, each in own.items() if rank != slowest)
    last = sum(max(work[number], key=lambda rank: work[number][rank]) == slowest for number in common)
    if others < BEGUN or own[slowest] < SLOWER * others or last < SHARE * len(common):
        return None
    return Straggler(slowest, own[slowest] / 1e9, others / 1e9, last, len(common))


def _work(dumps: Mapping[int, Dump]) -> dict[int, dict[int, int]]:
    """Return, by the number of a collective, how many nanoseconds each rank worked before it."""
    found: dict[int, dict[int, int]] = defaultdict(dict)
    for rank, dump in dumps.items():
        whole = {group.name for group in dump.groups if len(group.ranks) == len(dumps)}
        mine = [each for each in dump.entries if each.group in whole and not each.is_p2p]
        for number, spent in _gaps(mine):
            found[number][rank] = spent
    return found


def _gaps(entries: Iterable[Entry]) -> Iterable[tuple[int, int]]:
    before: Entry | None = None
    for each in entries:
        follows = before is not None and each.collective == before.collective + 1
        if before is not None and follows and before.completed is not None and each.created is not None:
            yield each.collective, max(0, each.created - before.completed)
        before = each
