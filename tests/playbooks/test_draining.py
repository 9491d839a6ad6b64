"""Drains and resumes with the playbooks, by hand and as the runner does, through a real Slurm."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.lifecycle.spool import Judged, Line
from tests import slurm
from tests.playing import Ansible, inventory, spool

pytestmark = slurm.needed

RUN = {"run": 7, "fence": 1, "since": 1.0, "attempt": 1, "opened_at": 1.0, "reason": "REBOOT: Xid 79"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[slurm.Cluster]:
    """A cluster of two nodes."""
    with slurm.running(tmp_path_factory.mktemp("slurm")) as found:
        yield found


@pytest.fixture
def ansible(cluster: slurm.Cluster, tmp_path: Path) -> Ansible:
    """Ansible for the nodes of that cluster, which are this machine; without GPUs, so only Slurm is asked."""
    nodes = {"n1": {}, "gpu-02": {"scheduler_node": "n2"}, "gone": {}, "apart": {"scheduler_node": ""}}
    shared = {"active_job_dir": str(tmp_path / "jobs"), "drain_checks": ["time_sync"]}
    file = inventory(tmp_path / "nodes.yml", nodes, **shared)
    variables = {
        "SLURM_CONF": cluster.environment["SLURM_CONF"],
        "FLEET_SCHEDULER": "slurm",
        "FLEET_STATE_DIR": str(tmp_path / "state"),
        "FLEET_SPOOL": str(tmp_path / "spool.jsonl"),
        "ANSIBLE_INVENTORY": str(file),
        "ANSIBLE_GATHERING": "explicit",
    }
    return Ansible(tmp_path / "home", variables)


def play(ansible: Ansible, name: str, node: str, *words: str, **variables: str) -> tuple[str, Result | None]:
    """Run a playbook for one node; return what Ansible says, and the answer of the check `scheduler`."""
    path = Path(ansible.variables["FLEET_SPOOL"])
    path.unlink(missing_ok=True)
    answer = ansible("ansible-playbook", f"playbooks/{name}.yml", "--limit", node, *words, **variables)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    lines: tuple[Line, ...] = spool(path)
    found = [line.result for line in lines if isinstance(line, Judged) and line.result.check == "scheduler"]
    return answer.stdout, found[0] if found else None


@pytest.mark.nightly
def test_by_hand_a_node_is_drained_once_and_given_back_once(cluster: slurm.Cluster, ansible: Ansible) -> None:
    """Check mode changes nothing; a second run changes nothing; the drain is the person's, in Slurm's own list."""
    said, found = play(ansible, "drain", "gpu-02", "--check")
    assert cluster.state("n2") == "idle"
    assert found is not None
    assert found.observed["takes_work"]
    said, found = play(ansible, "drain", "gpu-02", "-e", "drain_reason='a fan, at noon'")
    assert "changed=1 " in said
    assert found is not None
    assert (found.verdict, found.observed["in_use"], found.observed["ours"]) == (Verdict.PASS, False, True)
    reason = cluster.ask("sinfo", "-R", "--noheader", "--format=%E")
    assert reason.startswith("fleet-runner, by hand: a fan, at noon (")
    assert "changed=0 " in play(ansible, "drain", "gpu-02")[0]
    assert (cluster.state("n1"), cluster.state("n2")) == ("idle", "drained")
    assert "changed=1 " in play(ansible, "resume", "gpu-02", "--check")[0]
    assert cluster.state("n2") == "drained"
    assert "changed=1 " in play(ansible, "resume", "gpu-02")[0]
    cluster.wait("n2", "idle")
    assert "changed=0 " in play(ansible, "resume", "gpu-02")[0]


def test_a_run_that_is_over_says_nothing_to_the_scheduler(
    cluster: slurm.Cluster, ansible: Ansible, tmp_path: Path
) -> None:
    """A frozen play that wakes up long after would drain, or give back, a node that is somebody else's by now."""
    (tmp_path / "state").mkdir()
    Store.create(f"sqlite:///{tmp_path}/state/fleet.db").close()
    told = json.dumps({"fleet_runs": {"n1": RUN}})
    answer = ansible("ansible-playbook", "playbooks/drain.yml", "--limit", "n1", "-e", told, FLEET_BATCH="b")
    assert answer.returncode != 0
    assert "run 7 is over or was taken over" in answer.stdout
    assert cluster.state("n1") == "idle"


@pytest.mark.parametrize(("node", "verdict", "why"), [
    ("gone", Verdict.UNKNOWN, "does Slurm know gone? The context's scheduler_node names it"),
    ("apart", Verdict.SKIPPED, "no scheduler gives it work"),
])  # fmt: skip
def test_a_node_that_the_scheduler_does_not_know(ansible: Ansible, node: str, verdict: Verdict, why: str) -> None:
    """By a slip it is an error that names the node; on purpose it is none."""
    _, found = play(ansible, "drain", node)
    assert found is not None
    assert found.verdict is verdict
    assert why in found.message


@pytest.mark.nightly
def test_a_scheduler_that_does_not_answer_leaves_open_who_uses_the_node(
    cluster: slurm.Cluster, ansible: Ansible
) -> None:
    """Both ways; the play ends all the same."""
    cluster.stop("slurmctld")
    try:
        for name in ("drain", "resume"):
            _, found = play(ansible, name, "n1")
            assert found is not None
            assert found.verdict is Verdict.UNKNOWN
            assert "is slurmctld up?" in found.message
    finally:
        cluster.start("slurmctld")
        cluster.wait("n1", "idle", "idle*")


def test_where_no_scheduler_is_configured_none_is_asked(ansible: Ansible) -> None:
    """A node is then idle when its processes say so."""
    for name in ("drain", "resume"):
        said, found = play(ansible, name, "n1", FLEET_SCHEDULER="none")
        assert found is None
        assert "changed=0 " in said
