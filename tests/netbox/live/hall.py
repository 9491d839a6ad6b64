"""A hall of the suite's own, modelled in NetBox as a site would: racks, nodes, a leaf behind a patch panel, parts."""

import secrets
from dataclasses import dataclass, field
from typing import Any

from fleet_runner.core.inventory.records import Cable, Device, Fleet
from tests.netbox.live.place import Place, Row

RAILS = 2
CONTEXT = {"ansible_user": "root", "fleet_environment": {"NCCL_DEBUG": "WARN"}}


@dataclass(slots=True)
class Hall:
    """What was built, by name: objects as NetBox answered."""

    place: Place
    site: str
    devices: dict[str, int] = field(default_factory=dict[str, int])
    cables: dict[str, int] = field(default_factory=dict[str, int])
    items: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    addresses: dict[str, str] = field(default_factory=dict[str, str])
    guids: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    ports: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    types: dict[str, int] = field(default_factory=dict[str, int])
    roles: dict[str, int] = field(default_factory=dict[str, int])
    where: dict[str, Any] = field(default_factory=dict[str, Any])

    def name(self, short: str) -> str:
        """Return a name of ours."""
        return f"{self.place.prefix}{short}"

    @property
    def nodes(self) -> list[str]:
        """Return the names of the two nodes."""
        return [self.name("gpu-1"), self.name("gpu-2")]

    def of(self, fleet: Fleet) -> tuple[dict[str, Device], dict[str, Cable]]:
        """Return what of a fleet stands in the hall: devices by name, cables by label."""
        devices = {name: device for name, device in fleet.devices.items() if device.site == self.site}
        cables = {cable.label: cable for cable in fleet.cables if cable.a.device in devices}
        return devices, cables


def build(place: Place) -> Hall:
    """Build it, through the API, in some thirty requests."""
    hall = Hall(place, f"{place.prefix}site")
    site = place.make("dcim/sites", name=hall.site, slug=hall.site)["id"]
    location = place.make("dcim/locations", name=hall.name("row-a"), slug=hall.name("row-a"), site=site)["id"]
    rack = place.make("dcim/racks", name=hall.name("A01"), site=site, location=location, u_height=42)["id"]
    hall.where = {"site": site, "rack": rack, "location": location, "face": "front"}
    _types(hall)
    _devices(hall)
    _addresses(hall)
    _cables(hall)
    return hall


def _types(hall: Hall) -> None:
    place = hall.place
    maker = place.make("dcim/manufacturers", name=hall.name("maker"), slug=hall.name("maker"))["id"]
    for short, height in (("server", 4), ("switch", 1), ("panel", 1)):
        about = {"manufacturer": maker, "model": hall.name(short), "slug": hall.name(short), "u_height": height}
        hall.types[short] = place.make("dcim/device-types", **about)["id"]
    rails = [{"name": f"ib{rail}", "type": "infiniband-ndr"} for rail in range(RAILS)]
    rest = [{"name": "eth0", "type": "25gbase-x-sfp28"}, {"name": "bmc", "type": "1000base-t", "mgmt_only": True}]
    ports = [{"name": str(port + 1), "type": "infiniband-ndr"} for port in range(8)]
    place.make_all(
        "dcim/interface-templates",
        [
            *({"device_type": hall.types["server"], **each} for each in (*rails, *rest)),
            *({"device_type": hall.types["switch"], **each} for each in ports),
        ],
    )
    hall.roles = {
        slug: place.find_or_make("dcim/device-roles", slug, color="607d8b")
        for slug in ("gpu-server", "leaf", "patch-panel")
    }
    hall.roles["gpu"] = place.find_or_make("dcim/inventory-item-roles", "gpu", color="4caf50")


def _devices(hall: Hall) -> None:
    place, serials = hall.place, secrets.token_hex(3).upper()
    wanted = [
        ("gpu-1", "server", "gpu-server", 1),
        ("gpu-2", "server", "gpu-server", 5),
        ("leaf-1", "switch", "leaf", 40),
        ("panel-1", "panel", "patch-panel", 41),
    ]
    rows = [
        {
            "name": hall.name(name),
            "device_type": hall.types[kind],
            "role": hall.roles[role],
            "position": position,
            "serial": f"{serials}-{name}",
            "status": "active",
            **hall.where,
            **({"local_context_data": CONTEXT} if kind == "server" else {}),
        }
        for name, kind, role, position in wanted
    ]
    hall.devices = {row["name"]: row["id"] for row in place.make_all("dcim/devices", rows)}
    found = place.rows("dcim/interfaces", device_id=list(hall.devices.values()))
    hall.ports = {(row["device"]["name"], row["name"]): row["id"] for row in found}
    items = [
        {
            "device": hall.devices[node],
            "name": f"GPU {slot}",
            "role": hall.roles["gpu"],
            "part_id": "H100",
            "serial": f"{serials}{number}{slot}",
        }
        for number, node in enumerate(hall.nodes)
        for slot in range(2)
    ]
    made = place.make_all("dcim/inventory-items", items)
    hall.items = {(row["device"]["name"], row["name"]): row["id"] for row in made}


def _addresses(hall: Hall) -> None:
    """Give each node addresses and GUIDs that nobody else in this NetBox can have."""
    place, net = hall.place, f"fd{secrets.token_hex(1)}:{secrets.token_hex(2)}:{secrets.token_hex(2)}"
    own = secrets.token_hex(5)
    for number, node in enumerate(hall.nodes):
        made: dict[str, Row] = {}
        for port, part in (("eth0", 1), ("bmc", 2)):
            made[port] = place.make(
                "ipam/ip-addresses",
                address=f"{net}::{part}:{number + 1}/64",
                assigned_object_type="dcim.interface",
                assigned_object_id=hall.ports[node, port],
                description=f"{place.prefix}address",
            )
            hall.addresses[f"{node} {port}"] = made[port]["address"].partition("/")[0]
        mac = place.make(
            "dcim/mac-addresses",
            mac_address=_octets(f"02{own}", 5) + f":{number:02X}",
            assigned_object_type="dcim.interface",
            assigned_object_id=hall.ports[node, "eth0"],
            description=f"{place.prefix}mac",
        )
        place.change("dcim/interfaces", hall.ports[node, "eth0"], primary_mac_address=mac["id"])
        place.change("dcim/devices", hall.devices[node], primary_ip6=made["eth0"]["id"], oob_ip=made["bmc"]["id"])
        for rail in range(RAILS):
            guid = f"02{own}{number:02x}{rail:02x}"
            hall.guids[node, f"ib{rail}"] = guid
            place.change("dcim/interfaces", hall.ports[node, f"ib{rail}"], wwn=_octets(guid, 8))


def _octets(digits: str, count: int) -> str:
    return ":".join(digits[2 * at : 2 * at + 2] for at in range(count)).upper()


def _cables(hall: Hall) -> None:
    """Cable each node's first rail straight to the leaf, the first node's second one through the panel."""
    place, panel, leaf = hall.place, hall.devices[hall.name("panel-1")], hall.name("leaf-1")
    rear = place.make("dcim/rear-ports", device=panel, name="R1", type="mpo", positions=1)["id"]
    front = {"device": panel, "name": "F1", "type": "lc"}
    new = {"rear_ports": [{"position": 1, "rear_port": rear, "rear_port_position": 1}]}
    old = {"rear_port": rear, "rear_port_position": 1}
    made = place.make("dcim/front-ports", **front, **(old if before_mappings(place) else new))["id"]
    ends = {
        "rail-1": (_port(hall, hall.nodes[0], "ib0"), _port(hall, leaf, "1")),
        "rail-2": (_port(hall, hall.nodes[1], "ib0"), _port(hall, leaf, "2")),
        "cord": (_port(hall, hall.nodes[0], "ib1"), end("dcim.frontport", made)),
        "trunk": (end("dcim.rearport", rear), _port(hall, leaf, "3")),
    }
    rows = [
        {
            "a_terminations": [a],
            "b_terminations": [b],
            "label": hall.name(label),
            "type": "mmf-om4",
            "status": "planned",
        }
        for label, (a, b) in ends.items()
    ]
    hall.cables = {row["label"]: row["id"] for row in place.make_all("dcim/cables", rows)}


def before_mappings(place: Place) -> bool:
    """Whether a front port has one rear port, as up to NetBox 4.4."""
    major, minor = place.ask("GET", "status")["netbox-version"].split(".")[:2]
    return (int(major), int(minor)) < (4, 5)


def _port(hall: Hall, device: str, port: str) -> Row:
    return end("dcim.interface", hall.ports[device, port])


def end(kind: str, number: int) -> Row:
    return {"object_type": kind, "object_id": number}
