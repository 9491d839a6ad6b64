"""Where a node's work comes through Slurm, a test is work of its own there: the real Slurm preempts it."""

import contextlib
import getpass
import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fleet_runner.core import active
from fleet_runner.core.checks.check import Order
from tests.chains import SUPERVISOR

TOOLS = ("munged", "slurmctld", "slurmd", "srun", "scancel", "squeue", "sinfo")
CONF = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
SchedulerParameters=sched_interval=1
KillWait=2
MpiDefault=none
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=tenants Nodes=n1 Default=YES PriorityTier=10 PreemptMode=OFF
PartitionName=idle Nodes=n1 PriorityTier=1 PreemptMode=CANCEL GraceTime=0
"""
ARGUMENTS = ("--partition=idle", "--nodelist=n1")
SECONDS = 10.0

pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, TOOLS)), reason="needs the Debian packages munge, slurmctld and slurmd"
)


@pytest.fixture(scope="session")
def module(plugin: Callable[[str], ModuleType]) -> ModuleType:
    """The module, as Python."""
    return plugin("modules/fleet_job")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A cluster of this machine, with a partition for tenants and one that gives way; yields its environment."""
    folder = tmp_path_factory.mktemp("slurm")
    for name in ("state", "spool"):
        (folder / name).mkdir()
    folder.chmod(0o755)
    key = folder / "munge.key"
    key.write_bytes(os.urandom(64))
    key.chmod(0o600)
    host = socket.gethostname().partition(".")[0]
    values = {"folder": folder, "host": host, "user": getpass.getuser(), "cpus": os.cpu_count()}
    conf = folder / "slurm.conf"
    conf.write_text(CONF.format(**values, ports=(free_port(), free_port())))
    munge = [f"--{name}={folder}/munge.{name.partition('-')[0]}" for name in ("key-file", "socket", "pid-file",
             "log-file", "seed-file")]  # fmt: skip
    environment = {**os.environ, "SLURM_CONF": str(conf)}
    daemons = (
        ["munged", "--foreground", "--force", *munge],
        ["slurmctld", "-D", "-c", "-f", str(conf)],
        ["slurmd", "-D", "-N", "n1", "-f", str(conf)],
    )
    with contextlib.ExitStack() as stack:
        for daemon in daemons:
            log = stack.enter_context((folder / f"{daemon[0]}.out").open("w"))
            process = subprocess.Popen(daemon, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)
            stack.callback(process.wait)
            stack.callback(process.kill if daemon[0] == "munged" else process.terminate)
            while daemon[0] == "munged" and not (folder / "munge.socket").exists():
                time.sleep(0.02)
        told = ""
        while "idle" not in told:
            time.sleep(0.1)
            answer = subprocess.run(
                ["sinfo", "--noheader", "--format=%T"], capture_output=True, text=True, check=False, env=environment
            )
            told = answer.stdout
        yield environment


def state(module: ModuleType, asked: dict[str, Any], *states: str) -> dict[str, Any]:
    """Wait until the test is in one of some states."""
    while True:
        found = module.look(Path(asked["dir"], asked["key"]), asked)["load"]
        if found["state"] in states:
            return dict(found)
        time.sleep(0.05)


def test_slurm_takes_the_node_back_from_a_test_by_its_own_rules(
    module: ModuleType, slurm: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test's own step, which holds the GPU, is not taken for a tenant's; a tenant's job does not wait for it."""
    monkeypatch.setenv("SLURM_CONF", slurm["SLURM_CONF"])
    gpu = tmp_path / "gpu"
    gpu.touch()
    load = tmp_path / "load"
    load.write_text(f"#!/bin/sh\nexec 3<{gpu}\necho begun\nexec sleep 600\n")
    load.chmod(0o755)
    job = active.wire("load", Order((str(load),), 600.0), ARGUMENTS)
    job["argv"] = [word.replace("--immediate=10", "--immediate=2") for word in job["argv"]]
    asked = {
        "key": "health_active-1",
        "jobs": [job],
        "dir": str(tmp_path / "jobs"),
        "tail_bytes": 1000,
        "programs": SUPERVISOR,
        "yield_to": active.gives_way() | {"devices": [str(gpu)]},
    }
    assert module.ensure(asked)[0]
    while "begun" not in state(module, asked, "running")["output"]:
        time.sleep(0.05)
    time.sleep(1.2)  # a look of the supervisor has passed
    told = json.loads((tmp_path / "jobs" / "health_active-1" / "processes").read_text())
    assert len(told["pids"]) > 1, "srun, and the step that it has Slurm run"
    began = time.monotonic()
    tenant = ["srun", "--quiet", "--partition=tenants", "--exclusive", "--nodes=1"]
    work = subprocess.run([*tenant, "echo", "works"], capture_output=True, text=True, check=True, env=slurm)
    assert work.stdout == "works\n"
    found = state(module, asked, "preempted", "ended", "lost")
    assert (found["state"], found["reason"]) == ("preempted", "a job of Slurm"), found["output"]
    assert time.monotonic() - began < SECONDS
    with subprocess.Popen([*tenant, "sleep", "600"], env=slurm) as busy:
        while b"tenants" not in subprocess.check_output(["squeue", "-h", "-t", "R"], env=slurm):
            time.sleep(0.05)
        module.ensure(asked)
        found = state(module, asked, "preempted", "ended", "lost")
        busy.terminate()
    assert (found["state"], found["reason"]) == ("preempted", "Slurm, which has no room for it"), found["output"]
    assert module.ensure(asked)[0]
    state(module, asked, "running")
    module.ensure(asked | {"stop": "enough"})
    while subprocess.check_output(["squeue", "-h", "--partition=idle", "-t", "R"], env=slurm):
        time.sleep(0.05)


def test_a_test_outside_of_slurm_gives_way_to_slurms_work(
    module: ModuleType, slurm: dict[str, str], tmp_path: Path
) -> None:
    """Nothing on the node was told about Slurm: the real slurmstepd is seen."""
    asked = {
        "key": "health_active-1",
        "jobs": [{"name": "load", "argv": ["sleep", "600"], "seconds": 600.0, "limit": 900.0}],
        "dir": str(tmp_path / "jobs"),
        "tail_bytes": 1000,
        "programs": SUPERVISOR,
        "yield_to": active.gives_way(["slurmstepd"]),
    }
    module.ensure(asked)
    state(module, asked, "running")
    with subprocess.Popen(["srun", "--quiet", "--partition=tenants", "sleep", "600"], env=slurm) as work:
        found = state(module, asked, "preempted")
        work.terminate()
    assert found["reason"].startswith("slurmstepd (")
