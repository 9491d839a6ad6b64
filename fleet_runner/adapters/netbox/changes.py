"""What NetBox's change log says is to be read again. Pure: it is given the log's rows, and the rows that are kept."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fleet_runner.adapters.netbox.client import Json
from fleet_runner.adapters.netbox.rows import Rows

FIELDS = "id,time,request_id,action,changed_object_type,changed_object_id"
PATH = "core/object-changes"
DEVICE = "dcim.device"
MOST = 1000  # changes looked at; after more, everything is read again
OPEN_SECONDS = 900.0  # that a change may be written before it can be seen: a long import is one transaction
OPEN_MOST = 10_000  # changes that are waited for; a log with wider gaps is another one

OWN: Mapping[str, str] = {
    "dcim.site": "sites",
    "dcim.rack": "racks",
    "dcim.devicetype": "device_types",
    "dcim.device": "devices",
    "dcim.interface": "interfaces",
    "dcim.inventoryitem": "inventory_items",
    "dcim.module": "modules",
    "dcim.cable": "cables",
    "dcim.frontport": "front_ports",
    "dcim.rearport": "rear_ports",
}
"""Changed objects whose own row is read again."""

INSIDE: Mapping[str, str] = {
    "dcim.interfacetemplate": "device_types",
    "dcim.portmapping": "front_ports",
    "extras.configcontext": "devices",
    "extras.customfield": "devices",
}
"""Objects that are a part of others' rows without being named in them: that list is read again, whatever happened."""

NAMED: Mapping[str, tuple[str, ...]] = {
    "core.datasource": ("devices",),
    "dcim.cablebundle": ("cables",),
    "dcim.devicerole": ("devices",),
    "dcim.devicetype": ("devices",),
    "dcim.inventoryitemrole": ("inventory_items",),
    "dcim.location": ("racks", "devices"),
    "dcim.manufacturer": ("device_types",),
    "dcim.modulebay": ("modules",),
    "dcim.moduletype": ("modules",),
    "dcim.moduletypeprofile": ("modules",),
    "dcim.platform": ("devices",),
    "dcim.rack": ("devices",),
    "dcim.region": ("devices",),
    "dcim.site": ("racks", "devices"),
    "dcim.sitegroup": ("devices",),
    "dcim.virtualchassis": ("devices",),
    "extras.tag": ("devices",),
    "tenancy.tenant": ("devices",),
    "tenancy.tenantgroup": ("devices",),
    "virtualization.cluster": ("devices",),
    "virtualization.clustergroup": ("devices",),
    "virtualization.clustertype": ("devices",),
}
"""Objects that rows name, or that config contexts ask for: those lists are read again, unless it was just made."""


@dataclass(frozen=True, slots=True)
class Mark:
    """How far the change log was read: the last change's id, and what tells it from another one of that id.

    `open` are ids below it that were not there yet, and since when they are missed: of changes whose transaction was
    not done. `whole_at` is when everything was read. Times are seconds since 1970, by this machine's clock.
    """

    change: int
    told: str
    open: Mapping[int, float]
    whole_at: float

    @property
    def first(self) -> int:
        """Return from which change on the log is to be looked at again."""
        return min(self.open, default=self.change)


@dataclass(slots=True)
class Due:
    """What is to be read again: of some lists the rows with these ids, others whole; `deleted` are devices."""

    ids: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    whole: set[str] = field(default_factory=set[str])
    deleted: set[int] = field(default_factory=set[int])

    def __bool__(self) -> bool:
        return bool(self.whole) or any(self.ids.values())

    def __str__(self) -> str:
        some = {name: f"{len(ids)} {name}" for name, ids in self.ids.items() if ids}
        found = some | {name: f"all {name}" for name in self.whole}
        return ", ".join(found[name] for name in sorted(found)).replace("_", " ")


def begin(log: Sequence[Json], now: float) -> Mark:
    """Return the mark of a log's newest changes, taken before everything is read."""
    ids = {row["id"] for row in log}
    newest = max(log, key=lambda row: row["id"], default=None)
    if newest is None:
        return Mark(0, "", {}, now)
    missed = [each for each in range(min(ids), newest["id"]) if each not in ids] if _dense(ids) else []
    return Mark(newest["id"], _told(newest), dict.fromkeys(missed, now), now)


def go_on(mark: Mark, log: Sequence[Json], now: float) -> tuple[list[Json], Mark] | None:
    """Return the changes since a mark, oldest first, and the next mark; nothing if the log does not join up.

    `log` are its newest changes from `mark.first` on, at most MOST. It does not join up where the mark's own change
    is gone (pruned, or another database) or is another one, or where there are too many changes.
    """
    rows = sorted((row for row in log if row["id"] >= mark.first), key=lambda row: row["id"])
    ids = {row["id"] for row in rows}
    last = next((row for row in rows if row["id"] == mark.change), None)
    if (last is None or _told(last) != mark.told) and mark.change:
        return None
    if len(log) >= MOST and min(ids) > mark.first:
        return None
    fresh = [row for row in rows if row["id"] > mark.change or row["id"] in mark.open]
    newest = rows[-1] if rows else None
    if newest is None or not fresh:
        return [], Mark(mark.change, mark.told, _still(mark.open, (), now), mark.whole_at)
    if not _dense({mark.change, newest["id"]}):
        return None
    missed = {each: now for each in range(mark.change + 1, newest["id"]) if each not in ids}
    first_log = not mark.change  # whose first id may be any
    still = _still(mark.open, ids, now) | ({} if first_log else missed)
    return fresh, Mark(newest["id"], _told(newest), still, mark.whole_at)


def _still(missed: Mapping[int, float], seen: Collection[int], now: float) -> dict[int, float]:
    return {each: since for each, since in missed.items() if each not in seen and now - since < OPEN_SECONDS}


def _dense(ids: Collection[int]) -> bool:
    return max(ids) - min(ids) < OPEN_MOST


def _told(row: Json) -> str:
    words = (row["time"], row["request_id"], row["changed_object_type"], row["changed_object_id"])
    return " ".join(map(str, words))


def due(log: Iterable[Json], rows: Rows) -> Due:
    """Return what is to be read again after some changes; what nothing of ours depends on is passed over."""
    found = Due()
    at_ends = _ends(rows)
    for change in log:
        kind, number = change["changed_object_type"], change["changed_object_id"]
        made = change["action"]["value"] == "create"
        if kind in OWN:
            found.ids[OWN[kind]].add(number)
        if kind == DEVICE and change["action"]["value"] == "delete":
            found.deleted.add(number)
        if kind in INSIDE:
            found.whole.add(INSIDE[kind])
        if kind in NAMED and not made:
            found.whole.update(NAMED[kind])
        found.ids["cables"].update(at_ends.get((kind, number), ()) if not made else ())
        found.ids["devices"].update(_addressed(rows, number) if kind == "ipam.ipaddress" else ())
        found.ids["interfaces"].update(_named_by_mac(rows, number) if kind == "dcim.macaddress" else ())
    return found


def same(log: Iterable[Json], mark: Mark) -> bool:
    """Whether a mark's own change stands in a log, which then is that of the same database."""
    return any(row["id"] == mark.change and _told(row) == mark.told for row in log)


def _ends(rows: Rows) -> Mapping[tuple[str, int], list[int]]:
    found: dict[tuple[str, int], list[int]] = defaultdict(list)
    for cable in rows.cables.values():
        for end in cable.ends:
            found[end.kind, end.id].append(cable.id)
    return found


def _addressed(rows: Rows, address: int) -> list[int]:
    return [row.id for row in rows.devices.values() if address in {row.oob_ip_id, row.primary_ip_id}]


def _named_by_mac(rows: Rows, mac: int) -> list[int]:
    return [row.id for row in rows.interfaces.values() if row.mac_id == mac]
