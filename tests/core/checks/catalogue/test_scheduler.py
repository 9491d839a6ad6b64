"""What the scheduler says of a node becomes an answer, or UNKNOWN; never a guess."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import run
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.lifecycle.scheduler import By, marked

OURS = marked("n1", "REBOOT: Xid 79", By.RUNNER)
IDLE = "NodeName=n1 Arch=x86_64\n   State=IDLE ThreadsPerCore=1\n"


def drained(reason: str) -> str:
    """Return what Slurm shows of a drained node."""
    return f"{IDLE.replace('IDLE', 'IDLE+DRAIN')}   Reason={reason} [root@2026-01-02T03:04:05]\n"


def judged(**said: Any) -> Result:
    """Return the answer to what a scheduler said; Slurm, of n1, if nothing else is given."""
    text = json.dumps({"scheduler": "slurm", "name": "n1", "did": "read", **said})
    return run(CHECKS["scheduler"], {"scheduler_node": Reading("scheduler_node", ReadEnd.OK, text)}, Expected("n1"))


def test_a_drained_node_is_idle_when_nothing_runs_there() -> None:
    """And it says whose drain it is."""
    found = judged(did="drain", said={"shown": drained(OURS), "queued": ""})
    assert found.verdict is Verdict.PASS
    assert found.observed == {"in_use": False, "ours": True, "state": "idle+drain", "takes_work": False, "work": []}
    assert found.message.startswith("idle+drain, no work on it; kept free, by fleet-runner: fleet-runner: REBOOT")


def test_work_is_named() -> None:
    """A person asks its owner."""
    found = judged(said={"shown": IDLE, "queued": "7 RUNNING\n"})
    assert found.observed["in_use"] is True
    assert found.message == "idle, job 7 (running) on it"


def test_a_node_of_kubernetes_is_read_too() -> None:
    """With pods that are not waited for."""
    pod = {"name": "ml/web", "phase": "Running", "kind": "ReplicaSet", "mirror": False, "devices": False}
    node = {"name": "n1", "unschedulable": True, "notes": {}, "taints": [], "ready": "True", "pods": [pod]}
    found = judged(scheduler="kubernetes", said=node)
    assert found.verdict is Verdict.PASS
    told = "cordoned, no work on it, beside 1 pods without devices; kept free, not by fleet-runner: cordoned"
    assert found.message == told


def test_the_cluster_that_was_asked_is_named_whether_it_answers_or_not() -> None:
    node = {"name": "n1", "unschedulable": False, "notes": {}, "taints": [], "ready": "True", "pods": []}
    found = judged(scheduler="kubernetes", cluster="east", said=node)
    assert (found.verdict, found.message) == (Verdict.PASS, "cluster east: ready, no work on it")
    silent = judged(scheduler="kubernetes", cluster="east", trouble="does not answer")
    assert (silent.verdict, silent.message) == (Verdict.UNKNOWN, "cluster east: does not answer")
    assert found.observed["cluster"] == silent.observed["cluster"] == "east"
    assert judged(scheduler="kubernetes", trouble="x").observed == {}


def test_work_that_is_never_to_be_interrupted_is_observed() -> None:
    pod = {"name": "ml/web", "phase": "Running", "interruption": "never"}
    node = {"name": "n1", "unschedulable": True, "notes": {}, "taints": [], "ready": "True", "pods": [pod]}
    found = judged(scheduler="kubernetes", said=node)
    assert (found.observed["in_use"], found.observed["never"]) == (True, ["pod ml/web"])


def test_a_node_that_somebody_else_repairs_is_told_and_its_drain_is_no_trouble() -> None:
    """We did not drain it, so it may take work: that is theirs to decide."""
    node = {"name": "n1", "notes": {}, "taints": [], "ready": "True", "pods": [], "owner": "Karpenter (taint x)"}
    found = judged(scheduler="kubernetes", did="drain", said=node)
    assert (found.verdict, found.observed["owner"]) == (Verdict.PASS, "Karpenter (taint x)")
    assert "it is left to Karpenter (taint x)" in found.message


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"trouble": "slurmctld does not answer\x1b[2J"}, "slurmctld does not answer\ufffd"),
        ({"did": "drain", "said": {"shown": IDLE, "queued": ""}}, "was drained, but its scheduler shows it idle"),
        ({"did": "resume", "said": {"shown": drained(OURS), "queued": ""}}, "was resumed, but"),
        ({"said": "x"}, "expected an object"),
        ({"said": {}}, "expected the node n1"),
        ({"scheduler": "pbs", "said": {}}, "expected slurm or kubernetes"),
    ],
)
def test_what_cannot_be_told_is_unknown(said: dict[str, Any], why: str) -> None:
    """A scheduler that is silent, or that did not do what it was told."""
    found = judged(**said)
    assert found.verdict is Verdict.UNKNOWN
    assert why in found.message


def test_what_a_person_drained_passes_a_resume_and_is_told() -> None:
    """Nothing is to be done, and nothing is wrong with the node."""
    found = judged(did="resume", said={"shown": drained("disks, ask Kim"), "queued": ""})
    assert found.verdict is Verdict.PASS
    assert "not by fleet-runner: disks, ask Kim" in found.message


def test_a_node_that_no_scheduler_gives_work_is_skipped_and_needs_no_resume() -> None:
    """Its scheduler_node is empty."""
    assert judged(name="", did="drain").verdict is Verdict.SKIPPED
    assert judged(name="", did="resume").verdict is Verdict.PASS


@given(text=st.text(max_size=200))
def test_any_text_is_unknown_or_harmless(text: str) -> None:
    """Nothing condemns a node here."""
    reading = Reading("scheduler_node", ReadEnd.OK, text)
    found = run(CHECKS["scheduler"], {"scheduler_node": reading}, Expected("n1"))
    assert found.verdict is Verdict.UNKNOWN


def test_a_job_that_has_the_whole_node_is_observed() -> None:
    """Only where it does: what a fault has ended is then all that ran."""
    whole = f"{IDLE}   CfgTRES=cpu=2,gres/gpu=8\n   AllocTRES=cpu=2,gres/gpu=8\n"
    assert judged(said={"shown": whole, "queued": "7 RUNNING\n"}).observed["sole"] is True
    assert "sole" not in judged(said={"shown": IDLE, "queued": "7 RUNNING\n"}).observed
