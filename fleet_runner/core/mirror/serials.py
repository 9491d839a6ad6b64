"""Serial numbers of parts that came into nodes: which of them may be written."""

from dataclasses import dataclass
from enum import StrEnum


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


def step(there: str, due: Due) -> Step:
    """Say what is done about a serial number as it stands there."""
    if there == due.came:
        return Step.DONE
    return Step.WRITE if there in {"", due.out} else Step.KEEP
