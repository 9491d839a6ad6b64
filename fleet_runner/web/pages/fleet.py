"""The fleet as racks: each node by its state, what moves, and why the rest waits."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from fleet_runner.web.access import Sees
from fleet_runner.web.rendering import page
from fleet_runner.web.site import Here

router = APIRouter()


@router.get("/fleet")
def fleet(request: Request, here: Here, who: Sees) -> HTMLResponse:
    """Show every node."""
    return page(request, who, "fleet.html", nodes=here.store.nodes())
