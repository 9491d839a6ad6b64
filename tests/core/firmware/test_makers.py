"""Whose BMC it is, by what its service root and its UpdateService say, and which tool is named then."""

from typing import Any

import pytest

from fleet_runner.core.firmware.inventory import Entry
from fleet_runner.core.firmware.makers import TOOLS, Maker, advice, is_dpu_os, maker
from fleet_runner.core.firmware.planner import plan
from tests.core.firmware.machines import catalogue, image, inventory

NVIDIA_ACTIONS: dict[str, Any] = {"Actions": {"Oem": {"#NvidiaUpdateService.CommitImage": {}}}}
BMCS: list[tuple[Maker, dict[str, Any], dict[str, Any]]] = [
    (Maker.SUPERMICRO, {"Vendor": None, "Oem": {"Supermicro": {}}}, {}),
    (Maker.SUPERMICRO, {}, {"Oem": {"Supermicro": {}}}),
    (Maker.DELL, {"Vendor": "Dell", "Oem": {"Dell": {}}}, {}),
    (Maker.DELL, {"Vendor": "Dell Inc."}, {}),
    (Maker.DELL, {"Product": "Integrated Dell Remote Access Controller"}, {}),
    (Maker.DELL, {}, {"Oem": {"Dell": {}}}),
    (Maker.DELL, {}, {"Actions": {"Oem": {"DellUpdateService.v1_1_0#DellUpdateService.Install": {}}}}),
    (Maker.DELL, {}, {"Actions": {"Oem": {"#DellUpdateService.Install": {}}}}),
    (Maker.SUPERMICRO, {}, {"Oem": {"Supermicro": {}}, "Actions": {"Oem": {"#SmcUpdateService.Install": {}}}}),
    (Maker.HPE, {"Vendor": "HPE"}, {}),
    (Maker.LENOVO, {"Oem": {"Lenovo": {}}}, {}),
    (Maker.NVIDIA, {"Vendor": "NVIDIA", "Product": "GB200 NVL"}, {}),
    (Maker.NVIDIA, {"Vendor": "AMI", "Oem": {"Ami": {}}}, NVIDIA_ACTIONS),
    (Maker.AMI, {"Vendor": "AMI"}, {"Actions": {"Oem": {"#UpdateService.UploadCABundle": {}}}}),
    (Maker.BLUEFIELD, {"Vendor": "Nvidia", "Product": "BlueField-3 DPU"}, NVIDIA_ACTIONS),
    (Maker.BLUEFIELD, {"Vendor": "Nvidia", "Product": "Nvidia-BMCMezz"}, NVIDIA_ACTIONS),
    (Maker.UNKNOWN, {}, {}),
    (Maker.UNKNOWN, {"Oem": [], "Vendor": 3}, {"Actions": "none"}),
]


@pytest.mark.parametrize(("expected", "root", "service"), BMCS)
def test_a_maker_is_known_by_what_its_bmc_says(
    expected: Maker, root: dict[str, Any], service: dict[str, Any]
) -> None:
    assert maker(root, service) is expected


def test_the_whole_software_of_a_bluefield_is_known_by_its_name() -> None:
    assert is_dpu_os("/redfish/v1/UpdateService/FirmwareInventory/DPU_OS/")
    assert not is_dpu_os("/redfish/v1/UpdateService/FirmwareInventory/DPU_NIC")


@pytest.mark.parametrize(
    ("who", "entry", "manufacturer", "tool"),
    [
        (Maker.SUPERMICRO, "CPLD_Motherboard", "Supermicro", TOOLS[Maker.SUPERMICRO]),
        (Maker.SUPERMICRO, "NIC_0", "Mellanox", "NVIDIA's mlxfwmanager on the host"),
        (Maker.SUPERMICRO, "NIC_0", "Broadcom", TOOLS[Maker.SUPERMICRO]),
        (Maker.NVIDIA, "CX7_0", "", "NVIDIA's mlxfwmanager on the host"),
        (Maker.NVIDIA, "UEFI", "NVIDIA", "NVIDIA's nvfwupd"),
        (Maker.BLUEFIELD, "DPU_OS", "", TOOLS[Maker.BLUEFIELD]),
        (Maker.UNKNOWN, "NIC_0", "NVIDIA", "NVIDIA's mlxfwmanager on the host"),
    ],
)
def test_the_tool_of_the_maker_is_named(who: Maker, entry: str, manufacturer: str, tool: str) -> None:
    found = Entry(entry, f"/redfish/v1/UpdateService/FirmwareInventory/{entry}", "1", manufacturer=manufacturer)
    assert advice(who, entry, found) == f"; {tool} may bring it"


@pytest.mark.parametrize("who", [Maker.UNKNOWN, Maker.AMI])
def test_where_nobody_knows_a_tool_none_is_named(who: Maker) -> None:
    assert advice(who, "BIOS", Entry("BIOS", "/x/BIOS", "1")) == ""


def test_a_plan_names_the_tool_for_what_it_does_not_send() -> None:
    """Of what has no image, and of what the BMC does not update."""
    rows: list[dict[str, Any]] = [
        {"component": "NIC", "inventory_id": "NIC_0", "target": "2"},
        {"component": "UEFI", "inventory_id": "UEFI", "target": "2", "images": {"2": image("uefi.bin")}},
    ]
    entries = inventory(NIC_0="1", UEFI="1")
    entries["UEFI"] = Entry("UEFI", entries["UEFI"].uri, "1", updateable=False)
    found = plan(catalogue(*rows), entries, maker=Maker.NVIDIA)
    [stuck] = found.stuck
    assert stuck == (
        "NIC_0 (NIC) is at 1, expected 2: the catalogue has no image of 2;"
        " NVIDIA's mlxfwmanager on the host may bring it"
    )
    assert found.refused[0].endswith("name that in brought_by; NVIDIA's nvfwupd may bring it")


def test_of_one_order_the_bmc_goes_first() -> None:
    """It writes all the others; a catalogue that says otherwise is followed."""
    rows: list[dict[str, Any]] = [
        {"component": name, "inventory_id": name, "target": "2", "images": {"2": image(f"{name}.bin")}}
        for name in ("BIOS", "HGX_FW_BMC_0", "BMC")
    ]
    versions = inventory(BIOS="1", BMC="1", HGX_FW_BMC_0="1")
    said = [step.component for step in plan(catalogue(*rows), versions).steps]
    assert said == ["BMC", "BIOS", "HGX_FW_BMC_0"]
    rows[2]["order"] = 60
    assert plan(catalogue(*rows), versions).steps[-1].component == "BMC"


@pytest.mark.parametrize("untargeted", [False, True])
def test_a_bmc_waits_for_others_that_need_its_bundle(*, untargeted: bool) -> None:
    """Sent for the BMC alone, the bundle would be sent twice, or bring what is not on its way."""
    bundles = {version: image(f"bundle{version}.bin", since) for version, since in (("2", "1"), ("3", "2"))}
    rows: list[dict[str, Any]] = [
        {"component": name, "inventory_id": name, "target": "3", "images": bundles, "untargeted": untargeted}
        for name in ("BMC", "BIOS")
    ]
    found = plan(catalogue(*rows), inventory(BMC="2", BIOS="1"))
    assert found.refused == ()
    assert [step.image.file for step in found.steps] == ["bundle2.bin", "bundle3.bin"]
    assert found.steps[-1].targets == {"BMC": "3", "BIOS": "3"}
