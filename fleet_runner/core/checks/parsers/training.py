"""What our program training.py prints: what each device of a node computed, bit for bit, and how fast."""

import math
import re
from dataclasses import dataclass
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import program
from fleet_runner.core.checks.parsers.json_text import number
from fleet_runner.core.checks.parsers.program import DeviceRef

PROGRAM = "training"
MOST_DEVICES = 64
_DIGEST = re.compile(r"[0-9a-f]{64}")
_FLOAT = re.compile(r"-?(?:0x[01]\.[0-9a-f]{1,13}p[+-][0-9]{1,3}|nan|inf)")


@dataclass(frozen=True, slots=True)
class Mark:
    """The loss at a step, as exact bits, and the digest of every parameter after it."""

    step: int
    loss: str
    digest: str

    @property
    def finite(self) -> bool:
        """Whether the loss is a number."""
        return math.isfinite(float.fromhex(self.loss))


@dataclass(frozen=True, slots=True)
class Device:
    """What one device did. `differing` of its `rounds` gave something else than its first, from step `parted` on.

    `trouble` says why it did not come to its end; nothing else is known of it then.
    """

    whose: DeviceRef
    software: str = ""
    shape: str = ""
    rounds: int = 0
    differing: int = 0
    parted: int = 0
    marks: tuple[Mark, ...] = ()
    tokens_per_second: float = 0.0
    peak_bytes: float = 0.0
    trouble: str = ""

    @property
    def kind(self) -> str:
        """Return the key of a reference: which version of PyTorch, on which model."""
        return f"{self.software}/{self.whose.model}"


def parse(output: str) -> tuple[Device, ...]:
    """Read what each device did; EvidenceError unless the program came to its end and tells of every device."""
    found = program.whole(output, PROGRAM)
    devices = tuple(_device(line) for line in found if line.get("kind") == "device")[:MOST_DEVICES]
    wanted = found[-1].get("devices")
    if not devices or len(devices) != wanted or len({each.whose.name for each in devices}) < len(devices):
        raise EvidenceError(
            f"training reports {len(devices)} devices and ended with {wanted!r:.10}; was it cut short?"
        )
    return devices


def progress(output: str) -> dict[str, dict[str, Any]]:
    """Return how many rounds each device has done, and how fast, from the output so far; never raises."""
    rounds = [line for line in program.lines(output, PROGRAM) if line.get("kind") == "round"]
    told = [
        (
            line.get("device"),
            number(line.get("slot")),
            number(line.get("round")),
            number(line.get("tokens_per_second")),
        )
        for line in rounds
    ]
    return {
        f"{device:.20}#{slot:.0f}": {"rounds": int(count), "tokens_per_second": rate}
        for device, slot, count, rate in told
        if isinstance(device, str) and slot is not None and count is not None
    }


def _device(line: dict[str, Any]) -> Device:
    whose = program.whose(line, PROGRAM)
    if "trouble" in line:
        return Device(whose, trouble=f"{line['trouble']!s:.200}")
    told = line.get("marks")
    if not isinstance(told, list) or not told:
        raise EvidenceError(f"training reports no marks of {whose.name}: found {told!r:.40}")
    return Device(
        whose,
        software=program.text(line, "torch"),
        shape=f"{program.text(line, 'precision')}, {program.count(line, 'steps')} steps",
        rounds=program.count(line, "rounds"),
        differing=program.count(line, "differing_count"),
        parted=_parted(line.get("differing")),
        marks=tuple(_mark(mark, whose.name) for mark in told),
        tokens_per_second=program.amount(line, "tokens_per_second"),
        peak_bytes=program.amount(line, "peak_bytes"),
    )


def _mark(raw: Any, name: str) -> Mark:
    if isinstance(raw, list) and len(raw) == 3:  # noqa: PLR2004  step, loss, digest
        step, loss, digest = raw
        bits = (
            isinstance(loss, str) and _FLOAT.fullmatch(loss) and isinstance(digest, str) and _DIGEST.fullmatch(digest)
        )
        if bits and isinstance(step, int):
            return Mark(step, loss, digest)
    raise EvidenceError(f"training's mark of {name} is {raw!r:.80}, expected a step, its loss and a digest")


def _parted(raw: Any) -> int:
    """Return the earliest step at which a later round left the first; 0 where none is told."""
    rows = [row for row in raw if isinstance(row, list) and len(row) == 2] if isinstance(raw, list) else []  # noqa: PLR2004  round, step
    return min((row[1] for row in rows if isinstance(row[1], int)), default=0)
