"""NVIDIA's diagnostic."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.catalogue import CHECKS, dcgm
from fleet_runner.core.checks.check import Order
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers.dcgm import Outcome, Warned
from fleet_runner.core.checks.shared.dcgm_errors import BY_ERROR, OWN_TROUBLE, remedy
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import DEVICE, NODE, PROFILE, SMI, judged, remedies, text_of
from tests.core.checks.healthy.active_gpu import ended

FINE = {"category": "Stress", "tests": [{"name": "Stress", "results": [{"gpu_ids": "0,1", "status": "Pass"}]}]}


def diag(outcomes: list[dict[str, Any]], category: str = "Hardware", rc: int = 226, **more: Any) -> Result:
    """Judge a report of one test with these results beside a passing one."""
    tests = [{"name": more.pop("name", "Diagnostic"), "results": outcomes}]
    report = {"DCGM Diagnostic": {"test_categories": [{"category": category, "tests": tests}, FINE]}}
    return judged("dcgm", {"dcgm_job": ended(json.dumps(report | more), rc=rc)})


def failure(severity: int | None, gpu: str = "0", **more: Any) -> dict[str, Any]:
    """Return a failed result."""
    known = {} if severity is None else {"error_severity": severity}
    return {"gpu_ids": gpu, "status": "Fail", "warnings": [{"warning": "it broke", **known, **more}]}


def at_level(level: object, **more: Any) -> Expected:
    """Return what is expected, with the diagnostic at a level."""
    return Expected(NODE, PROFILE | {"active": {"dcgm": {"level": level, **more}}}, DEVICE)


@given(severity=st.sampled_from([0, 5]), gpus=st.lists(st.integers(0, 7), min_size=1), rc=st.integers(0, 255))
def test_no_number_of_configuration_failures_fails_a_node(severity: int, gpus: list[int], rc: int) -> None:
    """Whatever dcgmi exits with."""
    assert diag([failure(severity, str(gpu)) for gpu in gpus], rc=rc).verdict is not Verdict.FAIL


@given(error=st.sampled_from(sorted(OWN_TROUBLE)), severity=st.sampled_from([1, 2, 3, 4, 6]))
def test_no_trouble_of_the_diagnostic_itself_fails_a_node(error: int, severity: int) -> None:
    """It did not test, so nobody knows: not even PASS."""
    assert diag([failure(severity, error_id=error)]).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("severity", "asked"),
    [(1, Remedy.WATCH), (2, Remedy.TRIAGE), (3, Remedy.TRIAGE), (4, Remedy.TRIAGE), (6, Remedy.RESET),
     (77, Remedy.TRIAGE), (None, Remedy.TRIAGE)],
)  # fmt: skip
def test_a_failed_test_asks_for_what_its_severity_says(severity: int | None, asked: Remedy) -> None:
    """Without one, a test of the hardware is for a person."""
    result = diag([failure(severity)])
    assert result.verdict is Verdict.FAIL
    assert remedies(result) == {"dcgm.diagnostic": asked}
    assert result.message == "DCGM's Diagnostic failed on GPU 0: it broke"


@pytest.mark.parametrize(
    ("error", "asked"),
    [(80, Remedy.RMA), (84, Remedy.RECORD), (85, Remedy.RESET), (25, Remedy.RECORD), (120, Remedy.REBOOT)],
)
def test_an_error_number_says_more_than_its_severity(error: int, asked: Remedy) -> None:
    """Rows that were remapped rightly stay counted for ever; one that could not be sends the GPU back."""
    result = diag([failure(6, error_id=error)])
    assert remedies(result) == {"dcgm.diagnostic": asked}
    assert bool(result.findings[0].steps) is (asked is Remedy.RMA)
    assert set(BY_ERROR).isdisjoint(OWN_TROUBLE)


@pytest.mark.parametrize("severity", [0, 5])
def test_configuration_alone_never_fails_a_node(severity: int) -> None:
    """Persistence mode off exits 226 as well."""
    result = diag([failure(severity)])
    assert result.verdict is Verdict.PASS
    assert remedies(result) == {"dcgm.diagnostic": Remedy.RECORD}
    assert result.message == "1 test results passed, 1 only about settings"


def test_version_4_with_persistence_mode_off_passes() -> None:
    """The tests of the hardware ran all the same."""
    result = judged("dcgm", {"dcgm_job": ended(text_of("dcgm/v4_persistence_off.json"), rc=226)})
    assert result.verdict is Verdict.PASS
    assert result.observed["version"] == "4.1.1"


def test_captured_reports_of_both_kinds_never_fail(samples: Path) -> None:
    """Persistence mode off is no hardware; and above level 1 a report without a test of a GPU is half a one."""
    texts = {
        name: (samples / "gpu" / f"gcm_dcgmi_diag_{name}_output.json").read_text(encoding="utf-8")
        for name in ("pass", "fail")
    }
    assert judged("dcgm", {"dcgm_job": ended(texts["pass"])}, at_level(1)).verdict is Verdict.PASS
    assert "tested no GPU, expected its level 3" in judged("dcgm", {"dcgm_job": ended(texts["pass"])}).message
    result = judged("dcgm", {"dcgm_job": ended(texts["fail"], rc=226)})
    assert result.verdict is Verdict.UNKNOWN
    assert "because of the node's settings (Persistence Mode)" in result.message


def test_a_deployment_test_of_the_hardware_is_about_the_hardware() -> None:
    """A row that could not be remapped is found before any test runs."""
    remap = Outcome("Deployment", "Page Retirement/Row Remap", "", "fail")
    assert remedy(remap, dcgm.named(remap)) is Remedy.TRIAGE
    driver = Outcome("Deployment", "CUDA Main Library", "", "fail")
    assert remedy(driver, dcgm.named(driver)) is Remedy.RECORD
    warned = Outcome("Hardware", "Diagnostic", "", "warn")
    assert remedy(warned, "diagnostic") is Remedy.RECORD


@pytest.mark.parametrize(
    ("test", "code"),
    [("GPU Memory", "memory"), ("memory", "memory"), ("Pulse Test", "pulse_test"), ("EUD Test", "eud"),
     ("Targeted Stress", "targeted_stress"), ("targeted_stress", "targeted_stress"), ("???", "other"),
     ("Page Retirement/Row Remap", "page_retirement_row_remap"), ("New Thing", "other"), ("PCIe", "pcie"),
     ("Permissions and OS-related Blocks", "permissions_and_os_blocks")],
)  # fmt: skip
def test_a_test_keeps_its_name_over_versions(test: str, code: str) -> None:
    """An update must not make a second ticket of one fault."""
    assert remedies(diag([failure(2)], name=test)) == {f"dcgm.{code}": Remedy.TRIAGE}


def test_settings_that_kept_every_test_from_running_are_unknown() -> None:
    """A burn-in without a test is no burn-in."""
    names = ("Persistence Mode", "Environment Variables")
    tests = [{"name": name, "results": [{"status": "Fail"}]} for name in names]
    report = {"DCGM GPU Diagnostic": {"test_categories": [{"category": "Deployment", "tests": tests}]}}
    result = judged("dcgm", {"dcgm_job": ended(json.dumps(report), rc=226)})
    assert result.verdict is Verdict.UNKNOWN
    assert "(Environment Variables, Persistence Mode)" in result.message


def test_an_exit_status_without_a_failure_is_unknown() -> None:
    """One of the two lies."""
    result = diag([{"gpu_ids": "0", "status": "Pass"}])
    assert result.verdict is Verdict.UNKNOWN
    assert "exited with 226" in result.message


def test_a_gpu_that_was_not_tested_is_unknown() -> None:
    """It may have been skipped, or be gone."""
    text = text_of("dcgm/v3_pass.json").replace('"gpu_ids": "1"', '"gpu_ids": "0"')
    result = judged("dcgm", {"dcgm_job": ended(text)})
    assert (result.verdict, result.message) == (
        Verdict.UNKNOWN, "DCGM tested 1 of 2 GPUs; look at parts_gpu first"
    )  # fmt: skip
    bare = Expected(NODE, {"active": {"dcgm": {"level": 3}}})
    assert judged("dcgm", {"dcgm_job": ended(text)}, bare).verdict is Verdict.PASS


def test_a_test_that_fails_twice_on_one_gpu_is_one_fault() -> None:
    """The hardest remedy counts; and a result that speaks for all is about the GPUs."""
    result = diag([failure(2), failure(1), {"status": "Fail"}])
    assert [finding.component for finding in result.findings] == ["GPU 0", "GPUs"]
    assert result.findings[0].remedy is Remedy.TRIAGE


def test_a_gpu_is_named_by_the_address_of_its_serial_number() -> None:
    """The diagnostic numbers GPUs in an order of its own."""
    tests = [{"name": "memory", "results": [failure(2) | {"entity_group": "GPU", "entity_id": 0}]}]
    report = {
        "DCGM Diagnostic": {"test_categories": [{"category": "Hardware", "tests": tests}, FINE]},
        "GPU Device Serials": {"0": "1650000000002"},
    }
    texts = {"dcgm_job": ended(json.dumps(report), rc=226), "nvidia_smi": SMI}
    [finding] = judged("dcgm", texts).findings
    assert finding.component == "GPU 0000:9b:00.0"
    assert "(serial 1650000000002)" in finding.message
    [unknown] = judged("dcgm", {"dcgm_job": texts["dcgm_job"]}).findings
    assert unknown.component == "GPU 0"


@pytest.mark.parametrize(
    ("message", "component"),
    [("GPU 1 had uncorrectable memory errors and row remapping failed.", "GPU 1"), ("GPU 1 wrote to GPU 2", "GPUs")],
)
def test_early_versions_name_a_gpu_in_the_message_only(message: str, component: str) -> None:
    """Version 2."""
    result = diag([{"status": "Fail", "warnings": message}], category="Deployment", name="Page Retirement/Row Remap")
    assert [finding.component for finding in result.findings] == [component]


@pytest.mark.parametrize("text", ["Test was aborted early due to user signal", "Couldn't allocate at least 90.0% of"])
def test_trouble_of_its_own_is_known_by_its_words_too(text: str) -> None:
    """Where a version gives no numbers."""
    assert diag([{"gpu_ids": "0", "status": "Fail", "warnings": [text]}]).verdict is Verdict.UNKNOWN


def test_trouble_of_its_own_hides_no_fault() -> None:
    """Beside a fault of the hardware it weighs nothing."""
    mixed = failure(4, error_id=44)
    mixed["warnings"].append({"warning": "dead", "error_severity": 2, "error_id": 52})
    assert remedies(diag([mixed])) == {"dcgm.diagnostic": Remedy.TRIAGE}
    assert remedy(Outcome("", "", "", "fail", (Warned(None, None, "x"),)), "memory") is Remedy.TRIAGE


def test_a_diagnostic_that_cannot_run_is_unknown() -> None:
    """Its own failure condemns nothing."""
    said = "Error: Unable to complete diagnostic for group 2147483647.\n"
    result = judged("dcgm", {"dcgm_job": ended(said, rc=1)})
    assert result.verdict is Verdict.UNKNOWN
    assert result.message.startswith("it exited with 1, last output: Error: Unable to complete")
    assert "is not JSON" in judged("dcgm", {"dcgm_job": ended(said)}).message
    assert "it hung" in judged("dcgm", {"dcgm_job": ended("", rc=124, elapsed=3600)}).message
    assert "gone without an end" in judged("dcgm", {"dcgm_job": ended("", state="lost")}).message
    assert judged("dcgm", {"dcgm_job": ended("", state="running")}).observed["working"] is True


@pytest.mark.parametrize(("level", "seconds"), [(1, 10.0), (2, 120.0), (3, 900.0), (4, 5400.0)])
def test_the_order_takes_its_level_from_the_profile(level: int, seconds: float) -> None:
    """And as long as DCGM's guide says."""
    job = CHECKS["dcgm"].job
    assert job is not None
    found = job(at_level(level))
    assert (found.argv, found.seconds) == (("dcgmi", "diag", "-r", str(level), "-j"), seconds)


def test_the_order_takes_parameters_and_time_from_the_profile() -> None:
    """Level 3 where nothing is said."""
    order = dcgm.order(at_level(None, parameters="memory.is_allowed=true", seconds=60))
    assert isinstance(order, Order)
    assert order.argv == ("dcgmi", "diag", "-r", "3", "-p", "memory.is_allowed=true", "-j")
    assert order.seconds == 60.0
    with pytest.raises(EvidenceError, match=r"active\.dcgm\.level: found 7"):
        dcgm.order(at_level(7))
