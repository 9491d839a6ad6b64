"""What an adapter read from a source of truth, before it is known to make sense."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, Protocol, TypeVar

from fleet_runner.core.base.natural_order import natural
from fleet_runner.core.inventory.records import Cable, Device, DeviceType, Fleet, Rack, rack_key

T = TypeVar("T")


class Where(Protocol):
    """Says where a record, or one field of it, was found: "devices.yml:12", or a NetBox object's URL."""

    def __call__(self, field: str = "") -> str:
        """Return the place of the record, or of one of its fields."""
        ...


class Found(NamedTuple, Generic[T]):
    """A record and where it was found."""

    record: T
    where: Where


@dataclass(frozen=True, slots=True)
class Location:
    """A part of a site that racks stand in: a row, a cage. Locations lie in each other, up to the site."""

    name: str
    site: str
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """Everything a source of truth says, duplicates and contradictions included; `notes` as a fleet has them."""

    sites: Sequence[Found[str]]
    roles: frozenset[str]
    racks: Sequence[Found[Rack]]
    device_types: Sequence[Found[DeviceType]]
    devices: Sequence[Found[Device]]
    cables: Sequence[Found[Cable]]
    locations: Sequence[Found[Location]] = ()
    notes: tuple[str, ...] = ()


def settle(draft: Draft, revision: str) -> Fleet:
    """Return the fleet of a draft without problems, everything in its natural order."""
    racks = {rack_key(found.record.site, found.record.name): found.record for found in draft.racks}
    types = {found.record.slug: found.record for found in draft.device_types}
    devices = {found.record.name: found.record for found in draft.devices}
    cables = [_ordered(found.record) for found in draft.cables]
    return Fleet(
        sites=tuple(sorted((found.record for found in draft.sites), key=natural)),
        racks={key: racks[key] for key in sorted(racks, key=natural)},
        device_types={slug: types[slug] for slug in sorted(types, key=natural)},
        devices={name: devices[name] for name in sorted(devices, key=natural)},
        cables=tuple(sorted(cables, key=lambda cable: (cable.a, cable.b))),
        revision=revision,
        notes=draft.notes,
    )


def _ordered(cable: Cable) -> Cable:
    return cable if cable.a <= cable.b else replace(cable, a=cable.b, b=cable.a)
