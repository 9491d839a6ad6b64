"""Many nodes at once: one runner process brings the firmware of 200 emulated BMCs to their pins.

`python benchmarks/firmware.py [NODES]` runs the BMCs in a process of their own, and a driver for each node in a
thread of this one. Each node gets a BMC, a BIOS, a bundle for its GPU board and a CPLD, with every reset
that these need. Then a few of them get images of 1 and of 256 MiB, in a runner of their own each, for its memory.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from fleet_runner.adapters.redfish import Bmc
from fleet_runner.adapters.store import Store
from fleet_runner.core.firmware import catalogue
from fleet_runner.core.firmware.flash import FlashTiming
from fleet_runner.core.inventory.records import Device
from fleet_runner.lab.redfish import Durations, Emulator, images, load
from fleet_runner.lab.redfish.trees import OUR_OWN
from fleet_runner.reconcile.firmware.driver import DriverContext, Target, drive

USER = ("admin", "correct horse")
MEBIBYTE = 1_048_576
OLD = "0.9"
PACE = FlashTiming(poll=2.0, settle=60.0, send=300.0, outage=120.0, boot=120.0)
DEVICE = Durations(write=15.0, outage=10.0, power_on=1.0, power_off=1.0, boot=10.0, drain=5.0)
"""Some hundredth of what real machines take, like the pace that they are looked at with."""

PARTS = (
    ("BMC", "BMC", "none", "bmc.bin"),
    ("BIOS", "BIOS", "host_reset", "bios.bin"),
    ("HMC", "HGX_FW_BMC_0", "host_reset", "hgx.bin"),
    ("GPU", "HGX_FW_GPU_SXM_*", "host_reset", "hgx.bin"),
    ("CPLD", "CPLD_Motherboard", "ac_drain", "cpld.bin"),
)


def versions() -> dict[str, str]:
    """Return what the entries are to have: what the tree has."""
    tree = load(OUR_OWN)
    told = {name: str(tree.get(uri)["Version"]) for name, uri in tree.entries.items()}
    return {name: told[name] for name in told if any(Path(name).match(glob) for _, glob, *_ in PARTS)}


def profile(folder: Path, mib: float) -> dict[str, Any]:
    """Write the images, and return the catalogue."""
    known = versions()
    rows: list[dict[str, Any]] = []
    files = list(dict.fromkeys(file for *_, file in PARTS))
    for name, glob, how, file in PARTS:
        globs = [each for _, each, _, other in PARTS if other == file]
        brings = {
            entry: version for entry, version in known.items() if any(Path(entry).match(each) for each in globs)
        }
        sha256 = images.write(folder / file, brings, size=int(mib * MEBIBYTE))
        [target] = {version for entry, version in known.items() if Path(entry).match(glob)}
        image = {target: {"file": file, "sha256": sha256}}
        rows.append({
            "component": name, "inventory_id": glob, "target": target, "images": image, "order": files.index(file),
            "activate": {"how": how}, "seconds": 300,
        })  # fmt: skip
    return {"firmware": {"components": rows}}


def serve(count: int) -> None:
    """Be the BMCs: print their addresses, wait for a line, print what they saw."""
    tree = load(OUR_OWN)
    old = dict.fromkeys(versions(), OLD)
    bmcs = [Emulator(tree, credentials=USER, pace=DEVICE, seed=number).start() for number in range(count)]
    for bmc in bmcs:
        for entry, version in old.items():
            bmc.set_version(entry, version)
    print(json.dumps([bmc.url for bmc in bmcs]), flush=True)
    sys.stdin.readline()
    print(json.dumps({
        "requests": sum(len(bmc.events("request")) for bmc in bmcs),
        "seconds": sum(device_seconds(bmc) for bmc in bmcs),
        "updates": sum(len(bmc.events("accepted")) for bmc in bmcs),
        "concurrent": sum(event["concurrent"] for bmc in bmcs for event in bmc.events("accepted")),
        "right": sum(
            old.keys() <= bmc.versions().keys() and not set(bmc.versions().values()) & {OLD} for bmc in bmcs
        ),
    }))  # fmt: skip


def device_seconds(bmc: Emulator) -> float:
    """Return the seconds from each image's being taken to its running: what no runner can make shorter."""
    begun, total = 0.0, 0.0
    for event in bmc.events("accepted", "activated"):
        if event.kind == "accepted":
            begun = event.at
        elif begun:
            total, begun = total + event.at - begun, 0.0
    return total


def run(count: int, mib: float) -> dict[str, float]:
    """Update so many nodes at once; return what it took."""
    with tempfile.TemporaryDirectory(prefix="fleet-runner-") as name:
        folder = Path(name)
        wanted = catalogue.read(profile(folder, mib))
        command = [sys.executable, __file__, str(count), "--serve"]
        bmcs = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603  itself
        urls: list[str] = json.loads(bmcs.stdout.readline() if bmcs.stdout else "[]")
        names = [f"gpu-{number:04}" for number in range(count)]
        with Store.create(f"sqlite:///{folder / 'fleet.db'}") as store, ThreadPoolExecutor(count) as pool:
            store.register([Device(each, "lab", "gpu-server", "lab") for each in names], 1.0)

            def one(node: str, url: str) -> str:
                means = DriverContext(store, partial(Bmc, url, *USER), wanted, folder, PACE)
                return drive(Target(node, f"bench-{node}"), means).stand.value

            wall, cpu = time.monotonic(), time.process_time()
            stands = list(pool.map(one, names, urls))
            wall, cpu = time.monotonic() - wall, time.process_time() - cpu
        told, _ = bmcs.communicate("\n")
    seen: Mapping[str, float] = json.loads(told)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {**seen, "wall": wall, "cpu": cpu, "peak": peak, "done": stands.count("done"), "count": count, "mib": mib}


def tell(found: Mapping[str, float]) -> None:
    """Print a run."""
    count = int(found["count"])
    print(
        f"{count} nodes, images of {found['mib']:g} MiB: {found['done']:g} done, {found['updates']:g} updates, "
        f"{found['concurrent']:g} concurrent\n"
        f"  wall {found['wall']:.0f} s; the devices' own time {found['seconds']:.0f} s, "
        f"{found['seconds'] / found['wall']:.0f} times the wall, {found['seconds'] / count:.0f} s a node\n"
        f"  {found['requests'] / count:.0f} requests and {1000 * found['cpu'] / count:.0f} ms CPU a node; "
        f"peak {found['peak']:.0f} MiB",
        flush=True,
    )


def main() -> int:
    """Be the runner, or the BMCs that it starts."""
    parser = argparse.ArgumentParser(description="Firmware of many nodes at once.")
    parser.add_argument("nodes", type=int, nargs="?", default=200)
    parser.add_argument("--mib", type=float, help="only one run, with images of so many MiB")
    parser.add_argument("--memory-nodes", type=int, default=8, help="nodes of the runs that compare memory")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve(given.nodes)
        return 0
    if given.mib is not None:
        found = run(given.nodes, given.mib)
        tell(found)
        return 0 if found["done"] == given.nodes and not found["concurrent"] else 1
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for nodes, mib in ((given.nodes, 0.25), (given.memory_nodes, 1), (given.memory_nodes, 256)):
        # A process of its own each: what one of them took at most would hide what the next one takes.
        subprocess.run([sys.executable, __file__, str(nodes), "--mib", str(mib)], check=True)  # noqa: S603  itself
    return 0


if __name__ == "__main__":
    sys.exit(main())
