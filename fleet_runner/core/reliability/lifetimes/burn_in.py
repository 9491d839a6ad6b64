"""What burn-in finds and when, and what a shorter one would have let through.

A node's first fault in a burn-in counts at the hour at which it was first seen. One that passed is watched up to the
end of its burn-in, and not beyond: what more hours would have found is not known from it (right censoring).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from fleet_runner.core.base.plural import counted
from fleet_runner.core.reliability.lifetimes import survival
from fleet_runner.core.reliability.lifetimes.cohorts import plain, within
from fleet_runner.core.reliability.lifetimes.rates import TAIL, Between
from fleet_runner.core.reliability.lifetimes.saying import amount, percent
from fleet_runner.core.reliability.lifetimes.survival import AT_RISK, Sample

LENGTHS = (6.0, 12.0, 24.0, 36.0, 48.0, 72.0)
"""Hours of burn-in that are weighed; only those shorter than the usual one can be."""

SHORTER = 0.9
"""Times the usual length that another must be shorter than, for the two to be two."""

LATE = 1.05
"""Times the usual length within which a burn-in of that length ends: none takes the same minute."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One burn-in of a node: how many hours it was watched for, and whether it ended with a fault."""

    node: str
    hours: float
    found: bool


def burn_ins(visits: Sequence[Visit]) -> dict[str, Any]:
    """Tell what burn-ins found, and what each shorter one would have let through."""
    sample = survival.sample((0.0, each.hours, each.found) for each in visits)
    passed = [each.hours for each in visits if not each.found]
    faults = sorted(each.hours for each in visits if each.found)
    row: dict[str, Any] = {
        "visits": len(visits),
        "failed": len(faults),
        "longest_hours": max((each.hours for each in visits), default=None),
        "usual_hours": median(passed) if passed else None,
    }
    if len(passed) < AT_RISK:
        said = (
            f"Not enough data on burn-in: {counted(len(passed), 'node')} passed one, at least {AT_RISK} are needed."
        )
        return row | {"sentence": said, "curve": None, "rows": []}
    drawn = survival.curve(sample)
    usual = median(passed)
    said = f"{counted(len(visits), 'burn-in')}, {usual:.3g} h long as a rule, {len(faults)} of which found a fault"
    said += f": half of these within {amount(median(faults))} h." if faults else "."
    rows = [_shorter(sample, hours, usual) for hours in LENGTHS if hours <= SHORTER * usual]
    return row | {
        "sentence": said,
        "curve": None if drawn is None else plain("burn-in", drawn, "hours"),
        "rows": [each for each in rows if each],
    }


def _shorter(sample: Sample, hours: float, usual: float) -> dict[str, Any] | None:
    """Tell which share of those still sound after some hours the rest of a burn-in found at fault."""
    going = sample.exit > hours
    watched = int(going.sum())
    rest = Sample(np.full(watched, hours), sample.exit[going], sample.failed[going], sample.weight[going])
    found = int((rest.failed & (rest.exit <= LATE * usual)).sum())
    missed = _missed(rest, usual, found)
    if missed is None:
        return None
    nodes = Between(missed.value * watched, (missed.low or 0.0) * watched, (missed.high or 1.0) * watched)
    length = f"{hours:g} h instead of {usual:.3g} h would have let"
    if missed.value:
        said = (
            f"{length} {percent(missed.value)} of nodes ({within(missed, percent)}) into production with a fault:"
            f" {amount(nodes.value)} of {watched:,} that were sound after {hours:g} h ({within(nodes, amount)})."
        )
    else:
        said = (
            f"{length} none of {counted(watched, 'node')} into production with a fault that the rest of the burn-in"
        )
        said += f" found; up to {percent(missed.high or 1.0)} may have one (95 % sure)."
    return {
        "hours": hours, "instead_of_hours": usual, "sound": watched,
        "missed_share": missed.value, "missed_share_low": missed.low, "missed_share_high": missed.high,
        "missed_nodes": nodes.value, "missed_nodes_low": nodes.low, "missed_nodes_high": nodes.high, "sentence": said,
    }  # fmt: skip


def _missed(rest: Sample, usual: float, found: int) -> Between | None:
    drawn = survival.curve(rest)
    if drawn is None:
        return None
    if not found:
        return Between(0.0, 0.0, 1 - TAIL ** (1 / len(rest.exit)))
    reached = int(np.searchsorted(drawn.ages, LATE * usual, side="right")) - 1
    lost = (1 - float(each[reached]) for each in (drawn.share, drawn.high, drawn.low))
    return Between(*lost)
