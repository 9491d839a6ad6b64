"""Every schedule that there is: whose it is, what it does, and how often unless a setting says otherwise.

A new one is a line here and its setting, `NAME_schedule`; what one runner does for the fleet is a job in
`reconcile.schedules.runner`, too.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from fleet_runner.core.lifecycle.states import FABRICS, SERVING, Stage, State
from fleet_runner.core.schedules.schedule import Schedule, Scope, schedule
from fleet_runner.core.schedules.sweep import Sweep


class Known(NamedTuple):
    """A schedule by what it is for.

    `stages` are what nodes, and fabrics, run by it, with the states in which they do; `must` says it has to come.
    """

    whose: Scope
    default: str
    meaning: str
    stages: Mapping[Stage, frozenset[State]] = MappingProxyType({})
    must: bool = False


KNOWN = {
    "passive": Known(
        Scope.NODE,
        "every 5min",
        "passive sweep of each node in production",
        {Stage.HEALTH_PASSIVE: SERVING},
        must=True,
    ),
    "active": Known(
        Scope.NODE, "every 1h", "active tests of each idle node in production", {Stage.HEALTH_ACTIVE: SERVING}
    ),
    "cabling": Known(
        Scope.NODE,
        "every 4h",
        "cabling of each fabric, and of each node in production",
        {Stage.CABLING: SERVING, Stage.FABRIC: FABRICS},
        must=True,
    ),
    "source": Known(Scope.RUNNER, "every 30s", "the source of truth is read", must=True),
    "trend": Known(Scope.FLEET, "41 2 * * *; jitter 1h", "stored results are analysed for trends"),
    "retention": Known(
        Scope.FLEET, "17 3 * * *; jitter 1h", "data that is too old or too much is deleted from the store"
    ),
}
"""By name."""


def parsed(name: str, text: str) -> Schedule:
    """Return a schedule by its name and its setting; ValueError says what is wrong with it."""
    known = KNOWN[name]
    found = schedule(name, text, known.whose)
    if known.must and found.is_off:
        raise ValueError(f"it must not be never; for a while, `fleet-runner schedules pause {name}` stops it")
    return found


SWEEPS = {name: Sweep(parsed(name, known.default)) for name, known in KNOWN.items() if known.whose is Scope.NODE}
"""The sweeps as they are unless settings say otherwise."""
