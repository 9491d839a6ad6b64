"""How far a wipe is, written down and read again; and the text that is handed on with a node."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.core.lifecycle.wipe import certificate
from fleet_runner.core.lifecycle.wipe.planner import Item, Missing, Next
from fleet_runner.core.lifecycle.wipe.progress_text import Progress, parse, proven, record, to_json
from tests.core.lifecycle.wipe.looks import disk, report
from tests.making import a_finding, stored

ITEM = Item(disk(), Next.DONE, "it changed", report().method, report())


def test_what_is_written_down_is_read_again() -> None:
    told = Progress(check=True, trouble="why", records=(record(ITEM),), missing=(Missing("S2", "gone"),))
    text = json.dumps(to_json(told, {"lsblk": "{}"}, [{"key": "disk-S1"}]))
    assert parse(text) == told
    assert json.loads(text)["seen"] == {"lsblk": "{}"}


def test_a_record_holds_what_was_done_and_one_that_was_kept_stays_as_it_was() -> None:
    found = record(ITEM)
    assert (found["serial"], found["method"], found["commands"]) == ("S1", "format_erase", ["do it"])
    assert (found["started"], found["ended"], found["why"]) == (9_000.0, 9_002.0, "it changed")
    assert record(Item(disk(), Next.DONE, "it changed", kept=found)) == found
    bare = record(Item(disk(), Next.LEAVE, "removable"))
    assert (bare["method"], bare["commands"], bare["started"]) == ("", [], None)


def test_what_was_proven_is_found_in_what_results_observed() -> None:
    done, other = record(ITEM), record(Item(disk(2), Next.WAIT, "it runs"))
    assert proven([{"devices": [done, other, "x"]}, {"devices": None}, {}]) == {"disk-S1": done}


@pytest.mark.parametrize("row", [{}, {"key": "k", "name": "n", "why": 1, "next": "done"},
                                 {"key": "k", "name": "n", "why": "w", "next": "gone"}])  # fmt: skip
def test_a_device_that_is_not_whole_is_refused(row: dict[str, Any]) -> None:
    with pytest.raises(EvidenceError, match="expected a device"):
        parse(json.dumps({"devices": [row], "missing": []}))


def test_the_report_names_every_device_with_what_proves_it() -> None:
    found = stored(
        check="wiped", stage=Stage.WIPE, at=0.0, observed={"devices": [
            record(ITEM), record(Item(disk(2), Next.LEAVE, "removable")),
            record(Item(disk(3, firmware="F3"), Next.REFUSE, "in use", code="wipe.hurdle")), 7,
        ]}, verdict=Verdict.FAIL,
    )  # fmt: skip
    text = certificate.text(found, "hall A U1")
    assert text.startswith("Wipe of gpu-01, hall A U1\nResult 3 of 1970-01-01 00:00:00 UTC: NOT everything")
    assert "/dev/nvme1n1 (X 1, serial S1): erased\n" in text
    assert "  from      1970-01-01 02:30:00 UTC to 1970-01-01 02:30:02 UTC" in text
    assert "  command   do it\n  proof     it changed" in text
    assert "serial S2): not touched" in text
    assert "serial S3): NOT ERASED\n  firmware F3, 0.0 GB\n  because   in use" in text


def test_the_report_names_what_is_missing() -> None:
    gone = a_finding(code="wipe.missing", message="the disk with serial S9 is not there")
    assert "serial S9 is not there" in certificate.text(stored(gone, check="wiped"))


@given(st.dictionaries(st.sampled_from(["devices", "kind"]), st.none() | st.lists(st.dictionaries(
    st.sampled_from(["name", "next", "kind", "bytes", "commands", "method"]), st.none() | st.text() | st.integers()
))))  # fmt: skip
def test_a_report_can_be_made_of_any_result(observed: dict[str, Any]) -> None:
    assert certificate.text(stored(check="wiped", observed=observed)).startswith("Wipe of gpu-01\n")
