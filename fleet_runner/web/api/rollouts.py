"""Rollouts of firmware."""

from fastapi import APIRouter

from fleet_runner.core.access.api import Rolled
from fleet_runner.core.firmware.rollout import Rollout
from fleet_runner.web.access import Sees
from fleet_runner.web.api.bounds import NOT_FOUND, REFUSALS, Limit, Number, missing
from fleet_runner.web.site import Here

router = APIRouter(tags=["rollouts"], responses=REFUSALS)


@router.get("/rollouts", operation_id="list_rollouts")
def every(here: Here, _: Sees, limit: Limit = 50) -> tuple[Rollout, ...]:
    """List the newest rollouts, oldest first."""
    return here.store.rollouts(limit)


@router.get("/rollouts/{number}", operation_id="get_rollout", responses=NOT_FOUND)
def one(here: Here, _: Sees, number: Number) -> Rolled:
    """Return a rollout with its nodes in the order of their turns."""
    found = here.store.rollout(number)
    if found is None:
        raise missing(f"rollout {number}")
    return Rolled(found, here.store.rollout_members(number))
