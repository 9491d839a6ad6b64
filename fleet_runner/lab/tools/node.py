"""What a stand-in knows about its node: its state, what is plugged, which of its processes run.

Read-only apart from the witness log, and quick to import: no pathlib, no dataclasses.
"""

import json
import os
import time
from typing import Any


class Node:
    """A node of the lab in `lab/nodes/<name>`, as it was when this was made."""

    __slots__ = ("lab", "name", "state")

    def __init__(self, lab: str, name: str) -> None:
        self.lab = lab
        self.name = name
        self.state = read_state(lab, name)

    @property
    def faults(self) -> dict[str, dict[str, Any]]:
        """Return the faults injected into this node, by name, with their options."""
        faults: dict[str, dict[str, Any]] = self.state["faults"]
        return faults

    def fault(self, name: str) -> dict[str, Any] | None:
        """Return a fault's options, or None where the node does not have it."""
        return self.faults.get(name)

    def has_gpu(self, gpu: int) -> bool:
        """Whether the driver still sees this GPU: it is built in and has not fallen off the bus."""
        missing = self.fault("missing_gpu")
        xid = self.fault("xid")
        gone = missing is not None and missing["gpu"] == gpu
        fallen = xid is not None and xid["code"] == 79 and xid["gpu"] == gpu  # noqa: PLR2004  the Xid's number
        return not gone and not fallen

    def processes(self) -> list[tuple[str, int]]:
        """Return the running processes that use the GPUs: what they are and their ids."""
        folder = os.path.join(self.lab, "nodes", self.name, "run")
        found: list[tuple[str, int]] = []
        for entry in sorted(os.listdir(folder)):
            kind, _, pid = entry.rpartition(".")
            path = os.path.join(folder, entry)
            if pid.isdigit() and started(int(pid)) == _text(path):
                found.append((kind, int(pid)))
        return found


def read_state(lab: str, name: str) -> dict[str, Any]:
    """Read a node's state; it is always whole, because it is replaced and never written in place."""
    state: dict[str, Any] = json.loads(_text(os.path.join(lab, "nodes", name, "state.json")))
    return state


def is_up(state: dict[str, Any], now: float) -> bool:
    """Whether its operating system answers: powered, booted as far as that, and past the boot's seconds."""
    ready = state["boot"]["ready"]
    return state["power"] == "On" and ready is not None and now >= ready


def plugged(lab: str) -> list[list[str]]:
    """Return the cables as they are plugged: [device, port, device, port] each."""
    cables: list[list[str]] = json.loads(_text(os.path.join(lab, "fabric.json")))["cables"]
    return cables


def started(pid: int) -> str:
    """Return when a process started, in the kernel's ticks since boot; empty when there is none."""
    try:
        stat = _text(f"/proc/{pid}/stat")
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] == "Z" else fields[19]  # starttime is the 22nd field of /proc/PID/stat


def using_gpus(node: Node, kind: str) -> str:
    """Note that this process uses the node's GPUs until it ends; return the note's path."""
    path = os.path.join(node.lab, "nodes", node.name, "run", f"{kind}.{os.getpid()}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(started(os.getpid()))
    return path


def witness(lab: str, event: str, node: str, **facts: Any) -> None:
    """Append one line to the lab's log; one write, so that lines of several processes never mix."""
    line = json.dumps({"at": time.time(), "event": event, "node": node, **facts}) + "\n"
    path = os.path.join(lab, "log.jsonl")
    out = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(out, line.encode())
    finally:
        os.close(out)


def _text(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()
