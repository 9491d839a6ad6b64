"""What the trays of an NVLink domain show together that none of them can tell alone."""

from typing import NamedTuple


class Trouble(NamedTuple):
    """One fault of a domain, and the one right move.

    `component` is the part that people look at; `devices` are the trays that it touches, as far as they are known.
    `alone` says that one tray's own checks see it, too, and follow it up: no second ticket is opened for it.
    """

    code: str
    component: str
    message: str
    steps: tuple[str, ...]
    devices: tuple[str, ...] = ()
    alone: bool = False


def named(names: tuple[str, ...] | list[str], most: int = 4) -> str:
    """Return "a, b and 3 more"."""
    told = ", ".join(names[:most])
    return told + (f" and {len(names) - most} more" if len(names) > most else "")
