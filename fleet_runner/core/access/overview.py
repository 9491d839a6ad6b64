"""What the API answers about the whole fleet and about one node: what those look at who only look.

Times are seconds since the epoch (UTC), as floats.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fleet_runner.core.budgets.breaker import Breaker
from fleet_runner.core.inventory.switch import Switch


@dataclass(frozen=True, slots=True)
class Paused:
    """Something that a person switched off: what, when, who and why."""

    name: str
    at: float
    by: str
    reason: str


@dataclass(frozen=True, slots=True)
class Notice:
    """What everybody should know first; `kind` is "bad", "unsure", or "calm" where all is well."""

    words: str
    kind: str


@dataclass(frozen=True, slots=True)
class Overview:
    """How the fleet is looked after now; `notices` say it in sentences.

    `unserved_since` is since when something is due that nobody does, null where somebody does. `heard` is when each
    part of the boot path was last heard of. `policy` says why the policy file cannot be used, "" where it can.
    `breaker` is null while it is closed. `waits` says of each node whose batch nobody has taken why that is. `mode`
    says how far automation may go, and where.
    """

    at: float
    release: str
    unserved_since: float | None = None
    paused_queue: Paused | None = None
    paused_schedules: Mapping[str, Paused] = field(default_factory=dict[str, Paused])
    heard: Mapping[str, float] = field(default_factory=dict[str, float])
    breaker: Breaker | None = None
    policy: str = ""
    waits: Mapping[str, str] = field(default_factory=dict[str, str])
    notices: tuple[Notice, ...] = ()
    mode: str = ""


@dataclass(frozen=True, slots=True)
class NodeSummary:
    """What stands of a node, what was tried and what comes next, a sentence each; `waits` is why it is in a queue."""

    alarms: tuple[str, ...] = ()
    remedies: tuple[str, ...] = ()
    waits: str | None = None


def paused(switch: Switch | None) -> Paused | None:
    """Return who switched something off, if somebody did."""
    return Paused(*switch) if switch is not None else None
