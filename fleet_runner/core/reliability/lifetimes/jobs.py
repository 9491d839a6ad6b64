"""What a job of so many nodes over so many hours has to expect: interruptions, and the chance of none.

Only arithmetic, on numbers that the nightly analysis keeps: whoever asks for another job needs no numpy for it.
"""

import math
from collections.abc import Mapping
from typing import Any

from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.base.plural import counted
from fleet_runner.core.reliability.lifetimes.saying import amount, percent

MOST_NODES = 1_000_000
MOST_HOURS = 24.0 * 366 * 10

LIKELY = (0.05, 0.95)
"""Shares of jobs that see fewer interruptions than the range that is called likely begins and ends with."""

COUNTABLE = 2_000.0
"""Interruptions up to which each number of them has its chance added up; beyond, they are as good as normal."""

HALF = 0.5
"""Interruptions that are taken as seen where none was: none seen is not none possible (Jeffreys)."""

NORMAL = 1.6448536
"""How many standard deviations the likely range reaches."""


def expect(told: Mapping[str, Any], nodes: int, hours: float) -> dict[str, Any]:
    """Return what a job has to expect, from the part "jobs" of the analysis; FleetError for a job that cannot be.

    How many it will be is less sure than how many there are on average: they come by chance, some nodes are worse
    than others (`dispersion`), and the rate itself is an estimate. All three widen the likely range, which is that of
    a negative binomial.
    """
    if not (1 <= nodes <= MOST_NODES and 0 < hours <= MOST_HOURS):
        raise FleetError(
            f"A job of {counted(nodes, 'node')} over {hours:g} h: expected 1 to {MOST_NODES:,} nodes, and up to"
            f" {MOST_HOURS:,.0f} h"
        )
    row: dict[str, Any] = {"nodes": nodes, "hours": hours}
    if told.get("rate_per_node_day") is None:
        said = f"A job of {counted(nodes, 'node')}: {told.get('sentence', NOTHING)}"
        return row | dict.fromkeys(KEYS) | {"sentence": said}
    days = nodes * hours / 24
    mean = told["rate_per_node_day"] * days
    numbers = (mean, told["rate_per_node_day_low"] * days, told["rate_per_node_day_high"] * days)
    if told["interruptions"]:
        spread = mean * (told["dispersion"] - 1) + mean**2 * told["dispersion"] / told["interruptions"]
    else:
        mean = HALF / told["node_days"] * days
        spread = mean**2 / HALF
    low, high = _likely(mean, spread)
    row |= dict(zip(KEYS, (*numbers, low, high, math.exp(_none(mean, spread))), strict=True))
    return row | {"sentence": _sentence(row, 0.0 if told["interruptions"] else told["node_days"])}


NOTHING = "not enough data on interruptions."

KEYS = ("expected", "expected_low", "expected_high", "likely_low", "likely_high", "none_chance")


def _sentence(row: Mapping[str, Any], without: float) -> str:
    """Say it; `without` is the node days in which none was seen, 0 where some were."""
    size = f"{counted(row['nodes'], 'node')} over {row['hours']:g} h"
    expected, low, high = (amount(row[key]) for key in KEYS[:3])
    often = f" is interrupted {counted(expected, 'time')} on average ({low} to {high})"
    if without:
        often = f": in {counted(amount(without), 'node day')} none was interrupted, so up to"
        often += f" {counted(high, 'time')} on average"
    return (
        f"A job of {size}{often}, nine of ten such jobs"
        f" {row['likely_low']:,} to {counted(row['likely_high'], 'time')}; {percent(row['none_chance'])} of them"
        " never."
    )


def _none(mean: float, spread: float) -> float:
    """Return the logarithm of the chance of none; `spread` is the variance beyond that of chance alone."""
    return -mean if spread <= 0 else -(mean**2) / spread * math.log1p(spread / mean)


def _likely(mean: float, spread: float) -> tuple[int, int]:
    if mean > COUNTABLE:
        apart = NORMAL * math.sqrt(mean + spread)
        return max(0, round(mean - apart)), round(mean + apart)
    low, number, log = 0, 0, _none(mean, spread)
    summed = math.exp(log)
    while summed < LIKELY[1]:  # up to where nearly all of them are counted: `mean` is not above COUNTABLE
        low = number + 1 if summed < LIKELY[0] else low
        number += 1
        log += math.log((mean**2 / spread + number - 1) / number * spread / (spread + mean))
        summed += math.exp(log)
    return low, number
