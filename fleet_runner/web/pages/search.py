"""Find by name, serial number, address, rack or ticket; what is scanned leads here, too."""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse

from fleet_runner.core.tickets.work_orders.search import DEVICE, NODE, RACK, TICKET, Found, Known, alike, exact
from fleet_runner.web.access import Sees
from fleet_runner.web.pages import labels
from fleet_runner.web.rendering import page
from fleet_runner.web.site import Here, Site

router = APIRouter()
router.include_router(labels.router)

MOST = 50
"""What fits only in part is shown so far: whoever gets more types more."""

PATHS = {NODE: "/nodes/", RACK: "/fleet/racks/", TICKET: "/tickets/"}
"""Where the page of each kind of thing is; a device without a lifecycle has none."""


@router.get("/find")
def find(request: Request, here: Here, who: Sees, q: Annotated[str, Query(max_length=100)] = "") -> Response:
    """Lead to the one thing that is meant, or list what may be."""
    known = _known(here, q)
    meant = exact(known, q)
    if len(meant) == 1 and (url := link(meant[0])):
        return RedirectResponse(url, 303)
    if not meant and here.store.answer_of(q.strip()) is not None:
        return RedirectResponse(f"/jobs/{quote(q.strip())}", 303)
    found = meant or alike(known, q, MOST + 1)
    fleet = here.fleet()
    return page(
        request,
        who,
        "find.html",
        q=q,
        rows=[(each, link(each), _place(here, each)) for each in found[:MOST]],
        more=len(found) > MOST,
        most=MOST,
        known=fleet is not None,
    )


def link(found: Found) -> str:
    """Return where somebody goes for something; "" where no page shows it."""
    return f"{PATHS[found.kind]}{quote(found.key)}" if found.kind in PATHS else ""


def _known(here: Site, text: str) -> Known:
    """Return where to look: at tickets only if a number is asked for, also at one that is closed."""
    plain = text.strip().removeprefix("#")
    number = int(plain) if plain.isascii() and plain.isdecimal() and len(plain) < 10 else 0  # noqa: PLR2004  ids are less
    ticket = here.store.ticket(number) if number else None
    names = frozenset(node.name for node in here.store.nodes())
    return Known(here.fleet(), names, (ticket,) if ticket is not None else ())


def _place(here: Site, found: Found) -> str:
    fleet = here.fleet()
    return fleet.place(found.key) if fleet is not None and found.kind in {NODE, DEVICE} else ""
