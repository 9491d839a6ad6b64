"""What should be, as the source of truth said last: devices, racks and cables."""

from collections.abc import Iterator
from dataclasses import replace

from fastapi import APIRouter

from fleet_runner.core.access.api import Page
from fleet_runner.core.inventory.records import Cable, Device, Rack
from fleet_runner.web.access import Sees
from fleet_runner.web.api.bounds import NOT_FOUND, REFUSALS, Cursor, Limit, Name, Narrow, missing, page_of, source
from fleet_runner.web.site import Here

router = APIRouter(tags=["source of truth"], responses=REFUSALS)


@router.get("/devices", operation_id="list_devices")
def devices(  # noqa: PLR0913  a query has as many parameters as it narrows by
    *,
    here: Here,
    _: Sees,
    site: Narrow = "",
    rack: Narrow = "",
    role: Narrow = "",
    limit: Limit = 100,
    cursor: Cursor = "",
) -> Page[Device]:
    """List devices by name; `context`, which may hold anything, is left empty."""
    known = source(here).devices
    rows = (
        _shown(known[name])
        for name in sorted(known)
        if name > cursor
        and site in {"", known[name].site}
        and rack in {"", known[name].rack}
        and role in {"", known[name].role}
    )
    return page_of(rows, limit, lambda device: device.name)


@router.get("/devices/{name}", operation_id="get_device", responses=NOT_FOUND)
def device(here: Here, _: Sees, name: Name) -> Device:
    """Return a device; its `context` is left empty."""
    found = source(here).devices.get(name)
    if found is None:
        raise missing(f"device {name!r} in the source of truth")
    return _shown(found)


@router.get("/racks", operation_id="list_racks")
def racks(here: Here, _: Sees, site: Narrow = "", limit: Limit = 100, cursor: Cursor = "") -> Page[Rack]:
    """List racks by site and name; sizes are in rack units."""
    known = source(here).racks
    rows = (known[key] for key in sorted(known) if key > cursor and site in {"", known[key].site})
    return page_of(rows, limit, lambda rack: f"{rack.site}/{rack.name}")


@router.get("/cables", operation_id="list_cables")
def cables(here: Here, _: Sees, device: Narrow = "", limit: Limit = 100, cursor: Cursor = "") -> Page[Cable]:
    """List designed cables by their first end; an end is a device and its interface."""
    known = sorted(source(here).cables, key=_key)
    rows: Iterator[Cable] = (
        each for each in known if _key(each) > cursor and device in {"", each.a.device, each.b.device}
    )
    return page_of(rows, limit, _key)


def _key(cable: Cable) -> str:
    """Return what cables are listed by: the end that comes first, since a cable has no direction."""
    return " ".join(sorted(map(str, (cable.a, cable.b))))


def _shown(found: Device) -> Device:
    return replace(found, context={})
