"""Tests of ours on the GPUs are nobody's use of them."""

import json

import pytest

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import run
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Result, Verdict
from tests.core.checks.catalogue.judging import SMI

NOW = 1000.0
FILE = "/run/fleet-runner/jobs/health_active-1/processes"


def used(*pids: str, percent: int = 99) -> str:
    """A report whose GPUs are loaded by processes."""
    listed = "".join(f"<process_info><pid>{pid}</pid></process_info>" for pid in pids)
    return SMI.replace("<processes>", f"<processes>{listed}").replace("<gpu_util>0 %", f"<gpu_util>{percent} %")


def judged(smi: str, jobs: object, at: float = NOW) -> Result:
    """What is said of a node on which chains tell their processes."""
    text = jobs if isinstance(jobs, str) else json.dumps(jobs)
    readings = {
        "nvidia_smi": Reading("nvidia_smi", ReadEnd.OK, smi, at=at),
        "our_jobs": Reading("our_jobs", ReadEnd.OK, text, at=at),
    }
    return run(CHECKS["gpu_usage"], readings, Expected("gpu-01"))


def told(*pids: object, at: object = NOW - 3) -> dict[str, str]:
    """What a chain that runs tells."""
    return {FILE: json.dumps({"at": at, "job": "gpu_burn", "pids": list(pids)})}


def test_a_node_that_only_our_tests_use_is_idle() -> None:
    """A person's reboot need not wait for them."""
    result = judged(used("7", "8"), told(7, 8))
    assert (result.verdict, result.message) == (Verdict.PASS, "no GPU is in use, except by fleet-runner's own tests")
    assert result.observed["in_use"] is False
    assert result.observed["ours"] == 2 * SMI.count("<processes>")


def test_load_without_a_process_beside_our_tests_is_a_tenants() -> None:
    """A test of disks is on no GPU; the process that loads one is hidden from the node."""
    assert judged(used(), told(7)).observed == {"in_use": True, "processes": 0, "ours": 0}
    assert judged(used(percent=0), told(7)).observed == {"in_use": False, "processes": 0, "ours": 0}


def test_a_tenant_beside_our_tests_uses_the_node() -> None:
    result = judged(used("7", "9"), told(7))
    assert result.observed["in_use"] is True
    assert result.message.endswith(", besides fleet-runner's own tests")


@pytest.mark.parametrize(
    "jobs",
    [
        {},
        {FILE: None},
        {FILE: ""},
        {FILE: "{"},
        "nonsense",
        told(7, at=NOW - 60),
        told(7, at=None),
        told("7", 1.5, *[True]),
        {FILE: json.dumps({"at": NOW, "pids": 7})},
    ],
)
def test_what_cannot_be_told_for_ours_is_somebodys(jobs: object) -> None:
    """Old news too: the supervisor was killed, and its numbers may be another's."""
    observed = judged(used("7"), jobs).observed
    assert (observed["in_use"], observed["processes"]) == (True, SMI.count("<processes>"))
