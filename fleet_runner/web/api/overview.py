"""How the fleet is looked after now, and how much automation may do."""

from fastapi import APIRouter

from fleet_runner.core import budget
from fleet_runner.core.answers import Budget, Out, Overview
from fleet_runner.core.breaker import Breaker
from fleet_runner.reconcile import afar
from fleet_runner.reconcile.purse import limits, measured
from fleet_runner.reconcile.remedying import rules_in_use
from fleet_runner.web.access import Sees
from fleet_runner.web.api.bounds import REFUSALS, source
from fleet_runner.web.site import Here

router = APIRouter(tags=["fleet"], responses=REFUSALS)


@router.get("/status", operation_id="get_status")
def status(here: Here, _: Sees) -> Overview:
    """Say how the fleet is looked after now: what is paused, what stopped automation, who is silent."""
    return afar.overview(here.settings, here.store, here.clock())


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
    found = budget.uses(measured(here.store, source(here), here.clock()), allowed)
    shown = (use for use in found if use.out or use.scope is not budget.Scope.RACK)
    return tuple(
        Budget(use.scope.value, use.name, tuple(Out(o.node, o.where, o.until) for o in use.out), use.most, use.total)
        for use in shown
    )
