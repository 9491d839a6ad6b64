"""Dell's way: staged, written while the host starts, one queue, and what people reported that went wrong with it."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.redfish import Bmc
from fleet_runner.adapters.redfish.updates import Updates
from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import BmcError
from fleet_runner.core.firmware.flash import End, Task
from fleet_runner.lab.redfish import Event
from fleet_runner.lab.redfish.events import Log
from fleet_runner.reconcile.firmware.driver import send
from tests.reconcile.firmware.driver import dell, witness
from tests.reconcile.firmware.driver.bench import Bench
from tests.reconcile.firmware.driver.dell import BIOS
from tests.reconcile.firmware.driver.scenes import CREDENTIALS, NODE
from tests.waiting import until


def resets(bench: Bench) -> int:
    """How often the host was restarted through its BMC."""
    return len(bench.bmc.events("power"))


def unharmed(bench: Bench) -> None:
    """Say that no power was touched while anything was written."""
    assert list(witness.powered(bench.bmc.log)) == []


def test_every_part_comes_to_its_pin_with_one_start_for_each_that_needs_one(tmp_path: Path) -> None:
    with dell.bench(tmp_path, ("iDRAC", "BIOS", "NIC", "PSU")) as bench:
        report = bench.drive()
        assert report["state"] == "done", report["message"]
        assert all(bench.bmc.versions()[entry] == pin for entry, (pin,) in bench.scene.pins.items())
        assert len(bench.bmc.events("accepted")) == 4
        assert len(bench.bmc.events("staged")) == resets(bench) == 3
        unharmed(bench)
        assert bench.drive()["state"] == "done"
        assert resets(bench) == 3


def test_the_start_is_ours_so_nothing_is_to_begin_at_once(tmp_path: Path) -> None:
    with dell.bench(tmp_path, ("BIOS",)) as bench:
        [step] = bench.drive(check=True)["steps"]
        assert step["requests"][0]["body"]["UpdateParameters"]["@Redfish.OperationApplyTime"] == "OnReset"


def test_a_row_that_asks_for_no_start_is_told_to_a_person_and_goes_on_after_any_start(tmp_path: Path) -> None:
    with dell.bench(tmp_path, ("PSU",)) as bench:
        bench.scene.profile["firmware"]["components"][0]["activate"] = {"how": "none"}
        report = bench.drive(seconds=3.0)
        assert report["state"] == "working"
        assert "set `activate: {how: host_reset}` there" in report["message"]
        assert resets(bench) == 0
        bench.bmc.start_host()
        assert bench.drive()["state"] == "done"


def test_what_somebody_else_has_staged_is_never_begun_by_a_reset_of_ours(tmp_path: Path) -> None:
    with dell.bench(tmp_path, ("BIOS",)) as bench:
        task = bench.bmc.schedule("ConfigBIOS:BIOS.Setup.1-1")
        report = bench.drive(seconds=1.0)
        assert report["state"] == "waiting"
        assert f"task ConfigBIOS:BIOS.Setup.1-1 staged at {task}, which was not begun by" in report["message"]
        assert bench.sent() == []
        bench.bmc.start_host()
        assert bench.drive()["state"] == "done"
        unharmed(bench)


@pytest.mark.parametrize("name", ["ConfigBIOS:BIOS.Setup.1-1", "Firmware Update: NIC", "Firmware Update"])
def test_what_somebody_stages_meanwhile_holds_the_reset_back(tmp_path: Path, name: str) -> None:
    """An update too: the one that is ours is known."""
    staging: list[Bench] = []

    def meanwhile(event: Event) -> None:
        if event.kind == "staged":
            staging[0].bmc.schedule(name)

    with dell.bench(tmp_path, ("BIOS",), on=meanwhile) as bench:
        staging.append(bench)
        report = bench.drive(seconds=2.0)
        assert "is staged, which is not this update's" in report["message"]
        assert resets(bench) == 0
        bench.bmc.start_host()
        assert bench.drive()["state"] == "done"
        unharmed(bench)


def test_a_job_of_somebody_elses_that_a_reset_begins_is_a_crime_and_so_is_power_while_it_runs() -> None:
    """What the other tests rely on."""
    log = Log()
    log.emit("power", action="ForceRestart", was="On", why="by hand")
    log.emit("job_begun", task="/t/1", name="A")
    assert list(witness.powered(log.events)) == []
    log.emit("power", action="ForceRestart", was="On", why="a client")
    log.emit("job_done", task="/t/1", name="A")
    log.emit("job_begun", task="/t/2", name="B")
    assert list(witness.powered(log.events)) == [
        "power while job A ran",
        "job B, somebody else's, was begun by a reset of ours",
    ]


def test_while_the_list_of_jobs_cannot_be_read_nothing_is_reset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody has staged something meanwhile, and the flash's own job is read all the same."""
    upset: list[Bench] = []
    listed = Updates.tasks

    def tasks(updates: Updates) -> dict[str, Task]:
        if len(upset) > 1:
            raise BmcError("the list of tasks answered 500")
        return listed(updates)

    def meanwhile(event: Event) -> None:
        if event.kind == "staged":
            upset.append(upset[0])
            upset[0].bmc.schedule("ConfigBIOS:BIOS.Setup.1-1")

    monkeypatch.setattr(Updates, "tasks", tasks)
    with dell.bench(tmp_path, ("BIOS",), on=meanwhile) as bench:
        upset.append(bench)
        report = bench.drive(seconds=2.0)
        assert "No reset before a look at the BMC shows all" in report["message"]
        assert resets(bench) == 0
        upset.pop()
        bench.bmc.start_host()
        assert bench.drive()["state"] == "done"
        unharmed(bench)


@pytest.mark.parametrize("name", ["Firmware Update: NIC.Slot.5-1", "ConfigBIOS:BIOS.Setup.1-1"])
def test_an_image_that_never_came_leaves_somebody_elses_job_alone(tmp_path: Path, name: str) -> None:
    lost = {"when": {"event": "accept", "nth": 1}, "what": "drop_unaccepted"}
    staging: list[Bench] = []

    def meanwhile(event: Event) -> None:
        if event.kind == "upload_done" and len(staging) == 1:
            staging.append(staging[0])
            staging[0].bmc.schedule(name)

    with dell.bench(tmp_path, ("BIOS",), [lost], on=meanwhile) as bench:
        staging.append(bench)
        report = bench.drive(seconds=6.0)
        assert report["state"] == "working"
        assert name in report["message"]
        assert (resets(bench), bench.bmc.events("accepted")) == (0, [])
        bench.bmc.start_host()
        assert bench.drive()["state"] == "done"
        unharmed(bench)


def test_a_controller_that_can_no_longer_be_asked_does_not_keep_a_refused_image_open(tmp_path: Path) -> None:
    rules = [
        {"when": {"event": "upload"}, "what": {"refuse": {"status": 400, "message": "no"}}},
        {
            "when": {"event": "request", "uri": "*GetRemoteServicesAPIStatus", "nth": list(range(2, 50))},
            "what": {"answer": {"status": 500}},
        },
    ]
    with dell.bench(tmp_path, ("BIOS",), rules) as bench:
        assert bench.drive(seconds=6.0)["state"] == "failed"
        with Store.open(bench.store) as store:
            assert [flash.end for flash in store.flashes(NODE)] == [End.NOT_SENT]


def test_the_host_is_not_switched_on_over_somebody_elses_job_for_an_image_that_is_sent_again(tmp_path: Path) -> None:
    refused = {"when": {"event": "upload", "nth": 1}, "what": {"refuse": {"status": 400, "message": "no"}}}
    with dell.bench(tmp_path, ("iDRAC",), [refused]) as bench:
        bench.scene.profile["firmware"]["components"][0]["power"] = "on"
        task = bench.bmc.schedule("ConfigBIOS:BIOS.Setup.1-1")
        with Bmc(bench.bmc.url, *CREDENTIALS) as bmc, pytest.MonkeyPatch.context() as patch:
            sending = send.send

            def dark(*words: Any) -> None:
                sending(*words)
                bmc.power("ForceOff")
                until(lambda: bench.bmc.power == "Off", "the host is off")

            patch.setattr(send, "send", dark)
            report = bench.drive(seconds=2.0)
        assert f"staged at {task}" in report["message"]
        assert [event["action"] for event in bench.bmc.events("power")] == ["ForceOff"]
        bench.bmc.start_host()
        assert bench.drive()["state"] == "done"


def test_an_image_of_a_part_that_needs_no_start_is_sent_beside_it(tmp_path: Path) -> None:
    with dell.bench(tmp_path, ("iDRAC",)) as bench:
        bench.bmc.schedule("ConfigBIOS:BIOS.Setup.1-1")
        assert bench.drive()["state"] == "done"
        assert resets(bench) == 0


def test_what_a_flash_left_behind_is_named_with_it(tmp_path: Path) -> None:
    rules = [{"when": {"event": "host_reset", "nth": 1}, "what": "stays_scheduled"}]
    with dell.bench(tmp_path, ("BIOS",), rules) as bench:
        report = bench.drive(seconds=3.0)
        assert "look whether the BMC may" in report["message"]
        with Store.open(bench.store) as store:
            flash = store.open_flash(NODE)
            assert flash is not None
            assert store.settle_flash(NODE, "alice", "it hangs", time.time())
        report = bench.drive(seconds=1.0)
        assert f"left over from flash {flash.id} (BIOS), which has settled" in report["message"]
        assert (len(bench.bmc.events("accepted")), resets(bench)) == (1, 1)


def test_a_controller_that_takes_no_jobs_when_the_image_comes_is_waited_for(tmp_path: Path) -> None:
    """It was ready when it was asked, and is not when it is sent to: no try of three is spent on that."""
    upset: list[Bench] = []

    def meanwhile(event: Event) -> None:
        if event.kind == "upload_begun" and len(upset) < 5:
            upset.append(upset[0])
            upset[0].bmc.unready(0.3)

    with dell.bench(tmp_path, ("BIOS",), on=meanwhile) as bench:
        upset.append(bench)
        report = bench.drive()
        assert report["state"] == "done", report["message"]
        assert len(bench.bmc.events("refused")) == 4
        with Store.open(bench.store) as store:
            assert [flash.end for flash in store.flashes(NODE)] == [End.VERIFIED]


def rule(fault: Any, event: str, **when: Any) -> Mapping[str, Any]:
    """A rule of the emulator's."""
    return {"when": {"event": event, "nth": 1, **when}, "what": fault}


SCRIPTING, MODULES = "dell/iDRAC-Redfish-Scripting", "dell/dellemc-openmanage-ansible-modules"
REPORTED = [
    # Its own start, and the one that a job that has ended may still need, as in #266.
    pytest.param(rule("restarts_host", "update"), 2, 1, id=f"{SCRIPTING}#136, #166: it restarts the host by itself"),
    pytest.param(rule("delete_task", "apply"), 1, 1, id=f"{SCRIPTING}#160, #275: an ended task is gone in seconds"),
    pytest.param(rule({"fail": {"message": "PR21"}}, "apply"), 2, 2, id=f"{SCRIPTING}#361: it fails in the start"),
    pytest.param(
        rule({"fail": {"message": "RED007: unable to verify the signature"}}, "update"), 1, 2,
        id=f"{SCRIPTING}#118: it fails when it is fetched",
    ),
    pytest.param(rule("lie", "apply"), 2, 2, id=f"{MODULES}#59: it completed, and is still the old one"),
    pytest.param(rule("no_percent", "update"), 1, 1, id=f"{MODULES}#246: its jobs tell no percentage"),
    pytest.param(rule("sideband", "update"), 1, 1, id=f"{SCRIPTING}#266: it completed, and a restart is pending"),
    pytest.param(rule("controller_waits", "update"), 1, 1, id=f"{SCRIPTING}#70: its job waits for the controller"),
    pytest.param(
        rule({"controller_unready": {"seconds": 0.6, "state": "InUse"}}, "host_reset"), 1, 1,
        id=f"{MODULES}#652, quadsproject/badfish#129: its controller is in use",
    ),
    pytest.param(
        rule({"refuse": {"status": 400, "message": "the job queue is full"}}, "upload"), 1, 1,
        id="quadsproject/badfish#30: its queue takes no more for a while",
    ),
    pytest.param(rule({"slow": {"times": 40.0}}, "apply"), 1, 1, id=f"{SCRIPTING}#100: it takes very long"),
]  # fmt: skip


@pytest.mark.parametrize(("fault", "starts", "taken"), REPORTED)
def test_what_people_reported_ends_well_and_harms_nothing(
    tmp_path: Path, fault: Mapping[str, Any], starts: int, taken: int
) -> None:
    """With as few starts of the host, and images sent, as it takes."""
    with dell.bench(tmp_path, ("BIOS",), [fault]) as bench:
        report = bench.drive()
        assert report["state"] == "done", report["message"]
        assert bench.bmc.versions()[BIOS] == "2.0"
        assert (resets(bench), len(bench.bmc.events("accepted"))) == (starts, taken)
        unharmed(bench)


def test_an_idrac_that_restarts_before_its_own_job_has_ended_is_on_its_version(tmp_path: Path) -> None:
    """As dell/iDRAC-Redfish-Scripting#231 has it."""
    restart = rule({"restart": {"at": 99.0, "survives": True}}, "update")
    with dell.bench(tmp_path, ("iDRAC",), [restart]) as bench:
        assert bench.drive()["state"] == "done"
        assert (resets(bench), len(bench.bmc.events("accepted"))) == (0, 1)


def test_a_job_that_stays_scheduled_after_its_start_is_no_reason_to_restart_again(tmp_path: Path) -> None:
    """As quadsproject/badfish#30 has it: jobs pile up that never complete."""
    with dell.bench(tmp_path, ("BIOS",), [rule("stays_scheduled", "host_reset")]) as bench:
        report = bench.drive(seconds=4.0)
        assert report["state"] == "working"
        assert "look whether the BMC may collect the inventory" in report["message"]
        assert resets(bench) == 1
        bench.bmc.start_host()
        assert bench.drive()["state"] == "done"
        unharmed(bench)
