"""Pictures of a ticket: its rack, and the cables that are concerned. Each is a file that runs nothing."""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Path, Response

from fleet_runner.core.cabling.picture import svg as cables
from fleet_runner.core.lifecycle.runs import Ticket
from fleet_runner.core.tickets.work_orders import faces
from fleet_runner.core.tickets.work_orders.racks import elevations
from fleet_runner.core.tickets.work_orders.racks import svg as racks
from fleet_runner.core.tickets.work_orders.sheets import ordered
from fleet_runner.web import fabric_sweeps
from fleet_runner.web.access import Sees
from fleet_runner.web.pages import labels
from fleet_runner.web.site import Here, Site

router = APIRouter()

Number = Annotated[int, Path(ge=1, le=2**31 - 1)]

RACKS = 4
"""Racks that one picture shows."""

POLICY = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}


def drawn(text: str) -> Response:
    """Return a picture: it has its own style sheet, and nothing else is let in."""
    return Response(text, media_type="image/svg+xml", headers=POLICY)


def known(here: Site, number: int) -> Ticket:
    """Return a ticket; 404 where there is none."""
    found = here.store.ticket(number)
    if found is None:
        raise HTTPException(404, f"there is no ticket {number}; /tickets lists those that are open")
    return found


@router.get("/tickets/{number}/rack.svg")
def rack(here: Here, who: Sees, number: Number) -> Response:
    """Draw the racks of a ticket's devices, those first where somebody stands first."""
    del who
    ticket, fleet = known(here, number), here.fleet()
    return drawn(racks(elevations(fleet, ordered(ticket))[:RACKS] if fleet is not None else ()))


@router.get("/tickets/{number}/ports.svg")
def ports(here: Here, who: Sees, number: Number) -> Response:
    """Draw the ports of a ticket's devices in order, with those that it names marked."""
    del who
    ticket, fleet = known(here, number), here.fleet()
    found = faces.faces(fleet, ticket) if fleet is not None else ()
    if not found:
        raise HTTPException(404, f"ticket {number} names no ports whose order is known")
    return drawn(faces.svg(found))


@router.get("/tickets/{number}/code.svg")
def code(here: Here, who: Sees, number: Number) -> Response:
    """Draw a QR code that opens a ticket: from a screen, or from its sheet of paper."""
    del who
    url = here.settings.web_url.rstrip("/")
    if not url:
        raise HTTPException(404, labels.WEB_URL)
    return Response(labels.drawn(f"{url}/tickets/{known(here, number).id}"), media_type="image/svg+xml")


@router.get("/tickets/{number}/picture.svg")
def picture(here: Here, who: Sees, number: Number) -> Response:
    """Draw a cabling fault as the newest capture shows it; where that is not known, the racks."""
    ticket, fleet = known(here, number), here.fleet()
    seen = fabric_sweeps.faults(here.store, fleet, here.settings, ticket) if fleet is not None else None
    return drawn(cables(*seen)) if seen is not None else rack(here, who, number)
