"""Why nothing is said of a series: what its numbers do not carry, and what is true and worth no word."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from fleet_runner.core.trends.panel import Window
from fleet_runner.core.trends.peers import Peers

FEWEST_DAYS = 21
"""Days with numbers, of which a change takes `FEWEST_BEFORE` and `FEWEST_SINCE` (`core.trends.drift`)."""

LONGEST_HOLE = 21
"""Days without a number between two with one; what was before may be another story."""

NEWEST = 14
"""Days within which a series must have told something: of older ones nothing is foreseen."""


class Silence(StrEnum):
    """A reason."""

    UNKNOWN = "unknown"
    SHORT = "short"
    STALE = "stale"
    GAPS = "gaps"
    PEERS = "peers"
    CONSTANT = "constant"
    UNIT = "unit"
    CROWD = "crowd"
    ALL = "all"
    BETTER = "better"
    SMALL = "small"


SENTENCES: Mapping[Silence, str] = MappingProxyType({
    Silence.UNKNOWN: "the source of truth does not know the node, or not its device type: there are no peers",
    Silence.SHORT: f"not enough data: it was told on fewer than {FEWEST_DAYS} days",
    Silence.STALE: f"it has not been told for {NEWEST} days or more",
    Silence.GAPS: f"not enough data: for more than {LONGEST_HOLE} days in between nothing was told",
    Silence.PEERS: "not enough data: there are fewer than 8 peers that it could be compared with",
    Silence.CONSTANT: "it never changes",
    Silence.UNIT: "it changed as a change of its unit would change it",
    Silence.CROWD: "too many parts changed at once for it to be their own fault",
    Silence.ALL: "its peers changed, and it did not",
    Silence.BETTER: "it changed for the better",
    Silence.SMALL: "it changed, and by less than matters",
})  # fmt: skip
"""What is said to people of each."""

UNJUDGED = frozenset({Silence.UNKNOWN, Silence.SHORT, Silence.STALE, Silence.GAPS, Silence.PEERS, Silence.CONSTANT})
"""Those of which nothing can be said; of others something could be, and is not worth it."""

Reasons = dict[Silence, NDArray[np.bool_]]


def unjudged(window: Window, told: Peers) -> Reasons:
    """Return which rows cannot be judged, each for one reason, the first that holds."""
    there = ~np.isnan(window.middle)
    known = told.placed
    days = np.arange(there.shape[1])
    last = np.asarray(np.maximum.accumulate(np.where(there, days, -1), axis=1))
    first = np.asarray(there.argmax(axis=1)).reshape(-1, 1)
    hole = np.where(days >= first, days - last, 0).max(axis=1)
    low, high = np.nanmin(_told(window), axis=1), np.nanmax(_told(window), axis=1)
    holds: Reasons = {
        Silence.UNKNOWN: ~known,
        Silence.SHORT: there.sum(axis=1) < FEWEST_DAYS,
        Silence.STALE: there.shape[1] - 1 - last[:, -1] >= NEWEST,
        Silence.GAPS: hole > LONGEST_HOLE,
        Silence.PEERS: told.cohort.of < 0,
        Silence.CONSTANT: low == high,
    }
    done = np.zeros(len(there), bool)
    for reason, rows in holds.items():
        holds[reason] = rows & ~done
        done |= rows
    return holds


def _told(window: Window) -> NDArray[np.float32]:
    """Return the numbers, with nought in rows that tell nothing: their smallest is asked for, too."""
    nothing = np.isnan(window.middle).all(axis=1, keepdims=True)
    return np.where(nothing, np.float32(0), window.middle)
