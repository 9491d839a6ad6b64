"""Faults and pasts to judge checks by."""

from fleet_runner.core.lifecycle.states import State
from fleet_runner.core.reliability.check_value.past import DAY, Cost, FleetPast
from fleet_runner.core.reliability.parts.stay import Episode

SINCE, UNTIL = 100 * DAY, 130 * DAY


def episode(number: int, node: str, check: str, at: float, *, seen: int = 1, component: str = "GPU 3") -> Episode:
    """Return a fault that a check saw, some days after the past began."""
    begins = SINCE + at * DAY
    last = begins + (seen - 1) * 300.0
    return Episode(number, node, component, f"{check}.bad", f"{node}/{check}", check, "", begins, last, seen)


def past(*costs: Cost, nodes: int = 40, **more: object) -> FleetPast:
    """Return a past of nodes in production."""
    here = {f"gpu-{at:02}": State.PRODUCTION for at in range(nodes)}
    return FleetPast(SINCE, UNTIL, here, costs=costs, **more)  # type: ignore[arg-type]  whatever a test names
