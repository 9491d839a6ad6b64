"""What a BMC says of a server's power: its supplies, how far they stand in for each other, and limits of it.

Older BMCs say it in a chassis' Power, newer ones in its PowerSubsystem; some say a part here and a part there.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from fleet_runner.core.checks.parsers.json_text import number
from fleet_runner.core.checks.parsers.redfish import Gathered, PowerSupply, linked, rows_in, status_of, text_in

LOST_INPUT = "LossOfInput"


class Group(NamedTuple):
    """Supplies that stand in for each other. `health` is "" where the BMC says none; `members` are their URIs."""

    name: str
    health: str
    state: str
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Control:
    """What a chassis draws, and what it may: watts, None where the BMC gives none."""

    name: str
    drawn_watts: float | None
    limit_watts: float | None


def units(found: Gathered) -> tuple[PowerSupply, ...]:
    """Return the supplies that have resources of their own.

    One that tells no health of itself is as well as a group that names it among its working members.
    """
    metrics = {uri.rpartition("/")[0]: body for uri, body in found.of("PowerSupplyMetrics").items()}
    well = {
        member
        for body in found.of("PowerSubsystem").values()
        for group in _redundancies(body, "PowerSupplyRedundancy", "RedundancyGroup")
        if group.health == "OK" and group.state == "Enabled"
        for member in group.members
    }
    return tuple(_unit(body, metrics.get(uri, {}), well=uri in well) for uri, body in found.of("PowerSupply").items())


def groups(found: Gathered) -> tuple[Group, ...]:
    """Return the groups of supplies that a chassis' Power or its PowerSubsystem names."""
    return tuple(
        group
        for body in found.bodies.values()
        for group in (
            *_redundancies(body, "PowerSupplyRedundancy", "RedundancyGroup"),
            *(_redundancies(body, "Redundancy", "RedundancySet") if "PowerSupplies" in body else ()),
        )
    )


def controls(found: Gathered) -> tuple[Control, ...]:
    """Return what is told of the power that chassis draw, and of the limits that were set for it."""
    return tuple(
        Control(
            name=text_in(row, "Name") or text_in(row, "MemberId"),
            drawn_watts=number(row.get("PowerConsumedWatts")),
            limit_watts=_limit(row.get("PowerLimit")),
        )
        for body in found.bodies.values()
        for row in rows_in(body, "PowerControl")
    )


def _limit(found: object) -> float | None:
    return number(found.get("LimitInWatts")) if isinstance(found, dict) else None


def _redundancies(body: Mapping[str, Any], name: str, members: str) -> Iterator[Group]:
    for row in rows_in(body, name):
        status = status_of(row)
        uris = tuple(uri for each in rows_in(row, members) if (uri := linked(each)))
        yield Group(text_in(row, "Name") or name, status.health, status.state, uris)


def _unit(body: Mapping[str, Any], metrics: Mapping[str, Any], *, well: bool) -> PowerSupply:
    status = status_of(body)
    input_volts = metrics.get("InputVoltage")
    volts = number(input_volts.get("Reading")) if isinstance(input_volts, dict) else None
    unit = PowerSupply(
        name=text_in(body, "Name") or text_in(body, "Id"),
        model=text_in(body, "Model"),
        serial=text_in(body, "SerialNumber"),
        present=status.there,
        health=status.health or ("OK" if well else ""),
        input_volts=volts,
    )
    return replace(unit, input_volts=0.0) if text_in(body, "LineInputStatus") == LOST_INPUT else unit
