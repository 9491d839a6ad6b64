"""How the fleet is looked after now, and how much automation may do."""

from fastapi import APIRouter

from fleet_runner.core.access.api import Budget, Out
from fleet_runner.core.access.overview import Overview
from fleet_runner.core.budgets import disruption_budget
from fleet_runner.core.budgets.breaker import Breaker
from fleet_runner.reconcile.budgets.allowance import limits, measured
from fleet_runner.reconcile.faults.remedies import rules_in_use
from fleet_runner.reconcile.loop import remote_answers
from fleet_runner.web.access import Sees
from fleet_runner.web.api.bounds import REFUSALS, source
from fleet_runner.web.site import Here

router = APIRouter(tags=["fleet"], responses=REFUSALS)


@router.get("/status", operation_id="get_status")
def status(here: Here, _: Sees) -> Overview:
    """Say how the fleet is looked after now: what is paused, what stopped automation, who is silent."""
    return remote_answers.overview(here.settings, here.store, here.clock())


@router.get("/breaker", operation_id="get_breaker")
def breaker(here: Here, _: Sees) -> Breaker | None:
    """Return the circuit breaker that stops automation, null while it is closed."""
    return here.store.breaker()


@router.get("/budget", operation_id="get_budget")
def spent(here: Here, _: Sees) -> tuple[Budget, ...]:
    """Return how many nodes are out of service, and may be: of the fleet, tenants, failure domains and racks.

    Racks of which nothing is out are left out.
    """
    allowed = limits(here.settings, rules_in_use(here.settings))
    found = disruption_budget.uses(measured(here.store, source(here), here.clock()), allowed)
    shown = (use for use in found if use.out or use.scope not in disruption_budget.MANY)
    return tuple(
        Budget(use.scope.value, use.name, tuple(Out(o.node, o.where, o.until) for o in use.out), use.most, use.total)
        for use in shown
    )
