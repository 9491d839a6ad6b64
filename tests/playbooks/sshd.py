"""Nodes for the tests: network namespaces with an sshd each, reached over real ssh."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SSHD = "/usr/sbin/sshd"
NETWORK = "198.18"
"""Addresses that RFC 2544 sets aside for tests of networks."""

CONFIG = """\
ListenAddress {address}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/authorized_keys
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
MaxStartups 100
Subsystem sftp internal-sftp
KexAlgorithms curve25519-sha256
"""
"""The key exchange is the cheapest: what OpenSSH prefers costs each connection a sixth of a second of CPU time."""


@dataclass(frozen=True, slots=True)
class Node:
    """A namespace with an address in which an sshd listens; only this machine has a route to it."""

    namespace: str
    address: str
    folder: Path

    def variables(self) -> dict[str, Any]:
        """Return what Ansible needs to reach it."""
        known = f"-o UserKnownHostsFile={self.folder}/known_hosts -o GlobalKnownHostsFile=/dev/null"
        return {
            "ansible_connection": "ssh",
            "ansible_host": self.address,
            "ansible_user": "root",
            "ansible_ssh_private_key_file": str(self.folder / "key"),
            "ansible_ssh_common_args": f"-F none {known} -o StrictHostKeyChecking=yes -o IdentitiesOnly=yes",
        }


def why_not() -> str:
    """Say what such nodes need that is not here; empty where nothing is missing."""
    if os.geteuid() != 0:
        return "network namespaces need root; run the tests as root"
    needed = {"ip": "iproute2", "ssh": "openssh-client", "ssh-keygen": "openssh-client", SSHD: "openssh-server"}
    missing = sorted({package for tool, package in needed.items() if shutil.which(tool) is None})
    return f"not installed: {', '.join(missing)}; apt-get install {' '.join(missing)}" if missing else ""


@contextlib.contextmanager
def nodes(folder: Path, count: int) -> Iterator[tuple[Node, ...]]:
    """Start some nodes; whatever happens, nothing of them is left afterwards."""
    _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / "key")
    with contextlib.ExitStack() as stack:
        yield tuple(stack.enter_context(_node(folder, number)) for number in range(count))


@contextlib.contextmanager
def _node(root: Path, number: int) -> Iterator[Node]:
    # One /30 per node, chosen by our process number: two test runs on one machine do not meet.
    place = (os.getpid() * 8 + number) % 16384
    prefix = f"{NETWORK}.{place // 64}"
    here, there = place % 64 * 4 + 1, place % 64 * 4 + 2
    node = Node(f"fleet-test-{os.getpid()}-{number}", f"{prefix}.{there}", root / f"node-{number}")
    link = f"ft{os.getpid() % 1_000_000}n{number}"
    _keys(root, node)
    _run("ip", "netns", "add", node.namespace)
    daemon: subprocess.Popen[bytes] | None = None
    try:
        _run("ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", node.namespace)
        _run("ip", "address", "add", f"{prefix}.{here}/30", "dev", link)
        _run("ip", "link", "set", link, "up")
        inside = ("ip", "-n", node.namespace)
        _run(*inside, "address", "add", f"{node.address}/30", "dev", "eth0")
        _run(*inside, "link", "set", "eth0", "up")
        _run(*inside, "link", "set", "lo", "up")
        daemon = _sshd(node)
        yield node
    finally:
        end(node)
        if daemon is not None:
            daemon.wait()
        # By itself it is gone at once; with its namespace it goes later, and its name is soon used again.
        subprocess.run(["ip", "link", "delete", link], check=False, capture_output=True)
        _run("ip", "netns", "delete", node.namespace)


def end(node: Node) -> None:
    """Kill everything in a node's namespace, as pulling its plug does."""
    while pids := _run("ip", "netns", "pids", node.namespace).split():
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        time.sleep(0.05)


def control_connections(home: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    """End the ssh connections that Ansible keeps under a home, and yield each one's socket."""
    for socket in (home / ".ansible" / "cp").glob("*"):
        command = ["ssh", "-F", "none", "-o", f"ControlPath={socket}", "-O", "exit", "node"]
        subprocess.run(command, check=False, capture_output=True, env=dict(environment))
        yield socket


def _keys(root: Path, node: Node) -> None:
    node.folder.mkdir()
    _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", node.folder / "host_key")
    shutil.copy(root / "key.pub", node.folder / "authorized_keys")
    shutil.copy(root / "key", node.folder / "key")
    host_key = (node.folder / "host_key.pub").read_text().rsplit(" ", 1)[0]
    (node.folder / "known_hosts").write_text(f"{node.address} {host_key}\n")
    (node.folder / "sshd_config").write_text(CONFIG.format(address=node.address, folder=node.folder))


def _sshd(node: Node) -> "subprocess.Popen[bytes]":
    Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # sshd insists on it
    log = (node.folder / "log").open("wb")
    with log:
        command = ["ip", "netns", "exec", node.namespace, SSHD, "-D", "-e", "-f", node.folder / "sshd_config"]
        daemon = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    deadline = time.monotonic() + 30
    while "Server listening" not in (node.folder / "log").read_text():
        assert daemon.poll() is None, (node.folder / "log").read_text()
        assert time.monotonic() < deadline, "sshd does not listen"
        time.sleep(0.05)
    return daemon


def _run(*words: str | Path) -> str:
    answer = subprocess.run([*words], capture_output=True, text=True, check=False)
    assert answer.returncode == 0, f"{' '.join(map(str, words))}: {answer.stderr}"
    return answer.stdout
