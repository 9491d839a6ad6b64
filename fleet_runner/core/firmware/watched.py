"""How much of a time nobody looked at a node: the runner was away, or somebody set the clock forward."""

from collections.abc import Iterable
from itertools import pairwise


def unwatched(looks: Iterable[float], now: float, longest: float) -> float:
    """Return the seconds between looks, oldest first, beyond the longest that may lie between two of them.

    A clock that is set forward makes such a gap, and what is timed does not grow older by it; a runner that was away
    makes one as well, and then nothing that it waited for is condemned before it has looked again for a while.
    """
    return sum(max(later - earlier - longest, 0.0) for earlier, later in pairwise([*looks, now]))
