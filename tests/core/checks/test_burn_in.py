"""The burn-in's load and NVIDIA's diagnostic."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks import CHECKS, dcgm
from fleet_runner.core.checks.check import Order
from fleet_runner.core.parsers.dcgm import Outcome
from fleet_runner.core.verdicts import Remedy, Result, Verdict
from tests.core.checks.judging import NODE, PROFILE, Expected, burn_job, changed, judged, remedies, text_of

OK = text_of("gpu_burn/ok.txt")


def burn(output: str = OK, expected: Expected | None = None, /, **state: Any) -> Result:
    """Judge a burn-in job."""
    return judged("gpu_burn", {"gpu_burn_job": burn_job(output, **state)}, expected or Expected(NODE, PROFILE))


def test_a_load_that_runs_is_work_not_an_answer() -> None:
    """The reconciler looks again later."""
    result = burn("", state="running", elapsed=42)
    assert result.verdict is Verdict.UNKNOWN
    assert result.observed == {"working": True, "elapsed": 42.0, "seconds": 100.0}
    assert result.message == "it runs: 42 of 100 s (42%)"


def test_the_load_is_gpu_burn_on_tensor_cores_unless_the_profile_says_otherwise() -> None:
    """For as long as the profile asks."""
    job = CHECKS["gpu_burn"].job
    assert job is not None
    assert job(Expected(NODE, PROFILE)) == Order(("gpu_burn", "-tc", "100"), 100.0)
    own = PROFILE | {"burn_in": PROFILE["burn_in"] | {"argv": ["burn", "it"]}}
    assert job(Expected(NODE, own)) == Order(("burn", "it"), 100.0)


def test_a_faulty_gpu_fails_burn_in() -> None:
    """gpu-burn itself exits 0."""
    result = burn(text_of("gpu_burn/faulty.txt"))
    assert remedies(result) == {"gpu_burn.faulty": Remedy.TRIAGE}
    assert result.findings[0].fault == "gpu-01/gpu_burn.faulty/GPU 1"
    assert "4130 in the last count" in result.message


def test_a_gpu_that_counted_errors_fails_whatever_the_summary_says() -> None:
    """The summary only looks at the last stretch."""
    result = burn(text_of("gpu_burn/faulty.txt").replace("FAULTY", "OK"))
    assert remedies(result) == {"gpu_burn.faulty": Remedy.TRIAGE}


def test_a_faulty_gpu_fails_without_any_progress_line() -> None:
    """The summary is enough."""
    text = text_of("gpu_burn/faulty.txt")
    assert burn(text[text.index("Killing") :]).verdict is Verdict.FAIL


def test_a_gpu_slower_than_its_neighbours_fails() -> None:
    """Below 95 % of the node's median."""
    result = burn(OK.replace("51210", "40000"))
    assert remedies(result) == {"gpu_burn.slow": Remedy.TRIAGE}
    assert "GPU 1 reached 40000 Gflop/s, 88% of the node's median" in result.message


def test_a_gpu_that_was_not_loaded_fails() -> None:
    """The load found fewer GPUs than there should be."""
    result = burn(OK, changed("parts", {"gpu": {"count": 3}}))
    assert remedies(result) == {"gpu_burn.missing": Remedy.TRIAGE}


@pytest.mark.parametrize(
    ("state", "why"),
    [
        ({"state": "lost"}, "the load is gone without an end"),
        ({"elapsed": 50}, "the load ran 50 s, expected 100"),
        ({"seconds": 6}, "the load ran 6 s, expected 100"),
        ({"rc": 1}, "exited with 1"),
    ],
)
def test_a_load_that_did_not_run_to_its_end_proves_nothing(state: dict[str, Any], why: str) -> None:
    """It must run again, and nobody is condemned."""
    result = burn(OK, **state)
    assert result.verdict is Verdict.UNKNOWN
    assert why in result.message


@pytest.mark.parametrize(
    ("output", "why"),
    [("", "the load exited with 127; gpu-burn's output has no summary"),
     ("No such file or directory: 'gpu_burn'\n", "last said: No such file or directory: 'gpu_burn'")],
)  # fmt: skip
def test_a_load_that_died_says_its_last_word(output: str, why: str) -> None:
    """A missing tool is no broken GPU."""
    result = burn(output, rc=127)
    assert result.verdict is Verdict.UNKNOWN
    assert why in result.message


@pytest.mark.parametrize("output", [OK[OK.index("Killing") :], OK.replace("1310 (51210", "0 (0")])
def test_a_speed_that_is_not_told_is_unknown(output: str) -> None:
    """0 Gflop/s is a GPU that was not measured yet."""
    result = burn(output)
    assert result.verdict is Verdict.UNKNOWN
    assert "how fast" in result.message


def test_a_captured_run_passes_and_cutting_it_never_fails(samples: Path) -> None:
    """Eight real A100s, within two per cent of each other."""
    with gzip.open(samples / "gpu" / "superbench_gpu_burn.log.gz", "rt", encoding="utf-8", newline="") as file:
        text = file.read()
    expected = changed("parts", {"gpu": {"count": 8}})
    assert burn(text, expected).verdict is Verdict.PASS
    for end in range(0, len(text), 997):
        assert burn(text[:end], expected).verdict is not Verdict.FAIL


def diag(outcomes: list[dict[str, Any]], category: str = "Hardware", rc: int = 226) -> Result:
    """Judge a report of one test with these results beside a passing one."""
    tests = [{"name": "Diagnostic", "results": outcomes}]
    fine = {"category": "Stress", "tests": [{"name": "Stress", "results": [{"gpu_ids": "0", "status": "Pass"}]}]}
    report = {"DCGM Diagnostic": {"test_categories": [{"category": category, "tests": tests}, fine]}}
    return judged("dcgm", {"dcgm_diag": json.dumps(report)}, rc=rc)


def failure(severity: int | None, gpu: str = "0") -> dict[str, Any]:
    """Return a failed result."""
    known = {} if severity is None else {"error_severity": severity}
    return {"gpu_ids": gpu, "status": "Fail", "warnings": [{"warning": "it broke", **known}]}


@pytest.mark.parametrize(
    ("severity", "remedy"),
    [(1, Remedy.WATCH), (2, Remedy.TRIAGE), (3, Remedy.TRIAGE), (4, Remedy.TRIAGE), (6, Remedy.RESET),
     (77, Remedy.TRIAGE), (None, Remedy.TRIAGE)],
)  # fmt: skip
def test_a_failed_test_asks_for_what_its_severity_says(severity: int | None, remedy: Remedy) -> None:
    """Without one, a test of the hardware is for a person."""
    result = diag([failure(severity)])
    assert result.verdict is Verdict.FAIL
    assert remedies(result) == {"dcgm.diagnostic": remedy}
    assert result.message == "DCGM's Diagnostic failed on GPU 0: it broke"


@pytest.mark.parametrize("severity", [0, 5])
def test_configuration_alone_never_fails_a_node(severity: int) -> None:
    """Persistence mode off exits 226 as well."""
    result = diag([failure(severity)])
    assert result.verdict is Verdict.PASS
    assert remedies(result) == {"dcgm.diagnostic": Remedy.RECORD}
    assert result.message == "1 test results passed, 1 only about settings"


@given(severity=st.sampled_from([0, 5]), gpus=st.lists(st.integers(0, 7), min_size=1), rc=st.integers(0, 255))
def test_no_number_of_configuration_failures_fails_a_node(severity: int, gpus: list[int], rc: int) -> None:
    """Whatever dcgmi exits with."""
    assert diag([failure(severity, str(gpu)) for gpu in gpus], rc=rc).verdict is not Verdict.FAIL


def test_version_4_with_persistence_mode_off_passes() -> None:
    """The tests of the hardware ran all the same."""
    result = judged("dcgm", {"dcgm_diag": text_of("dcgm/v4_persistence_off.json")}, rc=226)
    assert result.verdict is Verdict.PASS


def test_captured_reports_of_both_kinds_never_fail(samples: Path) -> None:
    """Persistence mode off kept the tests from running: that is no PASS either."""
    texts = {
        name: (samples / "gpu" / f"gcm_dcgmi_diag_{name}_output.json").read_text(encoding="utf-8")
        for name in ("pass", "fail")
    }
    assert judged("dcgm", {"dcgm_diag": texts["pass"]}).verdict is Verdict.PASS
    result = judged("dcgm", {"dcgm_diag": texts["fail"]}, rc=226)
    assert result.verdict is Verdict.UNKNOWN
    assert "because of the node's settings (Persistence Mode)" in result.message


def test_a_deployment_test_of_the_hardware_is_about_the_hardware() -> None:
    """A row that could not be remapped is found before any test runs."""
    remap = Outcome("Deployment", "Page Retirement/Row Remap", "", "fail", None, "")
    assert dcgm.remedy(remap) is Remedy.TRIAGE
    driver = Outcome("Deployment", "CUDA Main Library", "", "fail", None, "")
    assert dcgm.remedy(driver) is Remedy.RECORD


def test_settings_that_kept_every_test_from_running_are_unknown() -> None:
    """A burn-in without a test is no burn-in."""
    names = ("Persistence Mode", "Environment Variables")
    tests = [{"name": name, "results": [{"status": "Fail"}]} for name in names]
    report = {"DCGM GPU Diagnostic": {"test_categories": [{"category": "Deployment", "tests": tests}]}}
    result = judged("dcgm", {"dcgm_diag": json.dumps(report)}, rc=226)
    assert result.verdict is Verdict.UNKNOWN
    assert "(Environment Variables, Persistence Mode)" in result.message


def test_an_exit_status_without_a_failure_is_unknown() -> None:
    """One of the two lies."""
    result = diag([{"gpu_ids": "0", "status": "Pass"}])
    assert result.verdict is Verdict.UNKNOWN
    assert "exited with 226" in result.message


def test_a_test_that_fails_twice_on_one_gpu_is_one_fault() -> None:
    """And a result that speaks for all is about the GPUs."""
    result = diag([failure(2), failure(2), {"status": "Fail"}])
    assert [finding.component for finding in result.findings] == ["GPU 0", "GPUs"]


def test_a_diagnostic_that_cannot_run_is_unknown() -> None:
    """Its own failure condemns nothing."""
    result = judged("dcgm", {"dcgm_diag": "Error: Unable to complete diagnostic for group 2147483647.\n"}, rc=1)
    assert result.verdict is Verdict.UNKNOWN
    assert judged("dcgm", {"dcgm_diag": ""}, rc=1).message == "dcgm_diag exited with 1; expected 0"
