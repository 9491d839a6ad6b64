"""The fleet that a NetBox is filled with for its benchmark, as site files have it: rails, leaves, spines, cables."""

from collections.abc import Iterator
from typing import Any

Record = dict[str, Any]
Fleet = dict[str, list[Record]]

RAILS = 8
UNIT = 32  # servers that share a leaf for each rail
PORTS = 64  # of a switch; half of a leaf's are uplinks
A_RACK = 4  # servers
CONTEXT = {
    "ansible_user": "root",
    "ntp_servers": ["192.0.2.1", "192.0.2.2"],
    "fleet_environment": {"NCCL_DEBUG": "WARN"},
}
"""What all servers' config contexts come to."""

SERVER, SWITCH, ETHERNET, MANAGEMENT = "bench-hgx-h100", "bench-qm9700", "bench-sn5600", "bench-sn2201"
SITE = "fleet-bench"


def fleet(servers: int) -> Fleet:
    """Return every record of a fleet with so many servers, without trunks or panels."""
    units = -(-servers // UNIT)
    leaves = [f"leaf-{unit + 1}-{rail + 1}" for unit in range(units) for rail in range(RAILS)]
    spines = [f"spine-{number + 1}" for number in range(-(-len(leaves) // 2))]
    standing = [*leaves, *spines]
    return {
        "sites": [{"name": SITE}],
        "locations": [{"name": "hall-1", "site": SITE}],
        "racks": [
            {"name": name, "site": SITE, "location": "hall-1", "u_height": 48}
            for name in dict.fromkeys(
                [*map(_rack, range(servers)), *(f"N{at // 40:03}" for at in range(len(standing)))]
            )
        ],
        "device_types": _types(),
        "devices": [
            *(_server(number) for number in range(servers)),
            *(_switch(name, SWITCH, "leaf", at) for at, name in enumerate(leaves)),
            *(_switch(name, SWITCH, "spine", len(leaves) + at) for at, name in enumerate(spines)),
            *(_switch(f"tor-{unit + 1}-{end}", ETHERNET, "leaf") for unit in range(units) for end in "ab"),
            *(_switch(f"oob-{unit + 1}", MANAGEMENT, "management-switch") for unit in range(units)),
        ],
        "cables": [*_rails(servers), *_uplinks(leaves, spines), *_ethernet(servers)],
    }


def _types() -> list[Record]:
    ports = [str(port + 1) for port in range(PORTS)]
    rails = [{"name": f"ib{rail}", "type": "infiniband-ndr"} for rail in range(RAILS)]
    ethernet = [{"name": name, "type": "200gbase-x-qsfp56"} for name in ("eth0", "eth1")]
    bmc = {"name": "bmc", "type": "1000base-t", "mgmt_only": True}
    return [
        _type(SERVER, 8, [*rails, *ethernet, bmc]),
        _type(SWITCH, 1, [{"name": port, "type": "infiniband-ndr"} for port in ports]),
        _type(ETHERNET, 2, [{"name": port, "type": "200gbase-x-qsfp56"} for port in ports]),
        _type(MANAGEMENT, 1, [{"name": port, "type": "1000base-t"} for port in ports[:48]]),
    ]


def _type(slug: str, height: int, interfaces: list[Record]) -> Record:
    return {"manufacturer": "Bench", "model": slug, "slug": slug, "u_height": height, "interfaces": interfaces}


def _rack(server: int) -> str:
    return f"A{server // A_RACK:04}"


def _server(number: int) -> Record:
    high, low = divmod(number, 250)
    parts = [
        *(_part(f"GPU_{slot}", "gpu", "H100-SXM5-80GB", f"165{number:07}{slot}") for slot in range(RAILS)),
        *(_part(f"HCA_{slot}", "hca", "MCX75310AAS-NEAT", f"MT24{number:07}{slot}") for slot in range(RAILS)),
    ]
    return {
        "name": f"gpu-{number + 1:04}",
        "device_type": SERVER,
        "role": "gpu-server",
        "site": SITE,
        "rack": _rack(number),
        "position": 1 + 10 * (number % A_RACK),
        "face": "front",
        "serial": f"SRV{number:06}",
        "primary_ip4": f"10.20.{high}.{low + 1}/16",
        "oob_ip": f"10.21.{high}.{low + 1}/16",
        "interfaces": [
            *({"name": f"ib{rail}", "wwn": f"B8:3F:D2:03:{_low(number)}:{rail:02X}"} for rail in range(RAILS)),
            *({"name": f"eth{port}", "mac_address": f"02:00:0{port}:{_low(number)}"} for port in range(2)),
            {"name": "bmc", "mac_address": f"02:00:0B:{_low(number)}"},
        ],
        "inventory_items": parts,
        "local_context_data": CONTEXT,
    }


def _low(number: int) -> str:
    return f"{number >> 16:02X}:{number >> 8 & 255:02X}:{number & 255:02X}"


def _part(slot: str, kind: str, model: str, serial: str) -> Record:
    return {"name": slot, "role": kind, "part_id": model, "serial": serial}


def _switch(name: str, kind: str, role: str, at: int | None = None) -> Record:
    standing = {} if at is None else {"rack": f"N{at // 40:03}", "position": at % 40 + 1, "face": "front"}
    return {"name": name, "device_type": kind, "role": role, "site": SITE, **standing}


def _rails(servers: int) -> Iterator[Record]:
    for number in range(servers):
        unit, port = divmod(number, UNIT)
        for rail in range(RAILS):
            far = f"leaf-{unit + 1}-{rail + 1}", str(port + 1)
            yield _cable((f"gpu-{number + 1:04}", f"ib{rail}"), far, "mmf-om4")


def _uplinks(leaves: list[str], spines: list[str]) -> Iterator[Record]:
    for at, leaf in enumerate(leaves):
        for uplink in range(PORTS // 2):
            port, spine = divmod(at * PORTS // 2 + uplink, len(spines))
            yield _cable((leaf, str(PORTS // 2 + uplink + 1)), (spines[spine], str(port + 1)), "smf-os2")


def _ethernet(servers: int) -> Iterator[Record]:
    for number in range(servers):
        unit, port = divmod(number, UNIT)
        name = f"gpu-{number + 1:04}"
        yield _cable((name, "eth0"), (f"tor-{unit + 1}-a", str(port + 1)), "dac-passive")
        yield _cable((name, "eth1"), (f"tor-{unit + 1}-b", str(port + 1)), "dac-passive")
        yield _cable((name, "bmc"), (f"oob-{unit + 1}", str(port + 1)), "cat6a")


def _cable(near: tuple[str, str], far: tuple[str, str], kind: str) -> Record:
    a, b = ({"device": device, "interface": interface} for device, interface in (near, far))
    return {"a": a, "b": b, "type": kind, "status": "connected"}
