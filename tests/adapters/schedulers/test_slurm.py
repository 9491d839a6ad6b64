"""Drained and asked through a real Slurm: its own scontrol and squeue, slurmctld and two slurmd."""

import json
import time
from collections.abc import Iterator
from functools import partial

import pytest

from fleet_runner.adapters.schedulers.slurm import Slurm
from fleet_runner.core.base.errors import SchedulerError
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import run
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.lifecycle.scheduler import By
from tests import slurm as real
from tests.waiting import until

pytestmark = real.needed

WITHIN = 30.0
HOSTILE = 'Xid 79\n   State=IDLE "$(reboot)"; `id` reason=none\x1b[2J' + " and more" * 200


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[real.Cluster]:
    """A cluster of two nodes."""
    with real.running(tmp_path_factory.mktemp("slurm")) as found:
        yield found


@pytest.fixture
def cluster(whole: real.Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[real.Cluster]:
    """The cluster, with both nodes idle again after the test, whatever became of them."""
    monkeypatch.setenv("SLURM_CONF", whole.environment["SLURM_CONF"])
    yield whole
    for node in whole.nodes:
        whole.ask("scancel", "--state=RUNNING", f"--nodelist={node}")
        until(partial(idles, whole, node), f"{node} has no job left")
        if whole.state(node) != "idle":
            whole.ask("scontrol", "update", f"nodename={node}", "state=resume")
            whole.wait(node, "idle")


def idles(cluster: real.Cluster, node: str) -> bool:
    """Whether no job is at a node, not even one that ends."""
    return not cluster.ask("squeue", "--noheader", f"--nodelist={node}")


def judged(node: str, did: str = "read") -> Result:
    """Return what the check says of what Slurm says now."""
    text = json.dumps({"scheduler": "slurm", "name": node, "did": did, "said": Slurm().read(node)})
    return run(CHECKS["scheduler"], {"scheduler_node": Reading("scheduler_node", ReadEnd.OK, text)}, Expected(node))


def drained_by_a_person(cluster: real.Cluster, node: str, reason: str = "disks, ask Kim") -> None:
    cluster.ask("scontrol", "update", f"nodename={node}", "state=drain", f"reason={reason}")


def test_a_drain_waits_for_the_job_that_runs_and_a_resume_gives_the_node_back(cluster: real.Cluster) -> None:
    """Draining while it runs, drained after: only then nobody uses the node; the other node is none of this."""
    slurm = Slurm()
    before = judged("n1")
    assert (before.verdict, before.observed["in_use"], before.observed["takes_work"]) == (Verdict.PASS, False, True)
    with cluster.job("n1"):
        did = slurm.drain("n1", "reboot: Xid 79", By.RUNNER)
        assert did.changed
        assert not slurm.drain("n1", "another reason", By.RUNNER).changed
        assert cluster.state("n1") == "draining"
        seen = judged("n1", "drain")
        assert (seen.verdict, seen.observed["in_use"], seen.observed["ours"]) == (Verdict.PASS, True, True)
        assert "job " in seen.message
        assert "reboot: Xid 79" in cluster.ask("sinfo", "-R", "--noheader", "--format=%E")
    cluster.wait("n1", "drained")
    seen = judged("n1", "drain")
    assert (seen.observed["in_use"], seen.observed["takes_work"], seen.observed["ours"]) == (False, False, True)
    assert cluster.state("n2") == "idle"
    assert slurm.resume("n1", By.RUNNER).changed
    cluster.wait("n1", "idle")
    assert judged("n1", "resume").observed["takes_work"]
    assert not slurm.resume("n1", By.RUNNER).changed


def test_what_a_person_drained_stays_drained_and_that_is_told(cluster: real.Cluster) -> None:
    """Before our drain, or in place of it."""
    slurm = Slurm()
    drained_by_a_person(cluster, "n1")
    did = slurm.drain("n1", "Xid 79", By.RUNNER)
    assert not did.changed
    assert "disks, ask Kim" in did.told
    seen = judged("n1", "drain")
    assert (seen.verdict, seen.observed["in_use"], seen.observed["ours"]) == (Verdict.PASS, False, False)
    slurm.drain("n2", "Xid 79", By.RUNNER)
    drained_by_a_person(cluster, "n2", "ours now, Kim")
    for node, why in (("n1", "disks, ask Kim"), ("n2", "ours now, Kim")):
        did = slurm.resume(node, By.RUNNER)
        assert not did.changed
        assert why in did.told
        assert cluster.state(node) == "drained"
        seen = judged(node, "resume")
        assert seen.verdict is Verdict.PASS
        assert f"not by fleet-runner: {why}" in seen.message


def test_a_reason_of_ours_that_a_person_changed_is_the_persons(cluster: real.Cluster) -> None:
    """A word added is enough; so is a reason of ours that was copied to another node."""
    slurm = Slurm()
    slurm.drain("n1", "Xid 79", By.RUNNER)
    shown = cluster.ask("scontrol", "show", "node", "n1")
    mine = next(line for line in shown.splitlines() if "Reason=" in line).partition("Reason=")[2].rpartition(" [")[0]
    for node, reason in (("n1", f"{mine} and keep it, Kim"), ("n2", mine)):
        drained_by_a_person(cluster, node, reason)
        assert not slurm.resume(node, By.RUNNER).changed
        assert cluster.state(node) == "drained"


def test_a_drain_by_hand_is_given_back_by_hand_alone(cluster: real.Cluster) -> None:
    """The runner leaves what a person drained with the playbook; a person may undo the runner's as well."""
    slurm = Slurm()
    slurm.drain("n1", "noon", By.PERSON)
    assert not slurm.resume("n1", By.RUNNER).changed
    assert cluster.state("n1") == "drained"
    assert slurm.resume("n1", By.PERSON).changed
    slurm.drain("n1", "noon", By.RUNNER)
    assert slurm.resume("n1", By.PERSON).changed
    cluster.wait("n1", "idle")


def test_a_person_who_drains_by_hand_what_the_runner_drained_keeps_it(cluster: real.Cluster) -> None:
    """And the runner, who drains what the person did, does not take it over."""
    slurm = Slurm()
    slurm.drain("n1", "Xid 79", By.RUNNER)
    assert slurm.drain("n1", "noon", By.PERSON).changed
    assert not slurm.drain("n1", "noon", By.PERSON).changed
    assert not slurm.drain("n1", "Xid 79", By.RUNNER).changed
    assert not slurm.resume("n1", By.RUNNER).changed
    assert cluster.state("n1") == "drained"
    assert "by hand: noon" in cluster.ask("sinfo", "-R", "--noheader", "--format=%E")


def test_check_mode_says_what_it_would_do_and_does_nothing(cluster: real.Cluster) -> None:
    """In both directions."""
    slurm = Slurm()
    assert slurm.drain("n1", "Xid 79", By.RUNNER, dry=True).changed
    assert cluster.state("n1") == "idle"
    slurm.drain("n1", "Xid 79", By.RUNNER)
    assert slurm.resume("n1", By.RUNNER, dry=True).changed
    assert cluster.state("n1") == "drained"


def test_a_node_that_rebooted_while_drained_comes_back_by_a_resume(cluster: real.Cluster) -> None:
    """Its slurmd is gone, Slurm calls it down, it tells of a new boot: it stays ours, and takes no work till then."""
    slurm = Slurm()
    slurm.drain("n1", "Xid 79", By.RUNNER)
    cluster.stop("n1")
    cluster.ask("scontrol", "update", "nodename=n1", "state=down", f"reason={_reason(cluster)}")
    seen = judged("n1")
    assert (seen.observed["in_use"], seen.observed["takes_work"]) == (False, False)
    cluster.start("n1", "-b")
    until(lambda: "BootTime=None" not in cluster.ask("scontrol", "show", "node", "n1"), "it told of its boot")
    time.sleep(1.0)
    assert not judged("n1").observed["takes_work"]
    assert slurm.resume("n1", By.RUNNER).changed
    cluster.wait("n1", "idle")
    assert cluster.run("n1", "true").wait(60) == 0


def _reason(cluster: real.Cluster) -> str:
    shown = cluster.ask("scontrol", "show", "node", "n1")
    return next(line for line in shown.splitlines() if "Reason=" in line).partition("Reason=")[2].rpartition(" [")[0]


def test_a_hostile_reason_is_one_line_of_words_and_nothing_more(cluster: real.Cluster) -> None:
    """What a node's log said of itself becomes part of a reason."""
    slurm = Slurm()
    slurm.drain("n1", HOSTILE, By.RUNNER)
    seen = judged("n1", "drain")
    assert seen.observed["ours"], seen.message
    assert seen.observed["state"] == "idle+drain"
    assert "\x1b" not in seen.message
    assert len(seen.message) < 400
    assert slurm.resume("n1", By.RUNNER).changed


def test_a_persons_reason_that_looks_like_a_field_is_never_taken_for_one(cluster: real.Cluster) -> None:
    """A line break in a reason, or in a comment, cannot make the node look idle, or ours."""
    drained_by_a_person(cluster, "n1", "x\n   State=IDLE\n   Reason=fleet-runner: x")
    assert not judged("n1").observed["takes_work"]
    assert not judged("n1").observed["ours"]
    cluster.ask("scontrol", "update", "nodename=n1", "comment=x\n   State=IDLE ")
    found = judged("n1")
    assert found.verdict is Verdict.UNKNOWN or not found.observed["takes_work"]
    cluster.ask("scontrol", "update", "nodename=n1", "comment=")


@pytest.mark.parametrize("name", ["n3", "n[1-2]", "n1,n2", "ALL", "-n1", "", "n1 n2", "n1\nn2", "$(id)"])
def test_a_name_of_no_node_or_of_several_is_an_error_and_drains_nothing(cluster: real.Cluster, name: str) -> None:
    """Slurm would take most of these for a list of nodes."""
    for ask in (lambda: Slurm().drain(name, "Xid 79", By.RUNNER), lambda: Slurm().read(name)):
        with pytest.raises(SchedulerError, match="scheduler_node"):
            ask()
    assert [cluster.state(node) for node in cluster.nodes] == ["idle", "idle"]


@pytest.mark.parametrize(
    ("daemon", "hint"),
    [pytest.param("slurmctld", "is slurmctld up?", marks=pytest.mark.nightly), ("munged", "is munged up")],
)
def test_a_scheduler_that_does_not_answer_is_told_in_time(cluster: real.Cluster, daemon: str, hint: str) -> None:
    """Nobody is called idle, or in use, by guess."""
    cluster.stop(daemon)
    began = time.monotonic()
    try:
        with pytest.raises(SchedulerError, match=hint):
            Slurm().read("n1")
        assert time.monotonic() - began < WITHIN
    finally:
        cluster.start(daemon)
        until(lambda: bool(cluster.state("n1")), f"{daemon} answers again")


def test_variables_of_a_persons_shell_hide_no_job(cluster: real.Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """The queue's command takes its filters and its format from the environment, too."""
    for name, value in {"SQUEUE_USERS": "nobody", "SQUEUE_PARTITION": "idle", "SQUEUE_FORMAT": "%j"}.items():
        monkeypatch.setenv(name, value)
    with cluster.job("n1"):
        assert judged("n1").observed["in_use"]
        assert len(judged("n1").observed["work"]) == 1


def test_without_slurms_commands_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runner's machine may have none."""
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(SchedulerError, match="install Slurm's client commands"):
        Slurm().read("n1")
