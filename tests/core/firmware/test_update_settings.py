"""What goes with an image, what a service is told before a bare one, and what an answer to it means."""

from typing import Any

import pytest

from fleet_runner.core.firmware import push_settings, supermicro_update, unsupported, upload_answer
from fleet_runner.core.firmware.catalogue import Transport
from fleet_runner.core.firmware.makers import TOOLS, Maker

HERE = "/redfish/v1/UpdateService/FirmwareInventory"
ABOUT_BMC = {"RelatedItem": [{"@odata.id": "/redfish/v1/Managers/1"}]}
ABOUT_BIOS = {"RelatedItem": [{"@odata.id": "/redfish/v1/Systems/1/Bios"}]}


def test_a_supermicro_keeps_its_settings_of_each_kind_of_image() -> None:
    """The firmware of the BMC is named by its Manager, a BIOS by the Bios; both are told what stays."""
    assert supermicro_update.told({f"{HERE}/BMC": ABOUT_BMC}, {}) == (
        ("/redfish/v1/Managers/1",),
        {"Supermicro": {"BMC": {"PreserveCfg": True, "PreserveSdr": True, "PreserveSsl": True}}},
    )
    told = supermicro_update.told({f"{HERE}/BIOS": ABOUT_BIOS}, {"PreserveNVRAM": False, "BackupBIOS": True})
    assert told.targets == ("/redfish/v1/Systems/1/Bios",)
    assert told.oem["Supermicro"]["BIOS"] == {
        "PreserveME": True,
        "PreserveNVRAM": False,
        "PreserveSMBIOS": True,
        "BackupBIOS": True,
    }


def test_what_a_board_does_not_know_is_left_out() -> None:
    """One of AMD's has no ME to keep."""
    told = supermicro_update.told({f"{HERE}/BIOS": ABOUT_BIOS}, {"PreserveME": "omit"})
    assert told.oem["Supermicro"]["BIOS"] == {"PreserveNVRAM": True, "PreserveSMBIOS": True}


@pytest.mark.parametrize("body", [{}, {"RelatedItem": []}, {"RelatedItem": ["x"]}, {"RelatedItem": [{}]},
                                  {"RelatedItem": [{"@odata.id": 3}]}])  # fmt: skip
def test_a_firmware_that_does_not_say_what_it_is_about_is_named_itself(body: dict[str, Any]) -> None:
    assert supermicro_update.told({f"{HERE}/BMC": body}, {}).targets == (f"{HERE}/BMC",)


def test_other_images_of_a_supermicro_have_nothing_to_keep() -> None:
    """Unless the catalogue says what kind they are; resources that it names say it, too."""
    cpld = {f"{HERE}/CPLD_Motherboard": ABOUT_BIOS}
    assert supermicro_update.told(cpld, {}) == ((f"{HERE}/CPLD_Motherboard",), {})
    said = supermicro_update.told(cpld, {"ImageType": "CPLD", "Slot": 1})
    assert said.oem == {"Supermicro": {"CPLD": {"Slot": 1}}}
    assert "BMC" in supermicro_update.told({"/redfish/v1/Managers/1": {}}, {}).oem["Supermicro"]
    assert "BIOS" in supermicro_update.told({"/redfish/v1/Systems/1/Bios": {}}, {}).oem["Supermicro"]


TARGETS = (f"{HERE}/BIOS",)
ON_RESET = {"HttpPushUriApplyTime": {"ApplyTime": "OnReset"}}


@pytest.mark.parametrize(
    ("service", "targets", "force", "change"),
    [
        ({}, TARGETS, True, {}),
        ({"HttpPushUriTargets": []}, TARGETS, False, {"HttpPushUriTargets": list(TARGETS)}),
        ({"HttpPushUriTargets": list(TARGETS)}, TARGETS, False, {}),
        ({"HttpPushUriTargets": None}, (), False, {}),
        ({"HttpPushUriTargets": ["/of/others"]}, (), False, {"HttpPushUriTargets": []}),
        (
            {"HttpPushUriTargets": list(TARGETS), "HttpPushUriTargetsBusy": False}, TARGETS, False,
            {"HttpPushUriTargets": list(TARGETS), "HttpPushUriTargetsBusy": True},
        ),
        ({"HttpPushUriTargets": [], "HttpPushUriTargetsBusy": False}, (), False, {}),
        ({"HttpPushUriOptions": {"ForceUpdate": True}}, (), False, {"HttpPushUriOptions": {"ForceUpdate": False}}),
        ({"HttpPushUriOptions": {"ForceUpdate": True}}, (), True, {}),
        (
            {"HttpPushUriOptions": ON_RESET}, (), False,
            {"HttpPushUriOptions": {"HttpPushUriApplyTime": {"ApplyTime": "Immediate"}}},
        ),
        ({"HttpPushUriOptions": {"HttpPushUriApplyTime": {"ApplyTime": "Immediate"}}}, (), False, {}),
        (
            {"HttpPushUriOptions": {"HttpPushUriApplyTime": {
                "ApplyTime": "OnReset", "ApplyTime@Redfish.AllowableValues": ["OnReset"]}}}, (), False, {},
        ),
    ],
)  # fmt: skip
def test_a_service_is_told_what_it_does_not_have_already(
    service: dict[str, Any], targets: tuple[str, ...], *, force: bool, change: dict[str, Any]
) -> None:
    assert push_settings.announced(service, targets, force=force) == change


def test_targets_that_another_client_reserved_are_left_alone() -> None:
    """Those that are just as we want them are ours, from before we were killed."""
    theirs = {"HttpPushUriTargetsBusy": True, "HttpPushUriTargets": ["/of/others"]}
    assert push_settings.reserved(theirs, TARGETS)
    assert not push_settings.reserved({**theirs, "HttpPushUriTargets": list(TARGETS)}, TARGETS)
    assert not push_settings.reserved({**theirs, "HttpPushUriTargetsBusy": False}, TARGETS)
    assert push_settings.released({"HttpPushUriTargetsBusy": True}) == {
        "HttpPushUriTargetsBusy": False,
        "HttpPushUriTargets": [],
    }
    assert push_settings.released({"HttpPushUriTargets": []}) == {}


def test_a_change_that_a_service_does_not_show_is_named() -> None:
    change = {"HttpPushUriTargets": list(TARGETS), "HttpPushUriOptions": {"ForceUpdate": True}}
    assert push_settings.ignored({**change, "Id": "UpdateService"}, change) == ""
    assert push_settings.ignored({"HttpPushUriTargets": []}, change) == "HttpPushUriTargets"
    two = {"HttpPushUriTargets": ["/b", "/a"], "HttpPushUriTargetsBusy": True}
    assert push_settings.ignored({"HttpPushUriTargets": ["/a", "/b"], "HttpPushUriTargetsBusy": False}, two) == ""
    half = {**change, "HttpPushUriOptions": {"ForceUpdate": False}}
    assert push_settings.ignored(half, change) == "HttpPushUriOptions.ForceUpdate"
    assert push_settings.ignored({**change, "HttpPushUriOptions": None}, change) == "HttpPushUriOptions.ForceUpdate"


DPU_OS = (f"{HERE}/DPU_OS",)


@pytest.mark.parametrize(
    ("maker", "file", "targets", "way", "why"),
    [
        (Maker.SUPERMICRO, "bios.zip", TARGETS, Transport.MULTIPART, ""),
        (Maker.BLUEFIELD, "bf3.bfb", DPU_OS, Transport.SIMPLE, ""),
        (Maker.BLUEFIELD, "bf3.BFB", DPU_OS, Transport.MULTIPART, f"alone; use {TOOLS[Maker.BLUEFIELD]}"),
        (Maker.BLUEFIELD, "bf3.bfb", TARGETS, Transport.SIMPLE, f"not to {TARGETS[0]}; name that"),
        (Maker.BLUEFIELD, "bf3.bfb", (), Transport.SIMPLE, "not to nothing; name that"),
        (Maker.BLUEFIELD, "bmc.fwpkg", TARGETS, Transport.MULTIPART, "set untargeted: true"),
        (Maker.BLUEFIELD, "bmc.fwpkg", (), Transport.MULTIPART, ""),
        (Maker.LENOVO, "x/lnvgy_utl_uxsp_a.zip", (), Transport.MULTIPART, f"use {TOOLS[Maker.LENOVO]}"),
        (Maker.LENOVO, "lnvgy_fw_xcc_comp.zip", (), Transport.MULTIPART, "put the .uxz file of its folder payloads"),
        (Maker.LENOVO, "lnvgy_fw_xcc_comp.uxz", (), Transport.MULTIPART, ""),
    ],
)
def test_an_image_that_a_maker_does_not_take_so_is_said(
    maker: Maker, file: str, targets: tuple[str, ...], way: Transport, why: str
) -> None:
    said = unsupported.refusal(maker, file, targets, way)
    assert why in said
    assert bool(said) is bool(why)


def test_a_bfb_is_fetched_and_other_images_are_sent() -> None:
    assert unsupported.ways(Transport.AUTO, "bf3.bfb") == (Transport.SIMPLE,)
    assert unsupported.ways(Transport.AUTO, "bios.bin")[0] is Transport.MULTIPART
    assert unsupported.ways(Transport.PUSH, "bf3.bfb") == (Transport.PUSH,)


def info(**message: object) -> dict[str, object]:
    return {"error": {"code": "Base.1.0.GeneralError", "@Message.ExtendedInfo": [7, message]}}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, ""),
        ({"error": "none"}, ""),
        (info(Severity="OK", Message="Accepted."), ""),
        (info(MessageId="Base.1.0.Success"), ""),
        (info(MessageSeverity="Critical", Message="No space."), "No space."),
        (info(Severity="Critical", MessageId="Base.1.0.InternalError"), "Base.1.0.InternalError"),
        (info(Severity="Warning", MessageId="iLO.2.15.ResetRequired"), ""),
        ({"error": {"code": "Base.1.19.InternalError"}}, "Base.1.19.InternalError"),
        ({"error": {"code": "Base.1.0.Success", "@Message.ExtendedInfo": {}}}, ""),
        ({"error": {}}, ""),
    ],
)
def test_an_error_within_a_success_is_seen_and_a_success_in_the_form_of_one_is_none(
    body: dict[str, Any], said: str
) -> None:
    assert upload_answer.contradicted(body) == said
