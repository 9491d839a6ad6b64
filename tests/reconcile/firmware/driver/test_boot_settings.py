"""Secure Boot and the first boot device, set by the BIOS settings' own way on emulated BMCs."""

from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.redfish import bulk
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
        assert "secure_boot: the BIOS is in SetupMode, without a platform key" in report.message
        assert node.bmc.events("secure_boot_set", "boot_override") == []


def test_a_bmc_that_shows_neither_is_sent_nothing(tmp_path: Path) -> None:
    with a_node(tmp_path) as node:
        report = node.set(BOTH)
        assert report.stand is SettingStatus.REFUSED
        assert "secure_boot: the BMC does not show whether Secure Boot is on" in report.message


@pytest.mark.parametrize("wanted", [{SECURE: True}, {SECURE: True, **WANTED}])
def test_a_dells_secure_boot_goes_with_its_bios_settings_in_one_job(tmp_path: Path, wanted: dict[str, Any]) -> None:
    """Its SecureBoot resource would make a job of its own, after which the BIOS takes nothing (bmclib 471)."""
    changes = machine(later=False) | {f"{SYSTEM}/Bios": {"Attributes": {"SecureBoot": "Disabled"}}}
    for uri, body in dell().items():
        changes[uri] = {**changes.get(uri, {}), **body}
    changes[SYSTEM] |= {"Oem": {"Dell": {}}}
    with a_node(tmp_path, changes=changes) as node:
        report = node.set(wanted)
        assert report.stand is SettingStatus.WAITING, report.message
        assert node.bmc.events("secure_boot_set") == []
        assert len(node.bmc.events("bios_job")) == 1
        node.boot(report)
        wait(lambda: len(node.bmc.events("bios_applied")) == 1)
        assert node.set(wanted).stand is SettingStatus.SETTLED
        refused = node.set({FIRST: "network"})
        assert "set its SetBootOrderEn in the profile's bios" in refused.message
