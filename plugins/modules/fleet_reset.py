"""Restarts services, or resets GPUs that nobody holds; what it stopped for that is started again in any case."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: fleet_reset
short_description: Restarts services or resets GPUs, once in a stay
description:
  - What to do is decided on the controller. What was done is kept on the node in a file of the stay and the boot; a
    call that finds it done does nothing but tell of it. A reset is written into the kernel's log as well, where
    what stands before it is over for the check C(xid).
  - Before a reset the services of C(stop) that run are stopped; they are started again whatever comes of the reset,
    also by the next call where this one was killed.
  - A GPU that any other process has open is not reset, and no process is ended.
options:
  stay: {description: Names the log; each stay of a node has its own., type: str, required: true}
  restart: {description: Units to restart; nothing is reset then., type: list, elements: str, default: []}
  gpus: {description: PCI addresses of the GPUs to reset; empty for all., type: list, elements: str, default: []}
  stop: {description: Units to stop for the reset., type: list, elements: str, default: []}
  seconds: {description: How long a command may take., type: float, default: 240}
  dir: {description: Where the logs lie; a boot empties it., type: path, default: /run/fleet-runner/resets}
author: [fleet-runner]
"""

EXAMPLES = r"""
- name: Two GPUs are reset
  fleet_reset:
    stay: "1763697123000"
    gpus: ["0000:1b:00.0", "0000:43:00.0"]
    stop: [nvidia-persistenced.service]
"""

RETURN = r"""
report: {description: "The log: holders, commands, units and how they are, error.", returned: always, type: dict}
"""

GPU = re.compile(r"/dev/nvidia[0-9]+")
OURS = {"nv-fabricmanage"}
"""Fabric Manager, as the kernel cuts its name: it stays up in a reset, which needs it."""

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
SBIN = "/usr/local/sbin:/usr/sbin:/sbin"
OUTPUT_BYTES = 4000
START_SECONDS = 60.0
LOST = 127


class Log:
    """What is done in this stay and boot, kept as a whole after each step."""

    def __init__(self, folder: Path, stay: str) -> None:
        self.path = folder / (re.sub(r"[^A-Za-z0-9_.-]", "_", stay) + ".json")
        self.boot = BOOT_ID.read_text(encoding="ascii").strip()
        self.report = self._read()

    def keep(self) -> None:
        """Replace it as a whole."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = self.path.with_suffix(".new")
        with new.open("w", encoding="utf-8") as file:
            json.dump(self.report, file)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self.path)

    def _read(self) -> dict:
        fresh = {
            "boot": self.boot,
            "done": None,
            "stopped": [],
            "holders": [],
            "commands": [],
            "units": {},
            "error": "",
        }
        with contextlib.suppress(OSError, ValueError):
            found = json.loads(self.path.read_text(encoding="utf-8"))
            if isinstance(found, dict) and found.get("boot") == self.boot:
                return dict(fresh, **found)
        return fresh


def restart(log: Log, units: list, seconds: float) -> None:
    """Restart services, and wait until they run."""
    log.report["commands"] = []
    for unit in units:
        if _shown(unit, "LoadState") != "loaded":
            log.report["error"] = f"{unit} is not on this node: systemd has loaded no such unit"
            return
    for unit in units:
        run(log, ["systemctl", "reset-failed", unit], seconds, tell=False)
        if run(log, ["systemctl", "restart", unit], seconds):
            break
    _await(log, units)
    log.report["done"] = time.time()


def reset(log: Log, gpus: list, stop: list, seconds: float) -> None:
    """Stop what of ours holds the GPUs, reset them if nobody else does, and start everything again."""
    log.report.update(holders=[], commands=[], error="")
    try:
        for unit in stop:
            if _shown(unit, "ActiveState") == "active":
                log.report["stopped"] = sorted({*log.report["stopped"], unit})
                log.keep()
                run(log, ["systemctl", "stop", unit], seconds, tell=False)
        log.report["holders"] = holders()
        if not log.report["holders"]:
            chosen = ["--id=" + ",".join(gpus)] if gpus else []
            if not run(log, ["nvidia-smi", "--gpu-reset", *chosen], seconds):
                log.report["done"] = time.time()
                mark(gpus)
    finally:
        start(log, seconds)


def mark(gpus: list) -> None:
    """Write into the kernel's log that GPUs were reset: its order tells what was before, whatever the clocks say."""
    path = Path(os.environ.get("FLEET_ROOT", "") + "/dev/kmsg")
    with contextlib.suppress(OSError), path.open("a", encoding="utf-8") as kernel:
        kernel.write("fleet-runner: reset of {}\n".format(", ".join(gpus) or "all GPUs"))


def start(log: Log, seconds: float) -> None:
    """Start what was stopped; it stays in the log until it runs."""
    stopped = list(log.report["stopped"])
    for unit in stopped:
        run(log, ["systemctl", "start", unit], seconds, tell=False)
    _await(log, stopped)
    log.report["stopped"] = [unit for unit in stopped if log.report["units"].get(unit) != "active"]
    log.keep()


def run(log: Log, argv: list, seconds: float, *, tell: bool = True) -> int:
    """Run a command to its end or its time; what it says is kept, where it is to be told."""
    environment = dict(os.environ, LC_ALL="C", PATH=os.environ.get("PATH", "/usr/bin:/bin") + ":" + SBIN)
    entry = {"argv": argv, "rc": -1, "output": "", "at": time.time()}
    if tell:
        log.report["commands"].append(entry)
        log.keep()
    try:
        answer = subprocess.run(  # noqa: S603  the controller names the command; no shell is involved
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            timeout=seconds,
            check=False,
        )
        entry.update(rc=answer.returncode, output=answer.stdout[-OUTPUT_BYTES:].decode("utf-8", "replace"))
    except FileNotFoundError:
        entry.update(rc=LOST, output=f"{argv[0]} is not on this node")
    except subprocess.TimeoutExpired:
        log.report["error"] = f"{' '.join(argv)} did not end within {seconds:g} s; it was ended"
    return entry["rc"]


def holders() -> list:
    """Return the processes that have a GPU open: "name (pid)"; Fabric Manager's are left out."""
    found = []
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdigit() and any(map(GPU.fullmatch, _opened(folder))):
                name = (folder / "comm").read_text(encoding="utf-8", errors="replace").strip()
                if name not in OURS:
                    found.append(f"{''.join(each for each in name if each.isprintable())} ({folder.name})")
    return sorted(found)


def _opened(folder: Path) -> list:
    found = []
    for link in (folder / "fd").iterdir():
        with contextlib.suppress(OSError):
            found.append(str(link.readlink()))
    return found


def _await(log: Log, units: list) -> None:
    """Wait until units run, or are known not to; what cannot be asked is unknown."""
    until = time.monotonic() + START_SECONDS
    states = {unit: _shown(unit, "ActiveState") for unit in units}
    while any(state in ("activating", "reloading") for state in states.values()) and time.monotonic() < until:
        time.sleep(0.5)
        states = {unit: _shown(unit, "ActiveState") for unit in units}
    log.report["units"] = states


def _shown(unit: str, name: str) -> str:
    """Return what systemd says of a unit; "" where it says nothing."""
    if shutil.which("systemctl") is None:
        return ""
    argv = ["systemctl", "show", unit, f"--property={name}"]
    try:
        answer = subprocess.run(  # noqa: S603  likewise
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.partition("=")[2].strip()


def _leave(*_: object) -> None:
    """Come to the end in order: what was stopped is started again."""
    raise SystemExit(1)


def main() -> None:
    """Do what was not done yet, and tell."""
    module = AnsibleModule(
        argument_spec={
            "stay": {"type": "str", "required": True},
            "restart": {"type": "list", "elements": "str", "default": []},
            "gpus": {"type": "list", "elements": "str", "default": []},
            "stop": {"type": "list", "elements": "str", "default": []},
            "seconds": {"type": "float", "default": 240.0},
            "dir": {"type": "path", "default": "/run/fleet-runner/resets"},
        },
        supports_check_mode=True,
    )
    asked = module.params
    log = Log(Path(asked["dir"]), asked["stay"])
    if module.check_mode or log.report["done"]:
        if log.report["stopped"] and not module.check_mode:
            start(log, asked["seconds"])
        module.exit_json(changed=False, report=dict(log.report, again=bool(log.report["done"])))
    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, _leave)
    if asked["restart"]:
        restart(log, asked["restart"], asked["seconds"])
    else:
        reset(log, asked["gpus"], asked["stop"], asked["seconds"])
    log.keep()
    module.exit_json(changed=bool(log.report["commands"]), report=log.report)


if __name__ == "__main__":
    main()
