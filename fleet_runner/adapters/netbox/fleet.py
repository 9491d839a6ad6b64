"""A fleet out of what was read of a NetBox."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TypeVar

from fleet_runner.adapters.netbox import kept_fleet, panels, records
from fleet_runner.adapters.netbox.cables import INTERFACE, Known, cables, strands
from fleet_runner.adapters.netbox.cache import uncollected
from fleet_runner.adapters.netbox.rack_names import rack_names
from fleet_runner.adapters.netbox.records import Inside, held, made
from fleet_runner.adapters.netbox.rows import DeviceRow, Row, Rows
from fleet_runner.adapters.netbox.snapshots import Snapshot
from fleet_runner.core.inventory.consistency import (
    Draft,
    Found,
    Location,
    Problem,
    problems,
    refusal,
    remainder,
    settle,
)
from fleet_runner.core.inventory.records import NODE_ROLES, Cable, Fleet, Part, Rack, Termination

T = TypeVar("T")
R = TypeVar("R", bound=Row)


TOLD = 20
"""Sentences about what cannot be used that are told one by one."""


def fleet(snapshot: Snapshot, url: str) -> Fleet:
    """Return the fleet of a NetBox at `url`: every record that makes sense, and why the others are left out.

    Devices without a name are left out. Raises SourceError, with every problem and the page of its object, where most
    devices could not be used: then it is no record that is wrong. What was made of kept rows is kept, too.
    """
    if snapshot.file is None or snapshot.notes:
        return _made(snapshot, url)
    file, of = kept_fleet.beside(snapshot.file), f"{snapshot.of} {snapshot.sum}"
    found = kept_fleet.load(file, of)
    if found is None:
        found = _made(snapshot, url)
        kept_fleet.save(file, of, found)
    return found


@uncollected()
def _made(snapshot: Snapshot, url: str) -> Fleet:
    url = url.rstrip("/").removesuffix("/api")
    read = _read(snapshot, f"{url}/dcim")
    found = read.draft
    wrong = [*read.wrong, *problems(found)]
    if not wrong:
        settled = settle(found, revision(snapshot.rows))
        return replace(settled, uncompared=tuple(sorted(read.uncompared)))
    rest = remainder(found, read.unread, read.uncompared)
    if 2 * len(rest.unread) > len({each.record.name for each in found.devices} | read.unread.keys()):
        raise refusal(url, wrong)
    told = (*(f"{problem}; it is left out" for problem in read.wrong), *rest.told)
    more = (f"{url}: {len(told) - TOLD} more are left out or not used",) if len(told) > TOLD else ()
    settled = settle(rest.draft, revision(snapshot.rows))
    return replace(
        settled,
        notes=(*settled.notes, *told[:TOLD], *more),
        unread=rest.unread,
        uncompared=tuple(sorted(rest.uncompared)),
    )


def revision(rows: Rows) -> str:
    """Return what changes whenever a row does."""
    lists = [list(each.values()) for each in (getattr(rows, name) for name in Rows.__slots__)]
    return sha256(json.dumps(lists, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class _Read:
    """What rows say, and what says nothing: problems, the devices that have one, and ports of unknown cables."""

    draft: Draft
    wrong: Sequence[Problem]
    unread: Mapping[str, str]
    uncompared: Collection[Termination]


def _read(snapshot: Snapshot, base: str) -> _Read:
    rows = snapshot.rows
    wrong: list[Problem] = []

    def each(path: str, make: Callable[[R], T], of: Iterable[R]) -> list[Found[T]]:
        return made(make, of, f"{base}/{path}", wrong)

    owners = _owners(rows)
    interfaces = [(owners[row.id], records.interface(row)) for row in rows.interfaces.values()]
    inside = Inside(held(interfaces, lambda interface: interface.name), _parts(rows))
    named = [row for row in rows.devices.values() if row.name]
    places = rack_names({row.id: (row.site, row.name, row.location) for row in rows.racks.values()})
    racks = each("racks", lambda row: records.rack(row, places[row.id]), rows.racks.values())
    devices = each("devices", lambda row: records.device(row, inside, places), named)
    pages = {f"{base}/devices/{row.id}/": row.name or "" for row in named}
    unread = {name: str(problem) for problem in wrong if (name := pages.get(problem.where))}
    wrong.extend(_nameless_nodes(rows.devices.values(), base))
    laid = _cables(rows, owners, f"{base}/cables")
    wrong.extend(laid.wrong)
    draft = Draft(
        sites=each("sites", lambda row: row.name, rows.sites.values()),
        roles=frozenset(row.role for row in named),
        racks=racks,
        device_types=each("device-types", records.device_type, rows.device_types.values()),
        devices=devices,
        cables=laid.cables,
        locations=_locations(racks),
        notes=(*snapshot.notes, *panels.note(laid.lost)),
    )
    return _Read(draft, wrong, unread, {*laid.lost, *laid.unknown})


def _parts(rows: Rows) -> Mapping[int, list[Part]]:
    """Return inventory items and modules together: sites keep parts as either."""
    items = [(row.device, records.item(row)) for row in rows.inventory_items.values()]
    modules = [(row.device, records.module(row)) for row in rows.modules.values()]
    return held([*items, *modules], lambda part: part.slot)


def _nameless_nodes(devices: Iterable[DeviceRow], base: str) -> Iterator[Problem]:
    """Name what cannot be left out: a node without a name would never be looked after."""
    for row in devices:
        if not row.name and row.role in NODE_ROLES:
            yield Problem(f"{base}/devices/{row.id}/", f"found a {row.role} without a name; name it")


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


@dataclass(frozen=True, slots=True)
class _Laid:
    """The designed cables, those that are wrong, and ports of which nobody says what belongs there.

    `lost` are ports whose way through patch panels leads nowhere, `unknown` those of other cables.
    """

    cables: list[Found[Cable]]
    wrong: list[Problem]
    lost: list[Termination]
    unknown: list[Termination]


def _cables(rows: Rows, owners: Mapping[int, int], page: str) -> _Laid:
    names = {row.id: row.name for row in rows.devices.values()}
    known: Known = {
        row.id: Termination(name, row.name) if (name := names[owners[row.id]]) else None
        for row in rows.interfaces.values()
        if row.device in names
    }
    own = {row.name for row in rows.devices.values() if row.name and row.role in NODE_ROLES}
    laid = strands(rows.cables.values(), page)
    inside = panels.panels(rows.front_ports.values(), rows.rear_ports.values(), _panel_names(rows))
    followed = panels.follow(laid, inside, known, own)
    found: list[Found[Cable]] = []
    wrong: dict[str, Problem] = {}
    for cable in (*cables(laid, known), *followed.cables):
        if isinstance(cable, Problem):
            wrong.setdefault(cable.where, cable)
        else:
            found.append(cable)
    unknown = [
        port
        for strand in laid
        for ends in ([known.get(end.id) for end in strand.ends if end.kind == INTERFACE],)
        if strand.place() in wrong or None in ends
        for port in ends
        if port is not None
    ]
    return _Laid(found, list(wrong.values()), followed.lost, unknown)


def _panel_names(rows: Rows) -> dict[int, str]:
    """Return what devices with panel ports are called: with their site where another one has the name as well."""
    ids = {row.device for row in rows.front_ports.values()} | {row.device for row in rows.rear_ports.values()}
    mine = [row for number in sorted(ids) if (row := rows.devices.get(number)) is not None and row.name]
    often = Counter(row.name for row in mine)
    here = Counter((row.name, row.site) for row in mine)
    return {
        row.id: f"{row.name} ({row.site})" if here[row.name, row.site] == 1 else f"{row.name} #{row.id}"
        for row in mine
        if often[row.name] > 1
    }


def _locations(racks: Sequence[Found[Rack]]) -> list[Found[Location]]:
    """Return the locations that racks stand in; NetBox itself keeps them free of loops."""
    found = {(rack.site, rack.location): where for rack, where in racks if rack.location is not None}
    return [Found(Location(name or "", site), where) for (site, name), where in found.items()]
