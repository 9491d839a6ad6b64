"""Host keys that a node told are what ssh holds it against: a real sshd on this machine, a real ssh."""

import shlex
import shutil
import stat
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from fleet_runner.adapters.files import known_hosts
from fleet_runner.core.base.errors import FleetError
from fleet_runner.lab import ports

SSHD = "/usr/sbin/sshd"
CONFIG = """\
ListenAddress 127.0.0.1:{port}
HostKey {folder}/host_key
PidFile none
StrictModes no
UsePAM no
"""


@dataclass(frozen=True, slots=True)
class Server:
    """An sshd, the key it shows, and one that it does not have."""

    port: int
    key: str
    other: str


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """An sshd on a free port of 127.0.0.1, ended by its own process id."""
    missing = [tool for tool in ("ssh", "ssh-keygen", SSHD) if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}; apt-get install openssh-client openssh-server")
    folder = tmp_path_factory.mktemp("sshd")
    keys = []
    for name in ("host_key", "other_key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
        keys.append((folder / f"{name}.pub").read_text())
    (port,) = ports.choose(1)
    (folder / "config").write_text(CONFIG.format(port=port, folder=folder))
    Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # sshd insists on it
    with (folder / "log").open("wb") as log:
        daemon = subprocess.Popen([SSHD, "-D", "-e", "-f", folder / "config"], stdin=subprocess.DEVNULL, stderr=log)
    try:
        deadline = time.monotonic() + 30
        while "Server listening" not in (folder / "log").read_text():
            assert daemon.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < deadline, "sshd does not listen"
            time.sleep(0.02)
        yield Server(port, *keys)
    finally:
        daemon.kill()
        daemon.wait()


def ssh(server: Server, files: Path) -> str:
    """Return what ssh says when it asks who the server is; nobody is let in, and nothing is asked."""
    options = ("BatchMode=yes", "GlobalKnownHostsFile=/dev/null", "PreferredAuthentications=none")
    words = [word for option in options for word in ("-o", option)]
    pinned = shlex.split(known_hosts.ssh_args(files))
    command = ["ssh", "-F", "none", *pinned, *words, "-p", str(server.port), "127.0.0.1"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


@pytest.fixture(params=["plain", "with 100% of \"a\" space and 'quotes'"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder for pinned keys, whose name ssh must not read as anything else."""
    found: Path = tmp_path / request.param.replace('"', "") / "known_hosts"
    return found


def test_ssh_knows_a_node_by_the_key_that_it_told(server: Server, files: Path) -> None:
    """Past the host key, it is refused for want of a key of its own."""
    assert "Host key verification failed" in ssh(server, files)
    assert known_hosts.pin(files, "127.0.0.1", server.port, [server.key])
    assert "Permission denied" in ssh(server, files)


def test_ssh_refuses_a_machine_with_another_key_and_takes_the_newest_one(server: Server, files: Path) -> None:
    """A stateless node has new keys with each boot."""
    known_hosts.pin(files, "127.0.0.1", server.port, [server.other])
    said = ssh(server, files)
    assert "REMOTE HOST IDENTIFICATION HAS CHANGED" in said
    assert "Host key verification failed" in said
    known_hosts.pin(files, "127.0.0.1", server.port, [server.key])
    assert "Permission denied" in ssh(server, files)


def test_of_a_node_that_told_no_key_no_older_one_is_kept(tmp_path: Path) -> None:
    """The keys of its boot before are gone with that system: what had them now would not be the node."""
    key = "ssh-ed25519 " + "A" * 68
    assert known_hosts.pin(tmp_path, "10.0.0.9", 22, [key])
    assert [path.name for path in tmp_path.iterdir()] == ["10.0.0.9"]
    assert (tmp_path / "10.0.0.9").read_text() == f"10.0.0.9 {key}\n"
    assert stat.S_IMODE((tmp_path / "10.0.0.9").stat().st_mode) == 0o600
    for _ in range(2):
        assert not known_hosts.pin(tmp_path, "10.0.0.9", 22, ["nonsense"])
        assert list(tmp_path.iterdir()) == []


def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    for name in ("../10.0.0.9", "a/b", ""):
        with pytest.raises(FleetError, match="expected an address or a name; correct ansible_host"):
            known_hosts.pin(tmp_path / "kept", name, 22, ["ssh-ed25519 " + "A" * 68])
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FleetError, match=r"cannot be kept in .*file.*: "):
        known_hosts.pin(tmp_path / "file", "10.0.0.9", 22, ["ssh-ed25519 " + "A" * 68])
