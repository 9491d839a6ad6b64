"""What happens to a node's hardware: power, boots and what they clear, lines of the kernel's log."""

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from fleet_runner.core.boot.boots import Milestone
from fleet_runner.lab import plan, processes, sysfs
from fleet_runner.lab.folder import Lab, locked, read, write, write_json
from fleet_runner.lab.tools.node import is_up, witness

POWER_ACTIONS = ("On", "ForceOff", "GracefulShutdown", "ForceRestart", "GracefulRestart", "PowerCycle")
STARTS = frozenset({"On", "ForceRestart", "GracefulRestart", "PowerCycle"})
RESTARTS = frozenset({"ForceRestart", "GracefulRestart"})
VOLATILE = ("home", "tmp", "seed")
NETWORK_TARGETS = frozenset({"Pxe", "UefiHttp"})
CLEARED_BY_BOOT = frozenset(
    {"xid", "flapping_link", "row_remap", "nvlink_down", "read_only_disk", "dimm_errors", "service_down"}
)
KERNEL_AFTER = 0.6
"""The share of a boot's seconds that the firmware takes before the kernel starts."""

WITNESSED = ("started", "kernel", "ready", "count", "how", "milestone")
BOOTING = "booting"
"""The milestone of a node that asks the boot service for the rest."""

BOOT_ID = "proc/sys/kernel/random/boot_id"

CODE = Path(__file__).resolve().parents[2]

UNREACHED = frozenset(Milestone) - {Milestone.PHONE_HOME}
"""Milestones of Day 0 that a node which stops before them never answers ssh without."""

FIRMWARE: dict[str, str] = {
    "BMC": "01.05.02",
    "BIOS": "2.1",
    "CPLD_Motherboard": "F1.00.64",
    **{f"HGX_FW_GPU_SXM_{gpu + 1}": "96.00.A5.00.01" for gpu in range(plan.GPUS)},
    **{f"NIC_{rail}": "28.39.3560" for rail in range(plan.RAILS)},
}
"""The firmware inventory of a healthy server: the id of the resource, and its version."""


def fresh(number: int, boot_seconds: float) -> dict[str, Any]:
    """Return the state of a server as delivered: racked, cabled, off, never provisioned."""
    return {
        "name": plan.server(number),
        "index": number,
        "power": "Off",
        "boot": {"started": 0.0, "kernel": 0.0, "ready": None, "count": 0, "how": "none", "milestone": "none"},
        "boot_seconds": boot_seconds,
        "last_reset": 0.0,
        "provisioned": False,
        "override": {"enabled": "Disabled", "target": "None"},
        "firmware": dict(FIRMWARE),
        "faults": {},
        "kernel_log": [],
    }


@contextmanager
def changing(lab: Lab, name: str) -> Iterator[dict[str, Any]]:
    """Give a node's state to change; it is written when the block ends, and no one else writes meanwhile."""
    folder = lab.node(lab.known(name))
    with locked(folder):
        state = read(folder / "state.json")
        before = dict(state["faults"])
        yield state
        write_json(folder / "state.json", state)
        if state["faults"] != before:
            sysfs.write_files(lab, name, state["faults"])


def state_of(lab: Lab, name: str) -> dict[str, Any]:
    """Return a node's state as it is now."""
    return read(lab.node(lab.known(name)) / "state.json")


def power(lab: Lab, name: str, action: str) -> None:
    """Do a power action: what runs on the node and what it keeps in memory end with it, and a start boots it."""
    was_on = state_of(lab, name)["power"] == "On"
    witness(str(lab.root), "power", name, action=action, was="On" if was_on else "Off")
    if was_on if action == "On" else not was_on and action in RESTARTS:
        return
    with changing(lab, name) as state:
        state |= {"power": "Off", "boot": {**state["boot"], "ready": None}}
        state["last_reset"] = time.time() if was_on else state["last_reset"]
    processes.end_node(lab, name)
    _forget(lab, name)
    if action in STARTS:
        write(lab.node(name) / "root" / BOOT_ID, f"{uuid4()}\n")
        served = "boot_port" in read(lab.about)
        with changing(lab, name) as state:
            _boot(state, served=served)
            witness(str(lab.root), "boot", name, **{key: state["boot"][key] for key in WITNESSED})
        if state["boot"]["milestone"] == BOOTING:
            _start(lab, name)


def log_kernel(lab: Lab, name: str, *lines: str) -> None:
    """Let the node's kernel log these lines now."""
    with changing(lab, name) as state:
        state["kernel_log"] += [[time.time(), line] for line in lines]


def up(lab: Lab, name: str) -> bool:
    """Whether the node answers ssh now."""
    return is_up(state_of(lab, name), time.time())


def _forget(lab: Lab, name: str) -> None:
    """Empty what the node keeps: it is stateless, its file system lies in its memory."""
    for folder in VOLATILE:
        for path in (lab.node(name) / folder).glob("*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _boot(state: dict[str, Any], *, served: bool) -> None:
    """Start a boot; where the lab has a boot service, a node asks it for all that it is not told otherwise."""
    now, seconds = time.time(), state["boot_seconds"]
    override = state["override"]
    chosen = override["enabled"] != "Disabled" and override["target"] != "None"
    network = override["target"] in NETWORK_TARGETS if chosen else served
    if override["enabled"] == "Once":
        state["override"] = {"enabled": "Disabled", "target": "None"}
    stop = state["faults"].get("no_boot")
    asks = served and network
    reaches = not asks and (network or state["provisioned"]) and not (stop and stop["at"] in UNREACHED)
    state["provisioned"] = state["provisioned"] or reaches
    state |= {"power": "On", "last_reset": now, "kernel_log": [], "stopped": []}
    state["faults"] = {fault: how for fault, how in state["faults"].items() if fault not in CLEARED_BY_BOOT}
    state["boot"] = {
        "started": now,
        "kernel": now + seconds * KERNEL_AFTER if reaches else 0.0,
        "ready": now + seconds if reaches else None,
        "count": state["boot"]["count"] + 1,
        "how": "network" if network else "image" if state["provisioned"] else "no bootable device",
        "milestone": BOOTING if asks else stop["at"] if stop else "done",
        **({"uri": override["uri"]} if asks and override.get("uri") else {}),
    }


def _start(lab: Lab, name: str) -> None:
    """Let a node boot by itself; it is a process of the node's, so that it ends with the power."""
    console = lab.node(name) / "console.log"
    console.unlink(missing_ok=True)
    env = {"FLEET_LAB": str(lab.root), "FLEET_LAB_NODE": name, "PYTHONPATH": str(CODE)}
    processes.start([sys.executable, "-m", "fleet_runner.lab.netboot", str(lab.root), name], env, console)
