"""How far a node's firmware is, as the evidence that its verdict is drawn from, and as the sentences people read."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.checks.parsers.json_text import json_object
from fleet_runner.core.firmware.flash import Flash, Phase, Task

SHOWN = 2
"""Different versions of a bundle's entries that a sentence spells out."""

MINUTE = 60.0
TWO_MINUTES = 2 * MINUTE


class FirmwareStatus(StrEnum):
    """Where a node's firmware stands when a visit ends."""

    DONE = "done"  # every component is on a version that is right
    WORKING = "working"  # a flash is under way; the BMC goes on by itself
    WAITING = "waiting"  # nothing is under way and nothing may begin yet
    FAILED = "failed"  # it is certain that a component is not on a version that is right, and cannot be brought there
    REFUSED = "refused"  # catalogue, images and inventory contradict each other; nothing was sent
    UNREAD = "unread"  # the BMC does not say what has to be known, and nothing is under way


@dataclass(frozen=True, slots=True)
class Report:
    """What a visit did and found. `steps` are the requests that are still to be sent, `flash` the one under way.

    `changed` says that this visit did something to the node,
    `rebooted` that the host was reset, or switched on or off, since the node came into its state.
    """

    stand: FirmwareStatus
    message: str
    steps: tuple[Mapping[str, Any], ...] = ()
    flash: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()
    changed: bool = False
    rebooted: bool = False

    def __post_init__(self) -> None:
        """Mark what no terminal may see in a BMC's words."""
        object.__setattr__(self, "message", printable(self.message))
        object.__setattr__(self, "notes", tuple(map(printable, self.notes)))

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {
            "state": self.stand.value,
            "message": self.message,
            "steps": [dict(step) for step in self.steps],
            "flash": None if self.flash is None else dict(self.flash),
            "notes": list(self.notes),
            "changed": self.changed,
            "rebooted": self.rebooted,
        }


def parse(text: str, what: str) -> Report:
    """Read what `to_json` gave, as a text; EvidenceError for anything else."""
    raw = json_object(text, what)
    try:
        return Report(
            stand=FirmwareStatus(raw["state"]),
            message=str(raw["message"]),
            steps=tuple(dict(step) for step in raw["steps"]),
            flash=None if raw["flash"] is None else dict(raw["flash"]),
            notes=tuple(map(str, raw["notes"])),
            changed=bool(raw["changed"]),
            rebooted=bool(raw["rebooted"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise EvidenceError(f"{what}: {json.dumps(raw):.60} is not a firmware report ({error!r:.80})") from error


def under_way(flash: Flash) -> dict[str, Any]:
    """Return the flash that is under way, as a report shows it."""
    return {
        "id": flash.id,
        "component": flash.component,
        "before": dict(flash.before),
        "targets": dict(flash.targets),
        "image": flash.image,
        "attempt": flash.attempt,
        "phase": flash.phase.value,
        "task": flash.task,
        "rolls_back": flash.rolls_back,
    }


def versions(before: Mapping[str, str], targets: Mapping[str, str]) -> str:
    """Return "2.0 → 2.1", or for entries that differ "2.0 → 2.1, 1.9 → 2.1"."""
    pairs = list(dict.fromkeys(f"{before.get(entry) or '?'} → {version}" for entry, version in targets.items()))
    more = f" and {len(pairs) - SHOWN} more" if len(pairs) > SHOWN else ""
    return ", ".join(pairs[:SHOWN]) + more


def line(flash: Flash, why: str, now: float, task: Task | None = None, then: Sequence[str] = ()) -> str:
    """Return "BIOS 2.0 → 2.1: the BMC writes it, 42 %, since 3 min; then BIOS, CPLD"."""
    many = f" ({len(flash.targets)} entries)" if len(flash.targets) > 1 else ""
    percent = f", {task.percent} %" if task and task.percent is not None and flash.phase is Phase.SENT else ""
    again = f", attempt {flash.attempt}" if flash.attempt > 1 else ""
    what = f"{flash.component}{many} {versions(flash.before, flash.targets)}{again}"
    return printable(f"{what}: {why.rstrip('.')}{percent}, since {span(now - flash.intended_at)}{following(then)}")


def following(then: Iterable[str]) -> str:
    """Return "; then BIOS, 2 of PSU", or nothing where nothing follows."""
    runs = [(name, len(list(same))) for name, same in groupby(then)]
    names = ", ".join(name if many == 1 else f"{many} of {name}" for name, many in runs)
    return f"; then {names}" if names else ""


def span(seconds: float) -> str:
    """Return "40 s", or minutes where it is longer than two of them."""
    return f"{max(seconds, 0.0):.0f} s" if seconds < TWO_MINUTES else f"{seconds / MINUTE:.0f} min"
