"""What signals say is wrong with one component of a node: it is raised, holds, and clears."""

from dataclasses import dataclass

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.signals.signal import Source

UNPROVEN = "told without authentication; the node is asked first"
"""What is said of an alarm whose sender proved nothing."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """One kind of fault of one component, from its first signal until it clears; then the next signal begins another.

    `fault` is the key under which checks, tickets and attempts know the same fault. `raised_at` is None while too few
    signals have come for it to count. `last_at` is when it last happened, `heard_at` when that was heard; `count`
    tells how often. `remedy` and `at_once` are what the rules made of it. All times in epoch seconds.

    One that is not `authenticated` came without proof of its sender: nothing follows from it by itself, the node is
    asked first. What is told both ways makes two alarms, so that forged words never change one that is believed.
    """

    node: str
    code: str
    component: str
    fault: str
    source: Source
    message: str
    remedy: Remedy
    at_once: bool
    first_at: float
    last_at: float
    heard_at: float
    count: int = 1
    raised_at: float | None = None
    cleared_at: float | None = None
    cleared_because: str = ""
    authenticated: bool = False
    id: int = 0
