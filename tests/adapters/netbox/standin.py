"""A NetBox that is not there: serves a fleet over HTTP as NetBox 4.4 answered when it was looked at.

Pages, `fields=`, `device_type_id=`, `id=`, 403 for a wrong token, 404 as JSON; no export templates; unknown filters
are ignored, as NetBox does. Cables can be changed in bulk as in NetBox 4.6: all or none, missing ids left out,
`If-Match` on every cable.
"""

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from fleet_runner.core.inventory.records import Device, Fleet, Part

Row = dict[str, Any]
Lists = dict[str, list[Row]]

TOKEN = "0123456789abcdef0123456789abcdef01234567"
MAX_PAGE = 1000
MODULE_KINDS = {"gpu": "GPU", "psu": "Power supply"}  # kinds whose parts are kept as modules, by their profile


class Standin:
    """The lists it serves, and what it answers before it serves them."""

    def __init__(self, url: str, lists: Lists) -> None:
        self.url, self.lists = url, lists
        self.before: deque[tuple[int, str, bytes]] = deque()
        self.change: Callable[[Row], Row] = lambda answer: answer
        self.asked: list[str] = []
        self.exported: list[str] = []
        self.authorizations: set[str] = set()
        self.changed: list[list[Row]] = []
        self.meanwhile: Callable[[Lists], object] = lambda lists: lists  # somebody else, right before a change


@contextmanager
def serving(lists: Lists) -> Iterator[Standin]:
    """Serve lists on a loopback port of its own."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            exported = "export=" in self.path
            (standin.exported if exported else standin.asked).append(self.path)
            standin.authorizations.add(self.headers.get("authorization", ""))
            if standin.before and not exported:
                self.answer(*standin.before.popleft())
            elif self.headers.get("authorization") != f"Token {TOKEN}":
                self.answer(403, "application/json", b'{"detail":"Invalid token"}')
            else:
                status, found = page(standin, self.path)
                self.answer(
                    status, "application/json", json.dumps(found if exported else standin.change(found)).encode()
                )

        def do_PATCH(self) -> None:
            standin.asked.append(self.path)
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if standin.before:
                self.answer(*standin.before.popleft())
                return
            standin.meanwhile(standin.lists)
            tags = {tag.strip() for tag in self.headers.get("if-match", "").split(",")} - {""}
            status, found = changed(standin, body, tags)
            self.answer(status, "application/json", json.dumps(found).encode())

        def answer(self, status: int, kind: str, body: bytes) -> None:
            if status == 0:  # hangs up
                return
            self.send_response(status)
            self.send_header("Content-Type", kind)
            if status in {301, 302}:
                self.send_header("Location", body.decode())
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name is http.server's
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    standin = Standin(f"http://127.0.0.1:{server.server_address[1]}", lists)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield standin
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def page(standin: Standin, asked: str) -> tuple[int, Row]:
    """Return one page of a list, as NetBox does."""
    parts = urlsplit(asked)
    query = parse_qs(parts.query)
    path = parts.path.removeprefix("/api/dcim/").strip("/")
    if parts.path.strip("/") == "api/core/object-changes":  # nothing was ever logged
        return 200, {"count": 0, "next": None, "previous": None, "results": []}
    if not parts.path.startswith("/api/dcim/") or path not in standin.lists or "export" in query:
        return 404, {"detail": "Not found."}
    rows = standin.lists[path]
    if path == "interface-templates" and "device_type_id" in query:
        wanted = {int(one) for one in query["device_type_id"]}
        rows = [row for row in rows if not row["device_type"] or row["device_type"]["id"] in wanted]
    if "id" in query:
        rows = [row for row in rows if str(row["id"]) in query["id"]]
    limit = min(int(query.get("limit", ["50"])[0]) or MAX_PAGE, MAX_PAGE)
    offset = int(query.get("offset", ["0"])[0])
    fields = query.get("fields", [""])[0].split(",")
    shown = [{key: row[key] for key in fields if key in row} for row in rows[offset : offset + limit]]
    more = urlencode({**dict(query.items()), "offset": offset + limit}, doseq=True)
    link = f"{standin.url}{parts.path}?{more}" if offset + limit < len(rows) else None
    return 200, {"count": len(rows), "next": link, "previous": None, "results": shown}


def changed(standin: Standin, body: list[Row], tags: set[str]) -> tuple[int, list[Row] | Row]:
    """Change cables as NetBox's bulk PATCH does."""
    data = {row["id"]: row for row in body}
    known = [row for row in standin.lists["cables"] if row["id"] in data]
    if tags and any(f'W/"{row["last_updated"]}"' not in tags for row in known):
        return 412, {"detail": "Precondition failed."}
    for row in known:
        if row.get("custom") == "missing":
            return 400, {"custom_fields": ["The field owner is missing."]}
    standin.changed.append(body)
    for row in known:
        row["status"] = _choice(data[row["id"]]["status"])
        row["last_updated"] = f"2026-02-01T00:00:00.{len(standin.changed):06d}+00:00"
    return 200, [{"id": row["id"], "status": row["status"]} for row in known]


def as_netbox(fleet: Fleet) -> Lists:
    """Return a fleet as the lists that a NetBox would have of it."""
    types = {slug: number for number, slug in enumerate(fleet.device_types, 1)}
    lists: Lists = {
        "sites": [{"id": number, "name": site} for number, site in enumerate(fleet.sites, 1)],
        "racks": [
            {
                "id": number,
                "name": rack.name,
                "site": _brief(name=rack.site),
                "location": _brief(name=rack.location) if rack.location else None,
                "u_height": rack.u_height,
                "starting_unit": rack.starting_unit,
            }
            for number, rack in enumerate(fleet.racks.values(), 1)
        ],
        "device-types": [
            {
                "id": types[slug],
                "slug": slug,
                "model": found.model,
                "manufacturer": _brief(name=found.manufacturer),
                "u_height": found.u_height,
                "is_full_depth": found.full_depth,
            }
            for slug, found in fleet.device_types.items()
        ],
        "interface-templates": [
            {
                "id": 1000 * types[slug] + at,
                "device_type": _brief(types[slug], slug=slug),
                "name": template.name,
                "type": _choice(template.kind),
                "mgmt_only": template.mgmt_only,
            }
            for slug, found in fleet.device_types.items()
            for at, template in enumerate(found.interfaces)
        ],
        "devices": [_device(number, device, types, fleet) for number, device in enumerate(fleet.devices.values(), 1)],
        "interfaces": [],
        "inventory-items": [],
        "modules": [],
        "front-ports": [],
        "rear-ports": [],
    }
    for number, device in enumerate(fleet.devices.values(), 1):
        _fill(lists, _brief(number, name=device.name), device)
    return lists | _cables(fleet, lists["interfaces"])


def _device(number: int, device: Device, types: Mapping[str, int], fleet: Fleet) -> Row:
    racks = {(rack.site, rack.name): number for number, rack in enumerate(fleet.racks.values(), 1)}
    rack = racks.get((device.site, device.rack or ""), 0)
    return {
        "id": number,
        "name": device.name,
        "device_type": _brief(types.get(device.device_type, 0), slug=device.device_type),
        "role": _brief(slug=device.role),
        "site": _brief(name=device.site),
        "rack": _brief(rack, name=device.rack) if device.rack else None,
        "position": device.position,
        "face": _choice(device.face) if device.face else None,
        "status": _choice(device.status),
        "serial": device.serial or "",
        "oob_ip": _brief(address=f"{device.oob_address}/24") if device.oob_address else None,
        "primary_ip": _brief(address=f"{device.primary_address}/24") if device.primary_address else None,
        "tenant": _brief(name=device.tenant) if device.tenant else None,
        "custom_fields": {"fleet_management": device.management.value, "other": 1},
        "config_context": dict(device.context),
    }


def _fill(lists: Lists, owner: Row, device: Device) -> None:
    for interface in device.interfaces:
        guid = interface.guid
        row = {
            "id": len(lists["interfaces"]) + 1,
            "device": owner,
            "name": interface.name,
            "type": _choice(interface.kind),
            "mgmt_only": interface.mgmt_only,
            "primary_mac_address": _brief(mac_address=interface.mac.upper()) if interface.mac else None,
            "wwn": ":".join(guid[at : at + 2] for at in range(0, 16, 2)).upper() if guid else None,
        }
        lists["interfaces"].append(row)
    for part in device.parts:
        kept = "modules" if part.kind in MODULE_KINDS else "inventory-items"
        row = _module(part) if part.kind in MODULE_KINDS else _item(part)
        lists[kept].append({"id": len(lists[kept]) + 1, "device": owner, "serial": part.serial or "", **row})


def _module(part: Part) -> Row:
    profile = _brief(name=MODULE_KINDS[part.kind])
    return {"module_bay": _brief(name=part.slot), "module_type": _brief(model=part.model, profile=profile)}


def _item(part: Part) -> Row:
    return {"name": part.slot, "role": _brief(slug=part.kind), "part_id": part.model}


def _cables(fleet: Fleet, interfaces: list[Row]) -> Lists:
    ids = {(row["device"]["name"], row["name"]): row["id"] for row in interfaces}
    return {
        "cables": [
            {
                "id": number,
                "type": cable.kind or None,
                "label": cable.label,
                "status": _choice(cable.status),
                "created": "2026-01-01T00:00:00+00:00",
                "last_updated": f"2026-01-01T00:00:00.{number:06d}+00:00",
            }
            for number, cable in enumerate(fleet.cables, 1)
        ],
        "cable-terminations": [
            termination(number, side, ids[end])
            for number, cable in enumerate(fleet.cables, 1)
            for side, end in (("A", cable.a), ("B", cable.b))
        ],
    }


def termination(cable: int, side: str, its_id: int, kind: str = "dcim.interface") -> Row:
    """Return one end of a cable."""
    return {"cable": cable, "cable_end": side, "termination_type": kind, "termination_id": its_id}


def _brief(number: int = 1, **fields: Any) -> Row:
    return {"id": number, "url": "http://elsewhere.example/", "display": "shown", "description": "", **fields}


def _choice(value: str) -> Row:
    return {"value": value, "label": value.title()}
