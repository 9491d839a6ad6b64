"""`dcgmi diag -j`, versions 3 and 4."""

import json
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.core.errors import EvidenceError
from fleet_runner.core.parsers.dcgm import Outcome, parse
from tests.core.checks.judging import text_of


def report(result: dict[str, Any]) -> str:
    """Return a version 3 report of one test with one result."""
    tests = [{"name": "Diagnostic", "results": [result]}]
    return json.dumps({"DCGM GPU Diagnostic": {"test_categories": [{"category": "Hardware", "tests": tests}]}})


def test_version_3_reads_as_it_is_written() -> None:
    """Three tests of the software, three of two GPUs each."""
    found = parse(text_of("dcgm/v3_pass.json"))
    assert len(found) == 9
    assert found[3] == Outcome("Hardware", "GPU Memory", "GPU 0", "pass", None, "")


def test_version_4_reads_as_it_is_written() -> None:
    """Another root, entities in place of GPU ids, severities beside the texts."""
    found = parse(text_of("dcgm/v4_persistence_off.json"))
    assert (found[0].test, found[0].entity, found[0].status, found[0].severity) == ("software", "GPU 0", "fail", 5)
    assert found[0].message.startswith("Persistence mode for GPU 0")


@pytest.mark.parametrize(("name", "status"), [("pass", "pass"), ("fail", "fail")])
def test_captured_reports_are_read(samples: Path, name: str, status: str) -> None:
    """Persistence mode is the one difference between the two."""
    found = parse((samples / "gpu" / f"gcm_dcgmi_diag_{name}_output.json").read_text(encoding="utf-8"))
    assert {outcome.test: outcome.status for outcome in found}["Persistence Mode"] == status


@pytest.mark.parametrize(
    ("warnings", "severity", "message"),
    [
        ("a text", None, "a text"),
        (["one", "two"], None, "one; two"),
        ([{"error_severity": 5, "warning": "mode"}, {"error_severity": 2, "warning": "dead"}], 2, "mode; dead"),
        ([{"error_severity": 0, "warning": "x"}, {"error_severity": 5, "warning": "y"}], 5, "x; y"),
        ([{"error_severity": "high", "warning": "x"}], None, "x"),
        ([{"error_severity": True, "warning": "x"}, 7, None], None, "x"),
        (None, None, ""),
    ],
)
def test_messages_are_read_in_every_form(warnings: object, severity: int | None, message: str) -> None:
    """What is about hardware outweighs what is about configuration."""
    (found,) = parse(report({"gpu_ids": "0", "status": "Fail", "warnings": warnings}))
    assert (found.severity, found.message) == (severity, message)


@pytest.mark.parametrize(
    ("result", "entity"),
    [({}, ""), ({"gpu_id": 3}, "GPU 3"), ({"gpu_ids": "0,1"}, "GPU 0,1"), ({"gpu_ids": ""}, ""),
     ({"gpu_ids": []}, ""), ({"entity_group": "Switch", "entity_id": 2}, "Switch 2")],
)  # fmt: skip
def test_who_a_result_is_about_is_read_in_every_form(result: dict[str, Any], entity: str) -> None:
    """Empty where it speaks for all."""
    assert parse(report({"status": "Pass"} | result))[0].entity == entity


def test_lines_before_the_report_are_passed_over() -> None:
    """The tool says that it could not start its daemon, and goes on."""
    assert parse("Warning: something\n" + text_of("dcgm/v3_pass.json"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Error: unable to establish a connection to the host engine", "is not JSON"),
        ('{"DCGM Diagnostic": {"Error": "x"}}', "test_categories"),
        ('{"error": "x"}', "has none of"),
        ('{"DCGM Diagnostic": {"test_categories": []}}', "holds no test result"),
        (report({"status": "Maybe"}), "expected one of"),
        ("[]", "expected an object"),
    ],
)
def test_what_is_no_report_is_refused_with_its_reason(text: str, message: str) -> None:
    """The tool's own failure condemns nothing."""
    with pytest.raises(EvidenceError, match=message):
        parse(text)
