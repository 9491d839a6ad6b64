"""Secure Boot and the first boot device are verified, and FAIL only where it is certain that they are not kept."""

import json
from typing import Any

import pytest

from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from fleet_runner.core.firmware.bios_text import Report, SettingStatus
from tests.core.checks.catalogue.judging import DEVICE, HEALTHY, NODE, judged

PASS, FAIL, UNKNOWN = Verdict.PASS, Verdict.FAIL, Verdict.UNKNOWN
SECURE = "/redfish/v1/Systems/1/SecureBoot"


def asked(wanted: Any, stand: SettingStatus | None = None, **secure: Any) -> Result:
    """Judge the healthy node's settings, with another Secure Boot."""
    bodies = json.loads(HEALTHY["boot_settings"]["redfish_boot"])
    bodies[SECURE] |= secure
    texts = {"redfish_boot": json.dumps(bodies)}
    if stand is not None:
        texts["bios_progress"] = json.dumps(Report(stand, "as was reported").to_json())
    return judged("boot_settings", texts, Expected(NODE, {"boot_settings": wanted}, DEVICE))


def test_what_is_right_is_told_with_the_mode() -> None:
    result = asked({"secure_boot": True, "first": "network"})
    assert (result.verdict, result.message) == (PASS, "secure_boot is True, boot_first is 'network'")
    assert result.observed == {"secure_boot": True, "boot_first": "network", "secure_boot_mode": "UserMode"}
    assert "secure_boot_mode" not in asked({"secure_boot": True}, SecureBootMode=None).observed


def test_what_is_wrong_is_named_with_what_should_be() -> None:
    result = asked({"secure_boot": False, "first": "disk"})
    assert result.message == "secure_boot is True, expected False; boot_first is 'network', expected 'disk'"
    assert [finding.fault for finding in result.findings] == [
        "gpu-01/boot.setting/secure_boot",
        "gpu-01/boot.setting/boot_first",
    ]
    assert {finding.remedy for finding in result.findings} == {Remedy.REFLASH}


@pytest.mark.parametrize(
    ("stand", "secure", "verdict", "why"),
    [
        (None, {}, FAIL, "secure_boot is False, expected True"),
        (
            None,
            {"SecureBootMode": "SetupMode"},
            FAIL,
            "secure_boot is False, expected True; the BIOS is",
        ),
        (None, {"SecureBootEnable": True}, UNKNOWN, "secure_boot is pending: the next reset of the host sets it"),
        (
            None,
            {"SecureBootEnable": None, "SecureBootCurrentBoot": None},
            UNKNOWN,
            "secure_boot: the BMC does not",
        ),
        (SettingStatus.WAITING, {}, FAIL, "secure_boot is False"),
        (SettingStatus.FAILED, {}, FAIL, "secure_boot is False"),
        (SettingStatus.SETTLED, {}, UNKNOWN, "secure_boot was right before the boot and is not now"),
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
