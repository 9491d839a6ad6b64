"""BIOS settings and boot overrides of an emulated BMC, as its maker's do: told by the tree's root and its links."""

from typing import Any

import pytest

from tests.lab.redfish.talking import Client, emulator, wait

SYSTEM = "/redfish/v1/Systems/1"
SETTINGS = f"{SYSTEM}/Bios/Settings"
JOBS = "/redfish/v1/Managers/1/Jobs"
TIME = "@Redfish.SettingsApplyTime"
DELL: dict[str, Any] = {
    "/redfish/v1": {"Vendor": "Dell"},
    f"{SYSTEM}/Bios": {"@Redfish.Settings": {"SupportedApplyTimes": ["OnReset"]}},
    SETTINGS: {"Oem": {"Dell": {"Jobs": {"@odata.id": JOBS}}}},
    JOBS: {"@odata.type": "#DellJobCollection.DellJobCollection", "Members": [{"@odata.id": f"{JOBS}/JID_1"}]},
    f"{JOBS}/JID_1": {"Id": "JID_1", "JobState": "Completed", "JobType": "FirmwareUpdate"},
}
LOCK = {
    "MapFrom": [
        {
            "MapFromAttribute": "SRIOVEnable",
            "MapFromProperty": "CurrentValue",
            "MapFromCondition": "EQU",
            "MapFromValue": "Disabled",
        }
    ],
    "MapToAttribute": "MaxPayload",
    "MapToProperty": "GrayOut",
    "MapToValue": "true",
}
LOCKED = {
    "/redfish/v1/Registries/LabBiosAttributes.v1_0_0": {
        "RegistryEntries": {"Dependencies": [{"Type": "Map", "Dependency": LOCK}]}
    }
}


def wish(client: Client, **attributes: Any) -> int:
    """Change settings as a Dell wants it, and return the answer's status."""
    status: int = client.ask(
        "PATCH", SETTINGS, {"Attributes": attributes, TIME: {"ApplyTime": "OnReset"}}
    ).status_code
    return status


def test_a_dells_job_is_listed_runs_with_the_start_and_is_kept() -> None:
    with emulator(changes=DELL) as bmc, Client(bmc) as client:
        assert wish(client, QuietBoot=False) == 202
        assert [each["@odata.id"] for each in client.get(JOBS)["Members"]] == [
            f"{JOBS}/JID_1",
            f"{JOBS}/JID_900000000000",
        ]
        assert client.get(f"{JOBS}/JID_1")["JobType"] == "FirmwareUpdate"
        job = f"{JOBS}/JID_900000000000"
        assert client.get(job)["JobState"] == "Scheduled"
        client.power("ForceRestart")
        wait(lambda: client.get(job)["JobState"] == "Completed")
        assert bmc.attributes()["QuietBoot"] is False
        assert client.get(SETTINGS)["Attributes"] == {}


def test_without_a_job_a_dell_applies_nothing() -> None:
    with emulator(changes=DELL) as bmc, Client(bmc) as client:
        assert client.ask("PATCH", SETTINGS, {"Attributes": {"QuietBoot": False}}).status_code == 200
        client.power("ForceRestart")
        wait(lambda: bmc.events("host_reset"))
        assert bmc.attributes()["QuietBoot"] is True
        assert client.get(SETTINGS)["Attributes"]["QuietBoot"] is False
        assert client.ask("POST", JOBS, {"TargetSettingsURI": f"{SYSTEM}/Bios"}).status_code == 400
        assert client.ask("POST", JOBS, {"TargetSettingsURI": SETTINGS}).status_code == 202


def test_a_time_that_is_not_offered_is_refused() -> None:
    with emulator() as bmc, Client(bmc) as client:
        assert wish(client, QuietBoot=False) == 400
        assert bmc.events("bios_set") == []


def test_a_dell_drops_what_stays_locked_without_a_word_and_others_refuse_it() -> None:
    """dell/dellemc-openmanage-ansible-modules 1072."""
    with emulator(changes={**DELL, **LOCKED}) as bmc, Client(bmc) as client:
        assert wish(client, MaxPayload=512) == 200
        assert bmc.events("bios_job") == []
        assert wish(client, MaxPayload=512, SRIOVEnable="Enabled") == 202
    with emulator(changes=LOCKED) as bmc, Client(bmc) as client:
        for also in ({}, {"SRIOVEnable": "Enabled"}):
            assert client.ask("PATCH", SETTINGS, {"Attributes": {"MaxPayload": 512, **also}}).status_code == 400


@pytest.mark.parametrize(
    ("vendor", "boot", "status"),
    [
        ("AMI", {"BootSourceOverrideTarget": "Pxe"}, 400),
        ("AMI", {"BootSourceOverrideTarget": "Pxe", "BootSourceOverrideEnabled": "Once"}, 204),
        ("HPE", {"BootSourceOverrideTarget": "UefiTarget"}, 400),
        ("HPE", {"BootSourceOverrideMode": "UEFI"}, 400),
        ("Dell", {"HttpBootUri": "http://10.0.0.1/x"}, 400),
        ("Lab", {"BootSourceOverrideTarget": "Pxe"}, 204),
        ("Lab", {"UefiTargetBootSourceOverride": "HD(9)"}, 400),
    ],
)
def test_boot_settings_are_taken_as_their_maker_does(vendor: str, boot: Any, status: int) -> None:
    listed = {
        "BootSourceOverrideTarget@Redfish.AllowableValues": ["None", "Pxe", "UefiTarget"],
        "UefiTargetBootSourceOverride@Redfish.AllowableValues": ["HD(1)"],
    }
    with (
        emulator(changes={"/redfish/v1": {"Vendor": vendor}, SYSTEM: {"Boot": listed}}) as bmc,
        Client(bmc) as client,
    ):
        assert client.ask("PATCH", SYSTEM, {"Boot": boot}).status_code == status
