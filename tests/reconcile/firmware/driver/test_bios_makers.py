"""BIOS settings as each maker's BMC takes them: Dell's jobs, HPE's messages, whatever somebody else left there."""

import os
import signal
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.redfish import Bmc
from fleet_runner.adapters.redfish.bios import Bios
from fleet_runner.adapters.store import Store
from fleet_runner.core.checks.reads import READS
from fleet_runner.core.firmware.bios_steps import MOST_RESETS
from fleet_runner.core.firmware.bios_text import SettingStatus
from fleet_runner.lab.redfish import Durations
from fleet_runner.reconcile.firmware.driver import BiosContext, Target, identity, set_bios
from tests.lab.redfish.talking import wait
from tests.reconcile.firmware.driver.bios_node import PACE, WANTED, Node, a_node
from tests.reconcile.firmware.driver.child import QUICK
from tests.reconcile.firmware.driver.scenes import CREDENTIALS, LEASE_SECONDS, NODE
from tests.reconcile.firmware.driver.stage import WARM

BIOS = "/redfish/v1/Systems/1/Bios"
JOBS = "/redfish/v1/Managers/1/Jobs"
TIMES = {"SupportedApplyTimes": ["OnReset", "AtMaintenanceWindowStart"]}


def dell(*, newer: bool = True) -> dict[str, Any]:
    """What makes a Dell of our own tree: jobs, and on newer ones the times at which a change may be applied."""
    return {
        "/redfish/v1": {"Vendor": "Dell"},
        BIOS: {"@Redfish.Settings": TIMES if newer else {}},
        f"{BIOS}/Settings": {"Oem": {"Dell": {"Jobs": {"@odata.id": JOBS}}}},
        JOBS: {"@odata.type": "#DellJobCollection.DellJobCollection", "Members": []},
    }


def ended(node: Node, jobs: int = 1) -> None:
    """Wait until the settings were taken up so many times."""
    wait(lambda: len(node.bmc.events("bios_applied")) == jobs)


@pytest.mark.parametrize("newer", [True, False])
def test_a_dell_gets_one_job_from_the_change_itself_or_from_a_request_of_its_own(tmp_path: Path, newer: bool) -> None:
    with a_node(tmp_path, changes=dell(newer=newer)) as node:
        report = node.set()
        assert report.stand is SettingStatus.WAITING
        assert report.request is not None
        assert ("@Redfish.SettingsApplyTime" in report.request["body"]) is newer
        assert len(node.bmc.events("bios_job")) == 1
        again = node.set(holder="another")
        assert (again.stand, again.changed) == (SettingStatus.WAITING, False)
        node.boot(report)
        ended(node)
        assert node.set().stand is SettingStatus.SETTLED
        assert len(node.bmc.events("bios_job")) == len(node.bmc.events("host_reset")) == 1


def test_a_captured_dell_takes_settings_by_a_job(samples: Path, tmp_path: Path) -> None:
    """Its queue already holds one of somebody else's that is over."""
    with a_node(tmp_path, samples / "redfish" / "dell_r750.json.gz") as node:
        locked = node.set({"OneTimeUefiBootSeqDev": "Unknown.Unknown.2-1"})
        assert (locked.stand, node.bmc.events("bios_set")) == (SettingStatus.REFUSED, [])
        assert "found it read-only while OneTimeBootMode is 'Disabled'" in locked.message
        report = node.set({"ProcVirtualization": "Disabled"})
        assert report.request is not None
        assert report.request["body"]["@Redfish.SettingsApplyTime"] == {"ApplyTime": "OnReset"}
        node.boot(report)
        ended(node)
        assert node.set({"ProcVirtualization": "Disabled"}).stand is SettingStatus.SETTLED


def test_settings_that_wait_without_a_job_get_one(tmp_path: Path) -> None:
    """dell/iDRAC-Redfish-Scripting 84: without a job they stay pending over any number of resets.

    dsx-ai-factory/libredfish 97: a newer iDRAC makes none for what waits already.
    """
    with a_node(tmp_path, changes=dell()) as node:
        with node.open() as bmc:
            bmc.resources.patch(f"{BIOS}/Settings", {"Attributes": {"SRIOVEnable": "Enabled"}}, "a person's change")
        wanted = {"SRIOVEnable": "Enabled"}
        planned = node.set(wanted, check=True)
        assert planned.stand is SettingStatus.PLANNED
        assert planned.request == {"method": "POST", "uri": JOBS, "body": {"TargetSettingsURI": f"{BIOS}/Settings"}}
        assert node.bmc.events("bios_job") == []
        report = node.set(wanted)
        assert (report.stand, report.changed, report.request) == (SettingStatus.WAITING, True, planned.request)
        node.boot(report)
        ended(node)
        assert node.set(wanted).stand is SettingStatus.SETTLED


def test_a_job_of_somebody_else_is_told_and_left_alone(tmp_path: Path) -> None:
    with a_node(tmp_path, changes=dell()) as node:
        with node.open() as bmc:
            Bios(bmc).set({"QuietBoot": False})
        report = node.set({"SRIOVEnable": "Enabled"})
        assert report.stand is SettingStatus.REFUSED
        assert report.message.startswith("SRIOVEnable 'Enabled': not sent, because job JID_900000000000 (Scheduled) ")
        assert len(node.bmc.events("bios_job")) == len(node.bmc.events("bios_set")) == 1
        assert node.bmc.events("host_reset") == []


def test_a_job_that_comes_in_between_is_told_with_the_bmcs_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with a_node(tmp_path, changes=dell()) as node:

        def quicker(*_: object) -> str:
            with node.open() as bmc:
                Bios(bmc).set({"QuietBoot": False})
            return ""

        monkeypatch.setattr(identity, "stranger", quicker)  # what is asked last before a change is sent
        report = node.set({"SRIOVEnable": "Enabled"})
        assert report.stand is SettingStatus.REFUSED
        assert "already committed" in report.message
        assert report.message.endswith("; job JID_900000000000 (Scheduled) waits for a reset of the host")
        assert node.tried() is None


def test_a_job_that_runs_is_waited_for_and_nothing_is_read_from_what_is_shown_meanwhile(tmp_path: Path) -> None:
    """dsx-ai-factory/libredfish 25: an iDRAC shows settings as in force before their job has ended."""
    pace = Durations.quick()
    slow = type(pace)(**{name: getattr(pace, name) for name in pace.__dataclass_fields__} | {"bios_job": 600.0})
    with a_node(tmp_path, changes=dell(), pace=slow) as node:
        node.boot(node.set())
        with node.open() as bmc:
            wait(lambda: Bios(bmc).queue().running)
            assert Bios(bmc).attributes().items() >= WANTED.items()
            [job] = bmc.gather(READS["redfish_bios_jobs"].argv).values()
        assert job is not None
        assert job["JobState"] == "Running"
        report = node.set()
        assert (report.stand, report.changed) == (SettingStatus.BUSY, False)
        assert report.message.startswith("job JID_900000000000 (Running, 1 %) is at the BIOS settings")


def test_a_job_that_fails_is_told_with_what_it_says(tmp_path: Path) -> None:
    rules = [{"what": {"ignore_bios": {"attribute": "SRIOV*"}}}]
    with a_node(tmp_path, changes=dell(), rules=rules) as node:
        node.boot(node.set())
        ended(node)
        report = wait(lambda: (found := node.set()).stand is not SettingStatus.BUSY and found)
        assert report.stand is SettingStatus.FAILED
        assert report.message.endswith("it says: job JID_900000000000 (Failed): Unable to apply SRIOVEnable."), (
            report.message
        )
        assert len(node.bmc.events("bios_set")) == 1


def test_an_hpe_that_did_not_keep_a_setting_tells_why_in_its_ids(tmp_path: Path) -> None:
    rules = [{"what": {"ignore_bios": {"attribute": "SRIOV*"}}}]
    with a_node(tmp_path, changes={"/redfish/v1": {"Vendor": "HPE"}}, rules=rules) as node:
        node.boot(node.set())
        report = node.set()
        assert report.stand is SettingStatus.FAILED
        assert report.message.endswith("not in force after the reset; it says: PropertyNotWritable SRIOVEnable")


def test_a_captured_hpe_takes_settings_where_they_wait(samples: Path, tmp_path: Path) -> None:
    with a_node(tmp_path, samples / "redfish" / "hpe_dl385.json.gz") as node:
        report = node.set({"AcpiHpet": "Disabled"})
        assert report.request is not None
        assert report.request["uri"].rstrip("/") == "/redfish/v1/systems/1/bios/settings"
        before = len(node.bmc.events("host_reset"))
        with node.open() as bmc:
            bmc.power("ForceRestart")
        wait(lambda: len(node.bmc.events("host_reset")) > before)
        assert node.set({"AcpiHpet": "Disabled"}).stand is SettingStatus.SETTLED


@pytest.mark.parametrize("name", ["Pending", "SD", "Settings"])
def test_settings_wait_where_the_bmc_says(tmp_path: Path, name: str) -> None:
    """Lenovo's at Bios/Pending, AMI's and Supermicro's at Bios/SD, others' at Bios/Settings."""
    where = f"{BIOS}/{name}"
    named = {BIOS: {"@Redfish.Settings": {"SettingsObject": {"@odata.id": where}}}}
    place = {where: {"@odata.type": "#Bios.v1_2_1.Bios", "Id": name, "Name": "BIOS settings", "Attributes": {}}}
    with a_node(tmp_path, changes={**named, **place}) as node:
        report = node.set()
        assert report.request is not None
        assert (report.stand, report.request["uri"]) == (SettingStatus.WAITING, where)
        node.boot(report)
        assert node.set().stand is SettingStatus.SETTLED


def needs(first: str = "SRIOVEnable", value: str = "Enabled") -> dict[str, Any]:
    """What makes MaxPayload read-only in our own tree until another setting has a value."""
    term = {"MapFromAttribute": first, "MapFromProperty": "CurrentValue", "MapFromCondition": "NEQ"}
    found = {"MapFrom": [{**term, "MapFromValue": value}], "MapToAttribute": "MaxPayload"}
    row = {"Type": "Map", "Dependency": {**found, "MapToProperty": "ReadOnly", "MapToValue": True}}
    return {"/redfish/v1/Registries/LabBiosAttributes.v1_0_0": {"RegistryEntries": {"Dependencies": [row]}}}


def test_a_bmc_that_wants_one_setting_in_force_before_another_gets_them_in_two_rounds(tmp_path: Path) -> None:
    with a_node(tmp_path, changes=needs()) as node:
        report = node.set()
        assert (report.stand, report.later) == (SettingStatus.WAITING, ("MaxPayload",))
        assert report.message.endswith("SRIOVEnable 'Enabled'; MaxPayload can be set once these are in force")
        assert report.request is not None
        assert report.request["body"] == {"Attributes": {"SRIOVEnable": "Enabled"}}
        again = node.set(holder="another")
        assert (again.stand, again.changed, again.later) == (SettingStatus.WAITING, False, ("MaxPayload",))
        node.boot(report)
        second = node.set()
        assert (second.stand, second.later) == (SettingStatus.WAITING, ())
        node.boot(second)
        assert node.set().stand is SettingStatus.SETTLED
        assert [dict(event["attributes"]) for event in node.bmc.events("bios_applied")] == [
            {"SRIOVEnable": "Enabled"}, {"MaxPayload": 512},
        ]  # fmt: skip


@pytest.mark.parametrize("status", [409, 503])
def test_a_bmc_that_cannot_just_now_is_asked_again_for_all_of_it(tmp_path: Path, status: int) -> None:
    busy = {"status": status, "message": "busy"}
    rule = {"when": {"event": "request", "method": "PATCH", "nth": 1}, "what": {"answer": busy}}
    with a_node(tmp_path, changes={**dell(), **needs()}, rules=[rule]) as node:
        report = node.set()
        assert (report.stand, report.later) == (SettingStatus.WAITING, ()), report.message
        assert report.request is not None
        assert set(report.request["body"]["Attributes"]) == {*WANTED} - {"QuietBoot"}
    (tmp_path / "busy").mkdir()
    with a_node(
        tmp_path / "busy", changes={**dell(), **needs()}, rules=[{**rule, "when": {"method": "PATCH"}}]
    ) as node:
        report = node.set()
        assert (report.stand, node.tried()) == (SettingStatus.UNREAD, None)


def test_what_a_bmc_says_that_it_took_and_shows_nowhere_asks_for_no_reset(tmp_path: Path) -> None:
    """Each of two settings waits for the other, and the BMC drops both in silence: each run would reset for it."""
    each = needs()["/redfish/v1/Registries/LabBiosAttributes.v1_0_0"]["RegistryEntries"]["Dependencies"]
    found = {**each[0]["Dependency"], "MapToAttribute": "SRIOVEnable"}
    found["MapFrom"] = [{**found["MapFrom"][0], "MapFromAttribute": "MaxPayload", "MapFromValue": 512}]
    rows = [*each, {"Type": "Map", "Dependency": found}]
    changes = {"/redfish/v1/Registries/LabBiosAttributes.v1_0_0": {"RegistryEntries": {"Dependencies": rows}}}
    rule = {"when": {"event": "request", "method": "PATCH"}, "what": {"answer": {"status": 200}}}
    with a_node(tmp_path, changes=changes, rules=[rule]) as node:
        report = node.set({"SRIOVEnable": "Enabled", "MaxPayload": 512})
        assert report.stand is SettingStatus.REFUSED
        assert report.message.startswith("the BMC answered that it took SRIOVEnable 'Enabled', MaxPayload 512, and")
        assert (report.since, node.tried()) == (None, None)


def test_a_stay_with_as_many_resets_as_there_may_be_sends_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with a_node(tmp_path) as node:
        node.boot(node.set({"SRIOVEnable": "Enabled"}))
        tried = node.tried()
        assert tried is not None
        monkeypatch.setattr(Store, "bios_try", lambda *_: replace(tried, resets=MOST_RESETS))
        report = node.set()
        assert report.stand is SettingStatus.FAILED, report.message
        assert "not sent, because the host was to be reset 3 times" in report.message
        assert len(node.bmc.events("bios_set")) == len(node.bmc.events("host_reset")) == 1


def test_a_dell_takes_both_in_one_job(tmp_path: Path) -> None:
    """dell/dellemc-openmanage-ansible-modules 495: SysProfile and ProcPwrPerf in one request."""
    with a_node(tmp_path, changes={**dell(), **needs()}) as node:
        report = node.set()
        assert (report.stand, report.later) == (SettingStatus.WAITING, ())
        node.boot(report)
        ended(node)
        assert node.set().stand is SettingStatus.SETTLED


def test_a_captured_dell_is_told_which_other_setting_is_needed(samples: Path, tmp_path: Path) -> None:
    """Its registry calls ProcPwrPerf and HttpDev1Dns1 read-only, as they are now."""
    with a_node(tmp_path, samples / "redfish" / "dell_r750.json.gz") as node:
        alone = node.set({"ProcPwrPerf": "SysDbpm"})
        assert alone.stand is SettingStatus.REFUSED
        assert "set SysProfile to 'Custom', too" in alone.message
        report = node.set({"ProcPwrPerf": "SysDbpm", "SysProfile": "Custom"})
        assert report.stand is SettingStatus.WAITING
        node.boot(report)
        ended(node)
        assert node.set({"ProcPwrPerf": "SysDbpm", "SysProfile": "Custom"}).stand is SettingStatus.SETTLED


@pytest.mark.parametrize("newer", [True, False])
@pytest.mark.parametrize("point", ["bios_set", "bios_job", "noting"])
def test_a_crash_at_any_point_ends_in_one_job_and_one_reset(tmp_path: Path, newer: bool, point: str) -> None:
    driver: list[Any] = []

    def hear(event: Any) -> None:
        if event.kind == point and driver[0].is_alive():
            os.kill(driver[0].pid, signal.SIGKILL)

    with a_node(tmp_path, changes=dell(newer=newer), on=hear) as node:
        driver.append(WARM.Process(target=crash, args=(node.bmc.url, node.store), daemon=True))
        driver[0].start()
        driver[0].join()
        assert driver[0].exitcode == -signal.SIGKILL
        with Store.open(node.store) as store:
            store.unlease(NODE, "one")  # as if its time were over
        report = node.set(holder="another")
        assert report.stand is SettingStatus.WAITING
        node.boot(report)
        ended(node)
        assert node.set(holder="another").stand is SettingStatus.SETTLED
        assert len(node.bmc.events("bios_set")) == 1
        assert len(node.bmc.events("bios_job")) == len(node.bmc.events("host_reset")) == 1


def crash(url: str, store_url: str) -> None:
    """Set settings, and die before they are written down, if nobody ended it earlier."""
    with Store.open(store_url) as store:
        store.note_bios = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[method-assign]  # a crash
        means = BiosContext(store, partial(Bmc, url, *CREDENTIALS, limits=QUICK), WANTED, PACE, LEASE_SECONDS)
        set_bios(Target(NODE, "one"), means)
