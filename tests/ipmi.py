"""A real IPMI BMC on this machine: OpenIPMI's `ipmi_sim`, whose computer is two files of a folder."""

import socket
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.waiting import PATIENCE, until

USER, PASSWORD = "operator", "not-in-any-argument"

SUITE = ("-C", "3")
"""What the simulated BMC speaks; it does not answer who asks which there are, which costs two seconds each time."""

LAN = """\
name "bmc"
set_working_mc 0x20
  startlan 1
    addr 127.0.0.1 {port}
    priv_limit admin
    allowed_auths_admin none md2 md5 straight
    guid a123456789abcdefa123456789abcdef
  endlan
  chassis_control "{folder}/chassis 0x20"
  user 1 true "" "test" user 10 none md2 md5 straight
  user 2 true "{user}" "{password}" admin 10 none md2 md5 straight
"""

EMULATED = """\
mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr
sel_enable 0x20 {most} 0x0a
mc_add_fru_data 0x20 0 {size} data {fru}
mc_enable 0x20
"""

CHASSIS = """\
#!/bin/sh
cd "{folder}"
shift
does=$1; shift
case $does in
get) for what; do case $what in
    power) echo "power:$(cat power)" ;;
    boot) echo "boot:$(cat boot)" ;;
    esac; done ;;
set) while [ $# -gt 1 ]; do echo "$1 $2" >>sent; echo "$2" >"$1"; shift 2; done ;;
esac
"""


@dataclass(frozen=True, slots=True)
class Simulated:
    """A BMC at `url`, with the files of its computer in `folder`."""

    url: str
    port: int
    folder: Path

    def sent(self) -> list[str]:
        """Return what its computer was told, in order: `power 0`."""
        path = self.folder / "sent"
        return path.read_text().splitlines() if path.exists() else []

    def tool(self, *words: str) -> str:
        """Ask it by hand."""
        asked = [
            "ipmitool",
            *SUITE,
            "-I",
            "lanplus",
            "-H",
            "127.0.0.1",
            "-p",
            str(self.port),
            "-U",
            USER,
            "-P",
            PASSWORD,
        ]
        return subprocess.run([*asked, *words], capture_output=True, text=True, check=True, timeout=PATIENCE).stdout

    def set_clock(self, at: int) -> None:
        """Set its clock (epoch seconds)."""
        self.tool("raw", "0x0a", "0x49", *(f"0x{byte:02x}" for byte in at.to_bytes(4, "little")))

    def log(self, *events: str) -> None:
        """Add events to its log, in the form of `ipmitool sel add`."""
        path = self.folder / "events"
        path.write_text("".join(f"{event}\n" for event in events))
        self.tool("sel", "add", str(path))


@contextmanager
def simulated(folder: Path, serial: str = "", most: int = 1000) -> Iterator[Simulated]:
    """Run a BMC whose FRU has a product's serial number, and whose log holds so many entries."""
    port = _free()
    fru = _fru(serial)
    folder.mkdir(parents=True, exist_ok=True)
    told = {"port": port, "folder": folder, "user": USER, "password": PASSWORD}
    (folder / "lan.conf").write_text(LAN.format(**told))
    hexes = " ".join(f"0x{byte:02x}" for byte in fru)
    (folder / "sim.emu").write_text(EMULATED.format(size=len(fru), fru=hexes, most=most))
    (folder / "chassis").write_text(CHASSIS.format(**told))
    (folder / "chassis").chmod(stat.S_IRWXU)
    (folder / "power").write_text("1\n")
    (folder / "boot").write_text("none\n")
    (folder / "state").mkdir(exist_ok=True)
    words = ["ipmi_sim", "-n", "-c", folder / "lan.conf", "-f", folder / "sim.emu", "-s", folder / "state"]
    with (folder / "said").open("w") as said, subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT
    ) as process:  # fmt: skip
        try:
            found = Simulated(f"ipmi://127.0.0.1:{port}", port, folder)
            until(lambda: _answers(found, process), "the simulated BMC answers")
            yield found
        finally:
            process.kill()


def _answers(found: Simulated, process: "subprocess.Popen[bytes]") -> bool:
    assert process.poll() is None, (found.folder / "said").read_text()
    with suppress(subprocess.CalledProcessError):
        return found.tool("mc", "info") != ""
    return False


def _free() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


def _fru(serial: str) -> bytes:
    """Return a FRU with a product area alone: IPMI Platform Management FRU Information Storage Definition, 12."""
    fields = ("ACME", "GPU server", "P-1", "1", serial)
    body = bytes([1, 0, 0x19]) + b"".join(bytes([0xC0 | len(each)]) + each.encode() for each in fields) + b"\xc0\xc1"
    length = -(-(len(body) + 1) // 8)
    body = bytes([body[0], length]) + body[2:]
    body = body.ljust(length * 8 - 1, b"\0")
    header = bytes([1, 0, 0, 0, 1, 0, 0])
    return b"".join(part + bytes([-sum(part) & 0xFF]) for part in (header, body))
