"""A real Slurm of two nodes, both of them this machine, with Debian's munged, slurmctld and slurmd."""

import contextlib
import getpass
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet_runner.lab import ports
from tests.waiting import until

TOOLS = ("munged", "slurmctld", "slurmd", "srun", "scancel", "squeue", "sinfo", "scontrol")
CONF = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPort={ports[0]}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
SchedulerParameters=sched_interval=1
KillWait=2
MpiDefault=none
NodeName={nodes[0]} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs={cpus} RealMemory=500 State=UNKNOWN
NodeName={nodes[1]} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs={cpus} RealMemory=500 State=UNKNOWN
PartitionName=tenants Nodes=ALL Default=YES PriorityTier=10 PreemptMode=OFF
PartitionName=idle Nodes=ALL PriorityTier=1 PreemptMode=CANCEL GraceTime=0
"""
NODES = ("n1", "n2")
GRACE = 20.0
"""Seconds that a daemon has to end when asked to; the others are ended even where it does not."""

needed = pytest.mark.skipif(
    not all(map(shutil.which, TOOLS)), reason="needs the Debian packages munge, slurmctld and slurmd"
)


class Cluster:
    """Its daemons, each of which can be stopped and started again."""

    def __init__(self, folder: Path, nodes: tuple[str, str] = NODES, more: str = "") -> None:
        self.folder, self.nodes = folder, nodes
        for name in ("state", *(f"spool.{node}" for node in nodes)):
            (folder / name).mkdir(parents=True)
        folder.chmod(0o755)
        key = folder / "munge.key"
        key.write_bytes(os.urandom(64))
        key.chmod(0o600)
        host = socket.gethostname().partition(".")[0]
        values = {"folder": folder, "host": host, "user": getpass.getuser(), "cpus": os.cpu_count(), "nodes": nodes}
        conf = folder / "slurm.conf"
        conf.write_text(CONF.format(**values, ports=ports.choose(3)) + more)
        munge = [f"--{name}={folder}/munge.{name.partition('-')[0]}" for name in ("key-file", "socket", "pid-file",
                 "log-file", "seed-file")]  # fmt: skip
        self.environment = {**os.environ, "SLURM_CONF": str(conf)}
        self._commands = {
            "munged": ["munged", "--foreground", "--force", *munge],
            "slurmctld": ["slurmctld", "-D", "-f", str(conf)],
            **{node: ["slurmd", "-D", "-N", node, "-f", str(conf)] for node in nodes},
        }
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, *words: str) -> None:
        """Start a daemon: munged, slurmctld, or the slurmd of a node."""
        with (self.folder / f"{name}.out").open("a") as log:
            self._running[name] = subprocess.Popen(
                [*self._commands[name], *words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self.environment,
            )
        if name == "munged":
            until((self.folder / "munge.socket").exists, "munged listens")

    def stop(self, name: str) -> None:
        """End a daemon, and wait until it has."""
        daemon = self._running.pop(name)
        if name == "munged":
            daemon.kill()
            (self.folder / "munge.socket").unlink(missing_ok=True)
        else:
            daemon.terminate()
        try:
            daemon.wait(GRACE)
        except subprocess.TimeoutExpired:  # a slurmd that never found its slurmctld does not end when asked to
            daemon.kill()
            daemon.wait()

    def runs(self, name: str) -> bool:
        """Whether a daemon was started, and not stopped."""
        return name in self._running

    def ask(self, *words: str) -> str:
        """Return what one of Slurm's commands prints; "" where it fails."""
        return subprocess.run(words, capture_output=True, text=True, check=False, env=self.environment).stdout

    def state(self, node: str) -> str:
        """Return a node's state as a person sees it ("drained")."""
        return self.ask(
            "sinfo", "--Node", "--noheader", "--partition=tenants", f"--nodes={node}", "--format=%T"
        ).strip()

    def wait(self, node: str, *states: str) -> None:
        """Wait until a node is in one of some states."""
        until(lambda: self.state(node) in states, f"{node} is {' or '.join(states)}")

    def run(self, node: str, *words: str) -> "subprocess.Popen[bytes]":
        """Hand a job of a tenant in."""
        srun = ["srun", "--quiet", "--partition=tenants", "--exclusive", "--nodes=1", f"--nodelist={node}"]
        return subprocess.Popen([*srun, *words], env=self.environment, stderr=subprocess.DEVNULL)

    @contextlib.contextmanager
    def job(self, node: str) -> Iterator[None]:
        """A tenant's job runs on a node."""
        job = self.run(node, "sleep", "infinity")
        try:
            until(lambda: bool(self.ask("squeue", "--noheader", "--states=R", f"--nodelist={node}")), "it runs")
            yield
        finally:
            job.terminate()
            job.wait()


@contextlib.contextmanager
def running(folder: Path, nodes: tuple[str, str] = NODES, more: str = "") -> Iterator[Cluster]:
    """Bring a cluster up, with more lines in its slurm.conf, and yield it when both nodes are idle."""
    cluster = Cluster(folder, nodes, more)
    try:
        cluster.start("munged")
        cluster.start("slurmctld", "-c")
        for node in nodes:
            cluster.start(node)
        for node in nodes:
            cluster.wait(node, "idle")
        yield cluster
    finally:
        for name in [each for each in (*nodes, "slurmctld", "munged") if cluster.runs(each)]:
            cluster.stop(name)
