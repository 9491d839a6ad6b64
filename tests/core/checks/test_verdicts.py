"""Verdicts survive their journey as JSON, and UNKNOWN never becomes FAIL."""

import json

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict, worst

FINDINGS = st.builds(
    Finding,
    code=st.text(),
    component=st.text(),
    message=st.text(),
    remedy=st.sampled_from(Remedy),
    fault=st.text(),
    nodes=st.lists(st.text(), max_size=3).map(tuple),
    steps=st.lists(st.text(), max_size=3).map(tuple),
    devices=st.lists(st.text(), max_size=3).map(tuple),
)
RESULTS = st.builds(
    Result,
    check=st.text(),
    verdict=st.sampled_from(Verdict),
    message=st.text(),
    findings=st.lists(FINDINGS, max_size=3).map(tuple),
    observed=st.dictionaries(st.text(), st.integers() | st.booleans() | st.text(), max_size=3),
    evidence=st.lists(st.text(), max_size=3).map(tuple),
)
VERDICTS = st.lists(st.sampled_from(Verdict)).map(tuple)


@given(RESULTS)
def test_a_result_is_the_same_after_json(result: Result) -> None:
    assert Result.from_json(json.loads(json.dumps(result.to_json()))) == result


@given(FINDINGS)
def test_a_finding_is_the_same_after_json(finding: Finding) -> None:
    assert Finding.from_json(json.loads(json.dumps(finding.to_json()))) == finding


def test_a_finding_from_before_devices_were_named_is_still_read() -> None:
    old = {
        key: value for key, value in Finding("c", "p", "m", Remedy.WATCH, "f").to_json().items() if key != "devices"
    }
    assert Finding.from_json(old).devices == ()


@given(VERDICTS)
def test_all_together_fail_only_if_one_failed(verdicts: tuple[Verdict, ...]) -> None:
    assert (worst(verdicts) is Verdict.FAIL) == (Verdict.FAIL in verdicts)


@given(VERDICTS)
def test_all_together_pass_only_if_some_passed_and_all_others_were_skipped(verdicts: tuple[Verdict, ...]) -> None:
    assert (worst(verdicts) is Verdict.PASS) == (set(verdicts) - {Verdict.SKIPPED} == {Verdict.PASS})


def test_no_answer_at_all_is_unknown() -> None:
    assert worst(()) is Verdict.UNKNOWN
