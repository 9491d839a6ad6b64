"""Only what is certain is FAIL; a catalogue or a BMC that cannot be read says nothing about the node."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.catalogue.firmware_update import CHECK, READ
from fleet_runner.core.checks.check import run
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from fleet_runner.core.firmware.progress_text import FirmwareStatus, Report
from tests.core.checks.catalogue.judging import documented


def judged(report: Report) -> Result:
    text = json.dumps(report.to_json())
    return documented(CHECK, run(CHECK, {READ: Reading(READ, ReadEnd.OK, text)}, Expected("gpu-01")))


@pytest.mark.parametrize(
    ("stand", "verdict", "working"),
    [
        (FirmwareStatus.DONE, Verdict.PASS, False),
        (FirmwareStatus.WORKING, Verdict.UNKNOWN, True),
        (FirmwareStatus.WAITING, Verdict.UNKNOWN, True),
        (FirmwareStatus.FAILED, Verdict.FAIL, False),
        (FirmwareStatus.REFUSED, Verdict.UNKNOWN, False),
        (FirmwareStatus.UNREAD, Verdict.UNKNOWN, False),
    ],
)
def test_every_stand_has_its_verdict(stand: FirmwareStatus, verdict: Verdict, working: bool) -> None:
    result = judged(Report(stand, "BIOS is at 2.0"))
    assert result.verdict is verdict
    assert result.observed.get("working", False) is working
    assert "BIOS is at 2.0" in result.message
    assert result.observed["state"] == stand.value


@given(st.text())
def test_what_is_no_report_is_unknown(text: str) -> None:
    result = run(CHECK, {READ: Reading(READ, ReadEnd.OK, text)}, Expected("gpu-01"))
    assert result.verdict is Verdict.UNKNOWN


def test_notes_are_told_with_a_pass() -> None:
    note = "BIOS stays at 2.0, which is accepted: 2.1 failed twice"
    assert judged(Report(FirmwareStatus.DONE, "all is right", notes=(note,))).message == f"all is right; {note}"


def test_a_failure_is_one_finding_of_its_component_that_says_what_to_do() -> None:
    [finding] = judged(Report(FirmwareStatus.FAILED, "BIOS is at 9.9", flash={"component": "BIOS"})).findings
    assert (finding.component, finding.remedy) == ("BIOS", Remedy.REFLASH)
    assert finding.fault == "gpu-01/firmware.failed/BIOS"
    assert any("fleet-runner retry gpu-01" in step for step in finding.steps)
    [other] = judged(Report(FirmwareStatus.FAILED, "nothing fits")).findings
    assert other.component == "firmware"
