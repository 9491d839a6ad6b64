"""Many reads of one node in one round trip; standard library only, and never itself the thing that hangs."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import selectors
import signal
import subprocess
import sys
import threading
import time
from typing import IO

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: fleet_collect
short_description: Reads many things from a node in one round trip
description:
  - Runs commands and reads files side by side, each with its own time limit and its own limit of output.
  - A read that hangs is ended with everything it has started; the module itself always comes back.
  - E(FLEET_ROOT) names where a simulated node's file system begins, for files that are named by patterns.
  - It changes nothing and judges nothing. What could not be read is said so, per read.
options:
  reads:
    description: What to read.
    type: list
    elements: dict
    required: true
    suboptions:
      name: {description: What the reading is called., type: str, required: true}
      kind: {description: How it is read., type: str, choices: [command, file, files], required: true}
      argv:
        description: The command and its arguments; of files their patterns ("/sys/class/net/*/speed").
        type: list
        elements: str
        default: []
      path: {description: The file., type: str, default: ""}
      seconds: {description: Its time limit., type: float, default: 20.0}
      max_bytes: {description: The most it may return., type: int, default: 4000000}
      lines:
        description: Of a command, a regular expression; only lines in which it is found come back. All without it.
        type: str
        default: ""
author: [fleet-runner]
"""

EXAMPLES = r"""
- name: The node's boot time and kernel are read
  fleet_collect:
    reads:
      - {name: uptime, kind: command, argv: [uptime, -s], seconds: 5}
      - {name: kernel, kind: file, path: /proc/version}
"""

RETURN = r"""
readings:
  description: One entry per read, in the order asked for.
  returned: always
  type: list
  elements: dict
  contains:
    name: {description: The read's name., type: str}
    end: {description: "One of ok, missing, timeout, truncated, error.", type: str}
    text:
      description:
        - What it printed or holds; bytes that are not UTF-8 are replaced.
        - Of files, JSON with the text of each by its path, stripped; null where it could not be read.
      type: str
    rc: {description: The command's exit status., type: int}
    error: {description: What went wrong in one sentence or the end of what it printed on stderr., type: str}
    at: {description: The node's clock when the read ended; seconds since the epoch., type: float}
    seconds: {description: How long it took., type: float}
"""

GRACE = 1.0  # seconds for a command to go after SIGTERM, for its pipes to close after its end, for SIGKILL to work
ERROR_BYTES = 2000
SBIN = "/usr/local/sbin:/usr/sbin:/sbin:/opt/rocm/bin"  # lldpctl, amd-smi and their like: ssh leaves these off PATH

FILES = r"""
import glob, json, os, sys

found = {}
root = os.environ.get("FLEET_ROOT", "")
patterns = [glob.escape(root) + each if each.startswith("/") else os.path.expandvars(each) for each in sys.argv[1:]]
for path in sorted(set(path for pattern in patterns for path in glob.glob(pattern))):
    name = path[len(root) :] if root and path.startswith(root + "/") else path
    try:
        with open(path, "rb") as file:
            found[name] = file.read(65536).decode("utf-8", "replace").strip()
    except OSError:
        found[name] = None
print(json.dumps(found))
"""

READ_OPTIONS = {
    "name": {"type": "str", "required": True},
    "kind": {"type": "str", "required": True, "choices": ["command", "file", "files"]},
    "argv": {"type": "list", "elements": "str", "default": []},
    "path": {"type": "str", "default": ""},
    "seconds": {"type": "float", "default": 20.0},
    "max_bytes": {"type": "int", "default": 4_000_000},
    "lines": {"type": "str", "default": ""},
}


def collect(reads: list[dict]) -> list[dict]:
    """Carry all reads out side by side; return their readings in the same order, whatever happens to any of them."""
    readings = [_unanswered(read) for read in reads]
    started = time.monotonic()
    threads = [threading.Thread(target=_carry_out, args=pair, daemon=True) for pair in zip(reads, readings)]  # noqa: B905  nodes may be older
    for thread in threads:
        thread.start()
    for place, thread in enumerate(threads):
        # A thread can be stuck where no signal reaches it (a dead file system); it is left behind, not waited for.
        thread.join(max(0.0, started + reads[place]["seconds"] + 4 * GRACE - time.monotonic()))
    return [dict(reading, at=reading["at"] or time.time()) for reading in readings]


def _unanswered(read: dict) -> dict:
    name, seconds = read["name"], read["seconds"]
    return {"name": name, "end": "timeout", "text": "", "rc": -1, "error": _late(read), "at": 0.0, "seconds": seconds}


def _late(read: dict) -> str:
    return "no end within {:g} s; it was ended with everything it had started".format(read["seconds"])


def _carry_out(read: dict, reading: dict) -> None:
    started = time.monotonic()
    try:
        found = _run(read, _argv(read))
    except Exception as error:  # noqa: BLE001  one read's bad luck must not cost the others their readings
        found = {"end": "error", "error": f"{_subject(read)} cannot be run: {error}"}
    reading.update(found, at=time.time(), seconds=round(time.monotonic() - started, 3))


def _argv(read: dict) -> list[str]:
    """Files are read by a child too, so that a dead file system hangs the child and not the module."""
    if read["kind"] == "files":
        return [sys.executable, "-IS", "-c", FILES, *read["argv"]]
    return list(read["argv"]) if read["kind"] == "command" else ["cat", "--", read["path"]]


def _subject(read: dict) -> str:
    return read["path"] if read["kind"] == "file" else (read["argv"] or ["an empty command"])[0]


def _run(read: dict, argv: list[str]) -> dict:
    """Run one command to its end, its time limit or its output limit; what it started ends with it."""
    deadline = time.monotonic() + read["seconds"]
    environment = dict(os.environ, LC_ALL="C", PATH=os.environ.get("PATH", "/usr/bin:/bin") + ":" + SBIN)
    try:
        process = subprocess.Popen(  # noqa: S603  the controller names the command; no shell is involved
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,  # its own process group: one signal reaches all of it
        )
    except FileNotFoundError:
        return {"end": "missing", "error": f"{argv[0]} is not on this node"}
    output = {process.stdout: bytearray(), process.stderr: bytearray()}
    try:
        end = _drain(process, output, (deadline, read["max_bytes"]))
    finally:
        _end_group(process)
        process.stdout.close()
        process.stderr.close()
    text = bytes(output[process.stdout][: read["max_bytes"]]).decode("utf-8", "replace")
    if read.get("lines"):
        text = "".join(line for line in text.splitlines(keepends=True) if re.search(read["lines"], line))
    said = bytes(output[process.stderr]).decode("utf-8", "replace").strip()
    rc = -1 if process.returncode is None else process.returncode
    return dict(_ended(read, end, rc, said), text=text, rc=rc)


def _ended(read: dict, end: str, rc: int, said: str) -> dict:
    if end == "truncated":
        said = "more than {} bytes of output; this is its beginning".format(read["max_bytes"])
    elif end == "timeout":
        said = _late(read)
    elif read["kind"] == "file" and rc:
        end = "missing" if os.strerror(errno.ENOENT) in said else "error"
    return {"end": end, "error": said}


def _drain(process: subprocess.Popen, output: dict, limits: tuple) -> str:
    """Fill `output` until the process and its pipes have ended, or a limit (deadline, bytes) is met; say which."""
    deadline, max_bytes = limits
    ended_at = None
    with selectors.DefaultSelector() as pipes:
        for pipe in output:
            os.set_blocking(pipe.fileno(), False)
            pipes.register(pipe, selectors.EVENT_READ)
        while pipes.get_map() or not _ended_by_itself(process):
            now = time.monotonic()
            if now > deadline:
                return "timeout"
            if ended_at is None and _ended_by_itself(process):
                ended_at = now
            # A child that outlives the command can hold its pipes open: what it says is not waited for.
            if ended_at is not None and now > ended_at + GRACE:
                return "ok"
            for pipe in _ready(pipes):
                _take(pipe, output[pipe], pipes)
            if len(output[process.stdout]) > max_bytes:
                return "truncated"
            del output[process.stderr][:-ERROR_BYTES]
    return "ok"


def _ready(pipes: selectors.BaseSelector) -> list:
    """Wait a moment for output; without open pipes, only a moment."""
    if pipes.get_map():
        return [key.fileobj for key, _events in pipes.select(0.1)]
    time.sleep(0.02)
    return []


def _take(pipe: IO[bytes], into: bytearray, pipes: selectors.BaseSelector) -> None:
    data = os.read(pipe.fileno(), 65536)
    into.extend(data)
    if not data:
        pipes.unregister(pipe)


def _ended_by_itself(process: subprocess.Popen) -> bool:
    """Look without collecting the status: until then its number cannot become another process group's."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end_group(process: subprocess.Popen) -> None:
    """End what is left of the command's process group: a hung one politely first; and never wait for ever."""
    signs = (signal.SIGKILL,) if _ended_by_itself(process) else (signal.SIGTERM, signal.SIGKILL)
    for sign in signs:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # gone, or become somebody else's (setuid)
            os.killpg(process.pid, sign)
        until = time.monotonic() + GRACE
        while time.monotonic() < until and not _ended_by_itself(process):
            time.sleep(0.02)
    process.poll()


def main() -> None:
    """Read and return; nothing is ever changed, in check mode or out of it."""
    module = AnsibleModule(
        argument_spec={
            "reads": {"type": "list", "elements": "dict", "required": True, "options": READ_OPTIONS},
        },
        supports_check_mode=True,
    )
    module.exit_json(changed=False, readings=collect(module.params["reads"]))


if __name__ == "__main__":
    main()
