"""Memory modules as `dmidecode -t memory` lists them, with tabs or spaces, of any version."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from fleet_runner.core.base.errors import EvidenceError

MAX_STRUCTURES = 4096
"""More than any firmware describes."""

MODULE, END = "17", "127"
"""Types of structures (System Management BIOS, DSP0134): a slot for a memory module, and the end of the table."""

GIB = 1 << 30

_HANDLE = re.compile(r"^[ \t]*Handle 0x[0-9A-Fa-f]{1,8}, DMI type (\d{1,3}), \d{1,4} bytes[ \t\r]*$", re.MULTILINE)
_FIELD = re.compile(r"^[ \t]+([A-Za-z][A-Za-z ]{0,60}):[ \t]*([^\n]{0,200})$", re.MULTILINE)
_SIZE = re.compile(r"([0-9]{1,9}) ([KMGT]?B|bytes)", re.IGNORECASE)
_SPEED = re.compile(r"([0-9]{1,6}) M(?:T/s|Hz)", re.IGNORECASE)
_UNITS = {"bytes": 1, "B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": GIB, "TB": 1 << 40}
_NOTHING = {"", "unknown", "not specified", "no dimm", "none", "not provided", "n/a", "empty", "null"}


@dataclass(frozen=True, slots=True)
class Dimm:
    """One slot. `bytes` is 0 where it is empty, None where the firmware does not say; speeds are in MT/s.

    `name` is how the board calls the slot, made unique by its bank if need be; texts are "" where nothing is told.
    """

    name: str
    bank: str
    bytes: int | None
    rated: int | None
    configured: int | None
    manufacturer: str
    model: str
    serial: str


@dataclass(frozen=True, slots=True)
class Memory:
    """Every slot; where the table's end was not seen, there may be more of them."""

    slots: tuple[Dimm, ...]
    complete: bool


def parse(text: str) -> Memory:
    """Return the slots for memory modules; EvidenceError for a report without any.

    A last structure that is cut short is left out.
    """
    starts = list(_HANDLE.finditer(text))
    if not starts:
        said = text.strip().splitlines()
        raise EvidenceError(f"dmidecode lists no memory: {said[-1] if said else 'it printed nothing'!r:.120}")
    if len(starts) > MAX_STRUCTURES:
        raise EvidenceError(f"dmidecode lists {len(starts)} structures, expected at most {MAX_STRUCTURES}")
    ends = [each.start() for each in starts[1:]] + [len(text)]
    blocks = [(each[1], text[each.end() : end]) for each, end in zip(starts, ends, strict=True)]
    complete = blocks[-1][0] == END and "End Of Table" in blocks[-1][1]
    if not blocks[-1][1].endswith(("\n\n", "\n\r\n")):
        blocks.pop()
    modules = [_dimm(body) for kind, body in blocks if kind == MODULE]
    return Memory(tuple(_unique([each for each in modules if each is not None])), complete)


def _fields(body: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in _FIELD.findall(body):
        found.setdefault(name.strip(), " ".join(value.split()))
    return found


def _dimm(body: str) -> Dimm | None:
    """Return a slot; None for what is no slot of main memory: flash, or memory on a card."""
    fields = _fields(body)
    if fields.get("Type") in {"Flash", "Logical non-volatile device", "EEPROM", "ROM"}:
        return None
    return Dimm(
        name=_text(fields.get("Locator")),
        bank=_text(fields.get("Bank Locator")),
        bytes=_bytes(fields.get("Size", "")),
        rated=_speed(fields.get("Speed")),
        configured=_speed(fields.get("Configured Memory Speed") or fields.get("Configured Clock Speed")),
        manufacturer=_text(fields.get("Manufacturer")),
        model=_text(fields.get("Part Number")),
        serial=_text(fields.get("Serial Number")),
    )


def _text(value: str | None) -> str:
    said = (value or "").strip()
    return "" if said.lower() in _NOTHING or not said.strip("0") else said[:80]


def _bytes(value: str) -> int | None:
    if value.lower() in {"no module installed", "not installed"}:
        return 0
    found = _SIZE.fullmatch(value)
    return int(found[1]) * _UNITS[found[2] if found[2] == "bytes" else found[2].upper()] if found else None


def _speed(value: str | None) -> int | None:
    found = _SPEED.fullmatch(value or "")
    return int(found[1]) if found else None


def _unique(dimms: list[Dimm]) -> Iterator[Dimm]:
    """Yield them with names that are each one's own: some boards call a slot "DIMM 0" in every bank."""
    names = Counter(each.name for each in dimms)
    both = Counter(f"{each.bank} {each.name}" for each in dimms)
    for nth, each in enumerate(dimms):
        name = each.name
        if not name or names[name] > 1:
            name = f"{each.bank} {name}".strip()
            name = name if name and both[f"{each.bank} {each.name}"] == 1 else f"{name or 'slot'} #{nth}"
        yield replace(each, name=name)
