"""What goes with an image, what a service is told before a bare one, and what an answer to it means."""

from typing import Any

import pytest

from fleet_runner.core.firmware import push_settings, supermicro_update, unsupported, upload_answer
from fleet_runner.core.firmware.catalogue import Transport
from fleet_runner.core.firmware.makers import TOOLS, Maker

HERE = "/redfish/v1/UpdateService/FirmwareInventory"
ABOUT_BMC = {"RelatedItem": [{"@odata.id": "/redfish/v1/Managers/1"}]}
ABOUT_BIOS = {"RelatedItem": [{"@odata.id": "/redfish/v1/Systems/1/Bios"}]}
WITH_ME: dict[str, Any] = {**ABOUT_BIOS, "Oem": {"Supermicro": {"SPSVersion": "6.80"}}}


def test_a_supermicro_keeps_its_settings_of_each_kind_of_image() -> None:
    """The firmware of the BMC is named by its Manager, a BIOS by the Bios; both are told what stays."""
    assert supermicro_update.told({f"{HERE}/BMC": ABOUT_BMC}, {}) == (
        ("/redfish/v1/Managers/1",),
        {"Supermicro": {"BMC": {"PreserveCfg": True, "PreserveSdr": True, "PreserveSsl": True}}},
    )
    told = supermicro_update.told({f"{HERE}/BIOS": WITH_ME}, {"PreserveNVRAM": False, "BackupBIOS": True})
    assert told.targets == ("/redfish/v1/Systems/1/Bios",)
    assert told.oem["Supermicro"]["BIOS"] == {
        "PreserveME": True,
        "PreserveNVRAM": False,
        "PreserveSMBIOS": True,
        "BackupBIOS": True,
    }


def test_what_a_board_does_not_know_is_left_out() -> None:
    told = supermicro_update.told({f"{HERE}/BIOS": ABOUT_BIOS}, {"PreserveSMBIOS": "omit"})
    assert told.oem["Supermicro"]["BIOS"] == {"PreserveNVRAM": True}


@pytest.mark.parametrize("oem", [None, {}, {"Supermicro": None}, {"Supermicro": {"SPSVersion": ""}}])
def test_an_me_is_kept_where_the_bios_shows_one(oem: Any) -> None:
    """A board of AMD's has none, and would refuse the word."""
    kept = {"PreserveNVRAM": True, "PreserveSMBIOS": True}
    for body, expected in ((WITH_ME, {"PreserveME": True, **kept}), ({**ABOUT_BIOS, "Oem": oem}, kept)):
        assert supermicro_update.told({f"{HERE}/BIOS": body}, {}).oem["Supermicro"]["BIOS"] == expected
    both = {f"{HERE}/BMC": WITH_ME, f"{HERE}/BIOS": ABOUT_BIOS}
    assert supermicro_update.told(both, {}).oem["Supermicro"]["BIOS"] == kept, "the ME of another is none"


@pytest.mark.parametrize("body", [{}, {"RelatedItem": []}, {"RelatedItem": ["x"]}, {"RelatedItem": [{}]},
                                  {"RelatedItem": [{"@odata.id": 3}]}, {"RelatedItem": "/x"},
                                  ABOUT_BIOS])  # fmt: skip
def test_a_firmware_that_does_not_say_what_it_is_about_is_named_itself(body: dict[str, Any]) -> None:
    assert supermicro_update.told({f"{HERE}/BMC": body}, {}).targets == (f"{HERE}/BMC",)


def test_other_images_of_a_supermicro_have_nothing_to_keep() -> None:
    """Unless the catalogue says what kind they are; resources that it names say it, too."""
    cpld = {f"{HERE}/CPLD_Motherboard": ABOUT_BIOS}
    assert supermicro_update.told(cpld, {}) == ((f"{HERE}/CPLD_Motherboard",), {})
    said = supermicro_update.told(cpld, {"ImageType": "cpld", "Slot": 1})
    assert said.oem == {"Supermicro": {"CPLD": {"Slot": 1}}}
    assert supermicro_update.told(cpld, {"ImageType": "HPM"}).oem == {}
    assert supermicro_update.told({f"{HERE}/BIOS": {}}, {"ImageType": "bios"}).oem["Supermicro"].keys() == {"BIOS"}
    assert "BMC" in supermicro_update.told({"/redfish/v1/Managers/1": {}}, {}).oem["Supermicro"]
    for bios in ("/redfish/v1/Systems/1/Bios", "/redfish/v1/Systems/1/", "/redfish/v1/Systems/1"):
        assert supermicro_update.told({bios: {}}, {}) == (
            (bios,),
            {"Supermicro": {"BIOS": {"PreserveNVRAM": True, "PreserveSMBIOS": True}}},
        )
    for beside in ("/redfish/v1/Managers/HGX_BMC_0", "/redfish/v1/Systems/HGX_Baseboard_0"):
        assert supermicro_update.told({beside: {}}, {}) == ((beside,), {})


TARGETS = (f"{HERE}/BIOS",)
ON_RESET = {"HttpPushUriApplyTime": {"ApplyTime": "OnReset"}}


@pytest.mark.parametrize(
    ("service", "targets", "force", "change"),
    [
        ({}, TARGETS, True, {}),
        ({"HttpPushUriTargets": []}, TARGETS, False, {"HttpPushUriTargets": list(TARGETS)}),
        ({"HttpPushUriTargets": list(TARGETS)}, TARGETS, False, {}),
        ({"HttpPushUriTargets": [f"{TARGETS[0]}/"]}, TARGETS, False, {}),
        ({"HttpPushUriTargets": None}, (), False, {}),
        ({"HttpPushUriTargets": 5}, TARGETS, False, {"HttpPushUriTargets": list(TARGETS)}),
        ({"HttpPushUriTargets": True}, (), False, {}),
        ({"HttpPushUriTargets": ["/of/others"]}, (), False, {"HttpPushUriTargets": []}),
        (
            {"HttpPushUriTargets": [], "HttpPushUriTargetsBusy": False}, TARGETS, False,
            {"HttpPushUriTargets": list(TARGETS)},
        ),
        ({"HttpPushUriOptions": {"ForceUpdate": True}}, (), False, {"HttpPushUriOptions": {"ForceUpdate": False}}),
        ({"HttpPushUriOptions": {"ForceUpdate": True}}, (), True, {}),
        ({"HttpPushUriOptions": ON_RESET}, (), False, {}),
        ({"HttpPushUriOptions": 5}, (), True, {}),
    ],
)  # fmt: skip
def test_a_service_is_told_what_it_does_not_have_already(
    service: dict[str, Any], targets: tuple[str, ...], *, force: bool, change: dict[str, Any]
) -> None:
    """When it applies images, and who uses its targets, are left as they are."""
    assert push_settings.announced(service, targets, force=force) == change


def test_a_change_that_a_service_does_not_show_is_said_with_what_would_come_of_it() -> None:
    change: dict[str, Any] = {"HttpPushUriTargets": list(TARGETS), "HttpPushUriOptions": {"ForceUpdate": True}}
    assert push_settings.ignored({**change, "Id": "UpdateService"}, change) == ""
    shown: list[object] = [[], 5, True, None]
    for found in shown:
        said = push_settings.ignored({"HttpPushUriTargets": found}, change)
        assert said == "took HttpPushUriTargets and does not show it, so the image could go elsewhere"
    two = {"HttpPushUriTargets": ["/b", "/a"]}
    assert push_settings.ignored({"HttpPushUriTargets": ["/a/", "/b"]}, two) == ""
    for options in ({"ForceUpdate": False}, None):
        said = push_settings.ignored({**change, "HttpPushUriOptions": options}, change)
        assert said == "took ForceUpdate and does not show it, so the image could be refused as a downgrade"
    undone = push_settings.ignored(change, {"HttpPushUriOptions": {"ForceUpdate": False}})
    assert undone.endswith("could be written by force, over a newer version")


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
