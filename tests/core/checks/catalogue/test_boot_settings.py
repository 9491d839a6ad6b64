"""Secure Boot and the first boot device are verified, and FAIL only where it is certain that they are not kept."""

import json
from typing import Any

import pytest

from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from fleet_runner.core.firmware.bios_text import Report, SettingStatus
from tests.core.checks.catalogue.judging import DEVICE, HEALTHY, NODE, judged

PASS, FAIL, UNKNOWN = Verdict.PASS, Verdict.FAIL, Verdict.UNKNOWN
SYSTEM = "/redfish/v1/Systems/1"
SECURE = f"{SYSTEM}/SecureBoot"


def asked(
    wanted: Any, stand: SettingStatus | None = None, jobs: Any = None, unread: str = "", **secure: Any
) -> Result:
    """Judge the healthy node's settings, with another Secure Boot, jobs for BIOS settings, or a part unread."""
    bodies = json.loads(HEALTHY["boot_settings"]["redfish_boot"])
    bodies[SECURE] |= secure
    texts = {"redfish_boot": json.dumps({**bodies, **({unread: None} if unread else {})})}
    if jobs is not None:
        texts["redfish_bios_jobs"] = json.dumps(jobs)
    if stand is not None:
        texts["bios_progress"] = json.dumps(Report(stand, "as was reported").to_json())
    return judged("boot_settings", texts, Expected(NODE, {"boot_settings": wanted}, DEVICE))


def test_what_is_right_is_told_with_the_mode() -> None:
    result = asked({"secure_boot": True, "first": "network"})
    assert (result.verdict, result.message) == (
        PASS,
        "boot_settings.secure_boot is True, boot_settings.first is 'network'",
    )
    assert result.observed == {
        "attributes": {"boot_settings.secure_boot": True, "boot_settings.first": "network"},
        "secure_boot_mode": "UserMode",
    }
    assert "secure_boot_mode" not in asked({"secure_boot": True}, SecureBootMode="x" * 100_000).observed


def test_what_is_wrong_is_named_with_what_should_be() -> None:
    result = asked({"secure_boot": False, "first": "disk"})
    assert (
        result.message
        == "boot_settings.secure_boot is True, expected False; boot_settings.first is 'network', expected 'disk'"
    )
    assert [finding.fault for finding in result.findings] == [
        "gpu-01/boot.setting/boot_settings.secure_boot",
        "gpu-01/boot.setting/boot_settings.first",
    ]
    assert {finding.remedy for finding in result.findings} == {Remedy.REFLASH}


@pytest.mark.parametrize(
    ("stand", "secure", "verdict", "why"),
    [
        (None, {}, FAIL, "boot_settings.secure_boot is False, expected True"),
        (
            None,
            {"SecureBootMode": "SetupMode"},
            FAIL,
            "boot_settings.secure_boot is False, expected True; the BIOS is",
        ),
        (
            None,
            {"SecureBootEnable": True},
            UNKNOWN,
            "boot_settings.secure_boot is pending: the next reset of the host sets it",
        ),
        (
            None,
            {"SecureBootEnable": None, "SecureBootCurrentBoot": None},
            UNKNOWN,
            "boot_settings.secure_boot: the BMC does not",
        ),
        (SettingStatus.WAITING, {}, FAIL, "boot_settings.secure_boot is False"),
        (SettingStatus.FAILED, {}, FAIL, "boot_settings.secure_boot is False"),
        (SettingStatus.SETTLED, {}, UNKNOWN, "boot_settings.secure_boot was right before the boot and is not now"),
        (SettingStatus.REFUSED, {}, UNKNOWN, "as was reported"),
        (SettingStatus.BUSY, {}, UNKNOWN, "as was reported"),
    ],
)
def test_what_follows_from_secure_boot_that_is_off(
    stand: SettingStatus | None, secure: Any, verdict: Verdict, why: str
) -> None:
    off = {"SecureBootCurrentBoot": "Disabled", "SecureBootEnable": False}
    result = asked({"secure_boot": True}, stand, **{**off, **secure})
    assert result.verdict is verdict
    assert result.message.startswith(why)
    assert result.observed.get("working", False) is (stand is SettingStatus.BUSY)


@pytest.mark.parametrize("state", ["Scheduled", "Running"])
def test_a_job_that_may_change_secure_boot_is_waited_for(state: str) -> None:
    """An iDRAC shows what was in force before until it is over."""
    jobs: dict[str, Any] = {"/j/1": {"Id": "JID_1", "JobType": "BIOSConfiguration", "JobState": state}, "/j/2": None}
    off = {"SecureBootCurrentBoot": "Disabled", "SecureBootEnable": False}
    result = asked({"secure_boot": True}, SettingStatus.WAITING, jobs, **off)
    assert (result.verdict, result.observed) == (UNKNOWN, {"working": True})
    assert result.message == f"job JID_1 ({state}) is not over, which may change Secure Boot"
    assert asked({"secure_boot": True}, None, jobs).verdict is PASS
    jobs["/j/1"]["JobState"] = "Completed"
    assert asked({"secure_boot": True}, SettingStatus.WAITING, jobs, **off).verdict is UNKNOWN, "one is not read"
    del jobs["/j/2"]
    assert asked({"secure_boot": True}, SettingStatus.WAITING, jobs, **off).verdict is FAIL


def test_half_an_answer_fails_nobody() -> None:
    pending = "/redfish/v1/Systems/1/Pending"
    result = asked({"first": "disk"}, unread=pending)
    assert (result.verdict, result.message) == (
        UNKNOWN,
        "boot_settings.first is not as it should be, and what waits cannot be read",
    )
    assert asked({"first": "network"}, unread=pending).verdict is PASS


def test_another_card_than_the_one_that_the_design_names_is_no_pass() -> None:
    interfaces = [{"name": "eth1", "mac": "02:00:00:00:00:99"}]
    bodies = {
        SYSTEM: {"Boot": {"BootOrder": ["Boot0001", "Boot0002"]}},
        f"{SYSTEM}/BootOptions/1": {"BootOptionReference": "Boot0001", "UefiDevicePath": "MAC(020000000001,0x1)"},
        f"{SYSTEM}/BootOptions/2": {"BootOptionReference": "Boot0002", "UefiDevicePath": "MAC(020000000099,0x1)"},
    }
    texts = {"redfish_boot": json.dumps(bodies)}
    profile = {"boot_settings": {"first": "network", "interface": "eth1"}}
    result = judged("boot_settings", texts, Expected(NODE, profile, {**DEVICE, "interfaces": interfaces}))
    assert result.verdict is FAIL
    assert result.message == "boot_settings.first is 'another network card', expected 'network'"
    unknown = judged("boot_settings", texts, Expected(NODE, profile, {**DEVICE, "interfaces": []}))
    assert unknown.verdict is UNKNOWN
    assert "has no interface of that name with a MAC address" in unknown.message
