"""Which nodes may be loaded by hand: idle ones in service, and those that serve nobody."""

from fleet_runner.adapters.store import Store
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.inventory.records import Management
from fleet_runner.core.lifecycle.idle import USAGE
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.lifecycle.states import FABRICS, Condition, State

RESTING = frozenset({State.ONBOARD, State.TRIAGE, State.DEBUG})
"""States beside production in which a node serves nobody, and no play of ours works on it between two visits."""

BARS = {
    Condition.HELD: "held",
    Condition.MAINTENANCE: "in maintenance",
    Condition.CORDONED: "cordoned",
    Condition.DRAINING: "draining",
    Condition.PENDING: "waiting for a remedy",
}


def why_not(store: Store, row: Node, newest: float) -> str:
    """Say why a node may not be loaded: it runs a tenant's work or ours, or may; "" where it may.

    An answer about its use counts if it came since `newest`.
    """
    if row.state in FABRICS or row.state is State.RETIRED:
        return f"it is {'a fabric' if row.state in FABRICS else 'retired'}, expected a node in service"
    if row.state is not State.PRODUCTION and row.state not in RESTING:
        return f"it is in {row.state}; expected one in production or in {', '.join(sorted(RESTING))}"
    if Condition.IN_USE in row.conditions:
        return "a tenant's work runs on it; wait until it is idle, or drain it"
    if any(run.node == row.name for run in store.open_runs()):
        return "a run is under way there; wait for its end"
    return _why_not_in_production(store, row, newest) if row.state is State.PRODUCTION else ""


def _why_not_in_production(store: Store, row: Node, newest: float) -> str:
    """Say why a node that serves may not be loaded; "" where it may."""
    if row.management is not Management.FULL:
        return f"its management is {row.management}: only its customer decides about it"
    held = next((each for each in BARS if each in row.conditions), None)
    if held is not None:
        return f"it is {BARS[held]}: {row.conditions[held].reason}"
    answers = (each for each in store.latest_results(row.name) if each.result.check == USAGE)
    usage = next(answers, None)
    if usage is None or usage.at <= newest or usage.result.verdict is not Verdict.PASS:
        return f"it is unknown whether work runs on it; ask it: fleet-runner check run {USAGE} --node {row.name}"
    if usage.result.observed.get("in_use") is not False:
        return "a tenant's work runs on it; wait until it is idle, or drain it"
    return ""
