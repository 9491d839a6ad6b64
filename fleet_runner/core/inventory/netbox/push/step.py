"""One object that a push makes in a NetBox, or one whose values it changes there."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

Key = tuple[str, ...]
Values = Mapping[str, Any]


class PanelPort(NamedTuple):
    """A port of a patch panel: its device, its side ("front" or "rear") and its name."""

    device: str
    side: str
    name: str


class Kind(StrEnum):
    """What is written, in the order in which NetBox can take it: each needs only what is before it."""

    SITE = "site"
    LOCATION = "location"
    TENANT = "tenant"
    ROLE = "role"
    PART_ROLE = "part role"
    MANUFACTURER = "manufacturer"
    RACK = "rack"
    TYPE = "device type"
    TEMPLATE = "interface of a type"
    DEVICE = "device"
    INTERFACE = "interface"
    MAC = "MAC address"
    ADDRESS = "IP address"
    PART = "part"
    REAR = "rear port"
    FRONT = "front port"
    CORD = "cord"
    CABLE = "cable"


@dataclass(frozen=True, slots=True)
class Step:
    """What is written of one object.

    `key` is what people know it by: a name, or a site's rack, a device's interface. `values` are what is written, by
    the names that records have for them. `was` is what NetBox had for them; None where the object is new. `id` is
    NetBox's, where its records tell it. `site` is where it stands, for locations, racks and devices.
    """

    kind: Kind
    key: Key
    values: Values
    was: Values | None = None
    id: int | None = None
    site: str = ""

    @property
    def name(self) -> str:
        """Return what it is called: "device gpu-01", "cable gpu-01 ib0 to leaf-1 1"."""
        ends = [" ".join(self.key[at : at + 2]) for at in range(0, len(self.key), 2)]
        return (
            f"{self.kind} {ends[0]} to {', '.join(ends[1:])}"
            if self.kind in {Kind.CABLE, Kind.CORD}
            else f"{self.kind} {ends[0]}"
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """What a push does, in its order; `conflicts` are what it cannot do, `notes` what it leaves as it is."""

    steps: tuple[Step, ...]
    conflicts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """Names that a NetBox has and that no record of a fleet tells.

    `ports` are those of the patch panels that are asked for, each with whether a cable ends there.
    """

    tenants: frozenset[str] = field(default_factory=frozenset[str])
    roles: frozenset[str] = field(default_factory=frozenset[str])
    part_roles: frozenset[str] = field(default_factory=frozenset[str])
    manufacturers: frozenset[str] = field(default_factory=frozenset[str])
    locations: frozenset[tuple[str, str]] = field(default_factory=frozenset[tuple[str, str]])
    ports: Mapping[PanelPort, bool] = field(default_factory=dict[PanelPort, bool])


def changed(record: Any, before: Any, fields: tuple[str, ...]) -> tuple[Values, Values]:
    """Return the fields in which two records differ, new and old; what the first leaves empty is no difference."""
    new: dict[str, Any] = {}
    for name in fields:
        value = getattr(record, name)
        if value not in (None, "") and value != getattr(before, name):
            new[name] = value
    return new, {name: getattr(before, name) for name in new}


def written(record: Any, fields: tuple[str, ...]) -> Values:
    """Return the fields of a record that are not empty."""
    found = {name: getattr(record, name) for name in fields}
    return {name: value for name, value in found.items() if value not in (None, "")}
