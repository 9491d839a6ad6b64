"""Is every InfiniBand link of the node as designed?"""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.evidence import Expected
from fleet_runner.core.verdicts import Remedy, Result, Verdict
from tests.core.checks.judging import cuts, judged, text_of

PLAIN = text_of("ibnetdiscover/plain.txt")
BY_PORT = text_of("ibnetdiscover/by_port.txt")
FORMS = pytest.mark.parametrize("text", [PLAIN, BY_PORT], ids=["plain", "by-port"])
PROFILE = {"hca_interfaces": {"mlx5_0": "ib0", "mlx5_1": "ib1"}}

NDR = "infiniband-ndr"
FABRIC: dict[str, Any] = {
    "links": [
        ["gpu-01", "ib0", "leaf-1", "1", NDR, []],
        ["gpu-01", "ib1", "leaf-2", "1", NDR, []],
        ["gpu-02", "ib0", "leaf-1", "2", NDR, []],
        ["gpu-02", "ib1", "leaf-2", "2", NDR, []],
        ["leaf-1", "33", "spine-1", "1", NDR, []],
        ["leaf-2", "33", "spine-1", "2", NDR, []],
        ["gpu-01", "eth0", "mgmt-1", "1", "1000base-t", []],
    ],
    "devices": {
        "gpu-01": {"site": "h", "rack": "A1", "unit": 4, "role": "gpu-server", "device_type": "t", "guids": {}},
        "gpu-02": {"site": "h", "rack": "A2", "unit": 4, "role": "gpu-server", "device_type": "t", "guids": {}},
        "leaf-1": {"site": "h", "rack": "N1", "unit": 1, "role": "leaf", "device_type": "q", "guids": {}},
        "leaf-2": {"site": "h", "rack": "N1", "unit": 2, "role": "leaf", "device_type": "q", "guids": {}},
        "spine-1": {"site": "h", "rack": "N1", "unit": 3, "role": "spine", "device_type": "q", "guids": {}},
    },
}

SWAPPED = (("gpu-01 mlx5_0", "gpu-02 mlx5_0"), ("gpu-02 mlx5_0", "gpu-01 mlx5_0"))


def asked(text: str, node: str = "gpu-01", **changed: Any) -> Result:
    """Judge what the fabric says for one node."""
    expected = Expected(node, changed.pop("profile", PROFILE), fabric=FABRIC | changed)
    return judged("cabling_infiniband", {"ibnetdiscover": text}, expected)


def planned(text: str) -> str:
    """Leave out the node that the design does not know."""
    return "".join(line for line in text.splitlines(keepends=True) if "b0b1c20300ab0e10" not in line)


def renamed(text: str, one: str, other: str) -> str:
    """Exchange two names: the cables that lead to them are then exchanged."""
    return text.replace(one, "\x00").replace(other, one).replace("\x00", other)


@FORMS
def test_a_fabric_as_designed_passes(text: str) -> None:
    result = asked(text)
    assert result.verdict is Verdict.PASS
    assert result.message == "InfiniBand links as designed: 2"
    assert result.observed == {"designed": 2, "fabric_matched": 6, "fabric_designed": 6}


@FORMS
def test_cutting_a_healthy_capture_anywhere_never_fails_a_node(text: str) -> None:
    """A read that ended early says nothing about cables."""
    for cut in cuts(text):
        result = asked(cut)
        assert result.verdict is not Verdict.FAIL, f"cut at {len(cut)}: {result.message}"


@FORMS
@given(data=st.data())
def test_a_capture_from_which_lines_are_gone_never_fails_a_node(text: str, data: st.DataObject) -> None:
    """Unless both ends of a link are gone, as they are when it is unplugged."""
    lines = text.split("\n")
    at = data.draw(st.integers(0, len(lines) - 1))
    result = asked("\n".join(lines[:at] + lines[at + 1 :]))
    assert result.verdict is not Verdict.FAIL, result.message


@given(st.text(max_size=200))
def test_a_text_that_is_no_evidence_is_unknown(text: str) -> None:
    assert asked(text).verdict is Verdict.UNKNOWN


@FORMS
def test_two_exchanged_cables_are_one_finding_on_both_servers(text: str) -> None:
    """The same key from whichever node: one ticket."""
    crossed = renamed(text, *SWAPPED[0])
    (mine,), (theirs,) = asked(crossed).findings, asked(crossed, "gpu-02").findings
    assert mine == theirs
    assert (mine.code, mine.remedy, mine.nodes) == ("cabling.swap", Remedy.RECABLE, ("gpu-01", "gpu-02"))
    assert "h rack N1 U1" in mine.steps[0]
    assert asked(crossed).verdict is Verdict.FAIL


def test_where_most_of_the_fabric_differs_no_cable_of_the_node_is_named() -> None:
    """The design is of a fabric that was never built so; a node whose own links are right passes."""
    more = [[f"gpu-{number}", "ib0", "leaf-1", str(number), NDR, []] for number in range(40, 52)]
    lines = "\n".join(line for line in BY_PORT.split("\n") if "gpu-01 mlx5_0" not in line)
    (finding,) = asked(lines, links=[*FABRIC["links"], *more]).findings
    assert (finding.code, finding.fault) == ("cabling.suspect", "cabling/suspect/fabric")
    assert finding.message.startswith(
        "The fabric as gpu-01 sees it: 13 of 18 designed links are not in place, 5 are;"
    )
    assert asked(lines, "gpu-02", links=[*FABRIC["links"], *more]).verdict is Verdict.PASS


def test_an_adapter_with_a_new_guid_is_recorded_and_keeps_no_node_back() -> None:
    devices = {**FABRIC["devices"], "gpu-01": {**FABRIC["devices"]["gpu-01"], "guids": {"ib0": "a088c20300ab0cff"}}}
    result = asked(BY_PORT, devices=devices)
    assert (result.verdict, result.findings[0].code) == (Verdict.PASS, "cabling.replaced_hca")
    assert result.findings[0].remedy is Remedy.RECORD


def test_a_fault_elsewhere_is_not_this_nodes() -> None:
    lines = [line for line in BY_PORT.split("\n") if "gpu-02 mlx5_0" not in line]
    assert asked("\n".join(lines)).verdict is Verdict.PASS
    (finding,) = asked("\n".join(lines), "gpu-02").findings
    assert finding.code == "cabling.missing"


def test_a_slow_link_of_the_node_fails_it_and_no_other() -> None:
    lines = [line.replace("4x NDR", "1x NDR") if "gpu-01 mlx5_0" in line else line for line in BY_PORT.split("\n")]
    result = asked("\n".join(lines))
    assert result.verdict is Verdict.FAIL
    assert result.message == "The link gpu-01 ib0 to leaf-1 1 runs at 1x NDR, designed 4x NDR."
    assert result.findings[0].steps
    assert asked("\n".join(lines), "gpu-02").verdict is Verdict.PASS


@pytest.mark.parametrize("name", ["MT4129 ConnectX7   Mellanox Technologies", "localhost mlx5_0", "gpu-01 mlx5_7"])
def test_an_adapter_that_does_not_say_whose_it_is_makes_its_node_unknown(name: str) -> None:
    """And leaves the others alone."""
    text = BY_PORT.replace("gpu-01 mlx5_0", name)
    result = asked(text)
    assert result.verdict is Verdict.UNKNOWN
    assert result.message.startswith("expected gpu-01 ib0 to leaf-1 1, observed ")
    assert f"{name} 0xa088c20300ab0c10 1" in result.message
    assert asked(text, "gpu-02").verdict is Verdict.PASS


def test_a_known_guid_says_whose_adapter_it_is_whatever_its_name() -> None:
    devices = {**FABRIC["devices"], "gpu-01": {**FABRIC["devices"]["gpu-01"], "guids": {"ib0": "a088c20300ab0c10"}}}
    assert asked(BY_PORT.replace("gpu-01 mlx5_0", ""), devices=devices).verdict is Verdict.PASS


def test_a_profile_that_names_no_adapters_makes_the_node_unknown() -> None:
    """Nobody's cable is wrong because a file lacks a line."""
    assert asked(BY_PORT, profile={}).verdict is Verdict.UNKNOWN
    assert "hca_interfaces" in asked(BY_PORT, profile={"hca_interfaces": 7}).message


def test_a_node_without_a_designed_link_has_none_to_fail() -> None:
    assert asked(BY_PORT, "gpu-09").message == "no InfiniBand link is designed for it"


def test_a_rail_of_which_nothing_is_heard_is_unknown() -> None:
    """Rails that are fabrics of their own are not seen from each other."""
    links = [row for row in FABRIC["links"] if "spine-1" not in row]
    lines = [line for line in BY_PORT.split("\n") if "leaf-2" not in line and "spine-1" not in line]
    result = asked("\n".join(lines), links=links)
    assert result.verdict is Verdict.UNKNOWN
    assert result.message == "nothing is heard of gpu-01 ib1 to leaf-2 1"
