"""How far a node's firmware is, as evidence and as sentences."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.firmware.catalogue import Activate
from fleet_runner.core.firmware.flash import Flash, Phase, Task, TaskEnd
from fleet_runner.core.firmware.progress_text import FirmwareStatus, Report, line, parse, span, under_way, versions

FLASH = Flash(
    7, "gpu-01", "BIOS", {"BIOS": "2.0"}, {"BIOS": "2.1"}, "bios.bin", "0" * 64, Activate.HOST_RESET, 1, 1800.0, 1,
    intended_at=1000.0, phase=Phase.SENT, task="/redfish/v1/TaskService/Tasks/7",
)  # fmt: skip

WORDS = st.text(max_size=20)
REPORTS = st.builds(
    Report,
    stand=st.sampled_from(FirmwareStatus),
    message=WORDS,
    steps=st.lists(st.dictionaries(WORDS, WORDS), max_size=2).map(tuple),
    flash=st.none() | st.just(under_way(FLASH)),
    notes=st.lists(WORDS, max_size=2).map(tuple),
    changed=st.booleans(),
    rebooted=st.booleans(),
)


@given(REPORTS)
def test_a_report_is_read_as_it_was_written(report: Report) -> None:
    assert parse(json.dumps(report.to_json()), "firmware_progress") == report


@given(st.text() | st.dictionaries(WORDS, WORDS | st.none()).map(json.dumps))
def test_anything_else_is_evidence_that_cannot_be_read(text: str) -> None:
    with pytest.raises(EvidenceError, match="firmware_progress"):
        parse(text, "firmware_progress")


@given(
    percent=st.none() | st.integers(0, 100),
    then=st.lists(st.sampled_from(["BMC", "CPLD"]), max_size=2),
    phase=st.sampled_from(Phase),
    attempt=st.integers(1, 3),
)
def test_a_line_says_percent_attempt_and_what_follows_where_there_are_any(
    percent: int | None, then: list[str], phase: Phase, attempt: int
) -> None:
    task = Task("/redfish/v1/TaskService/Tasks/7", TaskEnd.RUNNING, percent=percent)
    said = line(replace(FLASH, phase=phase, attempt=attempt), "the BMC writes it", 1180.0, task, then)
    assert said.startswith("BIOS 2.0 → 2.1")
    assert ("%" in said) is (percent is not None and phase is Phase.SENT)
    assert ("attempt" in said) is (attempt > 1)
    assert said.endswith(
        (f"; then {', '.join(then)}" if len(set(then)) == len(then) else f"; then 2 of {then[0]}")
        if then
        else "since 3 min"
    )


@given(words=st.text(st.sampled_from("a\x1b\x07\x9b\u202e[2J")))
def test_what_a_bmc_says_moves_no_terminal(words: str) -> None:
    """Neither by its own sentences nor by the versions that a flash has from it."""
    report = Report(FirmwareStatus.FAILED, words, notes=(words,))
    told = line(replace(FLASH, before={"BIOS": words}), words, 1030.0, Task("/t", TaskEnd.RUNNING, words), [words])
    for text in (report.message, *report.notes, told):
        assert not {"\x1b", "\x07", "\x9b", "\u202e"}.intersection(text)


def test_a_line_reads_like_this() -> None:
    task = Task("/redfish/v1/TaskService/Tasks/7", TaskEnd.RUNNING, percent=42)
    assert line(FLASH, "the BMC writes it", 1180.0, task, ["BIOS", "CPLD"]) == (
        "BIOS 2.0 → 2.1: the BMC writes it, 42 %, since 3 min; then BIOS, CPLD"
    )


def test_a_sentence_goes_on_and_steps_of_one_component_are_counted() -> None:
    said = line(FLASH, "two looks were the same.", 1010.0, None, ["BIOS", "PSU", "PSU", "CPLD"])
    assert said == "BIOS 2.0 → 2.1: two looks were the same, since 10 s; then BIOS, 2 of PSU, CPLD"


def test_a_bundle_says_how_many_entries_and_which_versions_it_changes() -> None:
    targets = {"HGX_0": "3", "HGX_1": "3", "HGX_2": "4", "HGX_3": "5"}
    bundle = replace(FLASH, component="HGX", before={"HGX_0": "1", "HGX_1": "1", "HGX_2": ""}, targets=targets)
    assert line(bundle, "sent", 1010.0) == "HGX (4 entries) 1 → 3, ? → 4 and 1 more: sent, since 10 s"


def test_seconds_become_minutes_and_a_clock_that_was_set_back_is_no_negative_time() -> None:
    assert (span(-5.0), span(119.0), span(600.0)) == ("0 s", "119 s", "10 min")
    assert versions({}, {}) == ""
