"""A node that a real Slurm gives work: drained there, waited for, rebooted, verified, and given back."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fleet_runner.cli.base.session import Exit
from fleet_runner.core.lifecycle.actions import Decision, Move
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.states import TRANSITIONS, Event, Stage, State
from tests import slurm

if TYPE_CHECKING:
    from tests.e2e.conftest import Fleet

pytestmark = [slurm.needed, pytest.mark.nightly, pytest.mark.timeout(600)]

LAB = ("gpu-01", "gpu-02")


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[slurm.Cluster]:
    """A Slurm whose nodes are called as the lab's are."""
    with slurm.running(tmp_path / "slurm", LAB) as found:
        monkeypatch.setenv("SLURM_CONF", found.environment["SLURM_CONF"])
        monkeypatch.setenv("FLEET_SCHEDULER", "slurm")
        yield found


def to_production(fleet: "Fleet") -> None:
    """Take every node where this begins, without the hours of work that lie in between."""
    store = fleet.store()
    try:
        for event in (Event.CERTIFIED, Event.PASSED, Event.PASSED, Event.PASSED):
            for node in store.nodes():
                move = Move(TRANSITIONS[node.state, event], "test", "it begins there")
                store.apply(node, Decision((move,), "", 0.0), time.time())
        assert {node.state for node in store.nodes()} == {State.PRODUCTION}
    finally:
        store.close()


def resumed(fleet: "Fleet", node: str) -> bool:
    """Whether the newest drain of a node was followed by a resume that passed."""
    store = fleet.store()
    try:
        runs = [run for run in store.runs(node) if run.stage in {Stage.DRAIN, Stage.RESUME}]
    finally:
        store.close()
    return bool(runs) and (runs[-1].stage, runs[-1].outcome) == (Stage.RESUME, Outcome.PASSED)


def test_a_reboot_waits_for_slurms_job_and_the_node_serves_again_but_not_against_a_person(
    cluster: slurm.Cluster, fleet: "Fleet"
) -> None:
    """Nothing uses the lab's GPUs: that there is work, Slurm alone says. What a person drained stays drained."""
    server = fleet.serve()
    fleet.until(lambda rows: rows and all(node.state is State.ONBOARD for node in rows.values()))
    server.terminate()
    server.wait()
    to_production(fleet)
    fleet.serve()
    boots = len(fleet.witnessed("boot", "gpu-01"))
    with cluster.job("gpu-01"):
        assert fleet.run("reboot", "gpu-01", "--reason", "a new kernel").returncode in {0, Exit.WAITING}
        fleet.until(lambda rows: "its scheduler has work on it" in rows["gpu-01"].waiting)
        assert cluster.state("gpu-01") == "draining"
        assert "a new kernel" in cluster.ask("sinfo", "-R", "--noheader", "--format=%E")
        assert cluster.state("gpu-02") == "idle"
        assert len(fleet.witnessed("boot", "gpu-01")) == boots
    fleet.until(lambda rows: rows["gpu-01"].state is State.REBOOT)
    assert cluster.state("gpu-01") == "drained"
    fleet.until(lambda rows: rows["gpu-01"].state is State.PRODUCTION and resumed(fleet, "gpu-01"))
    cluster.wait("gpu-01", "idle")
    assert len(fleet.witnessed("boot", "gpu-01")) == boots + 1

    cluster.ask("scontrol", "update", "nodename=gpu-02", "state=drain", "reason=Kim looks at it")
    assert fleet.run("reboot", "gpu-02", "--reason", "a new kernel").returncode in {0, Exit.WAITING}
    fleet.until(lambda rows: rows["gpu-02"].state is State.REBOOT)
    fleet.until(lambda rows: rows["gpu-02"].state is State.PRODUCTION and resumed(fleet, "gpu-02"))
    assert cluster.state("gpu-02") == "drained"
    assert "Kim looks at it" in cluster.ask("sinfo", "-R", "--noheader", "--format=%E")
    told = " ".join(fleet.run("results", "--check", "scheduler", "--node", "gpu-02").stdout.split())
    assert "not by fleet-runner: Kim looks at it" in told
