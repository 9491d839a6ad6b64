"""Jobs for BIOS settings: which of a queue's they are, which is open, and what became of the newest."""

from typing import Any

import pytest

from fleet_runner.core.firmware.bios_jobs import MOST_JOBS, Job, Queue, read

SETTINGS = "/redfish/v1/Systems/1/Bios/Settings"


def job(**said: Any) -> dict[str, Any]:
    """A job as a Dell shows it."""
    return {"Id": "JID_1", "JobType": "BIOSConfiguration", "JobState": "Scheduled", **said}


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (job(), Job("JID_1", "Scheduled")),
        (job(Message="Job in \x1b progress.", PercentComplete=34, JobState="Running"),
         Job("JID_1", "Running", "Job in \ufffd progress.", 34.0)),
        (job(JobType="FirmwareUpdate", TargetSettingsURI=f"{SETTINGS}/"), Job("JID_1", "Scheduled")),
        (job(JobType="FirmwareUpdate"), None),
        (job(JobType="FirmwareUpdate", TargetSettingsURI="/redfish/v1/Managers/1/Attributes"), None),
        (job(Id=None), None),
        (job(JobState=7), None),
        (job(Message=["odd"], PercentComplete="odd"), Job("JID_1", "Scheduled")),
    ],
)  # fmt: skip
def test_a_job_is_one_for_bios_settings_by_its_type_or_its_target(body: dict[str, Any], found: Job | None) -> None:
    assert read([body], SETTINGS) == ((found,) if found else ())


def test_a_job_without_a_type_is_none_where_nobody_knows_where_settings_wait() -> None:
    assert read([job(JobType=None, TargetSettingsURI="")]) == ()
    assert len(read([job()] * (MOST_JOBS + 1))) == MOST_JOBS


@pytest.mark.parametrize(
    ("states", "running", "scheduled", "lacking"),
    [
        ([], False, False, True),
        (["Completed", "Failed"], False, False, True),
        (["Completed", "Scheduled"], False, True, False),
        (["Running"], True, False, False),
        (["A state that nobody knows"], False, True, False),
    ],
)
def test_what_waits_lacks_a_job_where_none_is_open(
    states: list[str], running: object, scheduled: object, lacking: object
) -> None:
    queue = Queue(True, tuple(Job(f"JID_{at}", state) for at, state in enumerate(states)))  # noqa: FBT003  its one flag
    assert (bool(queue.running), bool(queue.scheduled), queue.lacking) == (running, scheduled, lacking)
    assert not Queue(jobs=queue.jobs).lacking


def test_the_newest_job_tells_why_it_failed() -> None:
    """Their numbers grow, and get longer."""
    jobs = (Job("JID_10", "Failed", "no power"), Job("JID_9", "Completed"))
    assert Queue(jobs=jobs).failure == "job JID_10 (Failed): no power"
    assert Queue(jobs=(*jobs, Job("JID_11", "Completed"))).failure == ""
    assert Queue().failure == ""


@pytest.mark.parametrize(
    ("said", "ended"),
    [
        ({"EndTime": "1970-01-01T01:00:00+01:00"}, 0.0),
        ({"CompletionTime": "1970-01-01T00:00:07Z"}, 7.0),
        ({"CompletionTime": "2026-01-01T00:00:00"}, None),
        ({"EndTime": "TIME_NA"}, None),
        ({}, None),
    ],
)
def test_a_job_ended_where_its_bmc_says_when_with_an_offset(said: Any, ended: float | None) -> None:
    assert read([job(JobState="Failed", **said)])[0].ended == ended


def test_a_job_is_told_with_how_far_it_is_while_it_runs() -> None:
    assert Job("JID_1", "Running", "", 34.0).told == "job JID_1 (Running, 34 %)"
    assert Job("JID_1", "Running").told == "job JID_1 (Running)"
    assert Job("JID_1", "Scheduled", "", 0.0).told == "job JID_1 (Scheduled)"
