"""What the modules in a switch's ports measure, against the alarm limits that each module gives for itself.

A copper cable measures nothing. A lane without light at all is one that nobody uses, or a port that is down, which is
told elsewhere; a limit of zero was not filled in.
"""

import re
from collections.abc import Iterable, Iterator
from math import isfinite
from typing import NamedTuple

TEMPERATURE, RX_POWER, TX_POWER = "temperature", "rx_power", "tx_power"

UNITS = {TEMPERATURE: "C", RX_POWER: "dBm", TX_POWER: "dBm"}

SENSIBLE = {TEMPERATURE: (-60.0, 150.0), RX_POWER: (-40.0, 20.0), TX_POWER: (-40.0, 20.0)}
"""Beyond these a value or a limit is no measurement: a module that nobody filled in, or a dead sensor."""

MOST = 32
"""Alarms of one port that are kept: more than lanes of a module, twice."""

_NUMBER = re.compile(r"\s*(-?[0-9]{1,4}(?:\.[0-9]{1,6})?)\s*(?:C|dBm|degrees C.*)?\s*", re.ASCII | re.DOTALL)


class ModuleAlarm(NamedTuple):
    """A value beyond the module's own alarm limit: in degrees Celsius, or dBm. `lane` is 0 for the whole module."""

    what: str
    lane: int
    value: float
    limit: float


class Measured(NamedTuple):
    """A value as a switch tells it, and the limits at which the module alarms; None where one is not told."""

    what: str
    lane: int
    value: float | None
    low: float | None
    high: float | None


def alarms(measured: Iterable[Measured]) -> tuple[ModuleAlarm, ...]:
    """Return the values that are beyond their limits; nothing of one whose limits make no sense."""
    return tuple(_alarms(measured))[:MOST]


def _alarms(measured: Iterable[Measured]) -> Iterator[ModuleAlarm]:
    for what, lane, value, low, high in measured:
        if value is None or low is None or high is None or not _sensible(what, value, low, high):
            continue
        if value < low:
            yield ModuleAlarm(what, lane, value, low)
        elif value > high:
            yield ModuleAlarm(what, lane, value, high)


def _sensible(what: str, value: float, low: float, high: float) -> bool:
    least, most = SENSIBLE[what]
    filled = what == TEMPERATURE or 0.0 not in (low, high)
    return filled and low < high and all(least < each < most for each in (value, low, high))


def measure(told: object) -> float | None:
    """Return a number of "-1.24", "43.105C", "0.9dBm" or "32 degrees C / 90 degrees F"; None for anything else."""
    found = _NUMBER.fullmatch(told) if isinstance(told, str) else None
    return float(found[1]) if found else None


def written(told: Iterable[ModuleAlarm]) -> list[list[str | int | float]]:
    """Return alarms as plain JSON."""
    return [[*each] for each in told]


def read(told: object) -> tuple[ModuleAlarm, ...]:
    """Return the alarms that `written` made; what is something else is left out."""
    rows = told[:MOST] if isinstance(told, list) else []
    return tuple(alarm for row in rows if (alarm := _alarm(row)) is not None)


def _alarm(row: object) -> ModuleAlarm | None:
    match row:
        case [str(what), int(lane), int() | float() as value, int() | float() as limit] if (
            what in UNITS and isfinite(value) and isfinite(limit)
        ):
            return ModuleAlarm(what, lane, float(value), float(limit))
        case _:
            return None
