"""What user-data writes is what MUNGE and a slurmd without a configuration of its own need to join a real Slurm."""

import asyncio
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fleet_runner.services.boot.documents import Documents
from tests.services.boot import cloud_init, sites
from tests.services.boot.sites import known
from tests.waiting import PATIENCE

TOOLS = {"munged": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd", "scontrol": "slurm-client",
         "unshare": "util-linux", "setpriv": "util-linux", "ip": "iproute2"}  # fmt: skip
OWN = (
    "/etc/munge",
    "/etc/default",
    "/etc/slurm",
    "/etc/systemd/system",
    "/run",
    "/var/lib/munge",
    "/var/log",
    "/var/spool",
)
"""Folders that the node has to itself."""

ADDRESS = "198.18.0.2/32"
"""Slurm resolves no names where there is none but 127.0.0.1; RFC 2544 sets this one aside for tests of networks."""

CONFIG = """\
ClusterName=test
SlurmctldHost=gpu-01(127.0.0.1)
SlurmctldPort=6817
SlurmctldParameters=enable_configless
SlurmUser=root
AuthType=auth/munge
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/linear
MpiDefault=none
ReturnToService=2
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdSpoolDir={folder}/spool
NodeName=gpu-01 NodeAddr=127.0.0.1 State=UNKNOWN
PartitionName=all Nodes=gpu-01 Default=YES State=UP
"""
MUNGED = ("setpriv", "--reuid=munge", "--regid=munge", "--clear-groups", "munged", "--foreground")


def why_not() -> str:
    """Say what is missing here; empty where nothing is."""
    if os.geteuid() != 0:
        return "namespaces need root; run the tests as root"
    missing = sorted({package for tool, package in TOOLS.items() if shutil.which(tool) is None})
    return f"not installed; apt-get install {' '.join(missing)}" if missing else cloud_init.why_not()


pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())


class Node:
    """A network, a host name and folders of its own; what runs in it ends with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[subprocess.Popen[bytes]] = []
        binds = "".join(f"mkdir -p {folder}{each}; mount --bind {folder}{each} {each}; " for each in OWN)
        (folder / "hosts").parent.mkdir()
        (folder / "hosts").write_text("127.0.0.1 localhost\n127.0.1.1 gpu-01\n", "utf-8")  # as manage_etc_hosts does
        binds += f"mount --bind {folder}/hosts /etc/hosts; "
        script = (
            f"ip link set lo up; ip address add {ADDRESS} dev lo; hostname gpu-01; {binds} echo ready; exec sleep 600"
        )
        self.holder = subprocess.Popen(
            ["unshare", "--net", "--uts", "--mount", "--ipc", "sh", "-ec", script], stdout=subprocess.PIPE
        )
        assert self.holder.stdout is not None
        with self.holder.stdout as said:
            assert said.readline() == b"ready\n"
        self.inside = ["nsenter", "-t", str(self.holder.pid), "-n", "-u", "-m", "-i"]

    def run(self, *words: str | Path, given: bytes = b"") -> str:
        """Run a command to its end, and return what it says."""
        command = [*self.inside, *map(str, words)]
        answer = subprocess.run(command, input=given, capture_output=True, check=False, timeout=PATIENCE)
        return (answer.stdout + answer.stderr).decode(errors="replace")

    def start(self, *words: str | Path) -> None:
        """Start a command that goes on."""
        with (self.folder / f"{Path(words[0]).name}.out").open("wb") as log:
            self.started.append(subprocess.Popen([*self.inside, *map(str, words)], stdout=log, stderr=log))

    def until(self, what: Callable[[], bool]) -> None:
        """Wait for something, and say what the programs said if it does not come."""
        limit = time.monotonic() + PATIENCE
        while not what():
            said = {file.name: file.read_text(errors="replace")[-2000:] for file in self.folder.glob("*.out")}
            assert time.monotonic() < limit, said
            time.sleep(0.05)

    def close(self) -> None:
        """End everything."""
        for each in reversed([self.holder, *self.started]):
            each.terminate()
            try:
                each.wait(5.0)
            except subprocess.TimeoutExpired:
                each.kill()
                each.wait()


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    made = Node(tmp_path / "node")
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def joined(node: Node, tmp_path: Path) -> Node:
    """A node on which cloud-init has written what user-data says, and munged runs with it."""
    (tmp_path / "munge.key").write_bytes(os.urandom(128))
    (tmp_path / "munge.key").chmod(0o400)
    file = tmp_path / "join.yml"
    file.write_text("slurm:\n  controllers: [127.0.0.1]\n  munge_key: munge.key\n", "utf-8")
    body = asyncio.run(Documents(sites.settings(boot_join=file)).user_data(known())).body
    cloud_init.run(cloud_init.WRITE, given=body, before=node.inside)
    node.run("install", "-d", "-o", "munge", "-g", "munge", "/run/munge", "/var/lib/munge", "/var/log/munge")
    node.run("chown", "munge:munge", "/etc/munge")
    node.start(*MUNGED)
    node.until((node.folder / "run/munge/munge.socket.2").exists)
    return node


def test_munge_speaks_with_the_key_of_the_document_and_with_no_other(joined: Node, tmp_path: Path) -> None:
    key = joined.folder / "etc/munge/munge.key"
    assert key.read_bytes() == (tmp_path / "munge.key").read_bytes()
    assert joined.run("stat", "-c", "%U:%G %a", "/etc/munge/munge.key") == "munge:munge 400\n"
    credential = joined.run("munge", "-s", "hello").encode()
    assert "Success" in joined.run("unmunge", given=credential)
    other = joined.folder / "etc/munge/other.key"
    other.write_bytes(os.urandom(128))
    other.chmod(0o400)
    joined.run("chown", "munge:munge", "/etc/munge/other.key")
    places = ("--key-file=/etc/munge/other.key", "--socket=/run/munge/other", "--pid-file=/run/munge/other.pid")
    joined.start(*MUNGED, *places, "--seed-file=/run/munge/seed")
    joined.until((joined.folder / "run/munge/other").exists)
    assert "Invalid credential" in joined.run("unmunge", "--socket=/run/munge/other", given=credential)


def test_slurmd_fetches_its_configuration_and_registers(joined: Node) -> None:
    (joined.folder / "state").mkdir()
    config = joined.folder / "slurm.conf"
    config.write_text(CONFIG.format(folder=joined.folder), "utf-8")
    scontrol = ("env", f"SLURM_CONF={config}", "scontrol")
    joined.start("slurmctld", "-D", "-f", config)
    joined.until(lambda: "UP" in joined.run(*scontrol, "ping"))
    joined.start("sh", "-c", ". /etc/default/slurmd; exec slurmd -D $SLURMD_OPTIONS")
    joined.until(lambda: "State=IDLE" in joined.run(*scontrol, "show", "node", "gpu-01"))
    assert not (joined.folder / "etc/slurm/slurm.conf").exists()


def test_debians_slurmd_is_let_start_without_a_configuration_file(joined: Node) -> None:
    unit = (joined.folder / "etc/systemd/system/slurmd.service.d/fleet.conf").read_text("utf-8")
    assert unit == "[Unit]\nConditionPathExists=\n"
    packaged = Path("/lib/systemd/system/slurmd.service").read_text("utf-8")
    assert "ConditionPathExists=/etc/slurm/slurm.conf" in packaged  # what an empty value takes back
