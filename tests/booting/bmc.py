"""The BMC of a machine: sushy-tools over TLS, switching QEMU. Run as a program with a JSON file that says what."""

import json
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import flask
from sushy_tools import error
from sushy_tools.emulator import main as sushy
from sushy_tools.emulator.resources.systems.base import AbstractSystemsDriver

from tests.booting.machine import Machine

NETWORK = frozenset({"Pxe", "UefiHttp"})
MEDIA = "Cd"  # what sushy-tools makes of a boot from a URI
DISK = "Hdd"


class Qemu(AbstractSystemsDriver):
    """One machine behind sushy-tools; a boot override holds for one boot, as ours are asked to."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._next = DISK
        self._uri = ""
        self._running: subprocess.Popen[bytes] | None = None
        self._switching = threading.Lock()
        self.reset_at = ""

    @property
    def driver(self) -> str:
        """What sushy-tools calls us."""
        return "<qemu>"

    @property
    def systems(self) -> list[str]:
        """The UUIDs of all machines."""
        return [self._machine.uuid]

    def uuid(self, identity: str) -> str:
        """The UUID of a machine that it has."""
        if identity != self._machine.uuid:
            raise error.NotFound(f"there is no system {identity}")
        return self._machine.uuid

    def name(self, identity: str) -> str:
        """What the machine is called."""
        self.uuid(identity)
        return self._machine.name

    def get_power_state(self, identity: str) -> str:
        """On while QEMU runs."""
        self.uuid(identity)
        return "Off" if self._running is None or self._running.poll() is not None else "On"

    def set_power_state(self, identity: str, state: str) -> None:
        """Start QEMU, end it, or ask the system in it to end."""
        with self._switching:
            was = self.get_power_state(identity)
            if state in {"ForceOff", "ForceRestart"} and was == "On":
                self.cut()
            elif state == "GracefulShutdown" and was == "On":
                self._machine.command("system_powerdown")
            if state == "ForceRestart" or (state in {"On", "ForceOn"} and was == "Off"):
                self._start()

    def get_boot_device(self, identity: str) -> str:
        """Where the next boot comes from."""
        self.uuid(identity)
        return self._next

    def set_boot_device(self, identity: str, boot_source: str) -> None:
        """Choose where the next boot comes from."""
        self.uuid(identity)
        self._next = "UefiHttp" if boot_source == MEDIA and self._uri else boot_source

    def get_boot_mode(self, identity: str) -> str:
        """What firmware the machine has."""
        self.uuid(identity)
        return "UEFI" if self._machine.uefi else "Legacy"

    def set_boot_mode(self, identity: str, boot_mode: str) -> None:
        """Refuse another firmware than it has."""
        if boot_mode != self.get_boot_mode(identity):
            raise error.BadRequest(f"this machine's firmware cannot boot in mode {boot_mode}")

    def insert_image(self, identity: str, device: str, image_url: str) -> str:
        """Be the virtual media of sushy-tools, which would fetch the URI itself: the machine's firmware does."""
        del device
        self.uuid(identity)
        return image_url

    def set_boot_image(self, identity: str, device: str, boot_image: str, *, write_protected: bool) -> None:
        """Need no image: see `insert_image`."""

    def get_http_boot_uri(self, identity: str) -> str:
        """The URI of the next boot."""
        self.uuid(identity)
        return self._uri

    def set_http_boot_uri(self, uri: str) -> None:
        """Choose the URI of the next boot."""
        self._uri = uri

    def cut(self) -> None:
        """Cut the power."""
        if self._running is not None:
            self._running.kill()
            self._running.wait()

    def _start(self) -> None:
        self._running = self._machine.switch_on(network=self._next in NETWORK, uri=self._uri)
        self._next, self._uri = DISK, ""
        self.reset_at = datetime.now(UTC).isoformat(timespec="seconds")


class Bmc(sushy.Application):
    """sushy-tools' own application with our machine in it."""

    qemu: Qemu

    @property
    def systems(self) -> Qemu:
        """The machine."""
        return self.qemu

    @property
    def vmedia(self) -> Qemu:
        """The machine fetches its own media."""
        return self.qemu


def completed(machine: Machine, qemu: Qemu, answer: flask.Response) -> flask.Response:
    """Add to a system what real BMCs tell and sushy-tools leaves out."""
    if flask.request.endpoint == "system_resource" and flask.request.method == "GET":
        body: dict[str, Any] = json.loads(answer.get_data())
        body |= {"SerialNumber": machine.serial} | ({"LastResetTime": qemu.reset_at} if qemu.reset_at else {})
        answer.set_data(json.dumps(body))
    return answer


def main(file: str) -> None:
    """Serve until we are ended."""
    said = json.loads(Path(file).read_text("utf-8"))
    machine = Machine(**said["machine"])
    Bmc.qemu = Qemu(machine)
    sushy.app.__class__ = Bmc  # it is made where its module is imported
    sushy.app.after_request(lambda answer: completed(machine, Bmc.qemu, answer))
    try:
        sushy.app.run(said["address"], 443, ssl_context=(said["certificate"], said["key"]), threaded=True)
    finally:
        Bmc.qemu.cut()


if __name__ == "__main__":
    main(sys.argv[1])
