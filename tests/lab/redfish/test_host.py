"""The host behind an emulated BMC: its power, its boots, its BIOS settings, and what is gone while it is off."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import requests

from fleet_runner.lab.redfish import BmcBehaviour, Durations, Emulator
from tests.lab.redfish.talking import LONGEST, QUICK, Client, emulator, own, wait

SYSTEM = "/redfish/v1/Systems/1"
BIOS = f"{SYSTEM}/Bios"
SETTINGS = f"{BIOS}/Settings"
GPU = "/redfish/v1/UpdateService/FirmwareInventory/HGX_FW_GPU_SXM_1"


@contextmanager
def talk(**said: Any) -> Iterator[tuple[Emulator, Client]]:
    """A BMC and somebody who talks with it."""
    with emulator(**said) as bmc, Client(bmc) as client:
        yield bmc, client


def test_power_goes_where_it_is_told_and_takes_its_time() -> None:
    with talk() as (bmc, client):
        for action, state in (("ForceOff", "Off"), ("On", "On"), ("GracefulShutdown", "Off"), ("PowerCycle", "On")):
            assert client.power(action).status_code == 204
            wait(lambda state=state: client.get(SYSTEM)["PowerState"] == state)
            assert client.get("/redfish/v1/Chassis/1")["PowerState"] == state
        assert [event["action"] for event in bmc.events("power")] == [
            "ForceOff",
            "On",
            "GracefulShutdown",
            "PowerCycle",
        ]
        assert len(bmc.events("host_reset")) == 2


def test_a_restart_is_refused_while_the_host_is_off() -> None:
    with talk() as (bmc, client):
        client.power("ForceOff")
        wait(lambda: bmc.power == "Off")
        assert client.power("ForceRestart").status_code == 409
        assert client.power("ForceOff").status_code == 204
        assert bmc.power == "Off"


def test_a_start_shows_in_the_last_reset_and_the_progress_of_the_boot() -> None:
    with talk(pace=Durations(power_off=0.0, boot=0.2)) as (bmc, client):
        before = client.get(SYSTEM)["LastResetTime"]
        client.power("ForceRestart")
        wait(lambda: bmc.events("host_reset"))
        body = wait(lambda: (found := client.get(SYSTEM))["LastResetTime"] != before and found)
        assert body["BootProgress"]["LastState"] == "SystemHardwareInitializationComplete"
        wait(lambda: client.get(SYSTEM)["BootProgress"]["LastState"] == "OSRunning")


def test_the_gpu_side_answers_503_while_the_host_is_off() -> None:
    with talk() as (bmc, client):
        assert client.ask("GET", GPU).ok
        client.power("ForceOff")
        wait(lambda: bmc.power == "Off")
        assert client.ask("GET", GPU).status_code == 503
        assert client.ask("GET", BIOS).ok
        client.power("On")
        wait(lambda: client.ask("GET", GPU).ok)
    with talk(habits=BmcBehaviour(host_side=())) as (bmc, client):
        client.power("ForceOff")
        wait(lambda: bmc.power == "Off")
        assert client.ask("GET", GPU).ok


def test_an_override_is_good_for_one_boot() -> None:
    with talk() as (bmc, client):
        boot = {
            "BootSourceOverrideEnabled": "Once",
            "BootSourceOverrideTarget": "UefiHttp",
            "HttpBootUri": "http://x/y",
        }
        assert client.ask("PATCH", SYSTEM, {"Boot": boot}).status_code == 204
        for number in (1, 2):
            client.power("ForceRestart")
            wait(lambda number=number: len(bmc.events("host_reset")) == number)
        first, second = (event["override"] for event in bmc.events("host_reset"))
        assert first == boot
        assert second["BootSourceOverrideEnabled"] == "Disabled"


def test_an_override_at_the_settings_object_waits_for_the_next_start() -> None:
    later = f"{SYSTEM}/SD"
    changes = {
        SYSTEM: {"@Redfish.Settings": {"SettingsObject": {"@odata.id": later}}},
        later: {"Boot": own().get(SYSTEM)["Boot"]},
    }
    with talk(changes=changes) as (bmc, client):
        boot = {"BootSourceOverrideEnabled": "Continuous", "BootSourceOverrideTarget": "Pxe"}
        assert client.ask("PATCH", SYSTEM, {"Boot": boot}).status_code == 405
        assert client.ask("PATCH", later, {"Boot": boot}).status_code == 204
        assert client.get(SYSTEM)["Boot"]["BootSourceOverrideEnabled"] == "Disabled"
        client.power("ForceRestart")
        wait(lambda: client.get(SYSTEM)["Boot"]["BootSourceOverrideTarget"] == "Pxe")
        assert bmc.events("host_reset")[0]["override"]["BootSourceOverrideTarget"] == "Pxe"


def test_bios_settings_wait_for_the_next_start() -> None:
    with talk() as (bmc, client):
        wish = {"SRIOVEnable": "Enabled", "MaxPayload": 512}
        assert client.ask("PATCH", SETTINGS, {"Attributes": wish}).status_code == 204
        assert client.get(SETTINGS)["Attributes"].items() >= wish.items()
        assert client.get(BIOS)["Attributes"]["SRIOVEnable"] == "Disabled"
        client.power("ForceRestart")
        wait(lambda: bmc.attributes().items() >= wish.items())
        assert client.get(BIOS)["Attributes"].items() >= wish.items()
        assert client.get(BIOS)["@Redfish.Settings"]["Time"]
        assert [event["attributes"] for event in bmc.events("bios_set", "bios_applied")] == [wish, wish]
        assert client.ask("POST", f"{BIOS}/Actions/Bios.ResetBios", {}).ok
        client.power("ForceRestart")
        wait(lambda: bmc.attributes()["SRIOVEnable"] == "Disabled")


@pytest.mark.parametrize(
    ("wish", "code"),
    [
        ({"Colour": "red"}, "PropertyUnknown"),
        ({"SRIOVEnable": "Perhaps"}, "PropertyValueNotInList"),
        ({"MaxPayload": 100}, "PropertyValueNotInList"),
        ({"MaxPayload": "256"}, "PropertyValueNotInList"),
        ({"QuietBoot": 1}, "PropertyValueNotInList"),
        ({"AssetText": "x" * 33}, "PropertyValueNotInList"),
        ({"MemoryGiB": 1}, "PropertyNotWritable"),
        ({"QuietBoot": False, "MemoryGiB": 1}, "PropertyNotWritable"),
    ],
)
def test_settings_that_the_registry_does_not_allow_are_refused_as_a_whole(wish: dict[str, Any], code: str) -> None:
    with talk() as (bmc, client):
        reply = client.ask("PATCH", SETTINGS, {"Attributes": wish})
        assert reply.status_code == 400
        assert reply.json()["error"]["code"].endswith(code)
        assert client.ask("PATCH", BIOS, {"Attributes": {"QuietBoot": False}}).status_code == 405
        assert bmc.events("bios_set") == []


def test_without_a_registry_a_setting_keeps_its_type() -> None:
    with talk(changes={"/redfish/v1/Registries/LabBiosAttributes.v1_0_0": None}) as (_, client):
        assert client.ask("PATCH", SETTINGS, {"Attributes": {"SRIOVEnable": "Perhaps"}}).ok
        assert client.ask("PATCH", SETTINGS, {"Attributes": {"SRIOVEnable": 1}}).status_code == 400


def test_a_setting_can_be_accepted_and_never_applied() -> None:
    with talk(rules=[{"what": {"ignore_bios": {"attribute": "SRIOV*"}}}]) as (bmc, client):
        client.ask("PATCH", SETTINGS, {"Attributes": {"SRIOVEnable": "Enabled", "MaxPayload": 512}})
        client.power("ForceRestart")
        wait(lambda: bmc.attributes()["MaxPayload"] == 512)
        assert bmc.attributes()["SRIOVEnable"] == "Disabled"


def test_a_bmc_that_restarts_refuses_connections_then_says_503_then_answers_without_sessions() -> None:
    pace = Durations(
        **{**{name: getattr(QUICK, name) for name in Durations.__slots__}, "outage": 1.5, "starting": 1.5}
    )
    with talk(pace=pace) as (bmc, client):
        client.log_in()
        before = client.get("/redfish/v1/Managers/1")["LastResetTime"]
        action = "/redfish/v1/Managers/1/Actions/Manager.Reset"
        assert client.ask("POST", action, {"ResetType": "GracefulRestart"}).status_code == 204
        seen = []
        deadline = time.monotonic() + LONGEST
        while 401 not in seen and time.monotonic() < deadline:
            try:
                status: object = client.ask("GET", "/redfish/v1/Managers/1").status_code
            except requests.ConnectionError:
                status = "refused"
            seen += [status] if status not in seen[-1:] else []
            time.sleep(0.01)
        assert seen[-3:] == ["refused", 503, 401]
        client.log_in()
        assert client.get("/redfish/v1/Managers/1")["LastResetTime"] != before
        assert bmc.power == "On"


def test_all_power_lost_takes_the_host_with_it_and_gives_it_back() -> None:
    with talk() as (bmc, client):
        bmc.drain()
        wait(lambda: bmc.power == "On")
        client.power("ForceOff")
        wait(lambda: bmc.power == "Off")
        bmc.drain()
        assert bmc.power == "Off"
        assert len(bmc.events("host_reset")) == 1
