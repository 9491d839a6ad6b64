"""What a BMC says over Redfish: `{URI: body}` texts, as the controller read them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import json_object, number, objects

ABSENT_STATES = frozenset({"Absent", "Disabled", "UnavailableOffline"})
"""Redfish states in which a part is not there, or not in use."""


LONGEST = 500
"""Characters of a text that are kept."""


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


@dataclass(frozen=True, slots=True)
class Gathered:
    """Bodies by URI, and the URIs of what answered with an error: nobody knows what is there."""

    bodies: Mapping[str, Mapping[str, Any]]
    unread: tuple[str, ...]

    def of(self, kind: str) -> dict[str, Mapping[str, Any]]:
        """Return the bodies of a type ("Thermal"), whatever its version."""
        return {uri: body for uri, body in self.bodies.items() if type_of(body) == kind}

    def told(self) -> list[str]:
        """Return a sentence for each resource that could not be read."""
        return [f"the BMC answers {uri} with an error; is the host on?" for uri in self.unread]


@dataclass(frozen=True, slots=True)
class Status:
    """A resource's Status: "OK", "Warning" or "Critical", "" where it says nothing; `rollup` is that of its parts."""

    health: str
    rollup: str
    state: str

    @property
    def there(self) -> bool:
        """Whether the part is in the machine and in use, as far as is told."""
        return self.state not in ABSENT_STATES


def gathered(text: str, what: str) -> Gathered:
    """Return what was gathered by patterns; EvidenceError for a text of another form, and where nothing was found."""
    found = json_object(text, what)
    if not all(body is None or isinstance(body, dict) for body in found.values()):
        raise EvidenceError(f"{what}: the BMC gave a resource that is no object; ask it again")
    bodies = {uri: body for uri, body in found.items() if body is not None}
    unread = tuple(uri for uri, body in found.items() if body is None)
    if not bodies:
        raise EvidenceError(f"{what}: the BMC gave no resource; look whether it has any of the kind")
    return Gathered(bodies, unread)


def type_of(body: Mapping[str, Any]) -> str:
    """Return "Thermal" of "#Thermal.v1_5_3.Thermal", "" where a resource has no type."""
    return text_in(body, "@odata.type").lstrip("#").partition(".")[0]


def status_of(body: Mapping[str, Any]) -> Status:
    """Return a resource's Status, or that of a row in one."""
    raw = body.get("Status")
    raw = raw if isinstance(raw, dict) else {}
    return Status(text_in(raw, "Health"), text_in(raw, "HealthRollup"), text_in(raw, "State"))


def rows_in(body: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Return the objects in a list of a resource; none where there is no such list."""
    found = body.get(name)
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def linked(row: object) -> str:
    """Return where a link leads, "" where it is none."""
    return text_in(row, "@odata.id").rstrip("/") if isinstance(row, Mapping) else ""


def resources(text: str, what: str) -> dict[str, dict[str, Any]]:
    """Return the bodies by URI; EvidenceError unless there is at least one and all are objects."""
    found = json_object(text, what)
    if not found or not all(isinstance(body, dict) for body in found.values()):
        raise EvidenceError(f"{what}: the BMC gave no resource, or one that is no object; ask it again")
    return found


def lists_supplies(text: str) -> bool:
    """Whether any chassis' Power lists a power supply; EvidenceError for a text that is no answer."""
    bodies = json_object(text, "the chassis' power").values()
    return any(isinstance(body, dict) and body.get("PowerSupplies") for body in bodies)


def power_supplies(text: str) -> tuple[PowerSupply, ...]:
    """Return every power supply of every chassis, in the BMC's order."""
    bodies = resources(text, "the chassis' power")
    rows = [
        row for uri, body in bodies.items() for row in objects(body.get("PowerSupplies", []), f"{uri} PowerSupplies")
    ]
    if not rows:
        raise EvidenceError("the BMC lists no power supply at all, which no running server has; ask it again")
    return tuple(supply(row) for row in rows)


def supply(row: Mapping[str, Any]) -> PowerSupply:
    """Return one power supply of a chassis' Power."""
    status = status_of(row)
    return PowerSupply(
        name=text_in(row, "Name") or text_in(row, "MemberId"),
        model=text_in(row, "Model"),
        serial=text_in(row, "SerialNumber"),
        present=status.there,
        health=status.health,
        input_volts=number(row.get("LineInputVoltage")),
    )


def text_in(body: Mapping[str, Any], name: str) -> str:
    """Return a text of a resource without blanks around it, "" where it is none."""
    value = body.get(name)
    return value.strip()[:LONGEST] if isinstance(value, str) else ""
