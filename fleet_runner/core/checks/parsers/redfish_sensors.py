"""A server's sensors, as its BMC tells them: in a chassis' Thermal and Power, or as resources of their own."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fleet_runner.core.checks.parsers.json_text import number
from fleet_runner.core.checks.parsers.redfish import Gathered, Status, rows_in, status_of, text_in


class Kind(StrEnum):
    """What a sensor measures."""

    TEMPERATURE = "temperature"
    FAN = "fan"
    VOLTAGE = "voltage"


_TYPES = {"Temperature": Kind.TEMPERATURE, "Rotational": Kind.FAN, "Voltage": Kind.VOLTAGE}
"""Kinds by a Sensor's ReadingType; of others nothing is asked."""

_ROWS = (
    ("Temperatures", Kind.TEMPERATURE, "ReadingCelsius"),
    ("Fans", Kind.FAN, "Reading"),
    ("Voltages", Kind.VOLTAGE, "ReadingVolts"),
)


@dataclass(frozen=True, slots=True)
class Bounds:
    """A sensor's own thresholds, None where it has none: beyond caution it warns, beyond critical it is an alarm."""

    lower_critical: float | None = None
    lower_caution: float | None = None
    upper_caution: float | None = None
    upper_critical: float | None = None


@dataclass(frozen=True, slots=True)
class Sensor:
    """One sensor. `reading` is in degrees Celsius, volts, or of fans what `units` says; None where it gives none."""

    kind: Kind
    name: str
    context: str
    reading: float | None
    units: str
    bounds: Bounds
    status: Status


def sensors(found: Gathered) -> tuple[Sensor, ...]:
    """Return every temperature, fan and voltage."""
    return tuple(each for body in found.bodies.values() for each in _sensors(body))


def _sensors(body: Mapping[str, Any]) -> Iterator[Sensor]:
    for rows, kind, reading in _ROWS:
        for row in rows_in(body, rows):
            yield Sensor(
                kind,
                name_of(row),
                text_in(row, "PhysicalContext"),
                number(row.get(reading)),
                text_in(row, "ReadingUnits"),
                _bounds_of_row(row),
                status_of(row),
            )
    own = _kind(body)
    if own is not None:
        yield _own(body, own)


def _kind(body: Mapping[str, Any]) -> Kind | None:
    typed = text_in(body, "@odata.type")
    if typed.startswith("#Fan."):
        return Kind.FAN
    return _TYPES.get(text_in(body, "ReadingType")) if typed.startswith("#Sensor.") else None


def _own(body: Mapping[str, Any], kind: Kind) -> Sensor:
    """Read a Sensor, or a Fan: the speed of the latter is an excerpt of a sensor."""
    speed = body.get("SpeedPercent")
    speed = speed if isinstance(speed, dict) else {}
    rpm, percent = number(speed.get("SpeedRPM")), number(speed.get("Reading"))
    reading = number(body.get("Reading"))
    if reading is None:
        reading = rpm if rpm is not None else percent
    units = text_in(body, "ReadingUnits") or ("RPM" if rpm is not None else "%")
    context = text_in(body, "PhysicalContext")
    return Sensor(kind, name_of(body), context, reading, units, _bounds_of(body.get("Thresholds")), status_of(body))


def _bounds_of_row(row: Mapping[str, Any]) -> Bounds:
    # Fatal stands in where a vendor gives no critical threshold.
    lower, upper = number(row.get("LowerThresholdCritical")), number(row.get("UpperThresholdCritical"))
    return Bounds(
        lower if lower is not None else number(row.get("LowerThresholdFatal")),
        number(row.get("LowerThresholdNonCritical")),
        number(row.get("UpperThresholdNonCritical")),
        upper if upper is not None else number(row.get("UpperThresholdFatal")),
    )


def _bounds_of(thresholds: object) -> Bounds:
    given = thresholds if isinstance(thresholds, dict) else {}
    value = {name: number(row.get("Reading")) for name, row in given.items() if isinstance(row, dict)}
    lower, upper = value.get("LowerCritical"), value.get("UpperCritical")
    return Bounds(
        lower if lower is not None else value.get("LowerFatal"),
        value.get("LowerCaution"),
        value.get("UpperCaution"),
        upper if upper is not None else value.get("UpperFatal"),
    )


def name_of(row: Mapping[str, Any]) -> str:
    """Return what a row or a resource is called."""
    return (text_in(row, "Name") or text_in(row, "Id") or text_in(row, "MemberId"))[:80]
