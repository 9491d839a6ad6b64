"""How many nodes automation may have out of service at a time: per rack and per fleet.

Only leaving service asks for budget. Healing, uncordoning and returning never do.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fleet_runner.core.lifecycle import SERVING, State

RECENT = 4 * 3600.0
"""Seconds for which a node that left production for triage counts as out: long enough to see that it is not alone."""


@dataclass(frozen=True, slots=True)
class Limits:
    """`share` of serving nodes that may be out; `rack` nodes of one rack in a reboot; up to `small` nodes, one."""

    share: float = 0.1
    rack: int = 1
    small: int = 20


@dataclass(frozen=True, slots=True)
class Grant:
    """Whether a node may leave service now; `sentence` says why not."""

    allowed: bool
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """What is out now: the reboots under way, by rack too, and what left for triage lately."""

    serving: int
    out: int
    racks: Mapping[str, int]


def measure(states: Iterable[tuple[str, State]], triaged: int) -> Usage:
    """Count what is out.

    `states` are (rack, state) of every node, rack "" where unknown; `triaged` is how many left production for triage
    lately. Nodes that people work on for longer are no disruption any more.
    """
    rows = list(states)
    racks = Counter(rack for rack, state in rows if state is State.REBOOT and rack)
    rebooting = sum(state is State.REBOOT for _, state in rows)
    return Usage(serving=sum(state in SERVING for _, state in rows), out=rebooting + triaged, racks=racks)


def grant(usage: Usage, rack: str, limits: Limits) -> Grant:
    """Say whether one more node of `rack` may leave service."""
    if rack and usage.racks.get(rack, 0) >= limits.rack:
        return Grant(
            allowed=False,
            sentence=f"the budget of rack {rack} is spent: {usage.racks[rack]} of {limits.rack} node(s) out",
        )
    total = usage.serving + usage.out
    most = 1 if total <= limits.small else max(1, int(limits.share * total))
    if usage.out >= most:
        return Grant(allowed=False, sentence=f"the fleet's budget is spent: {usage.out} of at most {most} nodes out")
    return Grant(allowed=True)


def beside(usage: Usage, racks: Iterable[str]) -> Usage:
    """Return the usage with nodes of these racks that are out besides, and were not counted."""
    more = [*racks]
    counted = Counter(usage.racks) + Counter(rack for rack in more if rack)
    return Usage(usage.serving, usage.out + len(more), counted)


def take(usage: Usage, rack: str) -> Usage:
    """Return the usage after one more node of `rack` left service."""
    racks = Counter(usage.racks)
    if rack:
        racks[rack] += 1
    return Usage(usage.serving - 1, usage.out + 1, racks)
