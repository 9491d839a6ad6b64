"""A network of its own: one namespace, one wire to a machine, and every process in it ended at the end."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.waiting import until

TAP = "tap0"
SERVER = "198.18.0.1"
"""Everything that serves listens here; RFC 2544 sets these addresses aside for tests of networks."""

PREFIX = 24
ROUTER = "fd00:198:18::1"
"""Routers of sites speak IPv6. iPXE looks for one for 13 seconds before it goes on where there is none."""

BMC = "198.18.1.1"

PATIENCE = 60.0
"""Seconds that a process may take to come up, or to end when it is asked to."""

TOOLS = {"ip": "iproute2", "dnsmasq": "dnsmasq-base", "curl": "curl", "openssl": "openssl", "ssh": "openssh-client",
         "qemu-system-x86_64": "qemu-system-x86"}  # fmt: skip
FILES = {"/usr/lib/ipxe/snponly.efi": "ipxe", "/usr/lib/ipxe/qemu/pxe-virtio.rom": "ipxe-qemu",
         "/usr/share/OVMF/OVMF_CODE.fd": "ovmf"}  # fmt: skip


def why_not() -> str:
    """Say what is missing here; empty where nothing is."""
    if os.geteuid() != 0:
        return "network namespaces need root; run the tests as root"
    if not Path("/dev/net/tun").exists():
        return "/dev/net/tun is missing; load the kernel's module tun"
    missing = {package for tool, package in TOOLS.items() if shutil.which(tool) is None}
    missing |= {package for file, package in FILES.items() if not Path(file).exists()}
    return f"not installed; apt-get install {' '.join(sorted(missing))}" if missing else ""


@dataclass
class Namespace:
    """A network that nothing outside can reach; logs of what runs in it lie in `folder`."""

    name: str
    folder: Path
    started: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict[str, "subprocess.Popen[bytes]"])

    def inside(self, *argv: str | Path) -> list[str]:
        """Return the command that runs another one in here."""
        return ["ip", "netns", "exec", self.name, *map(str, argv)]

    def run(self, *argv: str | Path, seconds: float = PATIENCE) -> "subprocess.CompletedProcess[str]":
        """Run a command to its end."""
        command = self.inside(*argv)
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)

    def start(
        self, name: str, *argv: str | Path, environment: Mapping[str, str] | None = None
    ) -> "subprocess.Popen[bytes]":
        """Start a process that goes on, again if need be; what it says is in `<name>.log`."""
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                self.inside(*argv),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env={**os.environ, **(environment or {})},
            )
        self.started[name] = process
        return process

    def kill(self, name: str) -> None:
        """Kill a process, as running out of memory does."""
        self.started[name].kill()
        self.started[name].wait()

    def serve(self, name: str, port: int, *argv: str | Path, **environment: str) -> "subprocess.Popen[bytes]":
        """Start a process and wait until it listens on a TCP port."""
        process = self.start(name, *argv, environment=environment)

        def listens() -> bool:
            assert process.poll() is None, f"{name} ended with {process.returncode}: {self.log(name)}"
            return f":{port} " in self.run("ss", "-Htln").stdout

        until(listens, lambda: f"{name} does not listen on port {port}: {self.log(name)}")
        return process

    def log(self, name: str) -> str:
        """Return what a process said."""
        path = self.folder / f"{name}.log"
        return path.read_text("utf-8", "replace") if path.exists() else ""


@contextlib.contextmanager
def namespace(folder: Path) -> Iterator[Namespace]:
    """Make a network; whatever happens, nothing of it is left afterwards."""
    made = Namespace(f"fleet-boot-{os.getpid()}", folder)
    _ip("netns", "add", made.name)
    try:
        inside = ("-n", made.name)
        _ip(*inside, "link", "set", "lo", "up")
        _ip(*inside, "address", "add", f"{BMC}/32", "dev", "lo")
        _ip(*inside, "tuntap", "add", TAP, "mode", "tap")
        _ip(*inside, "address", "add", f"{SERVER}/{PREFIX}", "dev", TAP)
        _ip(*inside, "address", "add", f"{ROUTER}/64", "dev", TAP, "nodad")
        _ip(*inside, "link", "set", TAP, "up")
        made.start(
            "router", "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--log-facility=-", "--user=root",
            "--port=0", f"--interface={TAP}", "--enable-ra", f"--dhcp-range={ROUTER.removesuffix('1')},ra-only",
            f"--pid-file={folder / 'router.pid'}", f"--dhcp-leasefile={folder / 'router.leases'}",
        )  # fmt: skip
        yield made
    finally:
        _end(made)
        _ip("netns", "delete", made.name)


def _end(made: Namespace) -> None:
    """Ask what was started to end, newest first, and kill what is then left in the namespace."""
    for process in reversed(made.started.values()):
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5.0)
    while pids := _ip("netns", "pids", made.name).split():
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        time.sleep(0.05)
    for process in made.started.values():
        process.wait()


def _ip(*words: str) -> str:
    answer = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    assert answer.returncode == 0, f"ip {' '.join(words)}: {answer.stderr}"
    return answer.stdout
