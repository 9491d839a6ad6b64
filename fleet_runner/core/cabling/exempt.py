"""Which devices are not as they will be: nobody is sent for their cables, and their flaps count for nothing."""

from collections.abc import Iterable, Mapping

from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.lifecycle.states import FABRICS, Condition, State

READY = frozenset({"active", "staged"})
"""Device statuses (NetBox) of what may be worked with; planned, offline or inventory devices are left alone."""

WORKED_ON: dict[Condition, str] = {
    Condition.MAINTENANCE: "in maintenance",
    Condition.DRAINING: "draining",
    Condition.HELD: "held",
}
"""Conditions under which nobody is sent for a node's cables, in words."""

STEADY = frozenset({State.VERIFY, State.BURN_IN, State.PRODUCTION})
"""States in which a node's links stay up; elsewhere boots, flashes and hands take them down."""

UPSET = frozenset({Condition.MAINTENANCE, Condition.DRAINING})
"""Conditions under which they may go down in any state."""


def excused(names: Iterable[str], fleet: Fleet, rows: Mapping[str, Node]) -> dict[str, str]:
    """Return, for those of the devices that are excused, why: "gpu-03 is in triage"."""
    found = {name: _why(name, fleet, rows.get(name)) for name in names}
    return {name: f"{name} is {why}" for name, why in found.items() if why}


def _why(name: str, fleet: Fleet, row: Node | None) -> str:
    device = fleet.devices.get(name)
    if device is not None and device.status not in READY:
        return f"{device.status} in the source of truth"
    if row is None or row.state in FABRICS:
        return ""
    if row.state is not State.PRODUCTION:
        return f"in {row.state}"
    return next((words for condition, words in WORKED_ON.items() if condition in row.conditions), "")


def upset(row: Node) -> bool:
    """Whether a node's links may go down now for reasons that are no fault."""
    return row.state not in STEADY or not UPSET.isdisjoint(row.conditions)
