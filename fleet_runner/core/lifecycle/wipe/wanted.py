"""What a device type's profile says of a wipe: which disks a node has, and how they may be erased."""

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import number
from fleet_runner.core.lifecycle.wipe.methods import OF_DISKS, USUAL, Method

HOURS = 12.0
"""The longest that one device may take, unless the profile says otherwise."""

KNOWN = frozenset({"disks", "tpm", "hours"})
ROW = frozenset({"model", "count", "methods"})


@dataclass(frozen=True, slots=True)
class Row:
    """So many disks of a model (a glob) a node has, and the methods that they may be erased by, the best first."""

    model: str
    count: int
    methods: tuple[Method, ...] = USUAL


@dataclass(frozen=True, slots=True)
class WipePlan:
    """Everything that a wipe of such a node erases; `seconds` is the longest that one device may take."""

    rows: tuple[Row, ...]
    tpm: bool
    seconds: float

    def row(self, model: str) -> Row | None:
        """Return the first row that a model is of."""
        return next((row for row in self.rows if fnmatchcase(model, row.model)), None)


def read(profile: Mapping[str, Any]) -> WipePlan:
    """Read the section `wipe`; EvidenceError where there is none, or any slip in it: then nothing is erased."""
    section = profile.get("wipe")
    if section is None:
        raise EvidenceError(
            "fleet_profile.wipe: the profile does not say what a wipe may erase, so nothing is; "
            "add the section to the device type's file in inventory/group_vars"
        )
    section = _mapping(section, "wipe", KNOWN)
    rows = section.get("disks")
    if not isinstance(rows, list) or not rows:
        raise _wrong("wipe.disks", rows, "a list of rows with model and count")
    tpm, hours = section.get("tpm", True), number(section.get("hours", HOURS))
    if not isinstance(tpm, bool):
        raise _wrong("wipe.tpm", tpm, "true or false")
    if hours is None or hours <= 0:
        raise _wrong("wipe.hours", section.get("hours"), "a number above 0")
    read_rows = tuple(_row(row, f"wipe.disks[{index}]") for index, row in enumerate(rows))
    return WipePlan(read_rows, tpm, hours * 3600.0)


def _row(value: object, key: str) -> Row:
    row = _mapping(value, key, ROW)
    model, count = row.get("model"), row.get("count")
    if not isinstance(model, str) or not model.strip("*?"):
        raise _wrong(f"{key}.model", model, "the name of a model, which may hold * and ?")
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise _wrong(f"{key}.count", count, "a whole number above 0")
    return Row(model, count, _methods(row.get("methods"), f"{key}.methods"))


def _methods(value: object, key: str) -> tuple[Method, ...]:
    if value is None:
        return USUAL
    if not isinstance(value, list) or not value or not all(each in OF_DISKS for each in value):
        raise _wrong(key, value, f"some of {', '.join(sorted(OF_DISKS))}")
    return tuple(Method(each) for each in value)


def _mapping(value: object, key: str, known: frozenset[str]) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _wrong(key, value, f"a mapping with {', '.join(sorted(known))}")
    strange = sorted(str(name) for name in value if name not in known)
    if strange:
        raise _wrong(f"{key}.{strange[0]}", value[strange[0]], f"only {', '.join(sorted(known))}")
    return value


def _wrong(key: str, found: object, wanted: str) -> EvidenceError:
    return EvidenceError(
        f"fleet_profile.{key}: found {found!r:.80}, expected {wanted};"
        " correct the device type's file in inventory/group_vars"
    )
