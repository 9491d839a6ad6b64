"""What people switch off: the queue, a schedule."""

from typing import NamedTuple


class Switch(NamedTuple):
    """Something that a person switched off."""

    name: str
    at: float
    by: str
    reason: str


def resumable(paused: Switch) -> str:
    """Say who paused the queue and why, and how it goes on."""
    words = stopped(paused)
    return f"{words[0].upper()}{words[1:]}. To continue: fleet-runner queue resume"


def stopped(paused: Switch) -> str:
    """Say who paused the queue, and why."""
    return f"the queue is paused by {paused.by}: {paused.reason}"
