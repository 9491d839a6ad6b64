"""Find by name, serial number, address, rack, fabric, ticket, page or request; what is scanned leads here, too."""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from fleet_runner.core.tickets.work_orders.search import exact
from fleet_runner.web import palette
from fleet_runner.web.access import Sees
from fleet_runner.web.pages import labels
from fleet_runner.web.rendering import page
from fleet_runner.web.site import Here

router = APIRouter()
router.include_router(labels.router)

MOST, FEW = 50, 10
"""What fits only in part is shown so far, on the page and below a field: whoever gets more types more."""

Text = Annotated[str, Query(max_length=100)]


@router.get("/find")
def find(request: Request, here: Here, who: Sees, q: Text = "") -> Response:
    """Lead to the one thing that is meant, or list what may be."""
    known = palette.known(request, here, q)
    meant = exact(known, q)
    if len(meant) == 1 and (url := palette.link(meant[0])):
        return RedirectResponse(url, 303)
    if not meant and here.store.answer_of(q.strip()) is not None:
        return RedirectResponse(f"/jobs/{quote(q.strip())}", 303)
    found = palette.places(here, known, who, q, MOST + 1)
    return page(
        request, who, "find.html", q=q, rows=found[:MOST], more=len(found) > MOST, most=MOST,
        known=known.fleet is not None,
    )  # fmt: skip


@router.get("/find/matches")
def matches(request: Request, here: Here, who: Sees, q: Text = "") -> HTMLResponse:
    """List what a text that somebody types may mean, as far as a page shows it."""
    found = palette.places(here, palette.known(request, here, q), who, q, FEW + 1)
    rows = [each for each in found[:FEW] if each.url]
    return page(request, who, "find-matches.html", q=q, rows=rows, more=len(found) > FEW)
