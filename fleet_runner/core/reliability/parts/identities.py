"""Which part is where: what the checks of parts observed of serial numbers, by the names that findings have."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from fleet_runner.core.reliability.trends.metrics import component
from fleet_runner.core.reliability.trends.samples import MOST, believable


class IdentitySource(NamedTuple):
    """Where a check tells identities: the kind of part, and the mapping by component that it observed."""

    kind: str
    where: str


TOLD: Mapping[str, IdentitySource] = {
    "parts_gpu": IdentitySource("gpu", "parts"),
    "parts_hca": IdentitySource("hca", "guids"),
    "parts_nvme": IdentitySource("nvme", "serials"),
    "parts_dimm": IdentitySource("dimm", "serials"),
    "power_supplies": IdentitySource("psu", "parts"),
    "optics": IdentitySource("optic", "modules"),
}
"""By check. An HCA tells no serial number of its own; its GUID is burnt into it, and is as good."""


class Identity(NamedTuple):
    """A part in a place, as it told itself; `slot` is "" where nobody knows how people call the place."""

    kind: str
    component: str
    serial: str
    slot: str


def read(check: str, observed: Mapping[str, Any]) -> Iterator[Identity]:
    """Yield the parts that a check's result tells of: nothing of one that says nothing of its serial number."""
    told = TOLD.get(check)
    found = observed.get(told.where) if told is not None else None
    if told is None or not isinstance(found, Mapping) or len(found) > MOST:
        return
    for key, entry in found.items():
        said = entry if isinstance(entry, Mapping) else {"serial": entry}
        serial, slot = said.get("serial"), said.get("slot")
        if believable(key) and believable(serial) and str(serial).strip():
            named = slot if believable(slot) else ""
            yield Identity(told.kind, component(told.kind, key), str(serial).strip(), str(named))
