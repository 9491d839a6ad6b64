"""The check `wiped`: everything of the node is proven erased, or a person is told what is not."""

import json
from typing import Any

import pytest

from fleet_runner.core.checks.catalogue.wiped import REFUSED
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from fleet_runner.core.lifecycle.wipe.planner import STEPS, Next
from tests.core.checks.catalogue.judging import NODE, judged


def device(what: str, number: int = 1, **more: Any) -> dict[str, Any]:
    """Return a device of which that follows."""
    name = f"/dev/nvme{number}n1 (X, serial S{number})"
    return {"key": f"disk-S{number}", "name": name, "next": what, "why": f"because {what}"} | more


def wiped(*devices: dict[str, Any], **more: Any) -> Result:
    """Judge a wipe."""
    return judged("wiped", {"wipe_progress": json.dumps({"devices": devices, "missing": [], **more})})


def test_a_node_passes_once_each_device_is_proven_erased() -> None:
    result = wiped(device("done", method="format_erase"), device("done", 2), device("leave", 3))
    assert result.verdict is Verdict.PASS
    assert "2 devices are erased: /dev/nvme1n1 (X, serial S1) by format_erase (because done)" in result.message
    assert [finding.remedy for finding in result.findings] == [Remedy.RECORD]
    assert len(result.observed["devices"]) == 3


@pytest.mark.parametrize("what", ["wait", "erase"])
def test_while_anything_is_being_erased_the_work_goes_on_whatever_else_failed(what: str) -> None:
    result = wiped(device("done"), device(what, 2), device("refuse", 3, code="wipe.model"))
    assert (result.verdict, result.observed["working"]) == (Verdict.UNKNOWN, True)
    assert result.message.startswith("1 of 2 devices are erased; /dev/nvme2n1")


def test_each_device_that_cannot_be_erased_is_a_fault_of_its_own_with_its_step() -> None:
    refused = [device("refuse", number, code="wipe.hurdle", steps=["Do that."]) for number in (1, 2)]
    result = wiped(*refused, device("done", 3))
    assert result.verdict is Verdict.FAIL
    assert {finding.fault for finding in result.findings} == {f"{NODE}/wipe.hurdle/disk-S{n}" for n in (1, 2)}
    assert result.findings[0].steps == ("Do that.",)
    assert "is not erased: because refuse" in result.message


def test_a_disk_that_is_missing_is_a_fault() -> None:
    result = wiped(device("done"), missing=[{"what": "S9", "why": "the disk with serial S9 is not there"}])
    assert (result.verdict, result.findings[0].code) == (Verdict.FAIL, "wipe.missing")
    assert "serial S9 is not there: its data is not erased" in result.message


def test_a_device_that_cannot_be_read_makes_a_pass_unknown_but_excuses_no_fault() -> None:
    assert wiped(device("done"), device("unread", 2)).verdict is Verdict.UNKNOWN
    assert wiped(device("refuse", code="wipe.model"), device("unread", 2)).verdict is Verdict.FAIL


def test_where_nothing_could_be_decided_that_is_the_answer() -> None:
    result = wiped(trouble="the profile does not say what a wipe may erase")
    assert (result.verdict, result.message) == (
        Verdict.UNKNOWN,
        "the profile does not say what a wipe may erase",
    )


def test_check_mode_says_what_would_become_of_each_device_and_proves_nothing() -> None:
    gone = [{"what": "S9", "why": "it is gone"}]
    result = wiped(*(device(what, n) for n, what in enumerate(Next, 1)), missing=gone, check=True)
    assert result.verdict is Verdict.UNKNOWN
    assert "working" not in result.observed
    assert result.message.startswith("check mode, nothing was erased. To be erased: /dev/nvme1n1")
    for part in (
        "Being erased",
        "Erased already",
        "Cannot be erased",
        "Not readable",
        "Missing: it is gone",
        "Not the",
    ):
        assert part in result.message


def test_every_way_to_refuse_a_disk_is_documented() -> None:
    """The planner says what to do about it; the check's page says what it is."""
    assert REFUSED.keys() == STEPS.keys()
