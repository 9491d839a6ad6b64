"""Serial numbers of parts that came into nodes: which of them may be written."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from fleet_runner.core.tickets.rma_cases import Case, Replaced


class Step(StrEnum):
    """What follows from the serial number that stands there."""

    DONE = "done"
    WRITE = "write"
    KEEP = "keep"  # it is somebody else's


@dataclass(frozen=True, slots=True)
class Due:
    """A serial number that is to be written: the part that came, and the one that went out, "" where not known.

    `conflict` is what stands there instead, `detail` why it is not written yet.
    """

    node: str
    slot: str
    out: str
    came: str
    by: str
    at: float
    conflict: str = ""
    tries: int = 0
    due_at: float = 0.0
    detail: str = ""


def queued(
    before: Case, after: Case, slots: Iterable[str], waiting: Iterable[Due], who: tuple[str, float]
) -> list[Due]:
    """Return what is due for slots of a case whose parts came in, by whom and when.

    What stands in a slot is what a number that still waits is to take the place of, or else the part that came
    before, or else the one that went out.
    """
    old, new = ({part.slot: part for part in case.parts} for case in (before, after))
    still = {due.slot: due.out for due in waiting}
    by, at = who
    return [Due(after.node, slot, _stands(slot, old, still, new[slot].out), new[slot].came, by, at) for slot in slots]


def _stands(slot: str, old: Mapping[str, Replaced], still: Mapping[str, str], out: str) -> str:
    if slot in still:
        return still[slot]
    return (old[slot].came if slot in old else "") or out


def step(there: str, due: Due) -> Step:
    """Say what is done about a serial number as it stands there."""
    if there == due.came:
        return Step.DONE
    return Step.WRITE if there in {"", due.out} else Step.KEEP
