"""A proposed profile: it loads, it says only what was read, and its own nodes are as it wants them."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.bmc import proposal, proposed_file
from fleet_runner.core.bmc.tree import ROOT
from fleet_runner.core.checks.catalogue import firmware_pins, power_supplies, sensors
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.firmware import catalogue, inventory
from fleet_runner.core.firmware.matching import match
from fleet_runner.core.inventory import profile
from tests.core.bmc.trees import CHASSIS, FIRMWARE, SYSTEM, captured, changed, collection, firmware, merged, surveyed

NOW = 1_790_000_000.0  # 2026-09-21


def text(*trees: dict[str, Any], now: float | None = NOW) -> str:
    """Return what is proposed for nodes with these resources."""
    return proposed_file.text([proposal.node(surveyed(each)[0], f"bmc-{n}", now) for n, each in enumerate(trees)])


def loaded(*trees: dict[str, Any]) -> dict[str, Any]:
    """Return the profile that is proposed."""
    found: dict[str, Any] = yaml.safe_load(text(*trees))["fleet_profile"]
    return found


def serial(number: int, bodies: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a node of its own."""
    return merged(bodies or captured(), SYSTEM, SerialNumber=f"S{number}")


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="/"), min_size=1, max_size=6) | st.sampled_from(
    ["NIC1", "NIC2", "NIC9", "1", "2", "3", "BIOS", "*", "[x]", "N" * 199]
)


@given(
    st.dictionaries(
        NAMES, st.tuples(NAMES, st.text(max_size=8) | st.sampled_from(["1", "2", "V" * 201])), max_size=8
    ),
    st.text(max_size=8),
    st.text(max_size=300),
)
def test_whatever_a_bmc_calls_its_firmware_the_catalogue_loads_and_means_just_that(
    found: dict[str, tuple[str, str]], model: str, other: str
) -> None:
    entries = {name: {"Name": called, "Version": version} for name, (called, version) in found.items()}
    bodies = merged({**captured(), **firmware(**entries)}, SYSTEM, Model=model, SerialNumber=other)
    bodies[f"{CHASSIS}/Power"]["PowerSupplies"][0]["Model"] = other
    wanted = loaded(bodies)
    if "firmware" in wanted:
        tree, _ = surveyed(bodies)
        assert match(catalogue.read(wanted), inventory.entries(tree.at(f"{FIRMWARE}/*"))).troubles == ()


def test_a_captured_node_proposes_what_it_has() -> None:
    wanted = loaded(captured())
    assert wanted["parts"] == {
        "gpu": {"count": 2},
        "psu": {"count": 2, "model": "PWS-3K06G-2R"},
        "cpu": {"sockets": 2, "cores_per_socket": 32, "threads_per_core": 2},
        "dimm": {"count": 2, "gib": 64, "megatransfers": 4400},
    }
    assert wanted["sensors"] == {"celsius_margin": 0, "fans": 3, "inlet": "Inlet Temp", "inlet_celsius_max": 42}
    assert wanted["firmware"]["boards"] == ["SYS-821GE-TNHR"]
    assert {
        "component": "GPU*",
        "inventory_id": "GPU*",
        "count": 2,
        "target": "96.00.61.00.01",
        "accepted": ["96.00.61.00.01"],
    } in wanted["firmware"]["components"]


def test_the_node_itself_passes_what_it_proposes() -> None:
    tree, _ = surveyed(captured())
    expected = Expected("n", loaded(captured()))

    def read(name: str, *patterns: str) -> dict[str, Reading]:
        return {name: Reading(name, ReadEnd.OK, json.dumps(tree.at(*patterns)))}

    asked = [
        (firmware_pins.judge, read("redfish_firmware", f"{FIRMWARE}/*")),
        (power_supplies.judge, read("redfish_power", f"{CHASSIS}/Power")),
        (sensors.judge, read("redfish_sensors", f"{CHASSIS}/Thermal")),
    ]
    readings = {name: each for _, one in asked for name, each in one.items()}
    readings["redfish_power"] = Reading("p", ReadEnd.OK, json.dumps({"x": tree.bodies[f"{CHASSIS}/Power"]}))
    readings["redfish_sensors"] = Reading("s", ReadEnd.OK, json.dumps({"x": tree.bodies[f"{CHASSIS}/Thermal"]}))
    assert [judge(readings, expected).verdict for judge, _ in asked] == [Verdict.PASS] * 3
    assert profile.parts(expected.profile, "gpu").count == 2


def test_every_value_says_where_it_comes_from() -> None:
    lines = text(captured()).splitlines()
    assert '      - component: "BIOS"' in lines
    assert lines[1:5] == [
        "# Proposed from what the BMCs of 1 node report; review it before use.",
        "# Device type SYS-821GE-TNHR, slug sys-821ge-tnhr.",
        "# Save it as inventory/group_vars/device_type_sys_821ge_tnhr.yml; then: fleet-runner firmware check",
        "#   S900000X0000001: read on 2026-09-21",
    ]
    pin = "found on S900000X0000001 on 2026-09-21, not a vendor's recommendation"
    assert all(line.endswith(pin) for line in lines if line.strip().startswith("target:"))
    assert "      count: 2 # GPUs that the BMC lists, found on S900000X0000001 on 2026-09-21" in lines


def test_a_file_has_the_day_of_its_bmcs_clock_or_none() -> None:
    assert "read on 2023-11-30" in text(captured(), now=None)
    assert "read on an unknown day" in text(changed(f"{ROOT}/Managers/1", DateTime=None), now=None)


def test_of_several_nodes_only_what_is_alike_is_proposed_and_the_rest_names_who_differs() -> None:
    other = serial(2)
    other[f"{FIRMWARE}/BMC"] = {**other[f"{FIRMWARE}/BMC"], "Version": "11.01.02"}
    other[f"{FIRMWARE}/GPU2"] = {**other[f"{FIRMWARE}/GPU2"], "Version": "96"}
    del other[f"{SYSTEM}/Memory/2"], other[f"{FIRMWARE}/HGX_FW_BMC_0"]
    told = text(serial(1), other, serial(3))
    wanted = yaml.safe_load(told)["fleet_profile"]
    assert wanted["parts"]["dimm"] == {"gib": 64, "megatransfers": 4400}
    assert "  # parts.dimm.count differs: 2 on S1, S3; 1 on S2" in told
    assert "  # firmware BMC is not pinned: 11.01.01 on S1, S3; 11.01.02 on S2" in told
    assert "  # firmware HGX_FW_BMC_0 is not pinned: HGX-22.10-1-rc34 on S1, S3; not listed on S2" in told
    ids = [row["inventory_id"] for row in wanted["firmware"]["components"]]
    assert "GPU1" in ids
    assert not {"GPU*", "BMC", "GPU2"} & set(ids)
    assert "found on S1 and 2 more on 2026-09-21" in told


def test_nodes_of_which_one_tells_more_differ_in_that() -> None:
    less = {uri: body for uri, body in serial(2).items() if "PCIeDevices" not in uri}
    assert "  # parts.gpu.count differs: 2 on S1; not reported on S2" in text(serial(1), less)
    assert "  # parts.gpu.count differs: not reported on S2; 2 on S1" in text(less, serial(1))
    assert "the BMC lists 2 x H100 80GB HBM3 (S1)" in text(less, serial(1))


def test_nodes_of_several_models_are_no_device_type() -> None:
    with pytest.raises(EvidenceError, match="these are of 2 models: SYS-821GE-TNHR, X"):
        text(captured(), changed(SYSTEM, Model="X"))


def test_a_machine_that_tells_nothing_proposes_nothing() -> None:
    told = text({ROOT: {}})
    assert yaml.safe_load(told) == {"fleet_profile": None}
    assert "# Device type not reported: fill it in, slug unknown." in told
    assert "#   bmc-0: read on" in told


def test_numbered_entries_are_pinned_by_name_where_all_of_a_name_are_alike() -> None:
    drive, other = {"Name": "NVMe Drive", "Version": "1"}, {"Name": "Other", "Version": "1"}
    bios = {"Name": "BIOS", "Version": "1"}
    bodies = firmware(
        _1=drive, _2=drive, _3=other, _4={**other, "Version": "2"}, BIOS=bios, _5={**bios, "Version": "7"}
    )  # fmt: skip
    told = text(bodies)
    rows = yaml.safe_load(told)["fleet_profile"]["firmware"]["components"]
    assert {"component": "NVMe Drive", "inventory_id": "*", "inventory_name": "NVMe Drive", "count": 2,
            "target": "1", "accepted": ["1"]} in rows  # fmt: skip
    assert "Other" not in [row["component"] for row in rows]
    assert "  # firmware 3 (Other) is not pinned: other entries of that name have another version" in told


def test_no_entry_has_two_rows_where_a_glob_of_its_neighbours_would_mean_it_too() -> None:
    """Lenovo's adapters: Slot_15.1 and Slot_15.2 beside Slot_15.Bundle, all of one version."""
    entries = {f"Slot_15.{name}": {"Name": f"DEVICE-{name}", "Version": "24.41"} for name in ("1", "2", "Bundle")}
    rows = loaded(firmware(**entries))["firmware"]["components"]
    assert sorted(row["inventory_id"] for row in rows) == sorted(entries)


def test_a_guid_among_the_firmware_is_not_pinned() -> None:
    """A BlueField's DPU_NODE: no other node has it."""
    told = text(firmware(DPU_NODE={"Name": "Node image", "Version": "0002:c9ff:fe00:0102"}))
    assert "  # firmware DPU_NODE is not pinned: a GUID is the node's own: 0002:c9ff:fe00:0102 on " in told
    assert "DPU_NODE" not in str(yaml.safe_load(told))


def test_supplies_of_no_model_in_most_of_them_are_not_counted() -> None:
    bodies = captured()
    bodies[f"{CHASSIS}/Power"]["PowerSupplies"][0]["Model"] = "A"
    assert "psu" not in loaded(bodies)["parts"]
    for supply in bodies[f"{CHASSIS}/Power"]["PowerSupplies"]:
        supply["Model"] = ""
    assert loaded(bodies)["parts"]["psu"] == {"count": 3}


def test_figures_that_differ_within_a_node_are_left_out() -> None:
    bodies = changed(f"{SYSTEM}/Processors/1", TotalCores=16, TotalThreads=33)
    bodies[f"{SYSTEM}/Memory/1"] = {**bodies[f"{SYSTEM}/Memory/1"], "CapacityMiB": 1000, "OperatingSpeedMhz": None}
    found = loaded(bodies)["parts"]
    assert found["cpu"] == {"sockets": 2}
    assert found["dimm"] == {"count": 2}


def test_drives_are_counted_where_they_are_nvme() -> None:
    storage = f"{SYSTEM}/Storage"
    drives = {f"{storage}/A/Drives/{name}": {"CapacityBytes": size, "Protocol": kind} for name, size, kind in
              (("1", 1920e9, "NVMe"), ("2", 3840e9, "PCIe"), ("3", 480e9, "SATA"))}  # fmt: skip
    bodies = {
        **changed(SYSTEM, Storage={"@odata.id": storage}),
        **collection(storage, "A"),
        f"{storage}/A": {"Drives": [{"@odata.id": uri} for uri in drives]},
        **drives,
    }
    assert loaded(bodies)["parts"]["nvme"] == {"count": 2, "gigabytes_min": 1920}
    bodies[f"{storage}/A/Drives/2"]["CapacityBytes"] = None
    assert loaded(bodies)["parts"]["nvme"] == {"count": 2}


def test_redundant_supplies_are_a_hint_as_the_watts_are_the_makers() -> None:
    group = [{"Name": "PS Redundancy", "Status": {"Health": "OK", "State": "Enabled"}}]
    assert "# power: {redundancy: true, limit_watts_min: WATTS}" in text(
        changed(f"{CHASSIS}/Power", Redundancy=group)
    )


def test_sensors_are_left_out_where_there_are_none_and_fans_where_none_are_listed() -> None:
    assert "sensors" not in loaded(changed(f"{CHASSIS}/Thermal", Temperatures=[], Fans=[]))
    bodies = changed(f"{CHASSIS}/Thermal", Fans=[], Temperatures=[{"Name": "CPU", "ReadingCelsius": 40}])
    assert loaded(bodies)["sensors"] == {"celsius_margin": 0}


def test_firmware_of_a_board_without_a_model_is_for_any_board() -> None:
    bodies = merged(changed(SYSTEM, Model=None), CHASSIS, Model=None)
    assert "boards" not in loaded(bodies)["firmware"]


def test_an_entry_without_a_version_is_not_pinned() -> None:
    assert "# firmware X is not pinned: no version on S900000X0000001" in text(firmware(X={"Version": "N/A"}))
