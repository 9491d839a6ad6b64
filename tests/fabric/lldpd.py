"""Real lldpd, one in each network namespace, joined by cables that can be moved."""

import contextlib
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

SECONDS = 90.0
"""How long a neighbour may take to be heard; as a rule it takes one."""

QUICK = "configure lldp tx-interval 1\nconfigure lldp tx-hold 2\n"

_SENDING = """
import pathlib, socket, sys
address = pathlib.Path("/sys/class/net", sys.argv[1], "address").read_text().strip()
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as port:
    port.bind((sys.argv[1], 0))
    port.send(b"\\xff" * 6 + bytes.fromhex(address.replace(":", "")) + b"\\x88\\xb5" + bytes(46))
print(address)
"""
"""A frame of the EtherType that IEEE 802 sets aside for experiments."""

_ASKING = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as port:
    port.settimeout(30)
    port.connect((sys.argv[1], 9))
    try:
        port.send(b"x")
        port.recv(1)  # nobody listens there, and says so: then both know each other's address
    except ConnectionRefusedError:
        pass
"""

_ANNOUNCING = """
import socket, sys
chassis, port, name = bytes.fromhex(sys.argv[2].replace(":", "")), sys.argv[3].encode(), sys.argv[4].encode()
kinds = {1: b"\\x04" + chassis, 2: b"\\x05" + port, 3: b"\\0\\x78", 5: name, 0: b""}
frame = b"".join(((kind << 9) + len(said)).to_bytes(2) + said for kind, said in kinds.items())
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as port:
    port.bind((sys.argv[1], 0))
    port.send(bytes.fromhex("0180c200000e020000000bad88cc") + frame)
"""
"""A frame of LLDP: chassis by its address, port by its name, two minutes to live, and the name of a system."""

End = tuple[str, str]


def why_not() -> str:
    """Say what is missing here; empty where nothing is."""
    if os.geteuid() != 0:
        return "network namespaces need root; run the tests as root"
    needed = {"ip": "iproute2", "lldpd": "lldpd", "lldpctl": "lldpd"}
    missing = sorted({package for tool, package in needed.items() if shutil.which(tool) is None})
    return f"not installed: {', '.join(missing)}; apt-get install {' '.join(missing)}" if missing else ""


class Hall:
    """Devices that speak LLDP with each other over virtual cables."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._serial = itertools.count()

    def namespace(self, device: str) -> str:
        """Return the network namespace that a device is."""
        return f"fleet-lldp-{os.getpid()}-{device}"

    @contextlib.contextmanager
    def device(self, name: str) -> Iterator[None]:
        """Have a device speak for as long as the context lasts."""
        _run("ip", "netns", "add", self.namespace(name))
        daemon: subprocess.Popen[bytes] | None = None
        try:
            config = self._folder / f"{name}.conf"
            config.write_text(f"configure system hostname {name}\n{QUICK}", encoding="utf-8")
            socket = self.socket(name)
            argv = ["ip", "netns", "exec", self.namespace(name), "lldpd", "-d", "-u", socket, "-O", str(config)]
            with (self._folder / f"{name}.log").open("wb") as log:
                daemon = subprocess.Popen(argv, stdout=log, stderr=log)
            _until(lambda: Path(socket).exists(), f"lldpd of {name} did not come up")
            yield
        finally:
            if daemon is not None:
                daemon.terminate()  # its monitor ends the process beside it
                daemon.wait(SECONDS)
            _run("ip", "netns", "delete", self.namespace(name))

    @contextlib.contextmanager
    def silent(self, name: str) -> Iterator[None]:
        """Have a device that says nothing for as long as the context lasts."""
        _run("ip", "netns", "add", self.namespace(name))
        try:
            yield
        finally:
            _run("ip", "netns", "delete", self.namespace(name))

    def bridge(self, device: str, interfaces: Iterable[str]) -> None:
        """Have a device switch frames between some of its ports, and learn addresses there."""
        inside = ("ip", "-n", self.namespace(device), "link")
        _run(*inside, "add", "br0", "type", "bridge")
        _run(*inside, "set", "br0", "up")
        self.enslave(device, interfaces)

    def enslave(self, device: str, interfaces: Iterable[str]) -> None:
        """Make some ports a part of a device's bridge."""
        for each in interfaces:
            _run("ip", "-n", self.namespace(device), "link", "set", each, "master", "br0")

    def route(self, server: End, switch: End, subnet: str) -> str:
        """Give both ends of a cable an address in a subnet ("192.0.2"), have them meet; return the server's MAC."""
        for end, last in ((server, 2), (switch, 1)):
            _run("ip", "-n", self.namespace(end[0]), "address", "add", f"{subnet}.{last}/30", "dev", end[1])
        inside = ("ip", "netns", "exec", self.namespace(server[0]))
        _run(*inside, sys.executable, "-c", _ASKING, f"{subnet}.1")
        return _run(*inside, "cat", f"/sys/class/net/{server[1]}/address").strip()

    def call(self, end: End, address: str) -> None:
        """Give a port its address back, which a new cable has not, and have it learned."""
        _run("ip", "-n", self.namespace(end[0]), "link", "set", end[1], "address", address)
        self.send(end)

    def send(self, end: End) -> str:
        """Send a frame to everybody from a port; return the port's address."""
        inside = ("ip", "netns", "exec", self.namespace(end[0]))
        return _run(*inside, sys.executable, "-c", _SENDING, end[1]).strip()

    def announce(self, end: End, chassis: str, port: str, name: str) -> None:
        """Say over LLDP, from a port, to be somebody: anything that a frame can carry, true or not."""
        inside = ("ip", "netns", "exec", self.namespace(end[0]))
        _run(*inside, sys.executable, "-c", _ANNOUNCING, end[1], chassis, port, name)

    def plug(self, cables: Iterable[tuple[End, End]]) -> None:
        """Join interfaces by cables, which take their names from the ends."""
        for one, other in cables:
            middle = [f"fl{os.getpid() % 1_000_000}x{next(self._serial)}" for _ in (one, other)]
            _run("ip", "link", "add", middle[0], "type", "veth", "peer", "name", middle[1])
            for name, (device, interface) in zip(middle, (one, other), strict=True):
                _run("ip", "link", "set", name, "netns", self.namespace(device), "name", interface, "up")

    def unplug(self, ends: Iterable[End]) -> None:
        """Take out the cables that end there."""
        for device, interface in ends:
            _run("ip", "-n", self.namespace(device), "link", "delete", interface)

    def capture(self, device: str, form: str) -> str:
        """Return what lldpctl prints on a device."""
        return _run("lldpctl", "-u", self.socket(device), "-f", form)

    def settle(self, heard: dict[str, list[str]]) -> None:
        """Wait until each device hears these neighbours and no other."""

        def settled() -> bool:
            return all(self._neighbours(device) == sorted(names) for device, names in heard.items())

        _until(settled, f"expected {heard}, heard { {device: self._neighbours(device) for device in heard} }")

    def _neighbours(self, device: str) -> list[str]:
        told = _run("lldpctl", "-u", self.socket(device), "-f", "keyvalue")
        return sorted(line.partition("=")[2] for line in told.splitlines() if ".chassis.name=" in line)

    def call_ports_by_name(self, device: str) -> None:
        """Have a device tell its ports by their names, as switches do; servers tell their addresses."""
        _run("lldpcli", "-u", self.socket(device), "configure", "lldp", "portidsubtype", "ifname")

    def say(self, device: str, *tlv: str) -> None:
        """Have a device announce a TLV of its own making at each port."""
        _run("lldpcli", "-u", self.socket(device), "configure", "lldp", "custom-tlv", *tlv)

    def until(self, is_so: Callable[[], bool], why: str) -> None:
        """Wait until something holds."""
        _until(is_so, why)

    def socket(self, device: str) -> str:
        """Return where a device's lldpd is asked."""
        return str(self._folder / f"{device}.sock")


@contextlib.contextmanager
def hall(devices: Iterable[str]) -> Iterator[Hall]:
    """Have devices speak; whatever happens, nothing of them is left afterwards."""
    if reason := why_not():
        pytest.skip(reason)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fleet-lldp-")))
        folder.chmod(0o755)  # lldpctl gives its privileges up before it looks for the socket
        found = Hall(folder)
        for name in devices:
            stack.enter_context(found.device(name))
        yield found


def _run(*argv: str) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=SECONDS)
    assert done.returncode == 0, f"{' '.join(argv)}: {done.stderr.strip()}"
    return done.stdout


def _until(is_so: Callable[[], bool], why: str) -> None:
    limit = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < limit, why
        time.sleep(0.1)
