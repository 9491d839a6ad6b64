"""Whether a remedy would have healed a fault: as it was recorded where it was, else by a stated assumption."""

from collections.abc import Iterable
from typing import NamedTuple

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.rules.rules import LADDER
from fleet_runner.core.faults.simulation.history import Fault, PastRemedy

AFTER = 4 * 3600.0
"""Seconds after a fault's end in which a remedy that ended it may have been written down."""

ASSUMED = (
    "a remedy that was not tried then is assumed to help if it is at least as hard as the one that helped, or harder "
    "than all that did not; one that nobody tried on a fault is assumed to help"
)

_HARDNESS = {remedy: at for at, remedy in enumerate(LADDER)}


class Cured(NamedTuple):
    """Whether a fault is gone; `known` where the history says so."""

    helped: bool
    known: bool


def tries(fault: Fault, tried: Iterable[PastRemedy]) -> list[PastRemedy]:
    """Return what was done against one fault while it was there."""
    until = fault.ends + AFTER if fault.ends else float("inf")
    return [each for each in tried if fault.fault in each.faults and fault.begins <= each.at <= until]


def was_cured(own: Iterable[PastRemedy]) -> bool:
    """Whether a fault ended because of a remedy: without one it would have stayed."""
    return any(each.helped for each in own)


def cure(remedy: Remedy, own: Iterable[PastRemedy]) -> Cured:
    """Return what comes of a remedy, of which `own` are the recorded tries."""
    hard = _HARDNESS[remedy]
    outcomes = [(_HARDNESS[Remedy(each.remedy)], each.helped) for each in own if Remedy(each.remedy) in _HARDNESS]
    known = any(at == hard and helped is not None for at, helped in outcomes)
    helping = [at for at, helped in outcomes if helped]
    failing = [at for at, helped in outcomes if helped is False]
    if helping:
        return Cured(hard >= min(helping), known)
    return Cured(hard > max(failing, default=-1), known)
