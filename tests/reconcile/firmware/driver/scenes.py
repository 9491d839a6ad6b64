"""Machines for tests of the driver: their parts, a catalogue for them, and images that the emulator knows."""

import shutil
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from fleet_runner.adapters.store import Store
from fleet_runner.core.firmware.flash import FlashTiming
from fleet_runner.core.inventory.records import Device
from fleet_runner.lab.redfish import Tree, bodies, images

NODE = "gpu-01"
CREDENTIALS = ("admin", "correct horse")

PACE = FlashTiming(poll=0.12, settle=1.2, send=1.2, outage=1.2, boot=1.2, stable=3)
"""A real one's, some thousand times faster."""

LEASE_SECONDS = 60.0
"""As in earnest: how long a look takes says how busy this computer is."""


class Part(NamedTuple):
    """One row of a catalogue: its name, the entries it is for, how they are activated, and in which order."""

    name: str
    glob: str
    activate: str = "none"
    order: int = 50
    alone: bool = False  # each entry has a request of its own
    bundle: str = ""  # rows with one bundle share an image
    times: int = 1


SMALL = (
    Part("BMC", "BMC", "none", 10),
    Part("BIOS", "BIOS", "host_reset", 20),
    Part("HMC", "HGX_FW_BMC_0", "host_reset", 30, bundle="hgx"),
    Part("GPU", "HGX_FW_GPU_SXM_*", "host_reset", 30, bundle="hgx"),
    Part("NIC", "NIC_0", "host_reset", 35),
    Part("PSU", "PSU_*", "none", 40, alone=True),
    Part("CPLD", "CPLD_Motherboard", "ac_drain", 90),
)
"""The tree that is shipped with the emulator."""

DGX = (
    Part("BMC", "HostBMC_0", "bmc_reset", 10),
    Part("BIOS", "HostBIOS_0", "host_reset", 20),
    Part("ERoT", "EROT_B*_0", "ac_drain", 25),
    *(Part(f"HGX {name}", f"HGX_FW_{glob}", "host_reset", 30, bundle="hgx") for name, glob in (
        ("HMC", "BMC_0"), ("ERoT", "ERoT_*"), ("FPGA", "FPGA_0"), ("GPU", "GPU_SXM_*"), ("NVSwitch", "NVSwitch_*"),
        ("retimer", "PCIeRetimer_*"), ("switch", "PCIeSwitch_*"),
    )),
    Part("retimer", "PCIeRetimer_*", "host_reset", 40),
    Part("PCIe switch 0", "PCIeSwitch_0", "host_reset", 45),
    Part("PCIe switch 1", "PCIeSwitch_1", "host_reset", 46),
    Part("PSU", "PSU_*", "none", 50, alone=True),
    Part("CPLD", "CPLDMB_0", "ac_drain", 90),
    Part("midplane CPLD", "CPLDMID_0", "ac_drain", 91),
)  # fmt: skip
"""A DGX H100."""

SUPERMICRO = (
    Part("BMC", "BMC", "none", 10),
    Part("BIOS", "BIOS", "host_reset", 20),
    *(Part(f"HGX {name}", f"HGX_FW_{glob}", "host_reset", 30, bundle="hgx") for name, glob in (
        ("HMC", "BMC_0"), ("ERoT", "ERoT_*"), ("FPGA", "FPGA_0"), ("GPU", "GPU_SXM_*"), ("NVSwitch", "NVSwitch_*"),
        ("retimer", "PCIeRetimer_*"), ("switch", "PCIeSwitch_*"),
    )),
    Part("HCA", "NIC10", "host_reset", 40),
    Part("fan board CPLD", "Fanboard_*_CPLD_1", "ac_drain", 80, alone=True),
    Part("switch board CPLD", "Switchboard_[23]_CPLD_2", "ac_drain", 85),
    Part("CPLD", "CPLD_Motherboard", "ac_drain", 90),
)  # fmt: skip
"""A Supermicro SYS-821GE-TNHR."""

GB200 = (
    Part("BMC", "FW_BMC_0", "none", 10),
    Part("ERoT", "FW_ERoT_BMC_0", "ac_drain", 25),
    *(Part(f"HGX {name}", f"HGX_{glob}", "host_reset", 30, bundle="hgx") for name, glob in (
        ("HMC", "FW_BMC_0"), ("ERoT", "FW_ERoT_*"), ("CPLD", "FW_CPLD_0"), ("InfoROM", "InfoROM_GPU_*"),
    )),
    Part("adapter", "CX7_0", "host_reset", 40),
    Part("CPLD", "FW_CPLD_[01]", "ac_drain", 90),
)  # fmt: skip
"""A compute tray of a GB200 NVL72."""
R750 = (
    Part("iDRAC", "Installed-*__iDRAC.Embedded.1-1", "none", 10),
    Part("BIOS", "Installed-*__BIOS.Setup.1-1", "host_reset", 20),
    Part("NIC", "Installed-*__NIC.Integrated.1-*", "host_reset", 30),
    Part("HCA", "Installed-*__InfiniBand.Slot.7-*", "host_reset", 35),
    Part("backplane", "Installed-*__RAID.Backplane.Firmware.1", "host_reset", 40),
    Part("PSU", "Installed-*__PSU.Slot.*", "host_reset", 50),
    Part("CPLD", "Installed-*__CPLD.Embedded.1", "host_reset", 90),
)
"""A Dell PowerEdge R750 with an iDRAC 9."""

DL385 = (
    Part("iLO", "1", "none", 10),
    Part("ROM", "2", "host_reset", 20),
    Part("power management", "5", "none", 30),
    Part("PSU", "[67]", "host_reset", 40),
    Part("CPLD", "4", "ac_drain", 90),
)
"""An HPE ProLiant DL385 Gen10 Plus v2 with an iLO 5."""


OLD = "0.9"
"""A version that every entry begins with, unless a test says otherwise."""


def entries(tree: Tree, parts: Sequence[Part]) -> dict[str, str]:
    """Return what a tree has of some parts: versions by inventory id."""
    told = {name: str(tree.get(uri)["Version"]) for name, uri in tree.entries.items()}
    return {name: told[name] for part in parts for name in told if fnmatchcase(name, part.glob)}


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()


bodies.moment = _moment
"""Emulated BMCs tell whole seconds, as real ones do; here whole updates take less."""


@dataclass(frozen=True)
class Scene:
    """A catalogue whose targets are what a tree has, and images that bring them; `old` is what entries begin with."""

    profile: Mapping[str, Any]
    images: Path
    pins: Mapping[str, tuple[str, ...]]
    old: Mapping[str, str]


def scene(
    folder: Path, parts: Sequence[Part], entries: Mapping[str, str], old: Mapping[str, str], *,
    size: int = 4096, seconds: float = 1.0, accept_old: bool = False, hop: str = "",
) -> Scene:  # fmt: skip
    """Write the images that bring `entries` (their versions by id) from `old` ones back to what they are.

    With `hop`, a version, each row with one entry goes over that version. With `accept_old`, the old ones are right
    too, and there are images that bring them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pins: dict[str, tuple[str, ...]] = {}
    rows = []
    bundles: dict[str, dict[str, str]] = {}
    for part in parts:
        if part.bundle:
            mine = {name: version for name, version in entries.items() if fnmatchcase(name, part.glob)}
            bundles.setdefault(part.bundle, {}).update(mine)
    for part in parts:
        mine = {name: version for name, version in entries.items() if fnmatchcase(name, part.glob)}
        [target] = set(mine.values())
        stale = sorted({old[name] for name in mine if name in old})
        file = f"{part.bundle or part.name.replace(' ', '_')}.bin"
        sha256 = images.write(folder / file, bundles.get(part.bundle, mine), size=size)
        wares: dict[str, Any] = {target: {"file": file, "sha256": sha256}}
        if hop and len(mine) == 1 and stale:
            wares[target]["from"] = [hop]
            wares[hop] = _image(folder, part, mine, hop, size)
        if accept_old:
            wares |= {version: _image(folder, part, mine, version, size) for version in stale}
        accepted = tuple(stale) if accept_old else ()
        pins |= dict.fromkeys(mine, (target, *accepted))
        rows.append(
            {
                "component": part.name,
                "inventory_id": part.glob,
                "target": target,
                "images": wares,
                "order": part.order,
                "activate": {"how": part.activate, **({"times": part.times} if part.times > 1 else {})},
                "seconds": seconds,
                **({"accepted": list(accepted)} if accepted else {}),
                **({"exclusive": part.name} if part.alone else {}),
            }
        )
    return Scene({"firmware": {"components": rows}}, folder, pins, dict(old))


def _image(folder: Path, part: Part, mine: Mapping[str, str], version: str, size: int) -> dict[str, str]:
    file = f"{part.name.replace(' ', '_')}-{version}.bin"
    return {"file": file, "sha256": images.write(folder / file, dict.fromkeys(mine, version), size=size)}


_making = threading.Lock()


def store_in(folder: Path, template: Path) -> str:
    """Return the URL of a new store that knows the node; making one anew each time would take longer than a test."""
    made = template / "template.db"
    with _making:
        if not made.exists():
            with Store.create(f"sqlite:///{template / 'making.db'}") as store:
                store.register([Device(NODE, "lab", "gpu-server", "lab")], 1.0)
            (template / "making.db").rename(made)
    shutil.copy(made, folder / "fleet.db")
    return f"sqlite:///{folder / 'fleet.db'}"
