"""Network adapters of customer-managed nodes are told apart, and left alone whatever the catalogue asks for."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from fleet_runner.core.firmware.excluded import WITHHELD, is_adapter
from fleet_runner.core.firmware.inventory import Entry
from fleet_runner.core.firmware.planner import plan
from tests.core.firmware.machines import BASE, Machine, catalogue, image, inventory, machines

HCA: dict[str, Any] = {
    "component": "HCA",
    "inventory_id": "NIC_*",
    "target": "28.2",
    "accepted": ["28.1"],
    "images": {"28.2": image("cx7.bin"), "28.1": image("cx7_old.bin")},
}
BIOS: dict[str, Any] = {
    "component": "BIOS",
    "inventory_id": "BIOS",
    "target": "2",
    "images": {"2": image("bios.bin")},
}


@pytest.mark.parametrize(
    ("row", "segment", "name"),
    [
        ("NIC", "NIC10", "NIC10 System Slot12 MBF2M516C-CECOT"),
        ("adapters", "Installed-0-28.39.3560__NIC.Slot.1-1-1", "Mellanox Network Adapter - 94:6D:AE:00:00:01"),
        ("adapters", "14", "NVIDIA ConnectX-7 NDR400"),
        ("adapters", "14", "HPE InfiniBand NDR 1-port OSFP PCIe5 x16 MCX75310AAS-NEAT Adapter"),
        ("ConnectX7", "slot_4", "Firmware"),
        ("HCAs", "x", ""),
        ("", "CX7_3", ""),
        ("", "OnboardNIC_0", ""),
        ("", "mlx5_0", ""),
        ("", "DPU_1", "BlueField-3 image"),
    ],
)
def test_a_network_adapter_is_known_by_its_row_or_by_what_its_bmc_calls_it(row: str, segment: str, name: str) -> None:
    """Vendors number their entries, or name them by the part, or by the slot."""
    assert is_adapter(row, Entry(segment, f"{BASE}/{segment}", "1", name=name))


@pytest.mark.parametrize(
    ("row", "segment", "name"),
    [
        ("BIOS", "BIOS", "System BIOS"),
        ("CPLD", "CPLD_Motherboard", "Mechanical technical unit"),
        ("GPU", "HGX_FW_GPU_SXM_1", "Software Inventory"),
        ("ERoT", "HGX_FW_ERoT_NVSwitch_0", ""),
        ("NVLink adapter", "HGX_FW_NVLinkManagementNIC_0", "a part of the GPU baseboard"),
        ("calibration", "Calib_0", "library"),
    ],
)
def test_other_parts_are_none(row: str, segment: str, name: str) -> None:
    """Letters within a word say nothing, and NVLink's own adapters are the baseboard's."""
    assert not is_adapter(row, Entry(segment, f"{BASE}/{segment}", "1", name=name))


@pytest.mark.parametrize("version", ["28.1", "27.0"])
def test_a_customers_adapters_stay_at_any_version_and_the_plan_says_why(version: str) -> None:
    """Accepted or not: the rest of the node is updated, and the adapters are no failure of it."""
    found = plan(catalogue(HCA, BIOS), inventory(NIC_0=version, NIC_1="28.2", BIOS="1"), customer=True)
    assert [step.component for step in found.steps] == ["BIOS"]
    assert found.notes == (f"NIC_0 (HCA) stays at {version}, not 28.2: {WITHHELD}",)
    assert (found.refused, found.stuck) == ((), ())
    ours = plan(catalogue(HCA, BIOS), inventory(NIC_0=version, NIC_1="28.2", BIOS="1"))
    assert {step.component for step in ours.steps} == {"BIOS", "HCA"}


def test_an_image_that_would_bring_an_adapter_along_is_refused() -> None:
    """It is sent for no entry in particular, so the BMC would write what it holds for the adapter, too."""
    one = {"untargeted": True, "order": 50}
    rows = (BIOS | one, HCA | one | {"images": {"28.2": image("bios.bin")}})
    found = plan(catalogue(*rows), inventory(NIC_0="27.0", BIOS="1"), customer=True)
    assert found.steps == ()
    (sentence,) = found.refused
    assert sentence.startswith(
        "bios.bin is not sent for single entries and would bring NIC_0 (HCA) from 27.0 to 28.2"
    )
    assert sentence.endswith(WITHHELD)
    assert plan(catalogue(*rows), inventory(NIC_0="28.2", BIOS="1"), customer=True).steps


@given(machines())
def test_no_machine_of_a_customers_has_an_adapter_written(machine: Machine) -> None:
    """Whatever its rows share: with every entry an adapter nothing is sent at all, and nothing is its fault."""
    rows = tuple(replace(row, name=f"NIC {row.name}") for row in machine.catalogue.components)
    found = plan(replace(machine.catalogue, components=rows), machine.entries, failed=machine.failed, customer=True)
    assert (found.steps, found.stuck) == ((), ())
    assert all(note.endswith(WITHHELD) for note in found.notes)
