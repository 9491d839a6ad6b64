"""How much of a time nobody looked at a node: the runner was away, or somebody set the clock forward."""

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple


class Gap(NamedTuple):
    """A time in which nobody looked: when it ended, and by how many seconds it was longer than it may be."""

    until: float
    seconds: float


def gaps(looks: Iterable[float], now: float, longest: float) -> tuple[Gap, ...]:
    """Return what lies between looks, oldest first, beyond the longest that may lie between two of them.

    A clock that is set forward makes such a gap, and what is timed does not grow older by it; a runner that was away
    makes one as well, and then nothing that it waited for is condemned before it has looked again for a while.
    """
    apart = [Gap(later, later - earlier - longest) for earlier, later in pairwise([*looks, now])]
    return tuple(gap for gap in apart if gap.seconds > 0)


def unwatched(found: Iterable[Gap], since: float) -> float:
    """Return the seconds of those gaps that lie after a moment, as far as they can."""
    return sum(min(gap.seconds, gap.until - since) for gap in found if gap.until > since)
