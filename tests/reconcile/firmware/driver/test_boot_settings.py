"""Secure Boot and the first boot device, set by the BIOS settings' own way on emulated BMCs."""

from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.redfish import bulk
from fleet_runner.adapters.redfish.host_settings import HostSettings
from fleet_runner.core.base.errors import BmcError
from fleet_runner.core.firmware import boot_settings
from fleet_runner.core.firmware.bios_text import SettingStatus
from fleet_runner.core.firmware.boot_settings import FIRST, SECURE
from tests.lab.redfish.talking import wait
from tests.reconcile.firmware.driver.bios_node import WANTED, Node, a_node
from tests.reconcile.firmware.driver.test_bios_makers import dell

SYSTEM = "/redfish/v1/Systems/1"
KEYS, OPTIONS, LATER = f"{SYSTEM}/SecureBoot", f"{SYSTEM}/BootOptions", f"{SYSTEM}/Pending"
DISK, NETWORK = "PciRoot(0x0)/NVMe(0x1,02-DC)", "PciRoot(0x0)/MAC(020000000001,0x1)/IPv4(0.0.0.0)"
ORDER = {"BootOrder": ["Boot0001", "Boot0002"], "BootOptions": {"@odata.id": OPTIONS}}
BOTH: dict[str, Any] = {SECURE: True, FIRST: "network"}


def machine(mode: str = "UserMode", *, later: bool = True) -> dict[str, Any]:
    """What our own tree lacks: Secure Boot, and a boot order, which waits at a settings object as Lenovo's does."""
    settings = {"@Redfish.Settings": {"SettingsObject": {"@odata.id": LATER}}} if later else {}
    members = [{"@odata.id": f"{OPTIONS}/{name}"} for name in ORDER["BootOrder"]]
    return {
        SYSTEM: {"Boot": ORDER, "SecureBoot": {"@odata.id": KEYS}, **settings},
        KEYS: {"@odata.type": "#SecureBoot.v1_1_0.SecureBoot", "SecureBootEnable": False,
               "SecureBootCurrentBoot": "Disabled", "SecureBootMode": mode},
        OPTIONS: {"@odata.type": "#BootOptionCollection.BootOptionCollection", "Members": members},
        f"{OPTIONS}/Boot0001": {"BootOptionReference": "Boot0001", "UefiDevicePath": DISK},
        f"{OPTIONS}/Boot0002": {"BootOptionReference": "Boot0002", "UefiDevicePath": NETWORK},
        **({LATER: {"@odata.type": "#ComputerSystem.v1_17_0.ComputerSystem",
                    "Boot": {"BootOrder": ORDER["BootOrder"]}}} if later else {}),
    }  # fmt: skip


def seen(node: Node) -> dict[str, Any]:
    """Return what is in force."""
    with node.open() as bmc:
        bmc.begin()
        return boot_settings.in_force(boot_settings.shown(bulk.gather(bmc.resources, boot_settings.PATTERNS)))


def test_both_are_sent_once_with_the_bios_settings_and_are_in_force_after_one_reset(tmp_path: Path) -> None:
    with a_node(tmp_path, changes=machine()) as node:
        planned = node.set({**WANTED, **BOTH}, check=True)
        assert planned.request is not None
        assert [(each["uri"], each["body"]) for each in planned.request["then"]] == [
            (KEYS, {"SecureBootEnable": True}),
            (LATER, {"Boot": {"BootOrder": ["Boot0002", "Boot0001"]}}),
        ]
        assert node.bmc.events("secure_boot_set") == []
        report = node.set({**WANTED, **BOTH})
        assert (report.stand, report.changed) == (SettingStatus.WAITING, True)
        assert node.set({**WANTED, **BOTH}, holder="another").changed is False, "whoever comes next only waits"
        assert seen(node) == {SECURE: False, FIRST: "disk"}
        node.boot(report)
        assert node.set({**WANTED, **BOTH}).stand is SettingStatus.SETTLED
        assert seen(node) == BOTH
        assert (len(node.bmc.events("secure_boot_set")), len(node.bmc.events("host_reset"))) == (1, 1)


def test_a_boot_order_without_a_settings_object_holds_at_once(tmp_path: Path) -> None:
    with a_node(tmp_path, changes=machine(later=False)) as node:
        report = node.set({FIRST: "network"})
        assert (report.stand, report.changed) == (SettingStatus.SETTLED, True)
        assert node.bmc.events("bios_set") == []
        assert seen(node)[FIRST] == "network"


def test_without_a_platform_key_nothing_is_sent(tmp_path: Path) -> None:
    with a_node(tmp_path, changes=machine("SetupMode")) as node:
        report = node.set(BOTH)
        assert (report.stand, report.changed) == (SettingStatus.REFUSED, False)
        assert "boot_settings.secure_boot: the BIOS is in SetupMode, without a platform key" in report.message
        assert node.bmc.events("secure_boot_set", "boot_override") == []


def test_a_bmc_that_shows_neither_is_sent_nothing(tmp_path: Path) -> None:
    with a_node(tmp_path) as node:
        report = node.set(BOTH)
        assert report.stand is SettingStatus.REFUSED
        assert "boot_settings.secure_boot: the BMC does not show whether Secure Boot is on" in report.message


@pytest.mark.parametrize("newer", [True, False])
@pytest.mark.parametrize("wanted", [{SECURE: True}, {SECURE: True, **WANTED}])
def test_a_dells_secure_boot_goes_with_its_bios_settings_in_one_job(
    tmp_path: Path, wanted: dict[str, Any], newer: bool
) -> None:
    """Its SecureBoot resource would make a job of its own, after which the BIOS takes nothing (bmclib 471)."""
    changes = machine(later=False) | {f"{SYSTEM}/Bios": {"Attributes": {"SecureBoot": "Disabled"}}}
    for uri, body in dell(newer=newer).items():
        changes[uri] = {**changes.get(uri, {}), **body}
    changes[SYSTEM] |= {"Oem": {"Dell": {}}}
    with a_node(tmp_path, changes=changes) as node:
        report = node.set(wanted)
        assert report.stand is SettingStatus.WAITING, report.message
        again = node.set(wanted, holder="another")
        assert (again.stand, again.changed) == (SettingStatus.WAITING, False), "whoever comes next only waits"
        assert node.bmc.events("secure_boot_set") == []
        assert len(node.bmc.events("bios_job")) == 1
        node.boot(report)
        wait(lambda: len(node.bmc.events("bios_applied")) == 1)
        assert node.set(wanted).stand is SettingStatus.SETTLED
        refused = node.set({FIRST: "network"})
        assert "set its SetBootOrderEn in the profile's bios" in refused.message


def test_what_was_taken_before_secure_boot_was_refused_gets_its_reset(tmp_path: Path) -> None:
    rules = [{"when": {"uri": KEYS, "method": "PATCH"}, "what": {"answer": {"status": 400}}}]
    with a_node(tmp_path, changes=machine(), rules=rules) as node:
        report = node.set({**WANTED, **BOTH})
        assert (report.stand, report.changed) == (SettingStatus.WAITING, True)
        assert report.request is not None
        assert (report.request["body"], "then" in report.request) == (
            {"Attributes": {"SRIOVEnable": "Enabled", "MaxPayload": 512}},
            False,
        )
        assert any("answered 400 to Secure Boot" in each for each in report.notes)
        tried = node.tried()
        assert tried is not None
        assert set(tried.attributes) == {"SRIOVEnable", "MaxPayload"}
        node.boot(report)
        again = node.set({**WANTED, **BOTH})
        assert (again.stand, again.since) == (SettingStatus.REFUSED, None), "nothing waits any more"
        assert "answered 400 to Secure Boot" in again.message


@pytest.mark.parametrize("current", [None, "odd"])
def test_secure_boot_is_not_held_to_be_in_force_for_being_enabled(tmp_path: Path, current: str | None) -> None:
    """It would count as set at once, and no reset would bring it into force."""
    changes = machine()
    changes[KEYS] |= {"SecureBootCurrentBoot": current}
    with a_node(tmp_path, changes=changes) as node:
        assert node.set({SECURE: True}).stand is SettingStatus.REFUSED
        assert node.bmc.events("secure_boot_set") == []


def test_boot_settings_of_several_computers_are_nobodys(tmp_path: Path) -> None:
    other = "/redfish/v1/Systems/2"
    changes = machine() | {
        "/redfish/v1/Systems": {"Members": [{"@odata.id": SYSTEM}, {"@odata.id": other}]},
        other: {"@odata.type": "#ComputerSystem.v1_17_0.ComputerSystem", "Boot": {"BootOrder": ["Boot0001"]}},
    }
    with a_node(tmp_path, changes=changes) as node:
        report = node.set(BOTH)
        assert report.stand is SettingStatus.UNREAD
        assert "several computers have boot settings" in report.message


def test_half_an_answer_is_none(tmp_path: Path) -> None:
    rules = [{"when": {"uri": f"{OPTIONS}/Boot0002"}, "what": {"answer": {"status": 500}}}]
    with a_node(tmp_path, changes=machine(), rules=rules) as node:
        report = node.set({FIRST: "network"})
        assert report.stand is SettingStatus.UNREAD
        assert f"{OPTIONS}/Boot0002 cannot be read" in report.message


def test_an_empty_boot_order_is_never_sent(tmp_path: Path) -> None:
    """As where the network's device is gone since it was planned."""
    gone = machine()
    gone[f"{OPTIONS}/Boot0002"] |= {"BootOptionEnabled": False}
    with (
        a_node(tmp_path, changes=gone) as node,
        node.open() as bmc,
        pytest.raises(BmcError, match="shows no network device in its boot order"),
    ):
        HostSettings(bmc, BOTH).requests(BOTH)


def test_no_reset_is_asked_for_while_an_ilos_queue_waits_for_one(tmp_path: Path) -> None:
    service = "/redfish/v1/UpdateService"
    queue, task = f"{service}/UpdateTaskQueue", f"{service}/UpdateTaskQueue/1"
    changes = {
        service: {"Oem": {"Hpe": {"State": "Idle", "UpdateTaskQueue": {"@odata.id": queue}}}},
        queue: {"Members": [{"@odata.id": task}]},
        task: {"Name": "Update BIOS", "State": "Pending"},
    }
    with a_node(tmp_path, changes=changes) as node:
        report = node.set(WANTED)
        assert (report.stand, report.since, report.changed) == (SettingStatus.BUSY, None, False)
        assert report.message.startswith("no reset of the host is asked for: its update task queue has 'Update BIOS'")
        assert node.bmc.events("bios_set") == []
