"""What a node is to run for its active tests."""

import json
from dataclasses import replace

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks import active
from fleet_runner.core.checks.check import Check, Order, Readings, run
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.lifecycle.runs import Outcome, Run
from fleet_runner.core.lifecycle.states import Stage
from tests.making import NOW, a_run

EXPECTED = Expected("gpu-01", {"active": {"disk": {}}})


def judge(readings: Readings, _expected: Expected) -> Result:
    """The verdict is what the job printed."""
    said = json.loads(next(iter(readings.values())).text)["output"]
    return Result("disk", Verdict(said), said)


def lacking(_expected: Expected) -> Order:
    """A profile without what the test needs."""
    raise EvidenceError("fleet_profile.active.disk.seconds: found None, expected a number")


DISK = Check("disk", "?", ("disk_job",), judge, active=True, section="active.disk",
             job=lambda _: Order(("fio", "x"), 100.0, helpers=("fiod",)))  # fmt: skip
READ = Check("read", "?", ("nvidia_smi",), judge, active=True)
STEADY = Check("steady", "?", ("uptime",), judge)


def test_what_the_profile_wants_is_ordered() -> None:
    """What it does not want is left out; what it does not tell enough about is refused, with the reason."""
    unwanted = replace(DISK, name="nvme", section="active.nvme")
    refused = replace(DISK, name="fio", job=lacking)
    made = active.plan([DISK, unwanted, refused, STEADY], EXPECTED)
    assert made.orders == {"disk": Order(("fio", "x"), 100.0, helpers=("fiod",))}
    readings = active.brought(made, {"disk": {"state": "running"}, "forged": {}})
    assert readings["disk_job"] == {"state": "running"}
    assert readings["fio_job"]["reason"].startswith("fleet_profile.active.disk.seconds: found None")
    assert readings.keys() == {"disk_job", "fio_job"}


@pytest.mark.parametrize(("trouble", "reason"), [("", "the node's answer lacks it"), ("no python", "no python")])
def test_a_node_that_does_not_answer_for_a_test_makes_it_unknown(trouble: str, reason: str) -> None:
    made = active.plan([DISK], EXPECTED)
    [reading] = active.brought(made, {"disk": "nonsense"}, trouble).values()
    assert (reading["state"], reading["reason"]) == ("refused", reason)


@pytest.mark.parametrize("told", [{}, {"state": None}, {"state": ["running"]}, {"state": "dancing"}])
def test_an_answer_without_a_state_that_is_known_is_none(told: dict[str, object]) -> None:
    """Nothing behind here looks whether a node sent what it should."""
    [reading] = active.brought(active.plan([DISK], EXPECTED), {"disk": told}).values()
    assert (reading["state"], reading["reason"]) == ("refused", "the node's answer lacks it")


def test_a_test_has_its_time_and_some_more() -> None:
    """Ten minutes at least, half of it where that is more."""
    short, long = (active.wire("disk", Order(("fio",), seconds)) for seconds in (100.0, 172_800.0))
    assert (short["limit"], long["limit"]) == (700.0, 259_200.0)
    assert (short["argv"], short["helpers"], "gave_way" in short) == (["fio"], [], False)


def test_under_slurm_a_test_is_work_of_its_own() -> None:
    """Slurm preempts it and says so."""
    job = active.wire("disk", Order(("fio", "x"), 100.0), ["--partition=idle"])
    assert job["argv"][0] == "srun"
    assert job["argv"][-5:] == ["--time=12", "--partition=idle", "--", "fio", "x"]
    assert job["gave_way"]["DUE TO PREEMPTION"] == "a job of Slurm"
    assert job["cancel"][-1] == "--name=fleet-runner-disk-{chain}"
    assert "--job-name=fleet-runner-disk-{chain}" in job["argv"]


def test_whose_work_counts_is_told_by_names_and_by_what_all_work_on_gpus_holds() -> None:
    way = active.gives_way(["slurmstepd"], ["our-exporter"], ["nvidia.com/gpu"])
    assert (way["devices"], way["names"], way["ignored"][-1]) == (
        ["/dev/nvidia-uvm", "/dev/kfd"],
        ["slurmstepd"],
        "our-exporter",
    )
    assert way["resources"] == ["nvidia.com/gpu"]


@pytest.mark.parametrize(("state", "checks"), [
    ("running", ("disk", "steady")), ("waiting", ("disk", "steady")), ("ended", ("disk", "read", "steady")),
])  # fmt: skip
def test_what_uses_the_node_by_being_read_waits_for_the_tests(state: str, checks: tuple[str, ...]) -> None:
    assert active.asked([DISK, READ, STEADY], {"disk_job": {"state": state}}) == checks


@pytest.mark.parametrize(("said", "fault"), [("FAIL", "disk"), ("PASS", ""), ("UNKNOWN", "")])
def test_after_a_fault_the_rest_need_not_run(said: str, fault: str) -> None:
    readings = {"disk_job": Reading("disk_job", ReadEnd.OK, json.dumps({"output": said}))}
    assert active.faulty([STEADY, replace(DISK, name="other"), DISK], readings, EXPECTED) == fault


def test_a_run_goes_on_with_the_tests_of_those_before_it_that_did_not_end() -> None:
    """A run that was lost, or could not be started, has ended nothing."""

    def look(number: int, outcome: Outcome | None, **values: object) -> Run:
        stage = {"stage": Stage.HEALTH_ACTIVE, "id": number, "opened_at": NOW + number}
        return a_run(outcome=outcome, **stage | values)

    before = [look(1, Outcome.PASSED), look(2, Outcome.WORKING), look(3, Outcome.LOST),
              look(4, Outcome.WORKING, fence=0), look(5, Outcome.WORKING),
              look(6, Outcome.PASSED, stage=Stage.HEALTH_PASSIVE)]  # fmt: skip
    assert active.began([*before, look(7, None)], look(7, None)) == NOW + 2
    silent = [look(number, Outcome.UNKNOWN, detail="unreachable: no route") for number in range(8, 14)]
    assert active.began([*before, *silent[:5], look(20, None)], look(20, None)) == NOW + 2
    assert active.began([*before, *silent, look(20, None)], look(20, None)) == NOW + 20
    assert active.began([look(1, Outcome.PASSED), silent[0]], look(20, None)) == NOW + 20
    unsure = look(8, Outcome.UNKNOWN, detail="dcgm: no nvidia-smi")
    assert active.began([*before, unsure], look(20, None)) == NOW + 20
    assert active.began([look(1, Outcome.PASSED)], look(2, None)) == NOW + 2
    assert active.began([look(1, Outcome.WORKING)], look(2, None)) == NOW + 1


def test_a_test_that_a_profile_names_and_says_nothing_about_is_unknown() -> None:
    """A slip of the pen must not leave it out in silence; what nobody names is no slip."""
    for named in ({"burn_in": {"tests": ["disk"]}}, {"health_active": {"tests": ["disk"]}}):
        stage = next(iter(named))
        expected = Expected("gpu-01", named)
        why = f"it is named in fleet_profile.{stage}.tests, but the profile has no active.disk"
        made = active.plan([DISK], expected)
        assert (made.orders, made.refused) == ({}, {"disk": why})
        result = run(DISK, {}, expected)
        assert (result.verdict, result.message) == (Verdict.UNKNOWN, why)
    for profile in ({"disks": {}}, {"burn_in": {"tests": 3}}, {"burn_in": {"tests": ["gpu_burn"]}}):
        assert active.plan([DISK], Expected("gpu-01", profile)) == active.Plan({}, {})
        assert run(DISK, {}, Expected("gpu-01", profile)).verdict is Verdict.SKIPPED


@pytest.mark.parametrize(
    ("key", "seconds"),
    [("burn_in-1763697123.5", 52 * 3600.0), ("health_active-1", 0.0), ("active-by-hand", 0.0), ("triage-1", 0.0)],
)
def test_a_chain_does_not_outlive_the_state_that_wants_it(key: str, seconds: float) -> None:
    """An hour's round has tests of minutes, each with its limit."""
    assert active.lasts(key) == seconds
