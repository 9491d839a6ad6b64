"""What a process that serves says of its health: whether its loop goes round, and whether its parts can be used."""

from collections.abc import Mapping
from dataclasses import dataclass

LEAST = 60.0
"""Seconds that one step of a round may take whatever it took so far: locks are waited for up to half of that."""

TIMES = 2.0
"""How much longer than the longest round so far the next one may take."""

MOST = 600.0
"""Seconds of a round that are believed: one that took hours must not make every later one look quick."""


SILENT = 1 / 2
"""Which part of its lease a runner may be silent: it beats six times while it lasts."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part's state, with a sentence that names no node and no secret."""

    ok: bool
    said: str


@dataclass(frozen=True, slots=True)
class Alive:
    """Whether the loop moves: seconds since it was last seen to, and how many may be."""

    seconds: float
    bound: float

    @property
    def ok(self) -> bool:
        """Whether it was seen to move lately enough."""
        return self.seconds <= self.bound

    @property
    def said(self) -> str:
        """Say so in words."""
        ago = f"the loop last moved {self.seconds:.1f} s ago, expected at most {self.bound:.0f} s"
        return ago if self.ok else f"{ago}: it hangs; the log shows its last action, a restart loses nothing"


def bound(tick_seconds: float, longest: float) -> float:
    """Return how many seconds may lie between two signs of a loop that lives; `longest` is its longest round."""
    return tick_seconds + LEAST + TIMES * min(longest, MOST)


def heard(silent: float, lease: float, *, decides: bool) -> Part:
    """Say whether others hear of a runner in time: how long it was silent, and its lease lasts, in seconds."""
    most = SILENT * lease
    ago = f"other runners last saw this one {silent:.1f} s ago, expected at most {most:.0f} s"
    if silent <= most:
        return Part(ok=True, said=f"{ago}; {'it decides for the fleet' if decides else 'it does not decide now'}")
    follows = f"after {lease:.0f} s they take its turn, and what it has not begun"
    return Part(ok=False, said=f"{ago}; {follows}: check the database, and the load of this computer")


def ready(parts: Mapping[str, Part]) -> bool:
    """Whether every part can be used."""
    return all(part.ok for part in parts.values())
