"""Why nothing is said of a series: what its numbers do not carry, and what is true and worth no word."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from fleet_runner.core.reliability.trends import medians
from fleet_runner.core.reliability.trends.panel import WEEK, Window
from fleet_runner.core.reliability.trends.peers import Peers

FEWEST_TOLD = 21
"""Days or weeks with numbers; a change takes `FEWEST_BEFORE` and `FEWEST_SINCE` (`core.reliability.trends.drift`)."""

LONGEST_HOLE: Mapping[int, int] = MappingProxyType({1: 21, WEEK: 9})
"""Days, or weeks, without a number between two with one; what was before may be another story."""

NEWEST: Mapping[int, int] = MappingProxyType({1: 14, WEEK: 4})
"""Days, or weeks, within which a series must have told something: of older ones nothing is foreseen."""


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
    Silence.SHORT: f"not enough data: it was reported on fewer than {FEWEST_TOLD} days, or weeks",
    Silence.STALE: f"it has not been reported for {NEWEST[1]} days or more, or {NEWEST[WEEK]} weeks",
    Silence.GAPS: f"not enough data: for more than {LONGEST_HOLE[1]} days, or {LONGEST_HOLE[WEEK]} weeks, in between"
                  " it was not reported",
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
    hole, ago = _silent(there)
    low, high = np.fmin.reduce(window.middle, axis=1), np.fmax.reduce(window.middle, axis=1)
    holds: Reasons = {
        Silence.UNKNOWN: ~told.placed,
        Silence.SHORT: there.sum(axis=1) < FEWEST_TOLD,
        Silence.STALE: ago >= NEWEST[window.step],
        Silence.GAPS: hole > LONGEST_HOLE[window.step],
        Silence.PEERS: told.cohort.of < 0,
        Silence.CONSTANT: low == high,
    }
    done = np.zeros(len(there), bool)
    for reason, rows in holds.items():
        holds[reason] = rows & ~done
        done |= rows
    return holds


def _silent(there: NDArray[np.bool_]) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Return each row's most days without a number since its first one, and the days since its last one."""
    days = np.arange(there.shape[1], dtype=np.int16)
    hole, ago = np.zeros((2, len(there)), np.int16)
    for piece in medians.pieces(there):
        last = np.maximum.accumulate(np.where(there[piece], days, np.int16(-1)), axis=1)
        hole[piece] = np.where(last >= 0, days - last, 0).max(axis=1)
        ago[piece] = days[-1] - last[:, -1]
    return hole, ago
