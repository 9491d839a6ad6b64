"""`dcgmi diag -j`, versions 2, 3 and 4."""

import json
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.dcgm import Outcome, Warned, parse
from tests.core.checks.catalogue.judging import text_of


def report(*results: dict[str, Any], root: str = "DCGM GPU Diagnostic", **test: Any) -> str:
    """Return a report of one test with these results."""
    tests = [{"name": "Diagnostic", "results": list(results)} | test]
    return json.dumps({root: {"test_categories": [{"category": "Hardware", "tests": tests}]}})


def test_version_3_reads_as_it_is_written() -> None:
    """Three tests of the software, three of two GPUs each."""
    found = parse(text_of("dcgm/v3_pass.json"))
    assert len(found.outcomes) == 9
    assert found.outcomes[3] == Outcome("Hardware", "GPU Memory", "GPU 0", "pass")
    assert found.version == "3.3.9"


def test_version_4_reads_as_it_is_written() -> None:
    """Another root, entities in place of GPU ids, severities beside the texts, serial numbers apart."""
    found = parse(text_of("dcgm/v4_persistence_off.json"))
    first = found.outcomes[0]
    assert (first.test, first.entity, first.status, first.severity) == ("software", "GPU 0", "fail", 5)
    assert first.message.startswith("Persistence mode for GPU 0")
    assert found.serials == {"GPU 0": "1650000000001", "GPU 1": "1650000000002"}
    assert (found.version, found.driver) == ("4.1.1", "570.86.15")


@pytest.mark.parametrize(("name", "status"), [("pass", "pass"), ("fail", "fail")])
def test_captured_reports_are_read(samples: Path, name: str, status: str) -> None:
    """Persistence mode is the one difference between the two."""
    found = parse((samples / "gpu" / f"gcm_dcgmi_diag_{name}_output.json").read_text(encoding="utf-8"))
    assert {outcome.test: outcome.status for outcome in found.outcomes}["Persistence Mode"] == status


@pytest.mark.parametrize(
    ("warnings", "severity", "message"),
    [
        ("a text", None, "a text"),
        (["one", "two"], None, "one; two"),
        ([{"error_severity": 5, "warning": "mode"}, {"error_severity": 2, "warning": "dead"}], 2, "mode; dead"),
        ([{"error_severity": 0, "warning": "x"}, {"error_severity": 5, "warning": "y"}], 5, "x; y"),
        ([{"error_severity": "high", "warning": "x"}], None, "x"),
        ([{"error_severity": True, "warning": "x"}, 7, None], None, "x"),
        ([{"error_severity": 10**400, "error_id": -3, "warning": ["x"]}], None, ""),
        (
            [{"error_severity": 6, "error_id": 85, "warnings": "said under\n another key"}],
            6,
            "said under another key",
        ),
        (None, None, ""),
    ],
)
def test_messages_are_read_in_every_form(warnings: object, severity: int | None, message: str) -> None:
    """What is about hardware outweighs what is about settings."""
    (found,) = parse(report({"gpu_ids": "0", "status": "Fail", "warnings": warnings})).outcomes
    assert (found.severity, found.message) == (severity, message)


@pytest.mark.parametrize(
    ("result", "entity"),
    [({}, ""), ({"gpu_id": 3}, "GPU 3"), ({"gpu_ids": "0,1"}, "GPU 0,1"), ({"gpu_ids": ""}, ""),
     ({"gpu_ids": []}, ""), ({"gpu_id": True}, ""), ({"entity_group": "Switch", "entity_id": 2}, "Switch 2")],
)  # fmt: skip
def test_who_a_result_is_about_is_read_in_every_form(result: dict[str, Any], entity: str) -> None:
    """Empty where it speaks for all."""
    assert parse(report({"status": "Pass"} | result)).outcomes[0].entity == entity


def test_lines_around_the_report_are_passed_over() -> None:
    """The tool says that it could not start its daemon, and goes on."""
    assert parse("Warning: something\n" + text_of("dcgm/v3_pass.json") + "\nBye.\n")


def test_what_a_test_says_of_no_entity_is_in_its_summary() -> None:
    """Version 4; a summary that only repeats its results adds nothing."""
    failed = {"status": "Fail", "warnings": [{"error_severity": 2, "error_id": 30, "warning": "slow"}]}
    (one, two) = parse(report({"gpu_id": 0, "status": "Pass"}, test_summary=failed)).outcomes
    assert (one.status, two) == (
        "pass", Outcome("Hardware", "Diagnostic", "", "fail", (Warned(2, 30, "slow"),))
    )  # fmt: skip
    assert len(parse(report({"gpu_id": 0, "status": "Fail"}, test_summary=failed)).outcomes) == 1
    assert len(parse(report({"gpu_id": 0, "status": "Pass"}, test_summary={"status": "Pass"})).outcomes) == 1
    bare = {
        "DCGM Diagnostic": {"test_categories": [{"category": "", "tests": [{"test_summary": {"status": "Skip"}}]}]}
    }
    assert parse(json.dumps(bare)).outcomes == (Outcome("", "", "", "skip"),)


@pytest.mark.parametrize(
    ("said", "status"), [("", "not run"), ("PASS", "pass"), ("SKIPPED", "skip"), ("Not Run", "not run")]
)
def test_statuses_are_read_as_each_version_spells_them(said: str, status: str) -> None:
    """An empty one is what DCGM has no word for."""
    assert parse(report({"gpu_id": 0, "status": said})).outcomes[0].status == status


def test_gaps_between_tests_are_passed_over() -> None:
    """Some versions leave null where a test is no longer valid."""
    tests = [None, {"name": "x", "results": [None, {"status": "Pass"}]}, None]
    text = json.dumps({"DCGM GPU Diagnostic": {"test_categories": [{"category": "", "tests": tests}, None]}})
    assert [outcome.test for outcome in parse(text).outcomes] == ["x"]


def test_serial_numbers_of_version_3_are_read() -> None:
    """Under a key of their own; what is no text is passed over."""
    raw = json.loads(report({"gpu_id": 0, "status": "Pass"}))
    assert parse(
        json.dumps(raw | {"GPU Device Serials": {"0": "165", "1": 7, "2": "<<<NOT_SUPPORTED>>>"}})
    ).serials == {"GPU 0": "165"}
    for odd in ("x", [7], [{"entities": 7}], [{"entities": [7, {"serial_num": 7}]}]):
        assert parse(json.dumps(raw | {"entity_groups": odd})).serials == {}


def test_several_iterations_are_one_report() -> None:
    """`--iterations 2`."""
    once = json.loads(report({"gpu_id": 0, "status": "Pass"}))
    twice = {"iterations": [once, once | {"version": "3.3.9"}], "Overall Result": "Pass"}
    found = parse(json.dumps(twice))
    assert (len(found.outcomes), found.version) == (2, "3.3.9")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Error: unable to establish a connection to the host engine", "is not JSON"),
        ('{"DCGM Diagnostic": {"Error": "x"}}', "test_categories"),
        (
            '{"DCGM Diagnostic": {"runtime_error": "no host\\nengine", "version": "4"}}',
            "could not run .*: no host engine",
        ),
        ('{"DCGM GPU Diagnostic": {"runtime_error": {"a": 1}}}', "could not run"),
        ('{"error": "x"}', "has none of"),
        ('{"DCGM Diagnostic": {"test_categories": []}}', "holds no test result"),
        ('{"iterations": []}', "holds no test result"),
        ('{"iterations": 7}', "expected a list"),
        (report({"status": "Maybe"}), "expected one of"),
        (report(), "has no results"),
        (report(*[{"status": "Pass"}] * 10_001), "holds 10001 test results, expected at most 10000"),
        ("[]", "expected an object"),
    ],
)
def test_what_is_no_report_is_refused_with_its_reason(text: str, message: str) -> None:
    """The tool's own failure condemns nothing."""
    with pytest.raises(EvidenceError, match=message):
        parse(text)
