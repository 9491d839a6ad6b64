"""PCI devices as the kernel tells them in /sys/bus/pci/devices: who they are, how links run, what went wrong."""

import re
from dataclasses import dataclass

from fleet_runner.core.checks.parsers.files import Files, below, whole, word
from fleet_runner.core.faults.pci import canonical

FOLDER = "/sys/bus/pci/devices"

ERRORS = ("correctable", "nonfatal", "fatal")
"""Kinds of errors that a device counts for itself (PCIe Advanced Error Reporting), the mildest first."""

PATTERNS = (
    *(f"{FOLDER}/*/{name}" for name in ("vendor", "device", "class")),
    *(f"{FOLDER}/*:00.0/{when}_link_{what}" for when in ("current", "max") for what in ("speed", "width")),
    *(f"{FOLDER}/*:00.0/aer_dev_{kind}" for kind in ERRORS),
)
"""What must be read: of every device who it is, and of the first at the end of each link how that runs."""

_SPEED = re.compile(r"([0-9]{1,3}(?:\.[0-9])?) GT/s", re.ASCII)
_TOTAL = re.compile(r"^TOTAL_ERR_[A-Z]{1,10} ([0-9]{1,15})$", re.MULTILINE | re.ASCII)
_LINE = re.compile(r"^(\w{1,20}) ([0-9]{1,15})$", re.MULTILINE | re.ASCII)


@dataclass(frozen=True, slots=True)
class Device:
    """One function of a device. `id` is "15b3:1021"; `kind` its class, six hex digits ("020700").

    `speed` is in GT/s, `width` in lanes; None for a device without a link, or one that is not trained. `errors`
    counts since the boot by kind; a kind that the kernel does not count is not there.
    """

    pci: str
    id: str
    kind: str
    speed: float | None
    width: int | None
    speed_most: float | None
    width_most: int | None
    errors: dict[str, int]


def devices(found: Files) -> tuple[Device, ...]:
    """Return the devices by their addresses."""
    rows = ((canonical(name), files) for name, files in sorted(below(found, FOLDER).items()))
    return tuple(_device(pci, files) for pci, files in rows if pci is not None and "vendor" in files)


def _device(pci: str, files: dict[str, str | None]) -> Device:
    errors = {kind: _errors(files.get(f"aer_dev_{kind}")) for kind in ERRORS}
    return Device(
        pci=pci,
        id=f"{_hex(files.get('vendor'))}:{_hex(files.get('device'))}",
        kind=_hex(files.get("class")),
        speed=_speed(files.get("current_link_speed")),
        width=whole(files.get("current_link_width")) or None,
        speed_most=_speed(files.get("max_link_speed")),
        width_most=whole(files.get("max_link_width")) or None,
        errors={kind: count for kind, count in errors.items() if count is not None},
    )


def _hex(value: str | None) -> str:
    return word(value).lower().removeprefix("0x")[:6]


def _speed(value: str | None) -> float | None:
    """Return GT/s; "Unknown" stands there for a link that is down, and older kernels add " PCIe"."""
    found = _SPEED.match(word(value))
    return float(found[1]) if found else None


def _errors(value: str | None) -> int | None:
    """Return how many there were: the kernel's total, which older ones do not give."""
    if not value:
        return None
    total = _TOTAL.search(value)
    return int(total[1]) if total else sum(int(count) for _, count in _LINE.findall(value))
