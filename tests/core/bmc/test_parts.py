"""Who a machine is and what is in it, as BMCs of several makers tell it."""

from typing import Any

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.bmc import parts
from fleet_runner.core.bmc.parts import Device, Firmware, Machine
from fleet_runner.core.bmc.tree import ROOT, Tree
from tests.core.bmc.trees import CHASSIS, SYSTEM, captured, changed, collection, firmware, merged, surveyed


def tree(bodies: dict[str, Any]) -> Tree:
    """Return the tree that a look at these resources makes."""
    return surveyed(bodies)[0]


def of(kind: str, bodies: dict[str, Any]) -> list[Device]:
    """Return the parts of a kind."""
    return [each for each in parts.devices(tree(bodies)) if each.kind == kind]


def test_a_captured_machine_says_who_it_is() -> None:
    assert parts.machine(tree(captured())) == Machine(
        "Supermicro", "SYS-821GE-TNHR", "S900000X0000001", "1.4", "11.01.01", "1.11.0", "On", "2023-11-30T21:01:15Z"
    )


def test_what_the_system_does_not_tell_its_chassis_and_then_the_root_do() -> None:
    bodies = changed(SYSTEM, Manufacturer="N/A", Model=" ", SerialNumber=None, PowerState=None)
    found = parts.machine(tree(bodies))
    assert (found.maker, found.model, found.serial) == ("Supermicro", "X13DEG-OAD", "C900000X0000001")
    bare = merged(merged(bodies, CHASSIS, ChassisType="Enclosure"), ROOT, Vendor="V", Product="P\u200b\x1b")
    found = parts.machine(tree(bare))
    assert (found.maker, found.model, found.serial, found.power) == ("V", "P\ufffd\ufffd", "", "")


def test_a_machine_of_which_nothing_is_known_has_no_name() -> None:
    assert parts.machine(Tree()) == Machine("", "", "", "", "", "", "", "")


def test_a_gpu_baseboard_is_a_part_and_its_gpus_and_processors_stand_in() -> None:
    board = f"{ROOT}/Systems/HGX_Baseboard_0"
    cards = f"{board}/Processors"
    bodies = {
        **merged(captured(), SYSTEM, Processors=None),
        **collection(f"{ROOT}/Systems", "1", "HGX_Baseboard_0"),
        board: {"Model": "Board", "Processors": {"@odata.id": cards}},
        **collection(cards, "GPU_1", "CPU_0", "FPGA_0", "GPU_2"),
        f"{cards}/GPU_1": {"ProcessorType": "GPU", "Model": "H100"},
        f"{cards}/GPU_2": {"ProcessorType": "GPU", "Status": {"State": "Absent"}},
        f"{cards}/CPU_0": {"Id": "CPU_0", "ProcessorType": "CPU", "TotalCores": 72, "TotalThreads": "72"},
        f"{cards}/FPGA_0": {"ProcessorType": "FPGA"},
    }
    assert [each.model for each in of("gpu", bodies)] == ["H100"]
    assert of("cpu", bodies) == [Device("cpu", "CPU_0", "", cores=72)]
    assert parts.machine(tree(bodies)).model == "SYS-821GE-TNHR"


def test_empty_slots_and_bays_hold_nothing() -> None:
    memory, storage = f"{SYSTEM}/Memory", f"{SYSTEM}/Storage"
    drives = [f"{storage}/A/Drives/{name}" for name in "123"]
    bodies = {
        **merged(captured(), SYSTEM, Storage={"@odata.id": storage}),
        f"{memory}/2": {"CapacityMiB": 0},
        **collection(storage, "A"),
        f"{storage}/A": {"Drives": [{"@odata.id": uri} for uri in drives]},
        drives[0]: {"Id": "1", "Model": "KIOXIA CM6", "CapacityBytes": 1920383410176, "Protocol": "NVMe"},
        drives[1]: {"Id": "2", "CapacityBytes": "much"},
        drives[2]: {"Id": "3", "CapacityBytes": 0},
    }
    assert of("dimm", bodies) == [Device("dimm", "1", "M321R8GA0BB0-CQKZJ", gib=64.0, megatransfers=4400)]
    assert of("drive", bodies) == [
        Device("drive", "1", "KIOXIA CM6", gigabytes=1920, protocol="NVMe"),
        Device("drive", "2", ""),
    ]
    assert of("dimm", {**bodies, f"{memory}/1": {"Model": "M"}}) == [Device("dimm", "1", "M")]


def test_supplies_are_those_of_the_power_or_those_with_resources_of_their_own() -> None:
    assert [each.model for each in of("psu", captured())] == ["PWS-3K06G-2R", "PWS-3K06G-2R", "PWS-DF009-2F"]
    subsystem = f"{CHASSIS}/PowerSubsystem"
    bodies = {
        **merged(captured(), CHASSIS, Power=None, PowerSubsystem={"@odata.id": subsystem}),
        subsystem: {"PowerSupplies": {"@odata.id": f"{subsystem}/PowerSupplies"}},
        **collection(f"{subsystem}/PowerSupplies", "0"),
        f"{subsystem}/PowerSupplies/0": {"@odata.type": "#PowerSupply.v1_0_0.PowerSupply", "Model": "X"},
    }
    assert [each.model for each in of("psu", bodies)] == ["X"]


def test_firmware_that_differs_in_numbers_alone_is_one() -> None:
    found = {each.id: each for each in parts.alike(parts.entries(tree(captured())))}
    assert found["GPU*"] == Firmware("GPU*", "GPU* System Slot1", "96.00.61.00.01", 2)
    nics = "NIC* System Slot* MCX75310AAS-NEAT"
    assert found["NIC*"] == Firmware("NIC*", nics, "28.37.10.14", 2, exact=False)
    assert found["HGX_FW_GPU_SXM_*"].name == ""
    assert found["BIOS"] == Firmware("BIOS", "BIOS", "BIOS Date: 08/04/2023 Ver 1.4", 1)
    assert "Golden_BIOS" not in found


def test_numbered_entries_are_known_by_their_names() -> None:
    drive, other = {"Name": "NVMe [A]", "Version": "1"}, {"Name": "Other", "Version": "1"}
    bodies = firmware(_1=drive, _2=drive, _3=other, _4={**other, "Version": "2"}, _5={"Version": "3"})
    found = parts.alike(parts.entries(tree(bodies)))
    assert found == (
        Firmware("*", "NVMe [A]", "1", 2, "NVMe [[]A]"),
        Firmware("*", "Other", "1", 1, "Other", exact=False),
        Firmware("*", "Other", "2", 1, "Other", exact=False),
        Firmware("5", "", "3", 1),
    )


def test_a_glob_fits_no_entry_of_others() -> None:
    listed = parts.entries(tree(firmware(NIC1={"Version": "1"}, NIC2={"Version": "1"}, NIC3={"Version": "1"})))
    assert [each.exact for each in parts.alike(listed)] == [True]
    assert [each.exact for each in parts.alike(listed[:2], listed[2:])] == [False]


def test_numbers_that_are_the_same_in_all_stay_in_the_glob() -> None:
    bodies = firmware(**{"Bay.1:Disk[2].0": {"Version": "1"}, "Bay.2:Disk[2].0": {"Version": "1"}})
    assert [each.id for each in parts.alike(parts.entries(tree(bodies)))] == ["Bay.*:Disk[[]2].0"]


def test_an_inventory_that_has_an_entry_twice_is_certain_of_nothing() -> None:
    version = {"Version": "1"}
    names = {"Installed-0-1.0__BIOS.1": version, "Installed-0-2.0__BIOS.1": version}
    with pytest.raises(EvidenceError, match="twice"):
        parts.entries(tree(firmware(**names)))
