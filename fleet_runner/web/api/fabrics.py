"""Fabrics: what is swept as a whole."""

from fastapi import APIRouter

from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.web.access import Sees
from fleet_runner.web.api.bounds import REFUSALS, shown
from fleet_runner.web.site import Here

router = APIRouter(tags=["nodes"], responses=REFUSALS)


@router.get("/fabrics", operation_id="list_fabrics")
def every(here: Here, _: Sees) -> tuple[Node, ...]:
    """List fabrics by name; all that is asked of a node is asked of a fabric below /nodes/{name}, too."""
    return tuple(map(shown, here.store.fabrics()))
