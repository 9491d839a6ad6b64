"""`systemctl show`, start, stop, restart and reboot: the services of a node that its GPUs live with."""

import os
import sys
import time
from fnmatch import fnmatchcase
from pathlib import Path

from fleet_runner.lab.tools.node import Node, witness

UNITS = ("nvidia-fabricmanager.service", "nvidia-persistenced.service", "nvidia-dcgm.service")
"""What the lab's nodes have; all run from the boot on, but for one with the fault `service_down`."""

SUB = {"active": "running", "inactive": "dead", "failed": "failed"}

REBOOT = """\
import sys, time
time.sleep(0.3)
from pathlib import Path
from fleet_runner.lab import hardware
from fleet_runner.lab.folder import Lab
hardware.power(Lab(Path(sys.argv[1])), sys.argv[2], "GracefulRestart")
"""
"""Run beside the node, which ends with all that runs on it."""


def run(node: Node, args: list[str]) -> int:
    """Do or show what is asked; of anything else the lab has nothing to show."""
    words = [word for word in args if not word.startswith("-")]
    verb, names = (words[0], [_unit(name) for name in words[1:]]) if words else ("", [])
    if verb == "show":
        return _show(node, args, names)
    if verb == "reboot":
        return _reboot(node)
    if verb not in {"start", "stop", "restart", "reset-failed"}:
        sys.stderr.write(
            f"systemctl: the lab knows show, start, stop, restart, reset-failed and reboot, not {verb}\n"
        )
        return 1
    for name in names:
        if name not in UNITS:
            sys.stderr.write(f"Failed to {verb} {name}: Unit {name} not found.\n")
            return 5
        if not _switch(node, verb, name):
            sys.stderr.write(f"Job for {name} failed because the control process exited with error code.\n")
            return 1
    return 0


def states(node: Node) -> dict[str, str]:
    """Return how each service is now, in systemd's words."""
    down = node.fault("service_down")
    stopped = node.state.get("stopped", [])
    return {
        unit: "failed" if down and down["unit"] == unit else "inactive" if unit in stopped else "active"
        for unit in UNITS
    }


def _unit(name: str) -> str:
    return name if "." in name else f"{name}.service"


def _show(node: Node, args: list[str], names: list[str]) -> int:
    """Print a block for each unit that was asked for; a pattern brings those that there are."""
    now = states(node)
    wanted = [each for each in args if each.startswith("--property=")]
    properties = wanted[-1].partition("=")[2].split(",") if wanted else args[args.index("--property") + 1].split(",")
    units = [name for name in names if "*" not in name and "," not in name]
    patterns = [name for name in names if "*" in name]
    units += [unit for unit in UNITS if unit not in units and any(fnmatchcase(unit, each) for each in patterns)]
    since = time.strftime("%a %Y-%m-%d %H:%M:%S UTC", time.gmtime(node.state["boot"]["kernel"]))
    blocks: list[str] = []
    for unit in units:
        state = now.get(unit, "inactive")
        told = {
            "Id": unit,
            "Names": unit,
            "LoadState": "loaded" if unit in now else "not-found",
            "ActiveState": state,
            "SubState": SUB[state],
            "Result": "exit-code" if state == "failed" else "success",
            "NRestarts": "0",
            "InactiveExitTimestamp": since if unit in now else "",
        }
        blocks.append("".join(f"{name}={told.get(name, '')}\n" for name in properties))
    sys.stdout.write("\n".join(blocks))
    return 0


def _switch(node: Node, verb: str, name: str) -> bool:
    """Start or stop a service; one that is broken for good does not start."""
    from fleet_runner.lab import hardware  # noqa: PLC0415  only what changes a node pays for it
    from fleet_runner.lab.folder import Lab  # noqa: PLC0415  likewise

    witness(node.lab, "service", node.name, verb=verb, unit=name)
    down = node.fault("service_down")
    broken = down is not None and down["unit"] == name
    if verb in {"start", "restart"} and broken and down is not None and down["stays"]:
        return False
    with hardware.changing(Lab(Path(node.lab)), node.name) as state:
        stopped = set(state.get("stopped", [])) - {name}
        state["stopped"] = sorted(stopped | ({name} if verb == "stop" else set()))
        if broken and verb in {"start", "restart"}:
            del state["faults"]["service_down"]
    return True


def _reboot(node: Node) -> int:
    from fleet_runner.lab import processes  # noqa: PLC0415  likewise

    witness(node.lab, "reboot", node.name)
    code = str(Path(__file__).resolve().parents[3])
    argv = [sys.executable, "-c", REBOOT, node.lab, node.name]
    processes.start(argv, {"PYTHONPATH": code}, Path(os.devnull))
    return 0
