"""What a BMC says that became of BIOS settings, in texts or in ids alone."""

from typing import Any

import pytest

from fleet_runner.core.firmware.bios_messages import about, complaints


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ({"MessageId": "Base.1.0.Success"}, ""),
        ({"MessageId": "Base.1.0.Success", "Message": "The settings were taken."}, ""),
        ({"MessageId": "iLO.2.14.SystemResetRequired"}, ""),
        ({"MessageId": "iLO.2.14.SystemResetRequired", "Severity": "Critical"}, "SystemResetRequired"),
        ({"Message": "All is well.", "MessageSeverity": "OK"}, ""),
        ({"Message": "It is locked.", "Severity": "Warning"}, "It is locked."),
        ({"Message": "It is\x1b locked."}, "It is\ufffd locked."),
        ({"MessageId": "iLO.2.14.PropertyNotWritable", "MessageArgs": ["SRIOV", 3, None]},
         "PropertyNotWritable SRIOV, 3"),
        ({"MessageId": "Bios.1.0.Odd", "Message": "", "MessageArgs": 7}, "Odd"),
        ({"MessageId": 7, "Message": 7}, ""),
        ({}, ""),
    ],
)  # fmt: skip
def test_a_message_is_told_by_its_text_or_by_its_id(message: Any, told: str) -> None:
    """HPE's iLO gives ids and arguments alone; its BIOS says so when all went well, too."""
    wanted = (told,) if told else ()
    assert complaints({"@Redfish.Settings": {"Messages": [message, "odd"]}}) == wanted
    assert complaints({"SettingsResult": {"Messages": [message]}}) == wanted


@pytest.mark.parametrize("body", [{}, {"@Redfish.Settings": None}, {"@Redfish.Settings": {"Messages": "odd"}}])
def test_a_bmc_may_say_nothing(body: Any) -> None:
    assert complaints(body) == ()


def test_what_is_said_of_a_setting_goes_before_what_is_said_first() -> None:
    assert about("SRIOV", ("first", "SRIOV is locked")) == "SRIOV is locked"
    assert about("Boot", ("first", "SRIOV is locked")) == "first"
    assert about("Boot", ()) == ""
