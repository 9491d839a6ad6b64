"""What a BMC says over Redfish: `{URI: body}` texts, as the controller read them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fleet_runner.core.errors import EvidenceError
from fleet_runner.core.parsers.json_text import json_object, number, objects

ABSENT_STATES = frozenset({"Absent", "Disabled", "UnavailableOffline"})
"""Redfish states in which a part is not there, or not in use."""


@dataclass(frozen=True, slots=True)
class PowerSupply:
    """One power supply or its bay. `health` is "OK", "Warning", "Critical" or empty where the BMC says nothing.

    `input_volts` is None where the BMC gives no number.
    """

    name: str
    model: str
    serial: str
    present: bool
    health: str
    input_volts: float | None


def resources(text: str, what: str) -> dict[str, dict[str, Any]]:
    """Return the bodies by URI; EvidenceError unless there is at least one and all are objects."""
    found = json_object(text, what)
    if not found or not all(isinstance(body, dict) for body in found.values()):
        raise EvidenceError(f"{what}: the BMC gave no resource, or one that is no object; ask it again")
    return found


def power_supplies(text: str) -> tuple[PowerSupply, ...]:
    """Return every power supply of every chassis, in the BMC's order."""
    bodies = resources(text, "the chassis' power")
    rows = [
        row for uri, body in bodies.items() for row in objects(body.get("PowerSupplies", []), f"{uri} PowerSupplies")
    ]
    if not rows:
        raise EvidenceError("the BMC lists no power supply at all, which no running server has; ask it again")
    return tuple(_supply(row) for row in rows)


def _supply(row: Mapping[str, Any]) -> PowerSupply:
    status = row.get("Status")
    status = status if isinstance(status, dict) else {}
    return PowerSupply(
        name=_text(row, "Name") or _text(row, "MemberId"),
        model=_text(row, "Model"),
        serial=_text(row, "SerialNumber"),
        present=_text(status, "State") not in ABSENT_STATES,
        health=_text(status, "Health"),
        input_volts=number(row.get("LineInputVoltage")),
    )


def _text(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name)
    return value.strip() if isinstance(value, str) else ""
