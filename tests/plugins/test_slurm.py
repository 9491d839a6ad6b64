"""Where a node's work comes through Slurm, a test is work of its own there: the real Slurm preempts it."""

import importlib.util
import json
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from fleet_runner.core.checks import active
from fleet_runner.core.checks.check import Order
from tests import slurm as cluster
from tests.chains import FILES, SUPERVISOR

TENANT = ("srun", "--quiet", "--partition=tenants", "--exclusive", "--nodes=1", "--nodelist=n1")
SECONDS = 60.0

pytestmark = cluster.needed


@pytest.fixture(scope="session")
def module(plugin: Callable[[str], ModuleType]) -> ModuleType:
    """The module, as Python."""
    return plugin("modules/fleet_job")


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A cluster of two nodes, with a partition for tenants and one that gives way.

    Yields its environment.
    """
    with cluster.running(tmp_path_factory.mktemp("slurm")) as found:
        yield found.environment


def state(module: ModuleType, asked: dict[str, Any], *states: str) -> dict[str, Any]:
    """Wait until the test is in one of some states."""
    while True:
        found = module.look(Path(asked["dir"], asked["key"]), asked)["load"]
        if found["state"] in states:
            return dict(found)
        time.sleep(0.05)


def begin(module: ModuleType, asked: dict[str, Any]) -> None:
    """Start the test, and wait until it holds its GPU."""
    assert module.ensure(asked)[0]
    while True:
        found = state(module, asked, "running", "preempted", "ended", "lost")
        assert found["state"] == "running", found
        if "begun" in found["output"]:
            return
        time.sleep(0.05)


def wait_for_room(slurm: dict[str, str]) -> None:
    """Wait until nothing runs or is being cleared away on any node."""
    asks = ["sinfo", "--noheader", "--format=%T"]
    while set(subprocess.check_output(asks, text=True, env=slurm).split()) != {"idle"}:
        time.sleep(0.05)


def load_on(node: str, tmp_path: Path, patience: int = 60) -> dict[str, Any]:
    """A node's test, which is work of its own in Slurm and holds the node's GPU.

    Slurm may take `patience` seconds to give it room, on a machine where much else runs.
    """
    gpu, load = tmp_path / f"gpu-{node}", tmp_path / "load"
    gpu.touch()
    load.write_text('#!/bin/sh\nexec 3<"$1"\necho begun\nexec sleep 600\n')
    load.chmod(0o755)
    arguments = ("--partition=idle", f"--nodelist={node}")
    job = active.wire("load", Order((str(load), str(gpu)), 600.0), arguments)
    job["argv"] = [word.replace("--immediate=10", f"--immediate={patience}") for word in job["argv"]]
    return {
        "key": "health_active-1",
        "jobs": [job],
        "dir": str(tmp_path / node / "jobs"),
        "tail_bytes": 1000,
        "programs": SUPERVISOR,
        "yield_to": active.gives_way() | {"devices": [str(gpu)]},
    }


def running(slurm: dict[str, str], partition: str) -> list[str]:
    """Return the nodes on which something of a partition runs."""
    asks = ["squeue", "--noheader", f"--partition={partition}", "--states=R", "--format=%N"]
    return sorted(subprocess.check_output(asks, text=True, env=slurm).split())


def test_slurm_takes_the_node_back_from_a_test_by_its_own_rules(
    module: ModuleType, slurm: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test's own step, which holds the GPU, is not taken for a tenant's; a tenant's job does not wait for it."""
    monkeypatch.setenv("SLURM_CONF", slurm["SLURM_CONF"])
    asked = load_on("n1", tmp_path)
    begin(module, asked)
    time.sleep(1.2)  # a look of the supervisor has passed
    told = json.loads((tmp_path / "n1/jobs/health_active-1/processes").read_text())
    assert len(told["pids"]) > 1, "srun, and the step that it has Slurm run"
    began = time.monotonic()
    work = subprocess.run([*TENANT, "echo", "works"], capture_output=True, text=True, check=True, env=slurm)
    assert work.stdout == "works\n"
    found = state(module, asked, "preempted", "ended", "lost")
    assert (found["state"], found["reason"]) == ("preempted", "a job of Slurm"), found["output"]
    assert time.monotonic() - began < SECONDS
    asked = load_on("n1", tmp_path, patience=2)
    with subprocess.Popen([*TENANT, "sleep", "600"], env=slurm) as busy:
        while running(slurm, "tenants") != ["n1"]:
            time.sleep(0.05)
        module.ensure(asked)
        found = state(module, asked, "preempted", "ended", "lost")
        busy.terminate()
    assert (found["state"], found["reason"]) == ("preempted", "Slurm, which has no room for it"), found["output"]
    assert module.ensure(asked)[0]
    state(module, asked, "running", "preempted")
    module.ensure(asked | {"stop": "enough"})
    wait_for_room(slurm)


def test_the_end_of_a_test_on_one_node_is_none_on_another(
    module: ModuleType, slurm: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same test runs on both under the same key: work that comes to one, and a stop there, are its own alone."""
    monkeypatch.setenv("SLURM_CONF", slurm["SLURM_CONF"])
    first, second = (load_on(node, tmp_path) for node in cluster.NODES)
    for asked in (first, second):
        begin(module, asked)
    assert running(slurm, "idle") == ["n1", "n2"]
    subprocess.run([*TENANT, "true"], check=True, env=slurm)
    found = state(module, first, "preempted", "ended", "lost")
    assert (found["state"], found["reason"]) == ("preempted", "a job of Slurm"), found["output"]
    assert running(slurm, "idle") == ["n2"]
    begin(module, first)
    module.ensure(first | {"stop": "enough"})
    assert state(module, first, "preempted")["reason"] == "enough"
    while running(slurm, "idle") != ["n2"]:
        time.sleep(0.05)
    time.sleep(1.2)  # a look of the other node's supervisor has passed
    assert state(module, second, "running", "preempted", "ended", "lost")["state"] == "running"
    assert running(slurm, "idle") == ["n2"]
    module.ensure(second | {"stop": "enough"})
    wait_for_room(slurm)


def test_a_chain_has_a_name_of_its_own_on_each_node_and_each_boot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nodes have it in the same folder, under the same key; after a boot, what ran in Slurm before is not of it."""
    spec = importlib.util.spec_from_file_location("supervise", FILES / "supervise.py")
    assert spec is not None
    assert spec.loader is not None
    supervise = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(supervise)
    names = []
    for node, boot in (("n1", "a"), ("n2", "a"), ("n1", "b"), ("n1", "a")):
        monkeypatch.setattr(supervise.os, "uname", partial(SimpleNamespace, nodename=node))
        monkeypatch.setattr(supervise, "_text", {"/proc/sys/kernel/random/boot_id": boot}.__getitem__)
        names.append(supervise._made(tmp_path, {"argv": ["x-{chain}"]})["argv"][0])
    assert names[0] == names[3]
    assert len(set(names)) == 3


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
    with subprocess.Popen([*TENANT, "sleep", "600"], env=slurm) as work:
        found = state(module, asked, "preempted")
        work.terminate()
    assert found["reason"].startswith("slurmstepd (")
