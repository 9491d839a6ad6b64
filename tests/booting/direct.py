"""A machine that boots the image without a network boot: QEMU is given its kernel, and a key to log in with.

For what needs a booted node and its hardware, and not the way it booted. Only 127.0.0.1 reaches it, by one port.
"""

import contextlib
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fleet_runner.lab import ports
from tests.booting.image import Image
from tests.booting.machine import accelerator

TOOLS = {"qemu-system-x86_64": "qemu-system-x86", "bsdtar": "libarchive-tools", "ssh-keygen": "openssh-client",
         "swtpm": "swtpm"}  # fmt: skip
PATIENCE = 300.0
"""Seconds until it answers; emulated, on a quiet machine, it takes twenty."""

NETWORK = "[Match]\nName=e*\n[Network]\nDHCP=ipv4\n"
ALIGNED = 4
"""The kernel looks for the next archive only at such an address."""


@dataclass(frozen=True, slots=True)
class Node:
    """A machine that runs; its files lie in `folder`."""

    folder: Path
    port: int

    def ssh(self, command: str) -> str:
        """Run a line of shell on it."""
        answer = subprocess.run(self._ssh(command), capture_output=True, text=True, check=False, timeout=PATIENCE)
        assert answer.returncode == 0, answer.stderr + self.said()
        return answer.stdout

    def answers(self) -> bool:
        """Whether it can be logged in to."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return not subprocess.run(self._ssh("true"), capture_output=True, check=False, timeout=10.0).returncode
        return False

    def said(self) -> str:
        """Return the end of what it wrote to its console, and of what QEMU said."""
        found = [self.folder / name for name in ("console.log", "qemu.log")]
        return "\n".join(path.read_text("utf-8", "replace")[-3000:] for path in found if path.exists())

    def _ssh(self, command: str) -> list[str]:
        options = [f"-o{each}" for each in ("BatchMode=yes", "ConnectTimeout=5", "StrictHostKeyChecking=no",
                                            "UserKnownHostsFile=/dev/null", "LogLevel=ERROR")]  # fmt: skip
        return ["ssh", "-F", "none", "-i", str(self.folder / "id"), *options, "-p", str(self.port), "root@127.0.0.1",
                command]  # fmt: skip


def why_not() -> str:
    """Say what is missing here; empty where nothing is."""
    missing = sorted({package for tool, package in TOOLS.items() if shutil.which(tool) is None})
    return f"not installed: {', '.join(missing)}; apt-get install {' '.join(missing)}" if missing else ""


@contextlib.contextmanager
def node(folder: Path, image: Image, serial: str, *hardware: str) -> Iterator[Node]:
    """Boot a machine with some more hardware, given as options of QEMU's, and a TPM; it is gone at the end."""
    initrd = _initrd(folder, image)
    with contextlib.ExitStack() as ends:
        ends.enter_context(_process(folder, "swtpm", "socket", "--tpm2", "--tpmstate", f"dir={folder}",
                                    "--ctrl", f"type=unixio,path={folder}/tpm.sock"))  # fmt: skip
        made = Node(folder, ports.choose(1)[0])
        qemu = ends.enter_context(_process(
            folder, "qemu-system-x86_64", "-nodefaults", "-no-user-config", "-machine", "q35,graphics=off",
            "-display", "none", "-smp", "2", "-m", "2048", *accelerator(),
            "-smbios", f"type=1,manufacturer=Fleet,product=Test,serial={serial}",
            "-chardev", f"file,id=console,path={folder}/console.log", "-serial", "chardev:console",
            "-netdev", f"user,id=wire,restrict=on,hostfwd=tcp:127.0.0.1:{made.port}-:22",
            "-device", "virtio-net-pci,netdev=wire,romfile=", "-device", "virtio-rng-pci",
            "-chardev", f"socket,id=tpm,path={folder}/tpm.sock", "-tpmdev", "emulator,id=tpm0,chardev=tpm",
            "-device", "tpm-crb,tpmdev=tpm0", *hardware,
            "-kernel", str(image.kernel), "-initrd", str(initrd), "-append", "console=ttyS0 cloud-init=disabled",
        ))  # fmt: skip
        limit = time.monotonic() + PATIENCE
        while not made.answers():
            assert qemu.poll() is None, made.said()
            assert time.monotonic() < limit, made.said()
            time.sleep(1.0)
        yield made


def _initrd(folder: Path, image: Image) -> Path:
    """Return the image's root file system with a key, a host key and a network over it."""
    over = folder / "over"
    for path in ("root/.ssh", "etc/ssh", "etc/systemd/network"):
        (over / path).mkdir(parents=True, mode=0o755)
    for name, at in (("id", folder), ("ssh_host_ed25519_key", over / "etc/ssh")):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", at / name], check=True)
    shutil.copy(folder / "id.pub", over / "root/.ssh/authorized_keys")
    for path in (over / "root", over / "root/.ssh"):
        path.chmod(0o700)
    (over / "etc/systemd/network/10-wire.network").write_text(NETWORK)
    archive = folder / "over.cpio"
    subprocess.run(
        ["bsdtar", "--format=newc", "--uid", "0", "--gid", "0", "-cf", archive, "-C", over, "."], check=True
    )
    found = folder / "initrd"
    with found.open("wb") as both:
        both.write(image.initrd.read_bytes())
        both.write(bytes(-both.tell() % ALIGNED))
        both.write(archive.read_bytes())
    return found


@contextlib.contextmanager
def _process(folder: Path, *argv: str) -> "Iterator[subprocess.Popen[bytes]]":
    with (folder / "qemu.log").open("ab") as log:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
