"""A server as QEMU makes it: what it is, and how it is switched on and off."""

import json
import os
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.booting import nvram

OVMF = Path("/usr/share/OVMF")
CODE, VARIABLES = OVMF / "OVMF_CODE_4M.fd", OVMF / "OVMF_VARS_4M.fd"

VIRTUALIZES = frozenset({"vmx", "svm"})
"""Flags of a processor that runs machines itself; /dev/kvm without them is slower than emulation."""


def accelerator() -> list[str]:
    """Return QEMU's options for KVM where the processor has it, else for emulation."""
    flags = set(Path("/proc/cpuinfo").read_text("utf-8").split())
    if flags & VIRTUALIZES and os.access("/dev/kvm", os.R_OK | os.W_OK):
        return ["-accel", "kvm", "-cpu", "host"]
    return ["-accel", "tcg,thread=multi", "-cpu", "max"]


@dataclass(frozen=True, slots=True)
class Machine:
    """One server. `uuid` and `serial` are what its SMBIOS says; `uefi` chooses OVMF instead of SeaBIOS."""

    name: str
    uuid: str
    serial: str
    mac: str
    folder: str
    tap: str = "tap0"
    megabytes: int = 2048
    uefi: bool = False

    @property
    def console(self) -> Path:
        """What it writes to its serial port, of all its boots."""
        return Path(self.folder) / "console.log"

    @property
    def variables(self) -> Path:
        """The flash that OVMF keeps its variables in."""
        return Path(self.folder) / "variables.fd"

    def said(self) -> str:
        """Return what it wrote to its serial port so far."""
        return self.console.read_text("utf-8", "replace") if self.console.exists() else ""

    @property
    def monitor(self) -> Path:
        """The socket on which QEMU takes commands."""
        return Path(self.folder) / "monitor"

    def switch_on(self, *, network: bool, uri: str = "") -> "subprocess.Popen[bytes]":
        """Start it: from the network (UEFI also from a URI), or from a disk, which it does not have."""
        command = self.command_line(network=network, uri=uri)
        with (Path(self.folder) / "qemu.log").open("ab") as log:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def command_line(self, *, network: bool, uri: str = "") -> list[str]:
        """Return what starts it."""
        return [*self._hardware(), *self._firmware(network=network, uri=uri), *accelerator()]

    def command(self, name: str, **arguments: str) -> None:
        """Have QEMU do something."""
        with socket.socket(socket.AF_UNIX) as wire:
            wire.settimeout(10.0)
            wire.connect(str(self.monitor))
            with wire.makefile("rw", encoding="utf-8") as stream:
                for said in ({"execute": "qmp_capabilities"}, {"execute": name, "arguments": arguments}):
                    stream.readline()  # first its greeting, then its answer to the one before
                    stream.write(json.dumps(said) + "\n")
                    stream.flush()
                stream.readline()

    def _hardware(self) -> list[str]:
        return [
            "qemu-system-x86_64", "-name", self.name, "-nodefaults", "-no-user-config",
            "-machine", "q35,graphics=off", "-display", "none", "-smp", "2", "-m", str(self.megabytes),
            "-uuid", self.uuid, "-smbios", f"type=1,manufacturer=Fleet,product=Test,serial={self.serial}",
            "-chardev", f"file,id=console,path={self.console},append=on", "-serial", "chardev:console",
            "-qmp", f"unix:{self.monitor},server=on,wait=off",
            "-netdev", f"tap,id=wire,ifname={self.tap},script=no,downscript=no",
            "-device", "virtio-rng-pci",
        ]  # fmt: skip

    def _firmware(self, *, network: bool, uri: str) -> list[str]:
        card = f"virtio-net-pci,netdev=wire,mac={self.mac}"
        if not self.uefi:
            return ["-device", f"{card},bootindex={0 if network else -1}", "-boot", "strict=on"]
        fresh = VARIABLES.read_bytes()
        self.variables.write_bytes(nvram.booting_from(fresh, uri) if uri else fresh)
        return [
            "-device", f"{card},romfile=" + (",bootindex=0" if network and not uri else ""),
            "-drive", f"if=pflash,format=raw,unit=0,readonly=on,file={CODE}",
            "-drive", f"if=pflash,format=raw,unit=1,file={self.variables}",
        ]  # fmt: skip
