"""A lab's node boots over the network: firmware, iPXE and cloud-init, as far as a boot service can see them.

`python -m fleet_runner.lab.netboot LAB NODE` is one boot, and runs on the node: losing power ends it. What it prints
is the node's console. It hangs where a fault has it hang, and asks again as long as nothing is there for it.
"""

import json
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fleet_runner.core.boot.boots import Milestone
from fleet_runner.lab import cloudinit, hardware, ipxe, plan, sysfs
from fleet_runner.lab.folder import Lab, open_lab, read
from fleet_runner.lab.tools.node import witness
from fleet_runner.lab.wire import NodeNetwork, RefusedError

AGAIN_SECONDS = 0.5
"""The pause before anything is tried again; a real machine waits longer, and a lab's time is short."""

IMAGES = "/image/"
"""How the path of a kernel begins at the boot service."""


class Hung(Exception):  # noqa: N818  it is the machine that hangs
    """The boot goes no further."""


@dataclass(frozen=True, slots=True)
class Booting:
    """One boot of a node: its count, its seconds, and `url`, where DHCP says that its boot service is."""

    lab: Lab
    name: str
    number: int
    count: int
    seconds: float
    url: str

    def note(self, **facts: Any) -> None:
        """Write into the node's state how far this boot is; a boot that is no longer its node's ends here."""
        with hardware.changing(self.lab, self.name) as state:
            if state["power"] != "On" or state["boot"]["count"] != self.count:
                raise Hung
            state["boot"] |= facts

    def reach(self, milestone: Milestone) -> None:
        """Go on to a milestone, or hang before it where a fault says so."""
        stop = hardware.state_of(self.lab, self.name)["faults"].get("no_boot")
        if stop is not None and stop["at"] == milestone:
            self.note(milestone=str(milestone))
            witness(str(self.lab.root), "hung", self.name, at=milestone)
            raise Hung
        witness(str(self.lab.root), "milestone", self.name, milestone=milestone, boot=self.count)

    def take(self, share: float) -> None:
        """Let a share of the boot's seconds pass."""
        time.sleep(self.seconds * share)


def boot(booting: Booting, wire: NodeNetwork, say: Callable[[str], None]) -> None:
    """Boot, from the firmware to a node that answers ssh."""
    booting.take(hardware.KERNEL_AFTER)
    booting.reach(Milestone.DHCP)
    _lease(booting, wire, say)
    booting.reach(Milestone.SCRIPT)
    loaded = _kernel(booting, wire, say)
    booting.note(kernel=time.time())
    booting.take(1 - hardware.KERNEL_AFTER)
    booting.reach(Milestone.CLOUD_INIT)
    seed = _seed(booting, wire, loaded.arguments, say)
    key = cloudinit.host_key(booting.name)
    booting.note(host_key=key)
    try:
        booting.reach(Milestone.PHONE_HOME)
        cloudinit.phone_home(seed, lambda url, form: _answered(lambda: wire.post(url, form), say), key)
    except (Hung, OSError) as error:  # cloud-init has failed, and the node is up all the same
        say(f"cloud-init: phone-home: {error}")
        booting.note(ready=time.time(), milestone=str(Milestone.PHONE_HOME))
        return
    booting.reach(Milestone.SSH)
    booting.note(ready=time.time(), milestone="done")


def _lease(booting: Booting, wire: NodeNetwork, say: Callable[[str], None]) -> None:
    """Get an address; the DHCP server tells the boot service of it, and does not wait for that."""
    token = (booting.lab.root / "dhcp.token").read_text("utf-8").strip()
    told = {"event": "lease", "mac": plan.mac(booting.number), "address": wire.address, "hostname": booting.name}
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    say(f"DHCP: {wire.address} for {plan.mac(booting.number)}")
    try:
        wire.send(f"{booting.url}/dhcp", json.dumps(told), headers)
    except OSError as error:
        say(f"DHCP server: nobody was told: {error}")


def _kernel(booting: Booting, wire: NodeNetwork, say: Callable[[str], None]) -> ipxe.Loaded:
    """Be the firmware that starts iPXE, and starts it anew whenever it has booted nothing."""

    def fetch(url: str) -> bytes:
        if urlsplit(url).path.startswith(IMAGES) and not asked:
            booting.reach(Milestone.KERNEL)
            asked.add(url)
        return wire.get(url)

    def pause(seconds: float) -> None:
        time.sleep(min(seconds, AGAIN_SECONDS))

    asked: set[str] = set()
    machine = ipxe.Machine(_settings(booting, wire), fetch, pause, say)
    uri = hardware.state_of(booting.lab, booting.name)["boot"].get("uri", "")
    while True:
        booting.note()
        try:
            if uri:
                wire.get(uri)
            return ipxe.boot(machine, f"{booting.url}/boot.ipxe")
        except (ipxe.Failed, OSError) as error:
            say(str(error))
            time.sleep(AGAIN_SECONDS)


def _settings(booting: Booting, wire: NodeNetwork) -> dict[str, str]:
    """Return what iPXE knows of its machine."""
    return {
        "mac": plan.mac(booting.number),
        "ip": wire.address,
        "uuid": plan.uuid(booting.number),
        "serial": sysfs.serial(booting.number, hardware.state_of(booting.lab, booting.name)["faults"]),
        "manufacturer": "Lab",
        "product": "HGX-H100",
        "asset": "",
        "buildarch": "x86_64",
        "platform": "efi",
        "filename": f"{booting.url}/boot.ipxe",
    }


def _seed(booting: Booting, wire: NodeNetwork, arguments: str, say: Callable[[str], None]) -> cloudinit.Seed:
    """Be cloud-init that looks for its seed; refused, it has no data source, and the node is nobody's."""
    folder = booting.lab.node(booting.name) / "seed"
    try:
        return cloudinit.seed(arguments, lambda url: _answered(lambda: wire.get(url), say), folder)
    except OSError as error:
        say(f"cloud-init: no data source: {error}")
        booting.note(milestone=str(Milestone.CLOUD_INIT))
        raise Hung from error


def _answered(ask: Callable[[], bytes], say: Callable[[str], None]) -> bytes:
    """Ask again as long as it is a passing trouble of the boot service's that stands in the way."""
    while True:
        try:
            return ask()
        except OSError as error:
            if isinstance(error, RefusedError) and not error.passing:
                raise
            say(str(error))
            time.sleep(AGAIN_SECONDS)


def main() -> int:
    """Boot a node of a lab."""
    lab, name = open_lab(Path(sys.argv[1])), sys.argv[2]
    state = hardware.state_of(lab, name)
    url = f"http://127.0.0.1:{read(lab.about)['boot_port']}"
    booting = Booting(lab, name, state["index"], state["boot"]["count"], state["boot_seconds"], url)
    with suppress(Hung):
        boot(booting, NodeNetwork(plan.address(booting.number)), lambda line: print(line, flush=True))  # noqa: T201  its console
    return 0


if __name__ == "__main__":
    sys.exit(main())
