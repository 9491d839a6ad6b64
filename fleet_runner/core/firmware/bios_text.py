"""How far a node's BIOS settings are, as the evidence that their verdict is drawn from."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import json_object, number


class SettingStatus(StrEnum):
    """Where they stand when the task is over."""

    SETTLED = "settled"  # every one is in force
    WAITING = "waiting"  # those that are not in force are with the BMC, and a reset of the host comes next
    PLANNED = "planned"  # nothing was sent, because only that was asked: what would be
    FAILED = "failed"  # the BMC took them in this stay, and the host was reset, in vain
    REFUSED = "refused"  # profile and BMC contradict each other; nothing was sent
    BUSY = "busy"  # something else is at the node's firmware
    UNREAD = "unread"  # the BMC does not say what has to be known


GOING_ON = frozenset({SettingStatus.SETTLED, SettingStatus.WAITING, SettingStatus.PLANNED})
"""Where the play goes on: to the reset, if one is needed, and to the question if all are in force."""


@dataclass(frozen=True, slots=True)
class Report:
    """What was done and found. `request` is what was sent, or would be: its method, URI and body.

    `since` is the moment (epoch seconds) from which a reset of the host counts, None where none is needed. `later`
    are settings that are sent once others are in force.
    """

    stand: SettingStatus
    message: str
    request: Mapping[str, Any] | None = None
    since: float | None = None
    notes: tuple[str, ...] = ()
    changed: bool = False
    later: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {
            "state": self.stand.value,
            "message": self.message,
            "request": None if self.request is None else dict(self.request),
            "since": self.since,
            "notes": list(self.notes),
            "changed": self.changed,
            "later": list(self.later),
        }


def parse(text: str, what: str) -> Report:
    """Read what `to_json` gave, as a text; EvidenceError for anything else."""
    raw = json_object(text, what)
    try:
        return Report(
            stand=SettingStatus(raw["state"]),
            message=str(raw["message"]),
            request=None if raw["request"] is None else dict(raw["request"]),
            since=number(raw["since"]),
            notes=tuple(map(str, raw["notes"])),
            changed=bool(raw["changed"]),
            later=tuple(map(str, raw.get("later", ()))),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise EvidenceError(f"{what}: {json.dumps(raw):.60} is no report of BIOS settings ({error!r:.80})") from error
