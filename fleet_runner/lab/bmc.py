"""The BMCs of the lab: one process, and for each server an emulated BMC of its own on 127.0.0.1.

`python -m fleet_runner.lab.bmc LAB` runs until it is ended. It reads a node's state at every request, so that a
fault injected meanwhile shows at once; a BMC that is down closes the connection without an answer. Whoever subscribed
to a BMC's events is told of faults as they come and go.
"""

import signal
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from threading import Event as Flag
from threading import Thread
from typing import Any

import yaml

from fleet_runner.lab import alerts, hardware, tree
from fleet_runner.lab.folder import Lab, open_lab, read
from fleet_runner.lab.redfish import BmcBehaviour, Durations, Emulator, Event
from fleet_runner.lab.tools.node import witness

HABITS = BmcBehaviour(sessions=64, host_side=(), ignores_restart_while_off=True)
EVENT_SECONDS = 0.2
"""Pause between two looks at what the BMCs are to tell of."""

WITNESSED = frozenset({"accepted", "refused", "update_done", "update_failed", "activated", "bmc_reset", "ac_drain"})
"""What the BMC did to firmware, for the lab's witness log; power and boots are witnessed where they happen."""


class Server:
    """One server of the lab, as its BMC sees and switches it."""

    def __init__(self, lab: Lab, node: str) -> None:
        self.lab = lab
        self.node = node

    @property
    def state(self) -> dict[str, Any]:
        """The node's state as it is now."""
        return hardware.state_of(self.lab, self.node)

    def answers(self) -> bool:
        """Whether the BMC is there."""
        return "bmc_down" not in self.state["faults"]

    def power(self) -> str:
        """Return On or Off."""
        return str(self.state["power"])

    def starts(self) -> int:
        """Return how often the server was started."""
        return int(self.state["boot"]["count"])

    def act(self, action: str) -> None:
        """Do a power action."""
        hardware.power(self.lab, self.node, action)

    def boot(self, boot: Mapping[str, Any]) -> None:
        """Choose what the next boot starts from."""
        with hardware.changing(self.lab, self.node) as state:
            enabled = boot.get("BootSourceOverrideEnabled", state["override"]["enabled"])
            target = boot.get("BootSourceOverrideTarget", state["override"]["target"])
            uri = str(boot.get("HttpBootUri") or "")
            state["override"] = {"enabled": enabled, "target": target, **({"uri": uri} if uri else {})}
        witness(str(self.lab.root), "boot_override", self.node, enabled=enabled, target=target)

    def run(self, versions: Mapping[str, str]) -> None:
        """Run other firmware from now on; a component that was flashed is no longer wrong by a fault."""
        with hardware.changing(self.lab, self.node) as state:
            state["firmware"] |= versions
            if state["faults"].get("wrong_firmware", {}).get("component") in versions:
                del state["faults"]["wrong_firmware"]

    def shows(self, uri: str) -> Mapping[str, Any]:
        """Return what a resource says of the server now."""
        return tree.shows(uri, self.state, time.time())

    def hear(self, event: Event) -> None:
        """Write down what the BMC did to firmware."""
        if event.kind in WITNESSED:
            witness(str(self.lab.root), f"firmware_{event.kind}", self.node, **event.details)


def emulators(lab: Lab) -> dict[str, Emulator]:
    """Return every server's BMC by its node, on the port that `up` chose for it."""
    credentials: dict[str, str] = yaml.safe_load(lab.credentials.read_text("utf-8"))
    ports: dict[str, int] = read(lab.about)["bmc_ports"]
    servers = {node: Server(lab, node) for node in ports}
    return {
        node: Emulator(
            tree.tree(server.state), credentials=credentials, port=ports[node], pace=Durations(), habits=HABITS,
            behind=server, on=server.hear,
        )
        for node, server in servers.items()
    }  # fmt: skip


def tell(lab: Lab, bmcs: Mapping[str, Emulator], over: Flag) -> None:
    """Have BMCs send events, until it is over; one that is down sends them once it is back."""
    known: dict[str, alerts.Faults] = {}
    while not over.wait(EVENT_SECONDS):
        for node, bmc in bmcs.items():
            if not bmc.subscribed():
                known.pop(node, None)
                continue
            faults: alerts.Faults = hardware.state_of(lab, node)["faults"]
            if "bmc_down" not in faults:
                for event in alerts.events(known.get(node, faults), faults):
                    bmc.tell(event)
                known[node] = faults


def main() -> int:
    """Serve until SIGTERM."""
    lab, over = open_lab(Path(sys.argv[1])), Flag()
    with ExitStack() as stack:
        bmcs = {node: stack.enter_context(bmc) for node, bmc in emulators(lab).items()}
        telling = Thread(target=tell, args=(lab, bmcs, over), name="events")
        telling.start()
        signal.sigwait({signal.SIGTERM, signal.SIGINT})
        over.set()
        telling.join()
    return 0


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the boots that start here
    sys.exit(main())
