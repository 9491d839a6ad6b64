"""What the source of truth says of a built fabric: racks, GUIDs and carriers, as records and as a folder of files."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fleet_runner.core.cabling.design import designed, guids, infiniband, places
from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.links import Link
from fleet_runner.core.cabling.names import Names, names
from fleet_runner.core.inventory import ansible
from fleet_runner.core.inventory.records import Cable, Device, Fleet, Interface, Termination
from tests.fabric.building import TRUNK_LEAVES, End, Fabric, Plug, record

KIND = "infiniband-hdr"
SITE = "hall-1"
SERVERS_A_RACK = 4
SERVER_UNITS = 8


@dataclass(frozen=True, slots=True)
class Design:
    """What judging needs to know of a design."""

    links: tuple[Link, ...]
    names: Names
    places: Places


def design(fabric: Fabric, *, numbered: bool = True) -> Design:
    """Return a fabric's design, through the form that plays carry; without GUIDs unless `numbered`."""
    carried = ansible.fabric(fleet(fabric))
    links = designed(carried, infiniband)
    known = guids(carried) if numbered else {}
    return Design(links, names((port for each in links for port in each), known, {}), places(carried))


def fleet(fabric: Fabric) -> Fleet:
    """Return a fabric's records."""
    known = dict(fabric.guids())
    ends: dict[str, list[End]] = {}
    for end in (end for cable in fabric.cables() for end in cable):
        ends.setdefault(end.device, []).append(end)
    devices = {name: _device(name, place, mine, known) for place, (name, mine) in enumerate(ends.items())}
    cables = [Cable(Termination(*a), Termination(*b), carriers=_carriers(Plug(a, b))) for a, b in fabric.cables()]
    return Fleet((SITE,), {}, {}, devices, tuple(cables))


def write_site(fabric: Fabric, folder: Path) -> None:
    """Write the same as site files; JSON is YAML."""
    records = fleet(fabric)
    racks = sorted({device.rack for device in records.devices.values() if device.rack})
    types = [
        {"manufacturer": "Example", "model": name, "slug": name, "u_height": height}
        for name, height in (("gpu-server", SERVER_UNITS), ("switch", 1))
    ]
    files: dict[str, list[Any]] = {
        "sites": [{"name": SITE}],
        "racks": [{"name": rack, "site": SITE} for rack in racks],
        "device_types": types,
        "devices": [_written(device) for device in records.devices.values()],
        "cables": [_cable(cable) for cable in records.cables],
    }
    folder.mkdir()
    for name, rows in files.items():
        (folder / f"{name}.yml").write_text(json.dumps(rows), encoding="utf-8")


def _device(name: str, place: int, ends: list[End], known: dict[str, int]) -> Device:
    """A server's adapters have a port GUID each; a switch has one for all its ports, kept with the first."""
    is_server = name.startswith("gpu-")
    rack, position = _stands(name, place)
    ports = sorted(ends, key=lambda end: int(end.port.removeprefix("mlx5_")))
    guid = {end: known[record(end)] + is_server for end in (ports if is_server else ports[:1])}
    interfaces = [Interface(end.port, KIND, guid=f"{guid[end]:016x}" if end in guid else None) for end in ports]
    return Device(
        name,
        "gpu-server" if is_server else "switch",
        "gpu-server" if is_server else "spine" if name.startswith("spine-") else "leaf",
        SITE,
        rack=rack,
        position=position,
        interfaces=tuple(interfaces),
    )


def _stands(name: str, place: int) -> tuple[str, int]:
    """Servers stand four to a rack; leaves of one group stand together, spines apart from them."""
    kind, _, digits = name.partition("-")
    index = int(digits) - 1
    if kind == "gpu":
        row, slot = divmod(index, SERVERS_A_RACK)
        return f"A{row + 1:02d}", slot * SERVER_UNITS + 1
    row, slot = divmod(index, 40 if kind == "spine" else 8)
    return f"{kind[0].upper()}{row + 1:02d}", slot + 1


def _carriers(cable: Plug) -> tuple[str, ...]:
    if not cable.b.device.startswith("spine-"):
        return ()
    bundle = (int(cable.a.device.removeprefix("leaf-")) - 1) // TRUNK_LEAVES + 1
    return (f"trunk T-{bundle:02d}-{cable.b.device.removeprefix('spine-')}",)


def _written(device: Device) -> dict[str, Any]:
    keys = ("name", "device_type", "role", "site", "rack", "position")
    ports = [
        {"name": port.name, "type": port.kind} | ({"wwn": port.guid} if port.guid else {})
        for port in device.interfaces
    ]
    return {key: getattr(device, key) for key in keys} | {"interfaces": ports}


def _cable(cable: Cable) -> dict[str, Any]:
    ends = {"a": cable.a._asdict(), "b": cable.b._asdict()}
    return ends | {"trunk": cable.carriers[0].removeprefix("trunk ")} if cable.carriers else ends
