"""What others do to a BMC while a driver is at it, and what it cannot do just then: nothing is sent twice for it."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fleet_runner.adapters.files import firmware_images
from fleet_runner.adapters.redfish import resets
from fleet_runner.adapters.redfish.bmc import Bmc
from fleet_runner.adapters.redfish.exchange import NoConnectionError
from fleet_runner.adapters.redfish.updates import NoTasksError, Updates, Upload
from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import NotOfferedError
from fleet_runner.core.firmware.flash import End, Flash
from fleet_runner.lab.redfish import BmcBehaviour, Durations
from fleet_runner.reconcile.firmware.driver import send
from fleet_runner.reconcile.firmware.driver.lease import steady
from fleet_runner.reconcile.firmware.driver.visit import Unsent
from tests.reconcile.firmware.driver import scenes, witness
from tests.reconcile.firmware.driver.bench import Bench
from tests.reconcile.firmware.driver.bench import bench as benched
from tests.reconcile.firmware.driver.scenes import NODE, PACE
from tests.waiting import until

BUSY = {"answer": {"status": 503}}


def flashes(bench: Bench) -> tuple[Flash, ...]:
    with Store.open(bench.store) as store:
        return store.flashes(NODE)


@pytest.mark.parametrize(("part", "uri", "times"), [("BIOS", "*ComputerSystem.Reset", 3), ("CPLD", "*Reset*", 1)])
def test_a_reset_that_the_bmc_refuses_for_a_moment_is_asked_for_again(
    tmp_path: Path, part: str, uri: str, times: int
) -> None:
    rules = [{"when": {"event": "request", "uri": uri, "method": "POST", "times": times}, "what": BUSY}]
    with benched(tmp_path, (part,), rules) as bench:
        report = bench.drive()
        assert report["state"] == "done", report["message"]
        assert len(bench.bmc.events("accepted")) == 1
        assert [flash.end for flash in flashes(bench)] == [End.VERIFIED]


@pytest.mark.parametrize(("part", "reset"), [("BIOS", "host"), ("CPLD", "ac_drain")])
def test_a_bmc_that_is_not_reached_when_a_reset_is_due_is_no_end(
    tmp_path: Path, part: str, reset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one that restarts by itself, after its own update."""
    done, asked = getattr(resets, reset), []

    def unreached_once(*given: object) -> None:
        asked.append(given)
        if len(asked) == 1:
            raise NoConnectionError("connection refused")
        done(*given)

    monkeypatch.setattr(resets, reset, unreached_once)
    with benched(tmp_path, (part,)) as bench:
        report = bench.drive()
        assert report["state"] == "done", report["message"]
        assert len(bench.bmc.events("accepted")) == 1


@pytest.mark.parametrize(("part", "how"), [("NIC", "bmc_reset"), ("CPLD", "ac_drain")])
def test_what_only_a_person_can_make_run_is_not_written_again(
    tmp_path: Path, part: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_way(of: Bmc) -> None:
        raise NotOfferedError(f"{of.url} offers no way")

    monkeypatch.setattr(resets, "ac_drain", no_way)
    monkeypatch.setattr(resets, "bmc", no_way)
    with benched(tmp_path, (part,)) as bench:
        bench.scene.profile["firmware"]["components"][0]["activate"]["how"] = how
        for _ in range(2):
            report = bench.drive()
            assert report["state"] == "failed"
            by_hand = "restart it by hand" if how == "bmc_reset" else "pull every power cord"
            assert f"offers no way; {by_hand}" in str(report["message"])
        assert len(bench.bmc.events("accepted")) == 1


def slow_inventory(seconds: float) -> list[dict[str, object]]:
    """Rules of a BMC that takes so long for each member of its inventory."""
    when = {"event": "request", "method": "GET", "uri": "*FirmwareInventory*"}
    return [{"when": when, "what": {"delay": {"seconds": seconds}}}]


@pytest.mark.nightly
def test_a_look_may_take_longer_than_a_lease_lasts(tmp_path: Path) -> None:
    with benched(tmp_path, ("BMC",), slow_inventory(0.2)) as bench:
        report = bench.drive(lease_seconds=1.0, pace=replace(PACE, stable=1), seconds=60.0)
        assert report["state"] == "done", report["message"]


def test_a_visit_whose_lease_runs_out_again_and_again_ends_all_the_same(tmp_path: Path) -> None:
    """One request alone takes longer than the lease lasts."""
    with benched(tmp_path, ("BMC",), slow_inventory(0.5)) as bench:
        began = time.monotonic()
        report = bench.drive(lease_seconds=0.3, seconds=2.0)
        assert (report["state"], bench.sent()) == ("waiting", [])
        assert "its lease was not renewed" in str(report["message"])
        assert time.monotonic() - began < 30.0


def test_an_image_may_take_longer_to_read_than_a_lease_lasts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And longer than a visit, of which each begins anew."""
    sha256 = firmware_images.sha256

    def slow(path: Path, alive: Callable[[], None]) -> str:
        for _ in range(0 if path in known else 20):
            time.sleep(0.1)
            alive()
        known.add(path)
        return sha256(path, alive)

    known: set[Path] = set()
    monkeypatch.setattr(firmware_images, "sha256", slow)
    with benched(tmp_path, ("BMC",)) as bench:
        report = bench.drive(lease_seconds=1.0, seconds=1.0)
        assert len(bench.bmc.events("accepted")) == 1, report["message"]


ENTRIES = "/redfish/v1/UpdateService/FirmwareInventory"


def another_person_sends(bench: Bench, image: str, entry: str) -> None:
    """Somebody begins an update with a tool of his own, and it is being written."""
    with Bmc(bench.bmc.url, *scenes.CREDENTIALS) as bmc:
        Updates(bmc).send(Upload(bench.scene.images / image, targets=(f"{ENTRIES}/{entry}",)))
    until(lambda: bool(bench.bmc.events("update_begun")))


def at_the_first_refusal(monkeypatch: pytest.MonkeyPatch, does: Callable[[], None]) -> None:
    """Do something when the driver notes for the first time that its image was refused."""
    noted: list[object] = []

    def note(flash: int, tries: int, why: str) -> Unsent:
        noted.append(flash)
        if len(noted) == 1:
            does()
        return Unsent(flash, tries, why)

    monkeypatch.setattr(send, "Unsent", note)


def test_no_power_is_switched_on_while_somebody_else_updates(tmp_path: Path) -> None:
    """Even where the driver needs the host on to see what there is."""
    with benched(tmp_path, ("HMC", "GPU", "BIOS"), pace=replace(Durations.quick(), write=1.5)) as bench:
        with Bmc(bench.bmc.url, *scenes.CREDENTIALS) as bmc:
            bmc.power("ForceOff")
        until(lambda: bench.bmc.power == "Off")
        another_person_sends(bench, "BIOS.bin", "BIOS")
        report = bench.drive()
        assert report["state"] == "done", report["message"]
        assert list(witness.powered(bench.bmc.log)) == []


def test_no_power_is_touched_while_a_bmc_without_tasks_says_that_it_updates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It writes for longer than the catalogue says that it may take."""

    def no_tasks(_: Updates) -> None:
        raise NoTasksError("no list of tasks")

    monkeypatch.setattr(Updates, "tasks", no_tasks)
    monkeypatch.setattr(Updates, "_task_of", lambda *_: "")
    with benched(tmp_path, ("BIOS",), pace=replace(Durations.quick(), write=5.0)) as bench:

        def writing(_: Updates) -> tuple[bool, str]:
            return len(bench.bmc.events("update_begun")) > len(bench.bmc.events("update_done")), ""

        monkeypatch.setattr(Updates, "said", writing)
        report = bench.drive()
        assert report["state"] == "done", report["message"]
        assert list(witness.powered(bench.bmc.log)) == []
        assert len(bench.bmc.events("accepted")) == 1


def test_what_was_refused_is_not_sent_again_into_an_update_of_somebody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = [{"when": {"event": "accept", "nth": 1}, "what": {"refuse": {"status": 400}}}]
    given = {"habits": BmcBehaviour(accepts_concurrent=True), "pace": replace(Durations.quick(), write=1.5)}
    with benched(tmp_path, ("BIOS", "PSU"), rules, **given) as bench:
        at_the_first_refusal(monkeypatch, lambda: another_person_sends(bench, "PSU.bin", "PSU_0"))
        report = bench.drive()
        assert report["state"] == "done", report["message"]
        assert not any(event["concurrent"] for event in bench.bmc.events("accepted"))
        assert list(witness.powered(bench.bmc.log)) == []


def test_what_was_refused_is_sent_again_with_the_power_that_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person switched the host on meanwhile."""
    rules = [{"when": {"event": "upload", "nth": 1}, "what": {"refuse": {"status": 503}}}]
    with benched(tmp_path, ("BIOS",), rules, habits=BmcBehaviour(host_side=())) as bench:

        def switch_on() -> None:
            with Bmc(bench.bmc.url, *scenes.CREDENTIALS) as bmc:
                bmc.power("On")
            until(lambda: bench.bmc.power == "On")

        at_the_first_refusal(monkeypatch, switch_on)
        bench.scene.profile["firmware"]["components"][0]["power"] = "off"
        report = bench.drive()
        assert report["state"] == "done", report["message"]
        events = bench.bmc.events("power", "update_begun")
        first = next(at for at, event in enumerate(events) if event.kind == "update_begun")
        assert [event["action"] for event in events[:first]][-1] == "ForceOff"


def test_a_clock_that_is_set_while_a_driver_is_at_it_moves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    right = time.time
    before = steady()
    monkeypatch.setattr(time, "time", lambda: right() + 7_200.0)
    assert before <= steady() < before + 60.0
