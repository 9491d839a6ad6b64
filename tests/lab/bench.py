"""What the lab's tests do again and again: boot a node, wait, run a command on it."""

import subprocess
import time
from collections.abc import Callable

from fleet_runner.lab import hardware
from fleet_runner.lab.folder import Lab
from tests.waiting import PATIENCE

SHELL_SECONDS = 60


def boot(lab: Lab, name: str) -> None:
    """Let a node boot over the network, as provisioning does, and wait until it is up."""
    with hardware.changing(lab, name) as state:
        state["override"] = {"enabled": "Once", "target": "Pxe"}
    hardware.power(lab, name, "PowerCycle")
    wait(lambda: hardware.up(lab, name))


def wait(done: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Wait until something is true, or fail."""
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def shell(lab: Lab, node: str, command: str) -> "subprocess.CompletedProcess[str]":
    """Run a command on a node through the lab's ssh."""
    words = [lab.root / "bin" / "ssh", node, command]
    return subprocess.run(words, capture_output=True, text=True, timeout=SHELL_SECONDS, check=False)
