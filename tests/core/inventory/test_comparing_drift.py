"""Drift: what was seen and is not in the source, and nothing of what was not seen."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.inventory.drift.compare import Expected, dated, differences, each_fault_once, fabric_links
from fleet_runner.core.inventory.drift.difference import Difference, Kind, proposable
from fleet_runner.core.inventory.drift.tables import NEW_MAC, ObjectRef, importable, tables
from fleet_runner.core.inventory.records import Device, Interface, Part
from fleet_runner.core.lifecycle.runs import Node, Stored
from fleet_runner.core.lifecycle.states import Stage, State

GPUS = tuple(Part(f"SXM{number}", "gpu", "H100", f"G{number}") for number in range(3))
DIMMS = (Part("A1", "dimm", "64G", "D1"), Part("B1", "dimm", "64G", "D2"), Part("C1", "dimm", "64G"))
PORTS = (
    Interface("ib0", "infiniband-ndr", guid="00000000000000a0"),
    Interface("ib1", "infiniband-ndr"),
    Interface("eth0", "25gbase-x-sfp28", mac="02:00:00:00:00:01"),
)
NODE = Device("gpu-1", "hgx", "gpu-server", "hall", serial="CH-1", interfaces=PORTS, parts=(*GPUS, *DIMMS))
ADAPTERS = {"mlx5_0": "ib0", "mlx5_1": "ib1"}


def stored(check: str, observed: Mapping[str, Any], *findings: Finding, node: str = "gpu-1") -> Stored:
    verdict = Verdict.FAIL if findings else Verdict.PASS
    return Stored(1, 1, node, Stage.VERIFY, 50.0, Result(check, verdict, "", findings, observed))


def drift(check: str, observed: Mapping[str, Any], *findings: Finding, device: Device = NODE) -> list[Difference]:
    return list(differences(Expected(device, ADAPTERS), [stored(check, observed, *findings)]))


def values(found: list[Difference]) -> list[tuple[str, str, str, str]]:
    return [(each.name, each.source, each.observed, each.proposed) for each in found]


def gpus(*serials: str, count: int | None = None) -> dict[str, Any]:
    return {"serials": list(serials), "gpus": len(serials) if count is None else count}


@pytest.mark.parametrize(
    ("observed", "expected"),
    [
        (gpus("G0", "G1", "G2"), []),
        (gpus("G0", "G2"), []),  # one is missing: a fault, and no drift
        (gpus("G0", "NEW", "G2"), [("SXM1", "G1", "NEW", "NEW")]),
        (gpus("NEW", "NEWER", "G2"), [("SXM0", "G0", "NEW or NEWER", ""), ("SXM1", "G1", "NEW or NEWER", "")]),
        (gpus("G0", "NEW", count=3), [("SXM1", "G1", "NEW", ""), ("SXM2", "G2", "NEW", "")]),
        (gpus("NEW", "G0", "G1", "G2"), [("one more gpu", "no such part", "NEW", "")]),
        (gpus("G0", "=cmd()", "G2"), [("SXM1", "G1", "=cmd()", "")]),
        ({}, []),
        ({"serials": "G9", "gpus": 3}, []),
        ({"serials": [None, 7, "  "], "gpus": 3}, []),
    ],
)
def test_gpus_are_known_by_their_serial_numbers_alone(
    observed: Mapping[str, Any], expected: list[tuple[str, str, str, str]]
) -> None:
    """What is in which slot is certain where one place and one stranger are left, and every GPU told its number."""
    assert values(drift("parts_gpu", observed)) == expected


def test_dimms_are_compared_slot_by_slot() -> None:
    """Two that changed places are two differences; what the source leaves empty contradicts nothing."""
    found = drift("parts_dimm", {"serials": {"A1": "D2", "B1": "D1", "C1": "D9", "D1": ""}, "dimms": 3})
    assert values(found) == [("A1", "D1", "D2", "D2"), ("B1", "D2", "D1", "D1"), ("C1", "", "D9", "D9")]
    assert [each.empty for each in found] == [False, False, True]
    assert found[2].sentence == "C1: the source of truth says nothing, observed D9"
    other = drift("parts_dimm", {"serials": {"DIMM 0": "D2", "DIMM 1": "D1", "DIMM 2": "D9"}, "dimms": 3})
    assert values(other) == [("C1", "", "D9", "D9")]


def test_a_part_without_a_slot_has_a_name_all_the_same() -> None:
    device = replace(NODE, parts=(Part("", "nvme", "P5510", "N1"),))
    found = drift("parts_nvme", {"serials": {"0000:5a:00.0": "N2"}, "drives": 1}, device=device)
    assert values(found) == [("a part", "N1", "N2", "N2")]


def test_guids_are_compared_where_the_profile_says_which_interface_an_adapter_is() -> None:
    seen = {"mlx5_0": "00000000000000A0", "mlx5_1": "00000000000000b1", "mlx5_9": "00000000000000b9"}
    assert values(drift("parts_hca", {"guids": seen})) == [("ib1", "", "00000000000000b1", "00000000000000b1")]
    assert drift("parts_hca", {"guids": None}) == []


def test_macs_are_compared_by_the_interfaces_names() -> None:
    [found] = drift("nic_ports", {"macs": {"eth0": "02:00:00:00:00:02", "eth9": "02:00:00:00:00:03"}})
    assert (found.kind, found.name, found.source, found.proposed) == (
        Kind.MAC, "eth0", "02:00:00:00:00:01", "02:00:00:00:00:02",
    )  # fmt: skip
    assert found.sentence == "eth0: the source of truth says 02:00:00:00:00:01, observed 02:00:00:00:00:02"


@pytest.mark.parametrize(
    ("serials", "expected"),
    [
        ({"1": "CH-1", "2": "TRAY-1"}, []),
        ({"1": "CH-2"}, [("serial number", "CH-1", "CH-2", "CH-2")]),
        ({"1": "CH-2", "2": "TRAY-1"}, [("serial number", "CH-1", "CH-2 or TRAY-1", "")]),
        ({}, []),
    ],
)
def test_one_of_the_systems_has_the_devices_own_serial_number(
    serials: Mapping[str, str], expected: list[tuple[str, str, str, str]]
) -> None:
    assert values(drift("chassis_health", {"serials": serials})) == expected


def finding(code: str, fault: str, remedy: Remedy = Remedy.RECABLE) -> Finding:
    return Finding(code, "ib0", "ib0 leads to leaf-2 7, designed leaf-1 7", remedy, fault)


def test_links_and_firmware_differ_as_their_checks_found() -> None:
    """Other findings are no drift, and links that were only recorded are as they may be."""
    findings = (
        finding("cabling.moved", "move:a"),
        finding("firmware.drift", "f", Remedy.REFLASH),
        finding("cabling.extra", "extra:a", Remedy.RECORD),
        finding("gpu.lost", "g", Remedy.REBOOT),
    )
    found = drift("cabling_infiniband", {}, *findings)
    assert [(each.kind, each.fault) for each in found] == [(Kind.FIRMWARE, "f"), (Kind.LINK, "move:a")]
    assert found[1].sentence == "ib0 leads to leaf-2 7, designed leaf-1 7"
    assert not found[1].empty
    far = fabric_links([stored("fabric_cabling", {}, finding("cabling.moved", "move:a"), node="infiniband.hall")])
    assert each_fault_once([*found, *far]) == tuple(found)


@given(st.text(max_size=70))
def test_what_is_proposed_is_a_value_as_labels_have_them(text: str) -> None:
    """Nothing that a spreadsheet takes for a formula, and nothing that NetBox has no room for."""
    value = proposable(text)
    assert value in {"", text}
    assert len(value) <= 50
    assert not value.startswith(("=", "+", "-", "@", "\t"))
    assert value.isprintable()


@given(st.permutations(["D1", "D2", "D3", "D4"]))
def test_once_what_is_proposed_is_in_the_source_nothing_differs(serials: list[str]) -> None:
    observed = {"serials": dict(zip(["A1", "B1", "C1"], serials, strict=False)), "dimms": 3}
    changed = {each.name: each.proposed for each in drift("parts_dimm", observed)}
    parts = tuple(replace(part, serial=changed.get(part.slot, part.serial)) for part in NODE.parts)
    assert drift("parts_dimm", observed, device=replace(NODE, parts=parts)) == []


def test_tables_hold_ids_and_values_as_netbox_writes_them() -> None:
    """What has no place there, and what is not certain, is in none; a MAC address it lacks is a new row."""
    found = [
        Difference("gpu-1", Kind.DEVICE, "serial number", "chassis_health", 1.0, "CH-1", "CH-2", "CH-2"),
        Difference("gpu-1", Kind.PART, "SXM1", "parts_gpu", 1.0, "G1", "NEW", "NEW"),
        Difference("gpu-1", Kind.PART, "SXM2", "parts_gpu", 1.0, "G2", "A or B", ""),
        Difference("gpu-1", Kind.PART, "gone", "parts_gpu", 1.0, "G9", "N9", "N9"),
        Difference("gpu-1", Kind.GUID, "ib0", "parts_hca", 1.0, "", "00000000000000a0", "00000000000000a0"),
        Difference("gpu-1", Kind.MAC, "eth0", "nic_ports", 1.0, "", "02:00:00:00:00:02", "02:00:00:00:00:02"),
        Difference("gpu-1", Kind.MAC, "eth1", "nic_ports", 1.0, "", "02:00:00:00:00:03", "02:00:00:00:00:03"),
    ]
    places = {
        ("gpu-1", Kind.DEVICE, "serial number"): ObjectRef("dcim/devices", 1),
        ("gpu-1", Kind.PART, "SXM1"): ObjectRef("dcim/inventory-items", 2),
        ("gpu-1", Kind.PART, "SXM2"): ObjectRef("dcim/modules", 3),
        ("gpu-1", Kind.GUID, "ib0"): ObjectRef("dcim/interfaces", 4),
        ("gpu-1", Kind.MAC, "eth0"): ObjectRef("dcim/mac-addresses", 0),
        ("gpu-1", Kind.MAC, "eth1"): ObjectRef("dcim/mac-addresses", 5),
    }
    assert tables(found, places) == {
        "devices.csv": [("id", "serial"), ("1", "CH-2")],
        "inventory-items.csv": [("id", "serial"), ("2", "NEW")],
        "interfaces.csv": [("id", "wwn"), ("4", "00:00:00:00:00:00:00:A0")],
        "new-mac-addresses.csv": [NEW_MAC, ("02:00:00:00:00:02", "gpu-1", "eth0", "true")],
        "mac-addresses.csv": [("id", "mac_address"), ("5", "02:00:00:00:00:03")],
    }


def test_a_name_that_a_spreadsheet_would_run_is_in_no_table() -> None:
    names = ("=HYPERLINK(1)", "@SUM(1)", "+1", "-1", "\t=1", "eth0")
    found = [Difference("gpu-1", Kind.MAC, name, "nic_ports", 1.0, "", "02:00", "02:00") for name in names]
    there = {("gpu-1", Kind.MAC, name): ObjectRef("dcim/mac-addresses", 0) for name in names}
    assert tables(found, importable(there))["new-mac-addresses.csv"] == [NEW_MAC, ("02:00", "gpu-1", "eth0", "true")]
    known = {("gpu-1", Kind.MAC, "=1"): ObjectRef("dcim/mac-addresses", 7)}
    assert importable(known) == known


@pytest.mark.parametrize(
    ("state", "since", "before", "proposed"),
    [
        (State.RMA, 51.0, "rma", ""),
        (State.VERIFY, 51.0, "verify", ""),
        (State.VERIFY, 50.0, "", "D9"),
        (State.PRODUCTION, 51.0, "", "D9"),
    ],
)
def test_what_was_seen_before_hands_were_at_the_node_is_shown_and_not_proposed(
    state: State, since: float, before: str, proposed: str
) -> None:
    """A part that went back was exchanged, and the record too, before anybody looked at the node again."""
    found = drift("parts_dimm", {"serials": {"A1": "D9"}, "dimms": 1})
    [each] = dated(found, Node("gpu-1", "hgx", state, since, 1))
    assert (each.before, each.proposed) == (before, proposed)
