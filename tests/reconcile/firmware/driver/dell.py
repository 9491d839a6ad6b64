"""A machine whose service root says Dell: made up, small, with the names and services of an iDRAC."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fleet_runner.lab.redfish import Durations, Emulator, Event, Tree, load
from fleet_runner.lab.redfish.trees import OUR_OWN, ROOT
from tests.reconcile.firmware.driver import scenes
from tests.reconcile.firmware.driver.bench import Bench
from tests.reconcile.firmware.driver.scenes import Part

INVENTORY = f"{ROOT}/UpdateService/FirmwareInventory"
LIFECYCLE = f"{ROOT}/Managers/1/Oem/Dell/DellLCService"

HAS = {
    "iDRAC.Embedded.1-1": ("25227", "1.05.02"),
    "BIOS.Setup.1-1": ("159", "2.0"),
    "NIC.Slot.5-1": ("0", "24.40"),
    "PSU.Slot.1": ("108076", "1.3"),
    "PSU.Slot.2": ("108076", "1.3"),
}
"""What is in it, with the software's number and its version."""

PARTS = (
    Part("iDRAC", "Installed-*__iDRAC.Embedded.1-1", "none", 10),
    Part("BIOS", "Installed-*__BIOS.Setup.1-1", "host_reset", 20),
    Part("NIC", "Installed-*__NIC.Slot.5-1", "host_reset", 30),
    Part("PSU", "Installed-*__PSU.Slot.*", "host_reset", 40),
)

BIOS = "Installed-159-2.0__BIOS.Setup.1-1"


def tree() -> Tree:
    """Return the shipped machine as Dell would have it."""
    shipped = load(OUR_OWN)
    entries = {f"Installed-{number}-{version}__{part}": (number, version) for part, (number, version) in HAS.items()}
    entries["Previous-159-1.9__BIOS.Setup.1-1"] = ("159", "1.9")
    like = shipped.get(f"{INVENTORY}/BIOS")
    made: dict[str, Any] = {}
    for entry, (number, version) in entries.items():
        uri = f"{INVENTORY}/{entry}"
        made[uri] = {**like, "@odata.id": uri, "Id": entry, "SoftwareId": number, "Version": version}
        made[uri]["RelatedItem"] = None
    gone = {each["@odata.id"]: None for each in shipped.get(INVENTORY)["Members"]}
    jobs = {"@odata.type": "#JobCollection.JobCollection", "Name": "Jobs", "Members": [], "Members@odata.count": 0}
    target = f"{LIFECYCLE}/Actions/DellLCService.GetRemoteServicesAPIStatus"
    return shipped.changed(
        {
            **gone,
            **made,
            ROOT: {"Vendor": "Dell", "Oem": {"Dell": {}}, "JobService": {"@odata.id": f"{ROOT}/JobService"}},
            f"{ROOT}/JobService": {"Name": "Jobs", "Jobs": {"@odata.id": f"{ROOT}/JobService/Jobs"}},
            f"{ROOT}/JobService/Jobs": jobs,
            INVENTORY: {"Members": [{"@odata.id": uri} for uri in made], "Members@odata.count": len(made)},
            f"{ROOT}/UpdateService": {
                "Actions": {"Oem": {"DellUpdateService.v1_1_0#DellUpdateService.Install": {"target": "/none"}}}
            },
            f"{ROOT}/Managers/1": {"Links": {"Oem": {"Dell": {"DellLCService": {"@odata.id": LIFECYCLE}}}}},
            LIFECYCLE: {"Actions": {"#DellLCService.GetRemoteServicesAPIStatus": {"target": target}}},
        }
    )


@contextmanager
def bench(
    folder: Path, names: Sequence[str], rules: Sequence[Mapping[str, Any]] = (), *,
    on: Callable[[Event], None] | None = None, **words: Any,
) -> Iterator[Bench]:  # fmt: skip
    """Run it with these parts of it old; more words are for its scene."""
    has, parts = tree(), [part for part in PARTS if part.name in names]
    entries = scenes.entries(has, parts)
    scene = scenes.scene(folder / "images", parts, entries, dict.fromkeys(entries, scenes.OLD), **words)
    with Emulator(has, credentials=scenes.CREDENTIALS, pace=Durations.quick(), rules=rules, on=on) as bmc:
        for entry, version in scene.old.items():
            bmc.set_version(entry, version)
        yield Bench(bmc, scene, scenes.store_in(folder, folder))
