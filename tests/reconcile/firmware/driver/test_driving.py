"""What a driver does beside flashing: it waits its turn, leaves in time, switches power, and rolls back."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from fleet_runner.adapters.redfish import Bmc
from fleet_runner.adapters.redfish.updates import Updates, Upload
from fleet_runner.adapters.store import Store
from fleet_runner.core.firmware.flash import End
from fleet_runner.lab.redfish import BmcBehaviour, Durations
from tests.reconcile.firmware.driver import child, scenes
from tests.reconcile.firmware.driver.bench import Bench
from tests.reconcile.firmware.driver.bench import bench as benched
from tests.reconcile.firmware.driver.scenes import NODE, OLD
from tests.reconcile.firmware.driver.stage import WARM
from tests.waiting import until

LONG = 60.0  # seconds that nothing here takes


def test_of_two_drivers_one_works_and_the_other_is_told_who(bench: Bench) -> None:
    jobs = [
        bench.job(holder=name, lease_seconds=LONG, seconds=2.0 if name == "second" else LONG)
        for name in ("first", "second")
    ]
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(child.work, jobs[0])
        until(lambda: bool(bench.bmc.events("accepted")))
        second = child.work(jobs[1])
        assert first.result()["state"] == "done"
    assert second["state"] in {"waiting", "done"}
    if second["state"] == "waiting":
        assert "first is at its firmware" in second["message"]
    with Store.open(bench.store) as store:
        assert [flash.attempt for flash in store.flashes(NODE)] == [1, 1, 1]
    assert not any(event["concurrent"] for event in bench.bmc.events("accepted"))
    assert len(bench.bmc.events("accepted")) == 3


def test_a_visit_that_is_over_leaves_the_flash_to_the_bmc_and_the_next_one_goes_on(bench: Bench) -> None:
    """As under the runner, whose visits are short."""
    reports = []
    while not reports or reports[-1]["state"] in {"working", "waiting", "unread"}:
        reports.append(bench.drive(seconds=0.3, holder=f"visit-{len(reports)}"))
    assert reports[-1]["state"] == "done"
    assert "working" in {report["state"] for report in reports}
    assert len(bench.bmc.events("accepted")) == 3
    working = next(report for report in reports if report["state"] == "working")
    assert working["flash"]["component"] in {"BIOS", "PSU"}
    assert OLD in working["message"]


def test_a_driver_that_outlives_its_play_begins_nothing_more(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker of Ansible's goes on by itself where the play is killed; init is its parent then."""
    parents = iter([4711, 4711])
    monkeypatch.setattr(os, "getppid", lambda: next(parents, 1))
    report = bench.drive(holder="orphan")
    assert report["state"] == "waiting"
    assert "run it again" in report["message"]
    monkeypatch.undo()
    assert len(bench.bmc.events("accepted")) <= 1
    assert bench.drive(holder="next")["state"] == "done"
    assert len(bench.bmc.events("accepted")) == 3


def test_a_frozen_driver_that_wakes_up_sends_nothing_more(tmp_path: Path) -> None:
    """Its lease is another's by then, and its upload is cut, wherever it was."""
    with benched(tmp_path, ("NIC",), size=60_000_000) as bench:
        mine, its = WARM.Pipe()
        frozen = WARM.Process(
            target=child.main, args=(bench.job(holder="frozen", lease_seconds=1.0), its), daemon=True
        )
        frozen.start()
        its.close()
        until(lambda: bool(bench.bmc.events("upload_begun")))
        assert frozen.pid is not None
        os.kill(frozen.pid, signal.SIGSTOP)
        try:
            report = bench.drive(holder="second")
        finally:
            os.kill(frozen.pid, signal.SIGCONT)
        left = mine.recv()
        frozen.join()
        mine.close()
        assert report["state"] == "done"
        assert left["state"] in {"done", "waiting"}
        assert len(bench.bmc.events("accepted")) == 1
        with Store.open(bench.store) as store:
            assert store.flashes(NODE)[-1].end is End.VERIFIED


def test_a_host_that_is_off_is_switched_on_where_its_parts_cannot_be_read_without(tmp_path: Path) -> None:
    with benched(tmp_path, ("HMC", "GPU")) as bench:
        switch(bench, "ForceOff", "Off")
        report = bench.drive()
        assert (report["state"], report["rebooted"]) == ("done", True)
        assert bench.bmc.power == "On"


def test_a_host_that_is_off_and_has_nothing_to_update_stays_off(tmp_path: Path) -> None:
    with benched(tmp_path, ("BIOS",), habits=BmcBehaviour(host_side=())) as bench:
        bench.bmc.set_version("BIOS", bench.scene.pins["BIOS"][0])
        switch(bench, "ForceOff", "Off")
        before = len(bench.sent())
        report = bench.drive(since=time.time())
        assert report["state"] == "done"
        assert bench.bmc.power == "Off"
        assert len(bench.sent()) == before


@pytest.mark.parametrize("power", ["on", "off"])
def test_a_step_has_the_power_that_it_needs(bench: Bench, power: str) -> None:
    bios = bench.scene.profile["firmware"]["components"][0]
    bios["power"] = power
    switch(bench, *(("ForceOff", "Off") if power == "on" else ("On", "On")))
    assert bench.drive()["state"] == "done"
    events = bench.bmc.events("power", "update_begun", "update_done")
    first = next(at for at, event in enumerate(events) if event.kind == "update_begun")
    assert [event["action"] for event in events[:first] if event.kind == "power"][-1] == {
        "on": "On",
        "off": "ForceOff",
    }[power]
    assert bench.bmc.power == "On"


def test_what_was_accepted_before_is_brought_back_where_an_update_writes_something_else(tmp_path: Path) -> None:
    """After two tries; and the component then is on a version that is right, so the node has not failed."""
    rules = [{"when": {"event": "update", "nth": [1, 2]}, "what": {"wrong_version": {"version": "9.9"}}}]
    with benched(tmp_path, ("BIOS",), rules, accept_old=True) as bench:
        report = bench.drive()
        assert report["state"] == "done", report["message"]
        assert bench.bmc.versions()["BIOS"] == OLD
        assert any("stays at" in note for note in report["notes"])
        with Store.open(bench.store) as store:
            flashes = store.flashes(NODE)
        assert [flash.end for flash in flashes] == [End.FAILED, End.FAILED, End.VERIFIED]
        assert flashes[-1].rolls_back == flashes[1].id


def test_an_update_that_fails_for_good_is_a_failure_that_says_what_is_where(tmp_path: Path) -> None:
    with benched(
        tmp_path, ("BIOS",), [{"when": {"event": "update"}, "what": {"fail": {"message": "flash is worn"}}}]
    ) as bench:
        report = bench.drive()
        assert report["state"] == "failed"
        assert f"BIOS is at {OLD}" in report["message"]
        assert "flash is worn" in report["message"]
        assert len(bench.bmc.events("accepted")) == 2


def test_what_a_bmc_refuses_is_tried_some_times_and_then_given_up(tmp_path: Path) -> None:
    with benched(tmp_path, ("BIOS",), [{"when": {"event": "accept"}, "what": "refuse"}]) as bench:
        report = bench.drive()
        assert report["state"] == "failed"
        assert "the update is refused" in report["message"]
        with Store.open(bench.store) as store:
            assert [flash.end for flash in store.flashes(NODE)] == [End.NOT_SENT]


def test_a_bmc_that_updates_by_itself_is_left_alone(tmp_path: Path) -> None:
    """Somebody else has begun that, with a tool of his own; whatever he writes, nothing is sent meanwhile."""
    with benched(tmp_path, ("BIOS", "NIC"), pace=replace(Durations.quick(), write=1.5)) as bench:
        with Bmc(bench.bmc.url, *scenes.CREDENTIALS) as bmc:
            Updates(bmc).send(Upload(bench.scene.images / "NIC.bin"))
        report = bench.drive()
        assert report["state"] == "done"
        assert not any(event["concurrent"] for event in bench.bmc.events("accepted"))
        assert bench.bmc.events("refused") == []


def switch(bench: Bench, action: str, state: str) -> None:
    """Switch the host as a person does."""
    with Bmc(bench.bmc.url, *scenes.CREDENTIALS) as bmc:
        if bmc.power_state() != state:
            bmc.power(action)
        until(lambda: bmc.power_state() == state)


def test_progress_is_told_in_sentences(bench: Bench) -> None:
    said: list[str] = []
    report = child.work(bench.job(), said.append)
    assert report["state"] == "done"
    assert any(line.startswith(f"BIOS {OLD} → ") and line.endswith("; then 2 of PSU") for line in said)
    assert any("sending BIOS.bin" in line for line in said)
