"""The simulated hall as the source of truth has it: three rows of servers that nobody can reach."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import yaml

from fleet_runner.lab import plan
from fleet_runner.lab.folder import Lab, write

SITE = "simulated"
PREFIX = "sim-"
"""How the names of its servers begin, wherever they are seen."""

ROWS = "abc"
RACKS = 4
FILE = "simulated.yml"
AWAY = ".simulated"
"""A hidden folder, which the source of truth does not read."""

REASON = "Simulated: its history is made up, and no machine stands here."
NOTICE = f"Nodes called {PREFIX}… are simulated: 90 days of made-up history, without a machine."


class Spot(NamedTuple):
    """A server's place; `rack` counts the racks of the hall from 0, in the order in which they came."""

    name: str
    row: str
    rack: int
    unit: int
    number: int


def spots() -> tuple[Spot, ...]:
    """Return every server, in the order of its name."""
    found: list[Spot] = []
    for number in range(len(ROWS) * RACKS * plan.RACK_SERVERS):
        rack, slot = divmod(number, plan.RACK_SERVERS)
        row = ROWS[rack // RACKS]
        name = f"{PREFIX}{row}{number % (RACKS * plan.RACK_SERVERS) + 1:02d}"
        found.append(Spot(name, row, rack, 1 + slot * plan.SERVER_UNITS, number))
    return tuple(found)


def label(spot: Spot) -> str:
    """Return the name of a server's rack."""
    return f"{spot.row.upper()}{spot.rack % RACKS + 1:02d}"


def gpu_serial(number: int, slot: int, exchanged: int = 0) -> str:
    """Return the serial number of a GPU, or of one that came in its place."""
    return f"SIM{number:03d}{slot}{exchanged:02d}"


def put(lab: Lab) -> None:
    """Write the hall into a lab's site files, beside the lab's own."""
    rows = sorted({spot.row for spot in spots()})
    files: Mapping[str, list[Any]] = {
        "sites": [{"name": SITE}],
        "locations": [{"name": f"Row {row.upper()}", "site": SITE} for row in rows],
        "racks": [
            {"name": name, "site": SITE, "location": f"Row {name[0]}", "u_height": 42}
            for name in sorted({label(spot) for spot in spots()})
        ],
        "devices": [_device(spot) for spot in spots()],
    }
    for kind, records in files.items():
        (lab.site / kind).mkdir(exist_ok=True)
        write(lab.site / kind / FILE, yaml.safe_dump({kind: records}, sort_keys=False, width=118))


def take_away(lab: Lab) -> None:
    """Have the source of truth do without the hall, until it is put back."""
    for file in sorted(lab.site.glob(f"*/{FILE}")):
        (lab.site / AWAY).mkdir(exist_ok=True)
        file.rename(lab.site / AWAY / f"{file.parent.name}.yml")


def put_back(lab: Lab) -> None:
    """Have the source of truth name the hall again, if it did before."""
    for file in sorted((lab.site / AWAY).glob("*.yml")):
        file.rename(lab.site / file.stem / FILE)


def _device(spot: Spot) -> dict[str, Any]:
    parts = [(f"GPU {slot}", "gpu", plan.GPU_MODEL, gpu_serial(spot.number, slot)) for slot in range(plan.GPUS)]
    return {
        "name": spot.name,
        "device_type": plan.DEVICE_TYPE,
        "role": "gpu-server",
        "site": SITE,
        "rack": label(spot),
        "position": spot.unit,
        "serial": f"SIM{spot.number:05d}",
        "inventory_items": [
            {"name": slot, "role": kind, "part_id": model, "serial": serial} for slot, kind, model, serial in parts
        ],
    }
