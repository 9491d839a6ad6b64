"""The records of site files: which keys each kind has, in NetBox's words, and what they become."""

from collections.abc import Iterable

from fleet_runner.adapters.sitefiles.row import Row
from fleet_runner.adapters.sitefiles.tree import Map, Seq
from fleet_runner.core.base.natural_order import natural
from fleet_runner.core.inventory import addresses
from fleet_runner.core.inventory.consistency import Found, Location
from fleet_runner.core.inventory.records import Device, DeviceType, Interface, Management, Part, Rack

NOTES = frozenset({"comments", "description", "tags"})
"""Keys that people write for people."""

SITE_KEYS = NOTES | {"name", "slug", "status", "facility", "time_zone", "physical_address"}
LOCATION_KEYS = NOTES | {"name", "slug", "site", "parent", "status"}
ROLE_KEYS = NOTES | {"name", "slug", "color", "vm_role"}
RACK_KEYS = NOTES | {
    "name",
    "site",
    "location",
    "u_height",
    "starting_unit",
    "status",
    "role",
    "serial",
    "facility_id",
}
TYPE_KEYS = NOTES | {"manufacturer", "model", "slug", "u_height", "is_full_depth", "interfaces"}
LIBRARY_KEYS = frozenset({
    "airflow", "console-ports", "console-server-ports", "device-bays", "front-ports", "front_image",
    "inventory-items", "is_powered", "module-bays", "part_number", "power-outlets", "power-ports", "rear-ports",
    "rear_image", "subdevice_role", "weight", "weight_unit",
})  # fmt: skip
"""What files of the community device type library also say, and nothing here needs."""

TEMPLATE_KEYS = NOTES | {"name", "type", "label", "enabled", "mgmt_only", "poe_mode", "poe_type", "rf_role"}
DEVICE_KEYS = NOTES | {
    "name", "device_type", "role", "site", "location", "rack", "position", "face", "status", "serial", "asset_tag",
    "oob_ip", "primary_ip", "primary_ip4", "primary_ip6", "tenant", "platform", "airflow", "custom_fields",
    "interfaces", "without", "inventory_items", "local_context_data", "config_context",
}  # fmt: skip
INTERFACE_KEYS = NOTES | {"name", "type", "mac_address", "wwn", "label", "enabled", "mgmt_only", "mtu"}
ITEM_KEYS = NOTES | {"name", "role", "part_id", "serial", "manufacturer", "label", "asset_tag", "status"}


def site(row: Row) -> Found[str]:
    """Read a site."""
    row.only(SITE_KEYS)
    return Found(row.needed("name"), row.mark)


def role(row: Row) -> str:
    """Read a device role; its slug is what devices name."""
    row.only(ROLE_KEYS)
    return row.text("slug") or row.needed("name")


def location(row: Row) -> Found[Location]:
    """Read a part of a site."""
    row.only(LOCATION_KEYS)
    return Found(Location(row.needed("name"), row.needed("site"), row.text("parent")), row.mark)


def rack(row: Row) -> Found[Rack]:
    """Read a rack."""
    row.only(RACK_KEYS)
    found = Rack(
        name=row.needed("name"),
        site=row.needed("site"),
        u_height=row.integer("u_height", 42),
        starting_unit=row.integer("starting_unit", 1),
        location=row.text("location"),
    )
    return Found(found, row.mark)


def device_type(row: Row) -> Found[DeviceType]:
    """Read a device type, in the shape of the community device type library."""
    row.only(TYPE_KEYS | LIBRARY_KEYS)
    found = DeviceType(
        slug=row.needed("slug"),
        manufacturer=row.needed("manufacturer"),
        model=row.needed("model"),
        u_height=row.number("u_height", 1.0) or 0.0,
        interfaces=tuple(_templates(row)),
        full_depth=row.flag("is_full_depth", default=True),
    )
    return Found(found, row.mark)


def device(row: Row, types: dict[str, DeviceType]) -> Found[Device]:
    """Read a device; its type's interfaces are merged in."""
    row.only(DEVICE_KEYS)
    slug = row.needed("device_type")
    context = row.json("config_context") | row.json("local_context_data")
    found = Device(
        name=row.needed("name"),
        device_type=slug,
        role=row.needed("role"),
        site=row.needed("site"),
        rack=row.text("rack"),
        position=row.number("position"),
        status=row.text("status") or "active",
        serial=row.text("serial"),
        oob_address=_ip(row, "oob_ip"),
        primary_address=_ip(row, "primary_ip") or _ip(row, "primary_ip4") or _ip(row, "primary_ip6"),
        tenant=row.text("tenant"),
        management=_management(row),
        interfaces=_interfaces(row, types.get(slug)),
        parts=tuple(sorted(_parts(row), key=lambda part: natural(part.slot))),
        context=context,
        face=row.choice("face", ("front", "rear"), ""),
    )
    where = row.mark
    where.lines = {**where.lines, **_deeper(row)}
    return Found(found, where)


def _templates(row: Row) -> list[Interface]:
    found: dict[str, Interface] = {}
    for entry in row.rows("interfaces", "an interface"):
        entry.only(TEMPLATE_KEYS)
        name = _once(entry, found)
        found[name] = Interface(name, entry.needed("type"), mgmt_only=entry.flag("mgmt_only", default=False))
    return _sorted(found.values())


def _interfaces(row: Row, device_type: DeviceType | None) -> tuple[Interface, ...]:
    """Lay the device's interfaces over its type's; one that the type lacks needs a type of its own."""
    base = {interface.name: interface for interface in device_type.interfaces} if device_type else {}
    for name in row.texts("without"):
        if base.pop(name, None) is None and device_type:
            row.wrong(
                "without", f"device type {device_type.slug!r} has no interface {name!r} that it could be without"
            )
    own: dict[str, Interface] = {}
    for entry in row.rows("interfaces", "an interface"):
        entry.only(INTERFACE_KEYS)
        name, kind = _once(entry, own), entry.text("type")
        if kind is None and device_type and name and name not in base:
            text = f"device type {device_type.slug!r} has no interface {name!r}, and it has no type of its own"
            entry.unknown("name", text, base)
        inherited = base.get(name, Interface(name, ""))
        own[name] = Interface(
            name=name,
            kind=kind or inherited.kind,
            mac=entry.address("mac_address", addresses.mac, "a MAC address like 02:00:00:00:00:01"),
            guid=entry.address("wwn", addresses.guid, "a GUID of 16 hex digits"),
            mgmt_only=entry.flag("mgmt_only", default=inherited.mgmt_only),
        )
    return tuple(_sorted({**base, **own}.values()))


def _once(entry: Row, before: Iterable[str]) -> str:
    name = entry.needed("name")
    if name and name in before:
        entry.wrong("name", f"interface {name!r} is given twice; take one out")
    return name


def _sorted(interfaces: Iterable[Interface]) -> list[Interface]:
    return sorted(interfaces, key=lambda interface: natural(interface.name))


def _parts(row: Row) -> list[Part]:
    found: dict[str, Part] = {}
    for entry in row.rows("inventory_items", "an inventory item"):
        entry.only(ITEM_KEYS)
        name = entry.needed("name")
        if name and name in found:
            entry.wrong("name", f"inventory item {name!r} is given twice; take one out")
        found[name] = Part(name, entry.text("role") or "", entry.text("part_id") or "", entry.text("serial"))
    return list(found.values())


def _ip(row: Row, key: str) -> str | None:
    return row.address(key, addresses.ip, "an IP address")


def _management(row: Row) -> Management:
    fields = row.row("custom_fields", "custom_fields")
    choices = tuple(management.value for management in Management)
    return Management(fields.choice("fleet_management", choices, "full")) if fields else Management.FULL


def _deeper(row: Row) -> dict[str, int]:
    """Return the lines of what consistency asks for by other names: the context, and single interfaces."""
    lines = row.mark.lines
    found = {f"interfaces.{name}": line for name, line in _lines_of(row.tree.items.get("interfaces"))}
    for key in ("config_context", "local_context_data"):
        if key in lines:
            found["context"] = lines[key]
    return found


def _lines_of(interfaces: object) -> list[tuple[str, int]]:
    entries = interfaces.items if isinstance(interfaces, Seq) else []
    return [(str(entry.items.get("name")), entry.line) for entry in entries if isinstance(entry, Map)]
