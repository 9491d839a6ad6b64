"""Work that outlives the play: started once by name, found again by name, whoever asks and however often."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: fleet_job
short_description: Starts a detached job on a node once, and reads its state
description:
  - The first call with a name starts the job; every later one finds it, whether it still runs or has ended.
  - A job whose lock is free and whose exit status nobody wrote is lost. It is not started again under its name.
  - The folder lies on a file system that a boot empties, so a booted node knows no jobs.
options:
  name: {description: What the job is called; the key under which it is found again., type: str, required: true}
  argv: {description: The command and its arguments., type: list, elements: str, required: true}
  dir: {description: Where jobs keep their files., type: path, default: /run/fleet-runner/jobs}
  seconds: {description: How long it is meant to run; given back as it is., type: float, default: 0.0}
  tail_bytes: {description: How much of the end of its output to return., type: int, default: 65536}
author: [fleet-runner]
"""

EXAMPLES = r"""
- name: The load runs
  fleet_job:
    name: burn_in-1763697123
    argv: [gpu_burn, -tc, "172800"]
    seconds: 172800
"""

RETURN = r"""
job:
  description: What is known about the job.
  returned: always
  type: dict
  contains:
    state: {description: "One of running, ended, lost; in check mode absent before it was started.", type: str}
    rc: {description: The job's exit status once it has ended; 127 if it could not be started., type: int}
    elapsed: {description: Seconds since it was started or that it took., type: float}
    seconds: {description: How long it is meant to run., type: float}
    output: {description: The end of what it printed., type: str}
"""

SUPERVISOR = r"""
import json, os, subprocess, sys, time

folder, argv, lock = sys.argv[1], sys.argv[3:], int(sys.argv[2])
os.chdir("/")
begun = time.clock_gettime(time.CLOCK_BOOTTIME)
started = os.open(folder + "/started", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
os.write(started, json.dumps({"boottime": begun, "argv": argv}).encode())
os.close(started)
output = os.open(folder + "/output", os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o644)
try:
    # The job holds the lock as well: while it lives, it is not lost, whatever becomes of this supervisor.
    job = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output, pass_fds=[lock])
except OSError as error:
    os.write(output, (str(error) + "\n").encode())
    rc = 127
else:
    while job.poll() is None:
        time.sleep(0.2)
        if os.fstat(output).st_size > 2000000:
            # Days of progress lines in memory-backed storage would take the node's memory.
            end = os.pread(output, 1000000, os.fstat(output).st_size - 1000000)
            os.ftruncate(output, 0)
            os.write(output, end)
    rc = job.returncode
taken = time.clock_gettime(time.CLOCK_BOOTTIME) - begun
with open(folder + "/rc.new", "w") as new:
    json.dump({"rc": rc, "elapsed": round(taken, 3)}, new)
    new.flush()
    os.fsync(new.fileno())
os.rename(folder + "/rc.new", folder + "/rc")
"""


def ensure(params: dict, *, start: bool = True) -> tuple[bool, dict]:
    """Return whether the job was (or, with `start` false, would be) started now, and what is known about it.

    The lock is taken before anything is looked at and handed to the supervisor while held, so two callers cannot
    both start the job and nobody can see it started but unlocked.
    """
    folder = Path(params["dir"], params["name"])
    if not start:
        exists = (folder / "started").exists()
        return not exists, look(folder, params) if exists else _job(params, "absent")
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    lock = os.open(folder / "lock", os.O_CREAT | os.O_RDWR, 0o644)
    try:
        if not _locked(lock) or (folder / "started").exists():
            return False, _look(folder, params, lock)
        _spawn(folder, params["argv"], lock)
        return True, _job(params, "running")
    finally:
        os.close(lock)


def look(folder: Path, params: dict) -> dict:
    """Return what is known about a job that was started, without changing anything."""
    lock = os.open(folder / "lock", os.O_RDONLY)
    try:
        return _look(folder, params, lock)
    finally:
        os.close(lock)


def _look(folder: Path, params: dict, lock: int) -> dict:
    free = _locked(lock)
    output = _tail(folder / "output", params["tail_bytes"])
    # Asked after the lock: a supervisor that ended in between has written its status before letting go.
    ended = _facts(folder / "rc")
    if ended:
        return _job(params, "ended", rc=ended["rc"], elapsed=ended["elapsed"], output=output)
    begun = _facts(folder / "started").get("boottime", _uptime())
    return _job(params, "lost" if free else "running", elapsed=round(max(0.0, _uptime() - begun), 3), output=output)


def _job(params: dict, state: str, rc: int = 0, elapsed: float = 0.0, output: str = "") -> dict:
    return {"state": state, "rc": rc, "elapsed": elapsed, "seconds": params["seconds"], "output": output}


def _locked(lock: int) -> bool:
    """Take the lock if it is free; it is let go when the last process that has it open closes it."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _facts(path: Path) -> dict:
    """A file that is not there, or not yet whole, says nothing."""
    with contextlib.suppress(OSError, ValueError), path.open(encoding="utf-8") as file:
        return json.load(file)
    return {}


def _tail(path: Path, limit: int) -> str:
    with contextlib.suppress(OSError), path.open("rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - limit))
        return file.read(limit).decode("utf-8", "replace")
    return ""


def _uptime() -> float:
    """Seconds since boot: the node's calendar clock may jump while the job runs."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _spawn(folder: Path, argv: list[str], lock: int) -> None:
    process = subprocess.Popen(  # noqa: S603  the controller names the command; no shell is involved
        [sys.executable, "-I", "-c", SUPERVISOR, str(folder), str(lock), *argv],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=[lock],
        start_new_session=True,
    )
    process.returncode = 0  # it is meant to outlive us; without this Python would complain about it at its end


def main() -> None:
    """Start or find the job and say what is known about it."""
    module = AnsibleModule(
        argument_spec={
            "name": {"type": "str", "required": True},
            "argv": {"type": "list", "elements": "str", "required": True},
            "dir": {"type": "path", "default": "/run/fleet-runner/jobs"},
            "seconds": {"type": "float", "default": 0.0},
            "tail_bytes": {"type": "int", "default": 65536},
        },
        supports_check_mode=True,
    )
    name = module.params["name"]
    if not name or name != Path(name).name or name.startswith("."):
        module.fail_json(msg=f"name {name!r} is not usable as a file name; use letters, digits, '-', '_' and '.'")
    try:
        changed, job = ensure(module.params, start=not module.check_mode)
    except OSError as error:
        module.fail_json(msg=f"job {name!r} under {module.params['dir']}: {error}; is the folder writable there?")
    module.exit_json(changed=changed, job=job)


if __name__ == "__main__":
    main()
