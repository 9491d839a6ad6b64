"""What BMCs say of their tasks, in every way that vendors have of saying it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.printable import printable
from fleet_runner.core.firmware import tasks
from fleet_runner.core.firmware.flash import TaskEnd

URI = "/redfish/v1/TaskService/Tasks/7"

WORDS = (
    "@odata.type", "TaskState", "TaskStatus", "JobState", "Messages", "Message", "MessageId", "Severity",
    "MessageSeverity", "PercentComplete", "StartTime", "EndTime", "Name", "Oem", "Dell", "error",
    "@Message.ExtendedInfo", "Completed", "Running", "Critical", "#Task.v1_4_2.Task", "42%", "2024-01-01T00:00:00Z",
    "Update.1.0.ApplyFailed", "Payload", "TargetUri", "JsonBody", '{"Targets": ["/x/A"], "ImageURI": "http://h/b.bin"}',
    "[" * 90_000,
)  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=6),
    max_leaves=20,
)
GOING_ON = (
    "New", "Starting", "Running", "Suspended", "Interrupted", "Pending", "Stopping", "Service", "Cancelling",
    "Scheduled", "Frobnicating", "", None, 7,
)  # fmt: skip
STATES = st.sampled_from([*tasks.ENDS, *GOING_ON])


@given(
    body=st.dictionaries(st.sampled_from(WORDS), JSON, max_size=8), status=st.sampled_from([200, 202, 204, 400, 500])
)
def test_whatever_a_bmc_says_a_task_comes_of_it(body: dict[str, Any], status: int) -> None:
    task = tasks.answered(URI, status, body)
    assert task.uri == URI
    assert task.percent is None or 0 <= task.percent <= 100
    assert len(task.messages) <= tasks.MOST_MESSAGES
    assert all(0 < len(text) <= tasks.MOST_LETTERS and printable(text) == text for text in task.messages)
    assert not any(letter in text for text in task.messages for letter in "\n\t")


def test_a_task_tells_of_the_request_that_began_it() -> None:
    """As DSP0268 has it: the body is JSON in a text; Dell writes the version into an entry's URI.

    OpenBMC's id of an image that went says nothing of the one that came.
    """
    entry = "/redfish/v1/UpdateService/FirmwareInventory"
    targets = [f"{entry}/BIOS", f"{entry}/4e9a7908", f"{entry}/Installed-0-28.39.3560__NIC.Slot.1-1-1", 7]
    body = {"Targets": targets, "ImageURI": "https://images.example/firmware/sub/bios_2.2.bin?token=x"}
    uri = "/redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate"
    found = tasks.read(URI, {"TaskState": "Running", "Payload": {"TargetUri": uri, "JsonBody": json.dumps(body)}})
    assert (found.asked, found.image) == (uri, "bios_2.2.bin")
    assert found.targets == ("BIOS", "Installed-0__NIC.Slot.1-1-1")


@pytest.mark.parametrize(
    "payload",
    [
        None, "x", {}, {"JsonBody": None}, {"JsonBody": "not JSON"}, {"JsonBody": "[1]"}, {"JsonBody": "[" * 90_000},
        {"JsonBody": '{"Targets": "x", "ImageURI": 7}'}, {"JsonBody": '{"x": "' + "y" * tasks.MOST_PAYLOAD + '"}'},
    ],
)  # fmt: skip
def test_a_task_without_a_usable_request_tells_nothing_of_it(payload: Any) -> None:
    found = tasks.read(URI, {"TaskState": "Running", "Payload": payload})
    assert (found.asked, found.targets, found.image) == ("", (), "")


def test_a_monitor_that_waits_keeps_what_its_task_tells() -> None:
    body = {"TaskState": "Completed", "Name": "Update", "EndTime": "2026-01-01T00:00:00Z"}
    found = tasks.answered(URI, 202, {**body, "Payload": {"TargetUri": "/x"}})
    assert (found.state, found.ended_at, found.asked, found.name) == (TaskEnd.RUNNING, None, "/x", "Update")


@given(state=STATES, more=st.dictionaries(st.sampled_from(WORDS), JSON, max_size=6))
def test_a_task_is_over_only_where_its_state_says_so(state: Any, more: dict[str, Any]) -> None:
    """A critical message, 100 % or an end time alone end nothing: what still writes must not be disturbed."""
    task = tasks.read(URI, {**more, "TaskState": state, "JobState": None, "Oem": None})
    assert (task.state in {TaskEnd.DONE, TaskEnd.FAILED}) == (str(state).lower() in tasks.ENDS)


@pytest.mark.parametrize("word", ["Scheduled", "PendingReboot", "RebootPending"])
def test_a_job_that_waits_for_the_host_is_neither_over_nor_running(word: str) -> None:
    """As an iDRAC says it: the task calls it Starting, its job Scheduled. An end that any part tells goes before."""
    body = {"TaskState": "Starting", "Oem": {"Dell": {"JobState": word}}}
    assert tasks.read(URI, body).state is TaskEnd.STAGED
    assert tasks.read(URI, {**body, "TaskState": "Exception"}).state is TaskEnd.FAILED
    assert tasks.answered(URI, 202, body).state is TaskEnd.STAGED


@given(more=st.dictionaries(st.sampled_from(WORDS), JSON, max_size=6))
def test_a_completed_task_with_a_critical_status_or_message_has_failed(more: dict[str, Any]) -> None:
    assert tasks.read(URI, {**more, "TaskState": "Completed", "TaskStatus": "Critical"}).state is TaskEnd.FAILED
    said = [{"MessageId": "Base.1.12.Success", "MessageSeverity": "Critical"}]
    assert tasks.read(URI, {**more, "TaskState": "Completed", "Messages": said}).state is TaskEnd.FAILED


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ([], TaskEnd.DONE),
        (None, TaskEnd.DONE),
        ({"not": "a list"}, TaskEnd.DONE),
        (["text", 7, None], TaskEnd.DONE),
        ([{"MessageId": "Update.1.0.UpdateSuccessful", "Severity": "OK"}], TaskEnd.DONE),
        ([{"MessageId": "Update.1.0.AwaitToActivate", "Severity": "Warning"}], TaskEnd.DONE),
        ([{"MessageId": "TaskEvent.1.0.TaskCompletedWarning", "Severity": "Warning"}], TaskEnd.DONE),
        ([{"MessageId": "Vendor.1.0.NoFailuresDetected", "Severity": "OK"}], TaskEnd.DONE),
        ([{"MessageId": "Update.1.0.ApplyFailed"}], TaskEnd.FAILED),
        ([{"MessageId": "Update.1.0.VerificationFailed", "Severity": "Warning"}], TaskEnd.FAILED),
        ([{"MessageId": "SMC.1.0.OemUpdateFailed", "Severity": "OK"}], TaskEnd.FAILED),
        ([{"MessageId": "TaskEvent.1.0.TaskAborted"}], TaskEnd.FAILED),
        ([{"MessageId": "FWUPDATE_FAILURE"}], TaskEnd.FAILED),
        ([{"MessageId": "X.1.TransferringToComponent"}, {"Severity": "Critical", "Message": "no"}], TaskEnd.FAILED),
        ([{"MessageId": ["odd"], "Severity": {"odd": 1}}], TaskEnd.DONE),
    ],
)
def test_messages_of_a_completed_task_are_believed_where_they_say_that_it_failed(said: Any, state: TaskEnd) -> None:
    assert tasks.read(URI, {"TaskState": "Completed", "TaskStatus": "OK", "Messages": said}).state is state


@pytest.mark.parametrize(
    ("found", "percent"),
    [
        (0, 0), (42, 42), (42.9, 42), (100, 100), (101, 100), (255, 100), (-1, None), ("42", 42), ("42%", 42),
        (" 42.5 % done.", 42), ("50% done.", 50), ("9999", 100), ("many", None), ("", None), (None, None),
        (True, None), ([], None), (float("nan"), None), (float("inf"), None), (-0.5, 0),
    ],
)  # fmt: skip
def test_a_percentage_is_a_number_from_0_to_100_or_none(found: object, percent: int | None) -> None:
    assert tasks.percent(found) == percent
    assert tasks.read(URI, {"PercentComplete": found}).percent == percent


@pytest.mark.parametrize(
    ("found", "at"),
    [
        ("2024-02-26T22:38:51+00:00", 1708987131.0),
        ("2024-02-26T22:38:51Z", 1708987131.0),
        ("2024-02-26T23:38:51+01:00", 1708987131.0),
        ("2024-02-26T22:38:51", 1708987131.0),
        ("2024-02-26T22:38:51.000000Z", 1708987131.0),
        ("1970-01-01T00:00:00Z", None),
        ("2000-01-01T00:00:00", None),
        ("0001-01-01T00:00:00", None),
        ("TIME_NA", None),
        ("9999-12-31T23:59:59-14:00", 253402351199.0),
        ("", None),
        (None, None),
        (1708987131, None),
    ],
)
def test_a_time_is_a_moment_or_none(found: object, at: float | None) -> None:
    assert tasks.moment(found) == at
    task = tasks.read(URI, {"StartTime": found, "EndTime": found}, skew=60.0)
    zoned = isinstance(found, str) and found.endswith(("Z", ":00")) and len(found) > len("2000-01-01T00:00:00")
    assert task.started_at == (None if at is None else at + 60)
    assert task.ended_at == (None if at is None or not zoned else at + 60)


def test_an_end_is_the_first_time_that_says_its_zone() -> None:
    """Dell's jobs give local time without one, which may be hours off, or TIME_NA."""
    at, local = "2024-02-26T22:38:51Z", "2024-02-26T22:38:51"
    for body, ended in (
        ({"EndTime": "TIME_NA", "CompletionTime": at}, 1708987131.0),
        ({"EndTime": local, "CompletionTime": at}, 1708987131.0),
        ({"EndTime": at, "CompletionTime": "2024-02-26T22:38:59Z"}, 1708987131.0),
        ({"CompletionTime": local}, None),
    ):
        assert tasks.read(URI, {"JobState": "Completed", **body}).ended_at == ended


def test_a_monitor_that_still_waits_runs_whatever_its_task_shows() -> None:
    """202 without a body, with a message, with the task; and with a task that says that it is over."""
    accepted = {"error": {"@Message.ExtendedInfo": [{"MessageId": "Base.1.0.Accepted", "Message": "wait"}]}}
    task = {"@odata.type": "#Task.v1_4_2.Task", "TaskState": "Completed", "PercentComplete": 99, "Name": "Update"}
    for body in (None, {}, accepted, task, {**task, "TaskState": "Running"}):
        assert tasks.answered(URI, 202, body).state is TaskEnd.RUNNING
    assert tasks.answered(URI, 202, task).percent == 99


def test_a_monitor_whose_wait_is_over_answers_what_became_of_the_operation() -> None:
    def error(severity: str, name: str = "Base.1.8.Something") -> dict[str, Any]:
        return {"error": {"@Message.ExtendedInfo": [{"MessageId": name, "Severity": severity, "Message": "as told"}]}}

    assert tasks.answered(URI, 204, None).state is TaskEnd.DONE
    assert tasks.answered(URI, 200, {"anything": 1}).state is TaskEnd.DONE
    assert tasks.answered(URI, 200, error("OK")).state is TaskEnd.DONE
    assert tasks.answered(URI, 200, error("Critical")).state is TaskEnd.FAILED
    assert tasks.answered(URI, 400, None).state is TaskEnd.FAILED
    failed = tasks.answered(URI, 400, error("Warning"))
    assert (failed.state, failed.messages) == (TaskEnd.FAILED, ("as told",))


def test_a_job_of_dell_says_its_state_in_its_own_part() -> None:
    job = {"@odata.type": "#Task.v1_4_3.Task", "TaskState": "Completed", "TaskStatus": "OK", "PercentComplete": None}
    dell = {"JobState": "CompletedWithErrors", "PercentComplete": 100, "Message": "The package is not for this one."}
    task = tasks.read(URI, {**job, "Oem": {"Dell": dell}})
    assert (task.state, task.percent, task.messages) == (TaskEnd.FAILED, 100, ("The package is not for this one.",))
    waits = tasks.read(URI, {"@odata.type": "#DellJob.v1_0_1.DellJob", "JobState": "Scheduled", "Message": "Waits."})
    assert (waits.state, waits.messages) == (TaskEnd.STAGED, ("Waits.",))
    both = tasks.read(URI, {**job, "TaskState": "Running", "Oem": {"Dell": {"JobState": "Failed"}, "Odd": 7}})
    assert both.state is TaskEnd.FAILED


def test_what_went_wrong_is_told_first_then_the_newest_of_the_rest_and_nothing_twice() -> None:
    said = [{"Message": f"step {number}", "Severity": "OK"} for number in range(20)]
    bad = {"Message": "\x1b[31mno\nroom\u202e", "Severity": "Critical"}
    task = tasks.read(URI, {"TaskState": "Exception", "Messages": [*said, bad, bad]})
    assert task.messages == ("\ufffd[31mno room\ufffd", "step 16", "step 17", "step 18", "step 19")


def test_a_real_task_of_a_dgx_that_failed_says_why() -> None:
    body = {
        "@odata.type": "#Task.v1_4_2.Task",
        "Description": "Task for Computer Reset",
        "EndTime": "2024-05-12T03:03:15+00:00",
        "Messages": [
            {"MessageId": "Base.1.12.ActionNotSupported", "Message": "It did not change.", "Severity": "Critical"}
        ],
        "Name": "Computer Reset",
        "StartTime": "2024-05-12T03:02:51+00:00",
        "TaskState": "Exception",
        "TaskStatus": "OK",
    }
    task = tasks.answered(URI, 200, body)
    assert (task.state, task.name, task.percent) == (TaskEnd.FAILED, "Computer Reset", None)
    assert task.messages == ("It did not change.",)
    assert (task.started_at, task.ended_at) == (1715482971.0, 1715482995.0)
