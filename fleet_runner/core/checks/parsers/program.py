"""What the programs in roles/active/files print: lines of JSON, each with the program's name, the last with "ended".

Around them may stand anything: warnings of libraries, and the rest of a line that was cut when only the end of a long
output was kept.
"""

from dataclasses import dataclass
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import json_object, number
from fleet_runner.core.faults.pci import canonical

LONGEST = 60_000
"""Of a line; a longer one is none of ours."""


@dataclass(frozen=True, slots=True)
class DeviceRef:
    """Which device a line is about. `pci` ("0000:9b:00.0") and `serial` are empty where nobody told them."""

    name: str
    model: str = ""
    pci: str = ""
    serial: str = ""

    @property
    def component(self) -> str:
        """Return "GPU 0000:9b:00.0", as every check over GPUs names it, or the device by its program's name."""
        return f"GPU {self.pci}" if self.pci else self.name

    @property
    def described(self) -> str:
        """Return the component with its serial, for a technician."""
        return f"{self.component} (serial {self.serial})" if self.serial else self.component


def whose(line: dict[str, Any], program: str) -> DeviceRef:
    """Read the device of a line; replicas on a processor have one name between them, and a number each."""
    name, slot = line.get("device"), line.get("slot", 0)
    if not isinstance(name, str) or not name or not isinstance(slot, int):
        raise EvidenceError(f"{program} names a device {name!r:.40}, expected a text")
    own = f"{name:.40}" if name.startswith("cuda") or "slot" not in line else f"{name:.40}#{slot:.0f}"
    return DeviceRef(own, text(line, "model"), canonical(text(line, "pci")) or "", text(line, "serial"))


def text(line: dict[str, Any], name: str) -> str:
    """Return a short text; "" for none, and for what nvidia-smi prints for none."""
    value = line.get(name, "")
    found = value if isinstance(value, str) else ""
    return "" if found.strip("[]") in {"N/A", "Not Supported"} else found[:80]


def amount(line: dict[str, Any], name: str) -> float:
    """Return a number that is not below zero; EvidenceError for anything else."""
    value = number(line.get(name))
    if value is None or value < 0:
        raise EvidenceError(f"{line['program']}'s {name} is {line.get(name)!r:.40}, expected a number")
    return value


def count(line: dict[str, Any], name: str) -> int:
    """Return a whole number that is not below zero; EvidenceError for anything else."""
    value = amount(line, name)
    if value != int(value):
        raise EvidenceError(f"{line['program']}'s {name} is {value}, expected a whole number")
    return int(value)


def lines(output: str, program: str) -> tuple[dict[str, Any], ...]:
    """Return the lines of a program in their order, without those that cannot be read."""
    found: list[dict[str, Any]] = []
    for line in output.splitlines():
        if line.startswith("{") and len(line) <= LONGEST:
            try:
                told = json_object(line, program)
            except EvidenceError:
                continue
            if told.get("program") == program:
                found.append(told)
    return tuple(found)


def whole(output: str, program: str) -> tuple[dict[str, Any], ...]:
    """Return the lines of a program that came to its end; EvidenceError for one that did not, or says why."""
    found = lines(output, program)
    failed = next((line["error"] for line in reversed(found) if "error" in line and "target" not in line), None)
    if failed is not None:
        raise EvidenceError(f"{program}: {failed!s:.200}")
    if not found or found[-1].get("ended") is not True:
        said = output.strip().splitlines()
        last = f"; its last output: {said[-1]:.160}" if said else ""
        raise EvidenceError(f"{program} did not come to its end{last}")
    return found
