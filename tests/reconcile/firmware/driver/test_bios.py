"""BIOS settings on emulated machines: set where they wait, once in a stay, through crashes and refusals."""

import os
import signal
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.redfish import Bmc
from fleet_runner.adapters.store import Store
from fleet_runner.core.checks.reads import READS
from fleet_runner.core.firmware.bios_steps import MOST_RESETS
from fleet_runner.core.firmware.bios_text import SettingStatus
from fleet_runner.core.firmware.flash import End
from fleet_runner.lab.redfish.trees import OUR_OWN
from fleet_runner.reconcile.firmware.driver import BiosContext, Target, set_bios
from tests.adapters.store.flashing import flash
from tests.reconcile.firmware.driver.bios_node import PACE, WANTED, a_node
from tests.reconcile.firmware.driver.child import QUICK
from tests.reconcile.firmware.driver.scenes import CREDENTIALS, LEASE_SECONDS, NODE
from tests.reconcile.firmware.driver.stage import WARM

REGISTRY = "/redfish/v1/Registries/BiosAttributeRegistry113.en-US.1.1.3.json"
LISTED: dict[str, Any] = {
    "@odata.type": "#MessageRegistryFileCollection.MessageRegistryFileCollection",
    "Members": [{"@odata.id": REGISTRY}],
}


def test_settings_are_sent_wait_for_a_reset_and_are_in_force_after_it(tmp_path: Path) -> None:
    with a_node(tmp_path) as node:
        planned = node.set(check=True)
        assert (planned.stand, planned.changed) == (SettingStatus.PLANNED, False)
        assert node.bmc.events("bios_set") == []
        assert node.tried() is None
        report = node.set()
        assert (report.stand, report.changed) == (SettingStatus.WAITING, True)
        assert (
            report.request
            == planned.request
            == {
                "method": "PATCH",
                "uri": "/redfish/v1/Systems/1/Bios/Settings",
                "body": {"Attributes": {"SRIOVEnable": "Enabled", "MaxPayload": 512}},
            }
        )
        node.boot(report)
        done = node.set()
        assert (done.stand, done.since, done.changed) == (SettingStatus.SETTLED, None, False)
        assert done.message == "BIOS settings are as the profile says: 3"
        assert len(node.bmc.events("bios_set")) == len(node.bmc.events("host_reset")) == 1
        with Store.open(node.store) as store:
            [entry] = store.history(NODE)
        assert entry.sentence.startswith(
            "BIOS settings wait for a reset of the host, number 1: SRIOVEnable 'Enabled'"
        )


@pytest.mark.parametrize(
    ("name", "wanted", "sent"),
    [
        ("dgx_h100", {"SRIOVEnable": "Disable", "PxeBootWaitTime": "3", "ARIEnable": "Enable"},
         ("/redfish/v1/Systems/DGX/Bios/SD", {"SRIOVEnable": "Disable", "PxeBootWaitTime": 3})),
        ("dgx_h100", {"OROM997": "false"}, ("/redfish/v1/Systems/DGX/Bios/SD", {"OROM997": False})),
        ("supermicro_hgx_h100", {"BitsPerSecond_008D": 9600, "QuietBoot_002D": False, "NUMA_003B": "Enabled"},
         ("/redfish/v1/Systems/1/Bios/SD", {"BitsPerSecond_008D": "9600", "QuietBoot_002D": False})),
    ],
)  # fmt: skip
def test_captured_machines_take_settings_in_their_own_types_at_their_own_place(
    samples: Path, tmp_path: Path, name: str, wanted: Any, sent: Any
) -> None:
    """The first DGX lists its registry, as a real one does; the second does not, as it was captured."""
    uri, changes = sent
    added = {"changes": {"/redfish/v1/Registries": LISTED}} if len(changes) > 1 else {}
    with a_node(tmp_path, samples / "redfish" / f"{name}.json.gz", **added) as node:
        report = node.set(wanted)
        assert report.request == {"method": "PATCH", "uri": uri, "body": {"Attributes": changes}}
        node.boot(report)
        assert node.set(wanted).stand is SettingStatus.SETTLED
        assert node.bmc.attributes().items() >= changes.items()


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ({"SRIOVEnabel": "Enabled"}, "'SRIOVEnable' is the nearest"),
        ({"SRIOVEnable": "Enable"}, "one of 'Enable"),
        ({"MemoryGiB": 1}, "the BMC lets nobody change it"),
        ({"MaxPayload": 1}, "at least 128"),
        ({"QuietBoot": 1}, "true or false"),
    ],
)
def test_what_the_bmc_would_not_take_is_refused_before_anything_is_sent(
    tmp_path: Path, wanted: Any, why: str
) -> None:
    with a_node(tmp_path) as node:
        report = node.set({"BootMode": "Legacy", **wanted})
        assert report.stand is SettingStatus.REFUSED
        assert why in report.message
        assert node.bmc.events("bios_set") == []


def test_what_the_bmc_refuses_is_told_in_its_words(tmp_path: Path) -> None:
    """It may know more than its registry says."""
    with a_node(
        tmp_path, rules=[{"when": {"event": "request", "method": "PATCH"}, "what": {"answer": {"status": 400}}}]
    ) as node:
        report = node.set()
    assert report.stand is SettingStatus.REFUSED, report
    assert "answered 400 to the BIOS settings SRIOVEnable, MaxPayload" in report.message
    assert node.tried() is None


def test_a_setting_that_does_not_stick_is_tried_once_and_told(tmp_path: Path) -> None:
    with a_node(tmp_path, rules=[{"what": {"ignore_bios": {"attribute": "SRIOV*"}}}]) as node:
        node.boot(node.set())
        report = node.set()
        assert report.stand is SettingStatus.FAILED
        assert report.message == (
            "SRIOVEnable is 'Disabled', expected 'Enabled': the BMC took it, and it is not in force after the reset"
        )
        assert len(node.bmc.events("bios_set")) == 1
        again = node.set(since=time.time())  # a person had the node try again: another stay
        assert again.stand is SettingStatus.WAITING


def test_a_bmc_that_does_not_tell_of_resets_is_asked_a_few_times_and_no_more(tmp_path: Path) -> None:
    """As a Supermicro's; the play's own check ends it earlier than that."""
    untold = {"changes": {"/redfish/v1/Systems/1": {"LastResetTime": None}}}
    with a_node(tmp_path, rules=[{"what": {"ignore_bios": {"attribute": "*"}}}], **untold) as node:
        with node.open() as bmc:
            assert bmc.last_reset_age() is None
        for _ in range(MOST_RESETS):
            report = node.set()
            assert report.stand is SettingStatus.WAITING
            node.boot(report)
        assert node.set().stand is SettingStatus.FAILED


@pytest.mark.parametrize("point", ["bios_set", "noting", "noted"])
def test_a_crash_at_any_point_loses_nothing_and_resets_once(tmp_path: Path, point: str) -> None:
    driver: list[Any] = []

    def hear(event: Any) -> None:
        if event.kind == point and driver[0].is_alive():
            os.kill(driver[0].pid, signal.SIGKILL)

    with a_node(tmp_path, on=hear) as node:
        driver.append(WARM.Process(target=crash, args=(node.bmc.url, node.store, point), daemon=True))
        driver[0].start()
        driver[0].join()
        assert driver[0].exitcode == -signal.SIGKILL
        with Store.open(node.store) as store:
            store.unlease(NODE, "one")  # as if its time were over
        report = node.set(holder="another")
        assert report.stand is SettingStatus.WAITING
        node.boot(report)
        assert node.set(holder="another").stand is SettingStatus.SETTLED
        assert len(node.bmc.events("bios_set")) == 1
        assert len(node.bmc.events("host_reset")) == 1


def test_a_reset_that_was_done_before_a_crash_is_not_done_again(tmp_path: Path) -> None:
    with a_node(tmp_path) as node:
        first = node.set()
        node.boot(first)
        node.boot(replace(first))
        assert len(node.bmc.events("host_reset")) == 1


def test_nothing_is_set_while_a_flash_is_open_or_another_is_at_the_node(tmp_path: Path) -> None:
    with a_node(tmp_path) as node, Store.open(node.store) as store:
        store.lease(NODE, "another", run=None, now=time.time(), seconds=600.0)
        report = node.set(until=time.time() + 0.1)
        assert (report.stand, "another is at its firmware" in report.message) == (SettingStatus.BUSY, True)
        opened = store.intend(flash(intended_at=time.time()), "another", now=time.time())
        store.unlease(NODE, "another")
        for check in (False, True):
            report = node.set(check=check)
            assert (report.stand, report.message) == (
                SettingStatus.BUSY,
                "flash 1 (BIOS) is intended: no BIOS setting is changed before its end",
            )
        store.lease(NODE, "another", run=None, now=time.time(), seconds=600.0)
        store.end_flash(opened.id, "another", End.NOT_SENT, "never", time.time())
        store.unlease(NODE, "another")
        assert node.set().stand is SettingStatus.WAITING
        assert len(node.bmc.events("bios_set")) == 1


def test_without_a_store_it_is_said_what_would_be_sent_and_nothing_is(tmp_path: Path) -> None:
    with a_node(tmp_path) as node:
        means = BiosContext(None, node.open, WANTED, PACE, LEASE_SECONDS)
        assert set_bios(Target(NODE, "one"), means, check=True).stand is SettingStatus.PLANNED
        assert set_bios(Target(NODE, "one"), means).stand is SettingStatus.REFUSED
        settled = replace(means, wanted={"QuietBoot": True})
        assert set_bios(Target(NODE, "one"), settled).stand is SettingStatus.SETTLED
        assert node.bmc.events("bios_set") == []


def test_a_run_that_is_over_sets_nothing(tmp_path: Path) -> None:
    with a_node(tmp_path) as node, Store.open(node.store) as store:
        means = BiosContext(store, node.open, WANTED, PACE, LEASE_SECONDS)
        report = set_bios(Target(NODE, "one", run=(99, 1)), means, until=time.time())
        assert (report.stand, "run 99 is over" in report.message) == (SettingStatus.BUSY, True)
        assert node.bmc.events("bios_set") == []


def test_a_bmc_that_is_silent_for_a_moment_is_asked_again(tmp_path: Path) -> None:
    rule = {"when": {"event": "request", "uri": "*/Bios", "times": 5}, "what": {"answer": {"status": 500}}}
    with a_node(tmp_path, rules=[rule]) as node:
        assert node.set().stand in {SettingStatus.WAITING, SettingStatus.UNREAD}
        assert node.set().stand is SettingStatus.WAITING


def test_a_bmc_that_stays_silent_is_left_alone(tmp_path: Path) -> None:
    with a_node(tmp_path, changes={"/redfish/v1/Systems/1/Bios": {"Attributes": None}}) as node:
        for until in (float("inf"), time.time()):
            report = node.set(until=until)
            assert report.stand is SettingStatus.UNREAD
            assert "shows no Attributes" in report.message


def test_a_profile_that_asks_for_none_opens_no_bmc(tmp_path: Path) -> None:
    with a_node(tmp_path) as node:
        assert node.set({}).message == "the profile names no BIOS or boot settings"
        assert node.bmc.events("request") == []


def test_settings_without_a_place_where_they_wait_are_sent_to_the_bios_itself(tmp_path: Path) -> None:
    """Then nothing shows that they wait, which is told; what was written down knows it."""
    with a_node(tmp_path, changes={"/redfish/v1/Systems/1/Bios": {"@Redfish.Settings": None}}) as node:
        report = node.set()
        assert report.request is not None
        assert report.request["uri"] == "/redfish/v1/Systems/1/Bios"
        assert report.stand in {SettingStatus.WAITING, SettingStatus.SETTLED}
        if report.stand is SettingStatus.WAITING:
            assert "does not show that it waits" in report.notes[0]
            node.boot(report)
        assert node.set().stand is SettingStatus.SETTLED


def crash(url: str, store_url: str, point: str) -> None:
    """Set settings, and die at a point of one's own if it is one."""
    with Store.open(store_url) as store:
        note = store.note_bios

        def noted(*args: Any, **said: Any) -> None:
            if point == "noting":
                os.kill(os.getpid(), signal.SIGKILL)
            note(*args, **said)
            os.kill(os.getpid(), signal.SIGKILL)

        if point != "bios_set":
            store.note_bios = noted  # type: ignore[method-assign]  a crash has to be somewhere
        means = BiosContext(store, partial(Bmc, url, *CREDENTIALS, limits=QUICK), WANTED, PACE, LEASE_SECONDS)
        set_bios(Target(NODE, "one"), means)


@pytest.mark.parametrize("name", ["dgx_h100", "supermicro_hgx_h100", ""])
def test_the_check_s_reads_find_the_settings_and_where_they_wait(
    request: pytest.FixtureRequest, tmp_path: Path, name: str
) -> None:
    """Also beside a system that has none, as the board of a DGX's GPUs."""
    captured = request.getfixturevalue("samples") / "redfish" / f"{name}.json.gz" if name else OUR_OWN
    with a_node(tmp_path, captured) as node, node.open() as bmc:
        [(bios, body)] = bmc.read(READS["redfish_bios"].path).items()
        assert body["Attributes"] == node.bmc.attributes()
        [future] = bmc.read(READS["redfish_bios_future"].path)
        assert future == body["@Redfish.Settings"]["SettingsObject"]["@odata.id"] != bios
