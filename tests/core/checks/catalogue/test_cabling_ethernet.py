"""Is every Ethernet link of the node as designed?"""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import cuts, judged, text_of

SHAPES = {name: text_of(f"lldp/two_ports.{name}") for name in ("json", "json0")}
KIND = "1000base-t"
FABRIC: dict[str, Any] = {
    "links": [
        ["gpu-01", "eth0", "mgmt-1", "swp1", KIND, []],
        ["gpu-01", "eth1", "mgmt-2", "swp1", KIND, []],
        ["gpu-02", "eth0", "mgmt-1", "swp2", KIND, []],
        ["gpu-01", "ib0", "leaf-1", "1", "infiniband-ndr", []],
    ],
    "devices": {
        "gpu-01": {"site": "h", "rack": "A1", "unit": 4, "role": "gpu-server"},
        "gpu-02": {"site": "h", "rack": "A2", "unit": 4, "role": "gpu-server"},
        "mgmt-1": {"site": "h", "rack": "N1", "unit": 1, "role": "management-switch"},
    },
}


def asked(text: str, node: str = "gpu-01", fabric: dict[str, Any] = FABRIC) -> Result:
    """Judge what the node's ports hear."""
    return judged("cabling_ethernet", {"lldp": text}, Expected(node, fabric=fabric))


def heard(*rows: tuple[str, str, str, str]) -> str:
    """What lldpctl would print of neighbours: port, system, its port's id and description."""
    interfaces = [
        {
            "name": name,
            "chassis": [{"name": [{"value": system}]}],
            "port": [{"id": [{"value": port}], "descr": descr}],
        }
        for name, system, port, descr in rows
    ]
    return json.dumps({"lldp": [{"interface": interfaces}]})


SECOND = ("eth1", "mgmt-2", "swp1", "")


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES)
def test_neighbours_as_designed_pass(text: str) -> None:
    result = asked(text)
    assert result.verdict is Verdict.PASS
    assert result.message == "Ethernet links as designed: 2"
    assert result.observed == {"designed": 2, "planned": 0, "silent": []}


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES)
def test_cutting_a_healthy_capture_anywhere_never_fails_a_node(text: str) -> None:
    for cut in cuts(text):
        assert asked(cut).verdict is not Verdict.FAIL, f"cut at {len(cut)}"


@given(st.text(max_size=200))
def test_a_text_that_is_no_evidence_is_unknown(text: str) -> None:
    assert asked(text).verdict is Verdict.UNKNOWN


def test_a_planned_cable_is_expected_once_its_port_hears_somebody() -> None:
    later = FABRIC | {"planned": [["gpu-01", "eth0", "mgmt-1", "swp1"]]}
    result = asked(heard(SECOND), fabric=later)
    assert (result.verdict, result.message) == (Verdict.PASS, "Ethernet links as designed: 1")
    assert result.observed == {"designed": 1, "planned": 1, "silent": []}
    (fault,) = asked(heard(("eth0", "mgmt-1", "swp7", ""), SECOND), fabric=later).findings
    assert fault.code == "cabling.moved"


def test_two_nodes_that_took_each_others_port_see_one_fault() -> None:
    """Each hears only its own side of the swap; both name the same ports, so there is one ticket."""
    one = asked(heard(("eth0", "mgmt-1", "swp2", ""), SECOND))
    other = asked(heard(("eth0", "mgmt-1", "swp1", "")), node="gpu-02")
    assert [finding.fault for finding in one.findings] == [finding.fault for finding in other.findings]
    assert one.findings[0].nodes == ("gpu-01", "gpu-02")


def test_a_switch_that_is_known_by_the_address_of_its_port_needs_no_name() -> None:
    devices = {**FABRIC["devices"], "mgmt-1": {**FABRIC["devices"]["mgmt-1"], "macs": {"swp1": "02:00:00:00:01:01"}}}
    row = ("eth0", "", "02:00:00:00:01:01", "")
    assert asked(heard(row, SECOND), fabric={**FABRIC, "devices": devices}).verdict is Verdict.PASS
    assert asked(heard(row, SECOND)).verdict is Verdict.UNKNOWN


def test_another_port_of_the_designed_switch_is_a_fault() -> None:
    result = asked(heard(("eth0", "mgmt-1", "swp9", ""), SECOND))
    assert result.verdict is Verdict.FAIL
    (finding,) = result.findings
    assert (finding.code, finding.remedy, finding.nodes) == ("cabling.moved", Remedy.RECABLE, ("gpu-01",))
    assert finding.message == "Expected gpu-01 eth0 to mgmt-1 swp1, observed gpu-01 eth0 to mgmt-1 swp9."


def test_two_exchanged_cables_of_the_node_are_one_fault() -> None:
    result = asked(heard(("eth0", "mgmt-2", "swp1", ""), ("eth1", "mgmt-1", "swp1", "")))
    assert [finding.code for finding in result.findings] == ["cabling.wrong_rail"]


def test_a_cable_that_no_one_designed_is_a_fault() -> None:
    """Between devices of the design; a stranger at a free port is nobody's business."""
    rows = (("eth0", "mgmt-1", "swp1", ""), SECOND)
    assert [each.code for each in asked(heard(*rows, ("eth5", "mgmt-1", "swp40", ""))).findings] == ["cabling.extra"]
    assert asked(heard(*rows, ("eth5", "printer", "1", ""))).verdict is Verdict.PASS


@pytest.mark.parametrize(
    "row",
    [
        ("eth0", "mgmt-1", "swp1", ""),
        ("eth0", "mgmt-1.example.com", "swp1", ""),
        ("eth0", "mgmt-1", "1", ""),
        ("eth0", "mgmt-1", "Ethernet1", ""),
        ("eth0", "mgmt-1", "02:00:00:00:01:01", "swp1"),
    ],
)
def test_a_switch_may_name_its_port_in_its_own_way(row: tuple[str, str, str, str]) -> None:
    assert asked(heard(row, SECOND)).verdict is Verdict.PASS


@pytest.mark.parametrize(
    "rows",
    [
        (),
        (("eth0", "", "swp9", ""),),
        (("eth0", "mgmt-1", "02:00:00:00:01:01", ""),),
        (("eth0", "mgmt-1", "", ""),),
        (("eth0", "mgmt-1", "swp9", ""), ("eth0", "mgmt-7", "swp9", "")),
    ],
)
def test_a_port_that_hears_nobody_it_can_tell_is_unknown_and_not_missing(rows: tuple[Any, ...]) -> None:
    """LLDP may be off at the far end; a neighbour without a name may be the right one."""
    result = asked(heard(*rows, SECOND))
    assert result.verdict is Verdict.UNKNOWN
    assert result.message == "eth0 receives no LLDP neighbour that can be identified"
    assert result.observed["silent"] == ["eth0"]


def test_what_one_port_hears_is_a_fault_though_another_is_silent() -> None:
    result = asked(heard(("eth1", "mgmt-2", "swp7", "")))
    assert result.verdict is Verdict.FAIL
    assert len(result.findings) == 1


def test_where_several_answer_the_designed_one_counts() -> None:
    """An adapter's own agent answers beside the switch."""
    rows = (("eth0", "adapter", "1", ""), ("eth0", "mgmt-1", "swp1", ""), SECOND)
    assert asked(heard(*rows)).verdict is Verdict.PASS


def test_a_breakout_port_is_not_taken_for_the_port_of_its_last_number() -> None:
    """Nor is its cable told to be moved: the design calls no port of the switch like that."""
    result = asked(heard(("eth0", "mgmt-1", "Ethernet4/1", ""), SECOND))
    assert result.verdict is Verdict.UNKNOWN
    assert result.message.startswith("eth0 receives no LLDP neighbour that can be identified")


def test_a_node_without_a_designed_link_has_none_to_fail() -> None:
    assert asked(SHAPES["json"], "gpu-09").message == "no Ethernet link is designed for it"


def test_a_link_between_two_ports_of_the_node_is_one_link() -> None:
    fabric = {**FABRIC, "links": [["gpu-01", "eth0", "gpu-01", "eth1", KIND, []]]}
    text = heard(("eth0", "gpu-01", "eth1", ""), ("eth1", "gpu-01", "eth0", ""))
    result = asked(text, fabric=fabric)
    assert (result.verdict, result.observed["designed"]) == (Verdict.PASS, 1)
