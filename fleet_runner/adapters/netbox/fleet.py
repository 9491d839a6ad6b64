"""A fleet out of what was read of a NetBox."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TypeVar

from fleet_runner.adapters.netbox import panels, records
from fleet_runner.adapters.netbox.cables import Known, cables, strands
from fleet_runner.adapters.netbox.records import Inside, held, made
from fleet_runner.adapters.netbox.rows import DeviceRow, Row, Rows
from fleet_runner.adapters.netbox.snapshots import Snapshot
from fleet_runner.core.inventory.consistency import Draft, Found, Location, Problem, problems, refusal, settle
from fleet_runner.core.inventory.records import NODE_ROLES, Cable, Fleet, Part, Rack, Termination

T = TypeVar("T")
R = TypeVar("R", bound=Row)


def fleet(snapshot: Snapshot, url: str) -> Fleet:
    """Return the fleet of a NetBox at `url`.

    Devices without a name are left out unless they are nodes. Raises SourceError with every problem, each with the
    page of its object.
    """
    wrong: list[Problem] = []
    url = url.rstrip("/").removesuffix("/api")
    draft = _draft(snapshot, f"{url}/dcim", wrong)
    if not wrong:
        wrong.extend(problems(draft))
    if wrong:
        raise refusal(url, wrong)
    return settle(draft, revision(snapshot.rows))


def revision(rows: Rows) -> str:
    """Return what changes whenever a row does."""
    lists = [list(each.values()) for each in (getattr(rows, name) for name in rows.__slots__)]
    return sha256(json.dumps(lists, sort_keys=True).encode()).hexdigest()


def _draft(snapshot: Snapshot, base: str, wrong: list[Problem]) -> Draft:
    rows = snapshot.rows

    def each(path: str, make: Callable[[R], T], of: Iterable[R]) -> list[Found[T]]:
        return made(make, of, f"{base}/{path}", wrong)

    owners = _owners(rows)
    interfaces = [(owners[row.id], records.interface(row)) for row in rows.interfaces.values()]
    inside = Inside(held(interfaces, lambda interface: interface.name), _parts(rows))
    wrong.extend(_nameless_nodes(rows.devices.values(), base))
    named = [row for row in rows.devices.values() if row.name]
    racks = each("racks", records.rack, rows.racks.values())
    designed, lost = _cables(rows, owners, f"{base}/cables", wrong)
    return Draft(
        sites=each("sites", lambda row: row.name, rows.sites.values()),
        roles=frozenset(row.role for row in named),
        racks=racks,
        device_types=each("device-types", records.device_type, rows.device_types.values()),
        devices=each("devices", lambda row: records.device(row, inside), named),
        cables=designed,
        locations=_locations(racks),
        notes=(*snapshot.notes, *panels.note(lost)),
    )


def _parts(rows: Rows) -> Mapping[int, list[Part]]:
    """Return inventory items and modules together: sites keep parts as either."""
    items = [(row.device, records.item(row)) for row in rows.inventory_items.values()]
    modules = [(row.device, records.module(row)) for row in rows.modules.values()]
    return held([*items, *modules], lambda part: part.slot)


def _nameless_nodes(devices: Iterable[DeviceRow], base: str) -> Iterator[Problem]:
    """Name what cannot be left out: a node without a name would never be looked after."""
    for row in devices:
        if not row.name and row.role in NODE_ROLES:
            yield Problem(f"{base}/devices/{row.id}/", f"a {row.role} has no name; name it")


def _owners(rows: Rows) -> Mapping[int, int]:
    """Return the device that each interface is looked for at, by their ids.

    Members of a virtual chassis answer as its master, so their interfaces are the master's, as in its page: all but
    management ports, and those whose name is not the only one in the chassis.
    """
    masters = {row.virtual_chassis: row.id for row in rows.devices.values() if row.is_master and row.name}
    answers = {row.id: masters.get(row.virtual_chassis, row.id) for row in rows.devices.values()}
    chassis = set(masters.values())
    names = Counter(
        (master, row.name)
        for row in rows.interfaces.values()
        if (master := answers.get(row.device)) in chassis and (not row.mgmt_only or row.device == master)
    )
    return {
        row.id: row.device if row.mgmt_only or names[master, row.name] > 1 else master
        for row in rows.interfaces.values()
        for master in (answers.get(row.device, row.device),)
    }


def _cables(
    rows: Rows, owners: Mapping[int, int], page: str, wrong: list[Problem]
) -> tuple[list[Found[Cable]], list[Termination]]:
    """Return the designed cables, and the interfaces whose way through patch panels leads nowhere."""
    names = {row.id: row.name for row in rows.devices.values()}
    known: Known = {
        row.id: Termination(name, row.name) if (name := names[owners[row.id]]) else None
        for row in rows.interfaces.values()
        if row.device in names
    }
    own = {row.name for row in rows.devices.values() if row.name and row.role in NODE_ROLES}
    laid = strands(rows.cables.values(), page)
    inside = panels.panels(rows.front_ports.values(), rows.rear_ports.values())
    followed = panels.follow(laid, inside, known, own)
    found: list[Found[Cable]] = []
    for cable in (*cables(laid, known), *followed.cables):
        if isinstance(cable, Problem):
            wrong.append(cable)
        else:
            found.append(cable)
    return found, followed.lost


def _locations(racks: Sequence[Found[Rack]]) -> list[Found[Location]]:
    """Return the locations that racks stand in; NetBox itself keeps them free of loops."""
    found = {(rack.site, rack.location): where for rack, where in racks if rack.location is not None}
    return [Found(Location(name or "", site), where) for (site, name), where in found.items()]
