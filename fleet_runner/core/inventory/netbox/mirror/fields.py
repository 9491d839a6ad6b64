"""Where a node is, as fields of its page in NetBox: what is written there, and what somebody else wrote meanwhile."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from fleet_runner.core.base.printable import printable
from fleet_runner.core.inventory.netbox.custom_fields import SINCE, STATE

SHOWN = 40
"""Characters of what somebody else wrote."""


class MirroredState(NamedTuple):
    """A node's state, and since when it is in it; ("", 0.0) before anything was written."""

    state: str
    since: float


NEVER = MirroredState("", 0.0)


@dataclass(frozen=True, slots=True)
class Judged:
    """What follows from fields as they are: whether they are written, and what of somebody else's is in the way."""

    due: bool
    conflict: str = ""


def fields(stand: MirroredState) -> dict[str, str]:
    """Return a node's stand as NetBox's fields have it, by their names."""
    return {STATE: stand.state, SINCE: moment(stand.since)}


def moment(at: float) -> str:
    """Return a moment as a field has it: whole seconds, UTC."""
    return datetime.fromtimestamp(int(at), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def missing(found: Mapping[str, Any]) -> list[str]:
    """Return the names of the fields that a device should have and has not."""
    return [name for name in (STATE, SINCE) if name not in found]


def judge(found: Mapping[str, Any], wanted: MirroredState, ours: Iterable[MirroredState]) -> Judged:
    """Compare fields as they are with what they should be and with what was written or sent from here before.

    What is none of these is somebody else's, and nothing is written over it; an empty field is nobody's.
    """
    target = fields(wanted)
    if all(_same(found[name], value) for name, value in target.items()):
        return Judged(due=False)
    known = [fields(stand) for stand in ours if stand != NEVER]
    theirs = [
        f"{name} is {_shown(found[name])}"
        for name, value in target.items()
        if not _empty(found[name])
        and not any(_same(found[name], each) for each in (value, *(k[name] for k in known)))
    ]
    return Judged(due=not theirs, conflict=", ".join(theirs))


def _empty(value: Any) -> bool:
    return value is None or value == ""


def _same(value: Any, written: str) -> bool:
    """Whether a field holds what was written; NetBox may give a moment back in other words."""
    if value == written:
        return True
    try:
        return datetime.fromisoformat(value).astimezone(UTC) == datetime.fromisoformat(written)
    except (TypeError, ValueError, OverflowError):
        return False


def _shown(value: Any) -> str:
    text = repr(printable(value)) if isinstance(value, str) else printable(repr(value))
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 2]} …"
