"""The profile of a device type, read section by section: what healthy means for one SKU.

Its firmware is a catalogue, which `core.firmware.catalogue` reads.
A profile that cannot be read is nobody's hardware fault: EvidenceError names the key, and the verdict is UNKNOWN.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.inventory.records import Part

Profile = Mapping[str, Any]

MAKERS = ("NVIDIA", "AMD")
"""Who makes the GPUs that the checks know to ask."""

LARGEST = 1e15
"""A limit beyond this (or NaN) is a slip of the pen."""


@dataclass(frozen=True, slots=True)
class PartCount:
    """How many parts of a kind a node has, and of which model; an empty `model` means any."""

    count: int
    model: str = ""


@dataclass(frozen=True, slots=True)
class BurnIn:
    """How long the load runs, and how far below the node's median GPU one may fall (a share, 0 to 1)."""

    seconds: float
    gpu_gflops_share_min: float


@dataclass(frozen=True, slots=True)
class Optics:
    """How warm a module may be, and by how much its temperature may change within five minutes."""

    celsius_max: float
    celsius_change_max: float


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a profile and its key. Each value must be of the kind asked for, or EvidenceError names its key."""

    key: str
    values: Mapping[str, Any]

    def has(self, name: str) -> bool:
        """Whether a value is given."""
        return self.values.get(name) is not None

    def number(self, name: str) -> float:
        """Return a number, in the unit that its name ends with."""
        return _number(self.values, name, f"{self.key}.{name}")

    def whole(self, name: str) -> int:
        """Return a whole number, not below zero."""
        value = self.values.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise _wrong(f"{self.key}.{name}", value, "a whole number")
        return value

    def text(self, name: str) -> str:
        """Return a text that is not empty."""
        value = self.values.get(name)
        if not isinstance(value, str) or not value:
            raise _wrong(f"{self.key}.{name}", value, "a text")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts; a single text is a list of one."""
        value = self.values.get(name)
        rows = [value] if isinstance(value, str) else value
        if not isinstance(rows, list | tuple) or not all(isinstance(row, str) and row for row in rows):
            raise _wrong(f"{self.key}.{name}", value, "a list of texts")
        return tuple(rows)

    def flag(self, name: str) -> bool:
        """Return true or false."""
        value = self.values.get(name)
        if not isinstance(value, bool):
            raise _wrong(f"{self.key}.{name}", value, "true or false")
        return value


def has(profile: Profile, key: str) -> bool:
    """Whether a profile says anything under a key ("parts.nvme"); what cannot be looked into counts as said."""
    found: object = profile
    for name in key.split(".") if key else ():
        if not isinstance(found, Mapping):
            return True
        found = found.get(name)
        if found is None:
            return False
    return True


def section(profile: Profile, key: str) -> Section:
    """Return a part of the profile by its key ("pcie", "active.fio"), for a check to read its values from."""
    found = profile
    for name in key.split("."):
        found = _mapping(found, name, key)
    return Section(key, found)


def parts(profile: Profile, kind: str) -> PartCount:
    """Return how many parts of a kind ("gpu", "hca", "psu") there should be."""
    key = f"parts.{kind}"
    section = _mapping(_mapping(profile, "parts", "parts"), kind, key)
    count = section.get("count")
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise _wrong(f"{key}.count", count, "a whole number")
    model = section.get("model", "")
    if not isinstance(model, str):
        raise _wrong(f"{key}.model", model, "a text")
    if kind == "gpu" and gpu_maker(profile) not in MAKERS:
        raise _wrong(f"{key}.maker", section["maker"], " or ".join(MAKERS))
    return PartCount(count, model)


def gpu_maker(profile: Profile) -> str:
    """Return who made the GPUs ("AMD"), from `parts.gpu.maker`; "NVIDIA" where a profile does not say.

    What is no maker is said by the check that counts the GPUs (`parts`).
    """
    kinds = profile.get("parts")
    gpus = kinds.get("gpu") if isinstance(kinds, Mapping) else None
    return str(gpus.get("maker", MAKERS[0])) if isinstance(gpus, Mapping) else MAKERS[0]


def limit(profile: Profile, name: str) -> float:
    """Return one limit, in the unit its name ends with."""
    return _number(_mapping(profile, "limits", "limits"), name, f"limits.{name}")


def burn_in(profile: Profile) -> BurnIn:
    """Return what the burn-in asks for."""
    section = _mapping(profile, "burn_in", "burn_in")
    return BurnIn(
        seconds=_number(section, "seconds", "burn_in.seconds"),
        gpu_gflops_share_min=_number(section, "gpu_gflops_share_min", "burn_in.gpu_gflops_share_min"),
    )


def hca_interfaces(profile: Profile) -> dict[str, str]:
    """Return which interface each HCA is ("mlx5_0" -> "ib0"); empty where the profile names none."""
    section = profile.get("hca_interfaces", {})
    if not isinstance(section, Mapping) or not all(isinstance(value, str) for value in section.values()):
        raise _wrong("hca_interfaces", section, "a mapping of HCA names to interface names")
    return {str(name): value for name, value in section.items()}


def adapter(profile: Profile, interface: str) -> str | None:
    """Return the HCA ("mlx5_0"), or its port ("mlx5_0/2"), that an interface is; None where nothing says it."""
    return next((name for name, known in hca_interfaces(profile).items() if known == interface), None)


def optics(profile: Profile) -> Optics | None:
    """Return what is asked of the modules; None where nothing is, and nobody reads them."""
    if "optics" not in profile:
        return None
    section = _mapping(profile, "optics", "optics")
    return Optics(
        celsius_max=_number(section, "celsius_max", "optics.celsius_max"),
        celsius_change_max=_number(section, "celsius_change_max", "optics.celsius_change_max"),
    )


def device_parts(device: Mapping[str, Any], kind: str) -> tuple[Part, ...]:
    """Return the parts of a kind that the source of truth lists for this very node."""
    rows = device.get("parts", ())
    if not isinstance(rows, list | tuple) or not all(isinstance(row, Mapping) for row in rows):
        raise EvidenceError(
            f"fleet_device.parts: found {rows!r:.80}, expected a list of parts; look at the inventory"
        )
    return tuple(
        Part(
            slot=str(row.get("slot", "")),
            kind=kind,
            model=str(row.get("model", "")),
            serial=str(row["serial"]) if row.get("serial") else None,
        )
        for row in rows
        if row.get("kind") == kind
    )


def _mapping(section: Mapping[str, Any], name: str, key: str) -> Mapping[str, Any]:
    value = section.get(name)
    if not isinstance(value, Mapping):
        raise _wrong(key, value, "a mapping")
    return value


def _number(section: Mapping[str, Any], name: str, key: str) -> float:
    value = section.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool) or not -LARGEST < value < LARGEST:
        raise _wrong(key, value, "a number")
    return float(value)


def _wrong(key: str, found: object, wanted: str) -> EvidenceError:
    return EvidenceError(
        f"fleet_profile.{key}: found {found!r:.80}, expected {wanted};"
        " correct the device type's file in inventory/group_vars"
    )
