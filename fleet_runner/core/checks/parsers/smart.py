"""What disks say of their own health: NVMe logs from nvme-cli, and whatever smartctl reads, one JSON text a disk.

`find` runs the tool for each disk and prints the disk's name before it: one round trip, no shell, and a disk that
says nothing is known by name.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntFlag
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import LARGEST, json_object, number

MOST = 256
"""More disks than any server has."""

KELVIN = 273.15

WARMEST = 200
"""Degrees Celsius beyond which a number is a temperature in kelvin."""

NVME_ARGV = (
    *("find", "/dev", "-maxdepth", "1", "-regextype", "posix-extended", "-regex", "/dev/nvme[0-9]+"),
    *("-printf", "%p\n", "-exec", "nvme", "smart-log", "-o", "json", "{}", ";"),
)
ATA_ARGV = (
    *("find", "/dev", "-maxdepth", "1", "-regextype", "posix-extended", "-regex", "/dev/sd[a-z]+"),
    *("-printf", "%p\n", "-exec", "smartctl", "--json=c", "-n", "standby", "-i", "-H", "-A", "{}", ";"),
)
"""The commands: find carries on whatever the tool's exit status is, which smartctl uses for its own findings."""

_NAME = re.compile(r"^(/dev/[a-z0-9]{1,30})[ \t\r]*$", re.MULTILINE | re.ASCII)
_COUNT = re.compile(r"[0-9]{1,15}", re.ASCII)


class Warnings(IntFlag):
    """The bits of an NVMe drive's critical warning (NVM Express Base Specification, SMART / Health Information)."""

    SPARE = 1 << 0
    TEMPERATURE = 1 << 1
    DEGRADED = 1 << 2
    READ_ONLY = 1 << 3
    BACKUP = 1 << 4
    PERSISTENT_MEMORY = 1 << 5


@dataclass(frozen=True, slots=True)
class Health:
    """One disk's own word; None, or "" for texts, where it says nothing. Shares are in percent of what was new.

    `failing` is the disk's overall verdict over itself. Of a SATA disk, `reallocated` and `pending` count sectors.
    `contradictions` are counts that cannot both be true, a sentence each.
    """

    model: str = ""
    serial: str = ""
    failing: bool | None = None
    warnings: Warnings | None = None
    spare: float | None = None
    spare_least: float | None = None
    used: float | None = None
    celsius: float | None = None
    media_errors: int | None = None
    unsafe_shutdowns: int | None = None
    reallocated: int | None = None
    pending: int | None = None
    contradictions: tuple[str, ...] = ()


def parse(text: str) -> dict[str, Health | None]:
    """Return each disk's health by its name ("/dev/nvme0"); None for one whose answer is not whole."""
    pieces = _NAME.split(text)
    if pieces[0].strip():
        raise EvidenceError(f"the disks' health begins with {pieces[0].strip()!r:.80}, expected a disk's name")
    if len(pieces) > 2 * MOST:
        raise EvidenceError(f"{len(pieces) // 2} disks told their health, expected at most {MOST}")
    return dict(_answers(pieces[1:]))


def _answers(pieces: list[str]) -> Iterator[tuple[str, Health | None]]:
    for name, said in zip(pieces[::2], pieces[1::2], strict=True):
        try:
            yield name, health(said)
        except EvidenceError:
            yield name, None


def health(text: str) -> Health:
    """Read one disk's answer, of either tool; EvidenceError for one that tells nothing about its health."""
    found = json_object(text, "a disk's health")
    log = found.get("nvme_smart_health_information_log", found)
    log = log if isinstance(log, Mapping) else {}
    status = found.get("smart_status")
    passed = status.get("passed") if isinstance(status, Mapping) else None
    sectors = _attributes(found)
    read = Health(
        model=_text(found, "model_name"),
        serial=_text(found, "serial_number"),
        failing=not passed if isinstance(passed, bool) else None,
        warnings=_warnings(log.get("critical_warning")),
        spare=_first(log, "avail_spare", "available_spare"),
        spare_least=_first(log, "spare_thresh", "available_spare_threshold"),
        used=_first(log, "percent_used", "percentage_used"),
        celsius=_celsius(log, found),
        media_errors=_count(log.get("media_errors")),
        unsafe_shutdowns=_count(log.get("unsafe_shutdowns")),
        reallocated=sectors.get(5),
        pending=_sum(sectors.get(197), sectors.get(198)),
        contradictions=tuple(_contradictions(log)),
    )
    if read.failing is None and read.warnings is None and not sectors:
        raise EvidenceError("a disk's health holds neither a warning nor an attribute")
    return read


def _contradictions(log: Mapping[str, Any]) -> Iterator[str]:
    """Yield what an NVMe drive cannot have counted: units of data are rounded up, so one command makes one unit."""
    for what, units, names in (
        ("read", "data_units_read", ("host_read_commands", "host_reads")),
        ("write", "data_units_written", ("host_write_commands", "host_writes")),
    ):
        commands = next((count for name in names if (count := _count(log.get(name))) is not None), None)
        if commands and _count(log.get(units)) == 0:
            yield f"{commands} {what} commands and no data of them ({units} is 0)"


def _attributes(found: Mapping[str, Any]) -> dict[int, int]:
    """Return the raw values of a SATA disk's attributes by their numbers."""
    table = found.get("ata_smart_attributes")
    rows = table.get("table") if isinstance(table, Mapping) else None
    values: dict[int, int] = {}
    for row in rows if isinstance(rows, list) else ():
        raw = row.get("raw") if isinstance(row, Mapping) else None
        value = _count(raw.get("value")) if isinstance(raw, Mapping) else None
        if isinstance(row, Mapping) and type(row.get("id")) is int and value is not None:
            values[row["id"]] = value
    return values


def _warnings(value: object) -> Warnings | None:
    """Return the bits, which some versions of nvme-cli print as an object with their value."""
    if isinstance(value, Mapping):
        value = value.get("value")
    bits = _count(value)
    return None if bits is None else Warnings(bits & 0x3F)


def _celsius(log: Mapping[str, Any], found: Mapping[str, Any]) -> float | None:
    """Return the temperature, which nvme-cli tells in kelvin and smartctl in degrees Celsius."""
    told = _first(log, "temperature")
    if told is None:
        other = found.get("temperature")
        told = number(other.get("current")) if isinstance(other, Mapping) else None
    return None if told is None else round(told - KELVIN if told > WARMEST else told)


def _first(log: Mapping[str, Any], *names: str) -> float | None:
    return next((value for name in names if (value := number(log.get(name))) is not None), None)


def _count(value: object) -> int | None:
    """Return a count, which some versions print as a text because it may have 128 bits."""
    if isinstance(value, str) and _COUNT.fullmatch(value):
        return int(value)
    return value if type(value) is int and 0 <= value <= LARGEST else None


def _sum(*counts: int | None) -> int | None:
    told = [count for count in counts if count is not None]
    return sum(told) if told else None


def _text(found: Mapping[str, Any], name: str) -> str:
    value = found.get(name)
    return " ".join(value.split())[:80] if isinstance(value, str) else ""
