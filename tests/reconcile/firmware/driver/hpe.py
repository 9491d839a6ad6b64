"""A machine whose UpdateService is HPE's: made up, small, with the numbers and names of an iLO."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fleet_runner.lab.redfish import Durations, Emulator, Tree, load
from fleet_runner.lab.redfish.trees import OUR_OWN, ROOT
from tests.reconcile.firmware.driver import scenes
from tests.reconcile.firmware.driver.bench import Bench
from tests.reconcile.firmware.driver.scenes import Part

INVENTORY = f"{ROOT}/UpdateService/FirmwareInventory"
HAS = {
    "1": ("iLO 5", "2.72 Sep 04 2022"),
    "2": ("System ROM", "A42 v2.60 (08/11/2022)"),
    "5": ("Power Supply", "2.00"),
}

PARTS = (Part("iLO", "1", "none", 10), Part("ROM", "2", "host_reset", 20))


def tree() -> Tree:
    """Return the shipped machine as HPE would have it."""
    shipped = load(OUR_OWN)
    like = shipped.get(f"{INVENTORY}/BIOS")
    made: dict[str, Any] = {}
    for entry, (name, version) in HAS.items():
        uri = f"{INVENTORY}/{entry}"
        made[uri] = {**like, "@odata.id": uri, "Id": entry, "Name": name, "Version": version, "SoftwareId": None}
        made[uri]["RelatedItem"] = None
    gone = {each["@odata.id"]: None for each in shipped.get(INVENTORY)["Members"]}
    service = {"HttpPushUri": "/cgi-bin/uploadFile", "MultipartHttpPushUri": None, "HttpPushUriTargets": None}
    service |= {"HttpPushUriOptions": None, "Actions": None, "Oem": {"Hpe": {"State": "Idle"}}}
    return shipped.changed(
        {
            **gone,
            **made,
            ROOT: {"Vendor": "HPE"},
            INVENTORY: {"Members": [{"@odata.id": uri} for uri in made], "Members@odata.count": len(made)},
            f"{ROOT}/UpdateService": service,
        }
    )


@contextmanager
def bench(folder: Path, names: Sequence[str], rules: Sequence[Mapping[str, Any]] = ()) -> Iterator[Bench]:
    """Run it with these parts of it old."""
    has, parts = tree(), [part for part in PARTS if part.name in names]
    entries = scenes.entries(has, parts)
    scene = scenes.scene(folder / "images", parts, entries, dict.fromkeys(entries, scenes.OLD))
    with Emulator(has, credentials=scenes.CREDENTIALS, pace=Durations.quick(), rules=rules) as bmc:
        for entry, version in scene.old.items():
            bmc.set_version(entry, version)
        yield Bench(bmc, scene, scenes.store_in(folder, folder))
