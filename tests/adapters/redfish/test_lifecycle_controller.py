"""What an iDRAC says of its Lifecycle Controller and its jobs, read from an emulated one."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.redfish import Bmc
from fleet_runner.adapters.redfish.lifecycle_controller import listed
from fleet_runner.adapters.redfish.updates import Updates, Upload
from fleet_runner.core.base.errors import BmcError
from fleet_runner.core.firmware.flash import TaskEnd
from fleet_runner.lab.redfish import Durations, Emulator, images, load
from fleet_runner.lab.redfish.trees import OUR_OWN, ROOT, Tree
from tests.reconcile.firmware.driver import dell
from tests.waiting import until

USER = ("admin", "correct horse")
TASKS = f"{ROOT}/TaskService/Tasks"
JOB = "JID_000000000001"
ON_RESET = {"@Redfish.OperationApplyTime": "OnReset"}


@contextmanager
def idrac(tree: Tree | None = None, rules: list[Any] | None = None) -> Iterator[tuple[Emulator, Updates]]:
    """Run an iDRAC, and read it."""
    with (
        Emulator(tree or dell.tree(), credentials=USER, pace=Durations.quick(), rules=rules or ()) as bmc,
        Bmc(bmc.url, *USER) as client,
    ):
        yield bmc, Updates(client)


def image(folder: Path) -> Upload:
    """An image for the BIOS."""
    images.write(folder / "bios.bin", {dell.BIOS: "2.1"})
    return Upload(folder / "bios.bin")


def state(updates: Updates) -> TaskEnd | None:
    """What the job says its state is."""
    task = updates.task(f"{TASKS}/{JOB}")
    return task.state if task else None


def test_a_controller_that_takes_no_jobs_says_so_and_one_that_does_says_nothing() -> None:
    with idrac() as (bmc, updates):
        assert updates.unready() == ""
        bmc.unready(600.0)
        assert updates.unready() == "its Lifecycle Controller is NotReady, and is asked again"


def told(**answer: Any) -> list[Any]:
    """A rule by which the controller's status is so."""
    return [{"when": {"event": "request", "uri": "*GetRemoteServicesAPIStatus"}, "what": {"answer": answer}}]


@pytest.mark.parametrize("status", [403, 404, 405, 501])
def test_an_idrac_that_does_not_tell_of_its_controller_takes_images(status: int) -> None:
    with idrac(rules=told(status=status)) as (_, updates):
        assert updates.unready() == ""


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Ready", ""),
        (None, ""),
        ("Disabled", "its Lifecycle Controller is Disabled: enable it in the iDRAC's settings"),
        ("Recovery", "its Lifecycle Controller is Recovery: repair it in the iDRAC's settings"),
        (["Ready"], "its Lifecycle Controller is ['Ready'], and is asked again"),
        ({}, "its Lifecycle Controller is {}, and is asked again"),
        ("\x1b[2J" + "x" * 90, f"its Lifecycle Controller is \ufffd[2J{'x' * 36}, and is asked again"),
    ],
)
def test_whatever_a_controller_says_of_itself_is_a_bearable_sentence(said: object, shown: str) -> None:
    with idrac() as (bmc, updates):
        bmc.unready(600.0, said)
        assert updates.unready() == shown


@pytest.mark.parametrize(
    "tree",
    [
        load(OUR_OWN),
        dell.tree().changed({dell.LIFECYCLE: {"Actions": None}}),
        dell.tree().changed({f"{ROOT}/Managers/1": {"Links": None}}),
        dell.tree().changed({ROOT: {"Managers": None}}),
    ],
    ids=["another maker's", "no such action", "no links", "no managers"],
)
def test_a_bmc_that_has_no_such_thing_is_ready(tree: Tree) -> None:
    with idrac(tree) as (bmc, updates):
        bmc.unready(600.0)
        assert updates.unready() == ""


def test_a_controller_that_cannot_be_asked_is_not_taken_for_ready() -> None:
    with idrac(rules=told(status=500)) as (_, updates), pytest.raises(BmcError, match="answered 500"):
        updates.unready()


def test_a_staged_job_is_told_apart_and_its_end_is_read_where_its_task_is_gone(tmp_path: Path) -> None:
    rules = [{"when": {"event": "apply"}, "what": "delete_task"}]
    with idrac(rules=rules) as (bmc, updates):
        assert updates.send(image(tmp_path)) == f"{TASKS}/{JOB}"
        until(lambda: bmc.events("staged"), "it is staged")
        until(lambda: state(updates) is TaskEnd.STAGED, "its job says so")
        bmc.start_host()
        until(lambda: bmc.events("update_done"), "it is written")
        until(lambda: not updates.tasks(), "its task is gone")
        found = updates.task(f"{TASKS}/{JOB}")
        assert found is not None
        assert (found.uri, found.state, found.percent) == (f"{TASKS}/{JOB}", TaskEnd.DONE, 100)
        assert found.ended_at is None  # its job tells local time, nobody knows of which place
        assert updates.task(f"{TASKS}/JID_000000000999") is None


@pytest.mark.parametrize(
    "named",
    [f"{TASKS}/{JOB}", f"{ROOT}/TaskService/TaskMonitors/{JOB}", f"{ROOT}/Managers/1/Oem/Dell/Jobs/{JOB}/"],
)
def test_each_address_of_a_job_is_its_task(named: str) -> None:
    assert listed(named, TASKS) == f"{TASKS}/{JOB}"
    assert listed(named, None) == named
    assert listed(f"{TASKS}/7", f"{TASKS}/") == f"{TASKS}/7"


SUPPORTED = {"@Redfish.OperationApplyTimeSupport": {"SupportedValues": ["Immediate", "OnReset"]}}


@pytest.mark.parametrize(
    ("supported", "when"), [(SUPPORTED, ON_RESET), ({}, {})], ids=["it takes a time", "it takes none"]
)
def test_what_an_idrac_fetches_is_begun_by_our_reset_too(
    tmp_path: Path, supported: Mapping[str, Any], when: Mapping[str, Any]
) -> None:
    """Older ones take no time to be told, and stage all the same."""
    simple = {
        "Actions": {"#UpdateService.SimpleUpdate": supported},
        "MultipartHttpPushUri": None,
        "HttpPushUri": None,
    }
    tree = dell.tree().changed({f"{ROOT}/UpdateService": simple})
    with idrac(tree) as (_, updates):
        images.write(tmp_path / "bios.bin", {dell.BIOS: "2.1"})
        [request] = updates.requests(Upload(tmp_path / "bios.bin", url="http://127.0.0.1/bios.bin"))
        assert isinstance(request.body, dict)
        assert {name: value for name, value in request.body.items() if "Apply" in name} == when


def test_an_image_in_a_form_is_staged_though_the_form_does_not_say_that_it_can_be(tmp_path: Path) -> None:
    with idrac() as (_, updates):
        [request] = updates.requests(image(tmp_path))
        assert isinstance(request.body, dict)
        assert request.body["UpdateParameters"] == ON_RESET
