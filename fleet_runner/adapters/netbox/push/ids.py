"""The ids by which a NetBox knows what people know by names; read when they are needed, and kept."""

from collections import Counter
from collections.abc import Collection, Iterable

from fleet_runner.adapters.netbox.client import Client, Json
from fleet_runner.adapters.netbox.rack_names import rack_names
from fleet_runner.core.inventory.netbox.push import Known
from fleet_runner.core.inventory.netbox.push.step import Key, Kind, PanelPort
from fleet_runner.core.inventory.records import DeviceType, Interface

NAMED = {
    Kind.SITE: ("dcim/sites", "name"),
    Kind.TENANT: ("tenancy/tenants", "name"),
    Kind.ROLE: ("dcim/device-roles", "slug"),
    Kind.PART_ROLE: ("dcim/inventory-item-roles", "slug"),
    Kind.MANUFACTURER: ("dcim/manufacturers", "name"),
    Kind.TYPE: ("dcim/device-types", "slug"),
}
"""Lists whose objects have a name of their own."""

PLACED = {Kind.LOCATION: "dcim/locations", Kind.RACK: "dcim/racks"}
"""Lists whose objects have a name in a site."""

OWNERS = 50  # devices or device types whose interfaces are asked for in one request


class Ids:
    """What is known of one NetBox. Whoever makes an object adds it here."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._slugs: dict[Kind, set[str]] = {}
        self._of: dict[Kind, dict[Key, int]] = {}
        self._whole: set[str] = set()
        self._mapped: bool | None = None
        self.contexts: dict[str, Json] = {}  # what devices' local contexts say, of those that were asked for

    def of(self, kind: Kind) -> dict[Key, int]:
        """Return the ids of all objects of a kind, by their keys; for parts and interfaces those that were read."""
        if kind not in self._of:
            self._of[kind] = self._read(kind)
        return self._of[kind]

    def slugs(self, kind: Kind) -> set[str]:
        """Return the slugs that objects of a kind have."""
        self.of(kind)
        return self._slugs[kind]

    def known(self) -> Known:
        """Return the names that a fleet does not tell."""
        names = {
            kind: frozenset(key[0] for key in self.of(kind))
            for kind in (Kind.TENANT, Kind.ROLE, Kind.PART_ROLE, Kind.MANUFACTURER)
        }
        return Known(
            tenants=names[Kind.TENANT],
            roles=names[Kind.ROLE],
            part_roles=names[Kind.PART_ROLE],
            manufacturers=names[Kind.MANUFACTURER],
            locations=frozenset((site, name) for site, name in self.of(Kind.LOCATION)),
        )

    def device_types(self, slugs: Iterable[str]) -> dict[str, DeviceType]:
        """Return those of the named device types that there are, with or without devices."""
        wanted = sorted(slugs)
        rows: list[Json] = []
        for some in _some(wanted):
            fields = "id,slug,model,manufacturer,u_height,is_full_depth"
            rows.extend(self.client.rows("dcim/device-types", fields, slug=some))
        rows = [row for row in rows if row["slug"] in wanted]
        inside: dict[int, list[Interface]] = {row["id"]: [] for row in rows}
        slug = {row["id"]: row["slug"] for row in rows}
        ids = self._of.setdefault(Kind.TEMPLATE, {})
        for some in _some(sorted(inside)):
            fields = "id,device_type,name,type,mgmt_only"
            for row in self.client.rows("dcim/interface-templates", fields, device_type_id=some):
                owner = row["device_type"]["id"]
                inside[owner].append(Interface(row["name"], row["type"]["value"], mgmt_only=bool(row["mgmt_only"])))
                ids[slug[owner], row["name"]] = row["id"]
        return {row["slug"]: _device_type(row, inside[row["id"]]) for row in rows}

    def read_interfaces(self, devices: Collection[str]) -> dict[Key, int]:
        """Return the ids of interfaces, those of these devices among them."""
        return self._inside(Kind.INTERFACE, "dcim/interfaces", "name", devices)

    def read_parts(self, devices: Collection[str]) -> dict[Key, int]:
        """Return the ids of inventory items, those of these devices among them."""
        return self._inside(Kind.PART, "dcim/inventory-items", "name", devices)

    def read_panels(self, devices: Collection[str]) -> dict[PanelPort, bool]:
        """Return the ports of patch panels, each with whether a cable ends there, and keep their ids."""
        found: dict[PanelPort, bool] = {}
        for kind, side in ((Kind.FRONT, "front"), (Kind.REAR, "rear")):
            ids = self._of.setdefault(kind, {})
            numbers = {self.of(Kind.DEVICE)[name,]: name for name in devices if (name,) in self.of(Kind.DEVICE)}
            for some in _some(sorted(numbers)):
                for row in self.client.rows(f"dcim/{side}-ports", "id,device,name,cable", device_id=some):
                    if (owner := numbers.get(row["device"]["id"])) is not None:
                        ids[owner, row["name"]] = row["id"]
                        found[PanelPort(owner, side, row["name"])] = row["cable"] is not None
        return found

    @property
    def mapped(self) -> bool:
        """Whether a front port may have several rear ports, as from NetBox 4.5 on."""
        if self._mapped is None:
            major, minor = (int(part) for part in self.client.version().split(".")[:2])
            self._mapped = (major, minor) >= (4, 5)
        return self._mapped

    def read_contexts(self, devices: Collection[str]) -> None:
        """Read what the local contexts of devices say, so that what is written is laid over it."""
        numbers = {self.of(Kind.DEVICE)[device,]: device for device in devices}
        for some in _some(sorted(numbers)):
            for row in self.client.rows("dcim/devices", "id,local_context_data", id=some):
                self.contexts[numbers[row["id"]]] = row["local_context_data"] or {}

    def _inside(self, kind: Kind, path: str, name: str, devices: Collection[str]) -> dict[Key, int]:
        found = self._of.setdefault(kind, {})
        numbers = {self.of(Kind.DEVICE)[device,]: device for device in devices if (device,) in self.of(Kind.DEVICE)}
        due = [number for number, device in numbers.items() if f"{kind} {device}" not in self._whole]
        for some in _some(due):
            for row in self.client.rows(path, f"id,device,{name}", device_id=some):
                if (owner := numbers.get(row["device"]["id"])) is not None:
                    found[owner, row[name]] = row["id"]
        self._whole.update(f"{kind} {numbers[number]}" for number in due)
        return found

    def _read(self, kind: Kind) -> dict[Key, int]:
        if kind is Kind.DEVICE:
            rows = self.client.rows("dcim/devices", "id,name")
            often = Counter(row["name"] for row in rows)  # in two sites: nobody can tell which is meant
            return {(row["name"],): row["id"] for row in rows if row["name"] and often[row["name"]] == 1}
        if kind in PLACED:
            slug = ",slug" if kind is Kind.LOCATION else ""
            rows = self.client.rows(PLACED[kind], f"id,name,site{slug}")
            self._slugs[kind] = {row["slug"] for row in rows if slug}
            found: dict[Key, int] = {(row["site"]["name"], row["name"]): row["id"] for row in rows}
            return self._racks() if kind is Kind.RACK and len(found) < len(rows) else found
        path, name = NAMED[kind]
        rows = self.client.rows(path, f"id,slug,{name}" if name != "slug" else "id,slug")
        self._slugs[kind] = {row["slug"] for row in rows}
        return {(row[name],): row["id"] for row in rows}

    def _racks(self) -> dict[Key, int]:
        """Return racks by the names that tell them apart, as reading has them."""
        rows = self.client.rows(PLACED[Kind.RACK], "id,name,site,location")
        told = {row["id"]: (row["site"]["name"], row["name"], _location(row)) for row in rows}
        return {(told[number][0], name): number for number, name in rack_names(told).items()}


def _device_type(row: Json, interfaces: list[Interface]) -> DeviceType:
    return DeviceType(
        slug=row["slug"],
        manufacturer=row["manufacturer"]["name"],
        model=row["model"],
        u_height=float(row["u_height"]),
        interfaces=tuple(interfaces),
        full_depth=bool(row["is_full_depth"]),
    )


def _location(row: Json) -> str | None:
    return row["location"]["name"] if row["location"] else None


def _some(wanted: list[str] | list[int]) -> Iterable[list[str] | list[int]]:
    return (wanted[at : at + OWNERS] for at in range(0, len(wanted), OWNERS))
