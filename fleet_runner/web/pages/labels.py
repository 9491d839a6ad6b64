"""Labels to print: a QR code for each device, which any phone's camera opens as the page of that device."""

import io
from typing import Annotated
from urllib.parse import quote

import segno
from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.responses import HTMLResponse

from fleet_runner.core.inventory.records import NODE_ROLES, Device, Fleet
from fleet_runner.core.tickets.work_orders.locations import spot, walking
from fleet_runner.web.access import Mends
from fleet_runner.web.rendering import page
from fleet_runner.web.site import Here, Site

router = APIRouter()

MOST = 120
"""Labels of one page: two racks' worth of paper, and no more pictures than an address may ask for in a while."""

WEB_URL = (
    "The setting web_url is empty, so a label would lead nowhere. Set it to where phones reach these pages, such as"
    " https://fleet.example, and load this page again."
)


@router.get("/labels")
def labels(
    request: Request,
    here: Here,
    who: Mends,
    rack: Annotated[str, Query(max_length=200)] = "",
    node: Annotated[str, Query(max_length=200)] = "",
) -> HTMLResponse:
    """Show the labels of a rack, or of one device."""
    fleet = here.fleet()
    chosen = _chosen(fleet, rack, node) if fleet is not None else []
    return page(
        request,
        who,
        "labels.html",
        web_url=here.settings.web_url,
        why=WEB_URL,
        rack=rack,
        node=node,
        known=fleet is not None,
        racks=sorted(fleet.racks) if fleet is not None else [],
        rows=[(device, spot(fleet, device.name)) for device in chosen[:MOST]],
        found=len(chosen),
        most=MOST,
    )


@router.get("/labels/{name:path}.svg")
def code(here: Here, who: Mends, name: str) -> Response:
    """Draw a device's QR code."""
    del who
    fleet = here.fleet()
    device = fleet.devices.get(name) if fleet is not None else None
    if device is None:
        raise HTTPException(404, "the source of truth has no such device")
    if not here.settings.web_url:
        raise HTTPException(404, WEB_URL)
    return Response(drawn(target(here, device)), media_type="image/svg+xml")


def target(here: Site, device: Device) -> str:
    """Return where a device's label leads: to whatever has its serial number then."""
    return f"{here.settings.web_url.rstrip('/')}/find?q={quote(device.serial or device.name, safe='')}"


def drawn(text: str) -> bytes:
    """Return a text as a QR code that a scratched label still tells, as SVG without a style of its own."""
    found = io.BytesIO()
    segno.make_qr(text, error="m").save(found, kind="svg", scale=4, border=4, light="#ffffff", dark="#000000")
    return found.getvalue()


def _chosen(fleet: Fleet, rack: str, node: str) -> list[Device]:
    """Return the devices that are meant: one, those of a rack from its top, or none."""
    if node:
        found = fleet.devices.get(node)
        return [found] if found is not None else []
    if not rack:
        return []
    inside = [
        each for each in fleet.devices.values() if each.rack and rack in {f"{each.site}/{each.rack}", each.rack}
    ]
    return sorted(inside, key=_order)


def _order(device: Device) -> tuple[object, ...]:
    return walking((device.site, "", device.rack or "")), -(device.position or 0.0), device.role not in NODE_ROLES
