"""Is every InfiniBand link of the node as designed?"""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import cuts, judged, text_of

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
    profile = changed.pop("profile", PROFILE)
    profiles = changed.pop("profiles", {"t": profile})
    expected = Expected(node, profile, fabric=FABRIC | changed, profiles=profiles)
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
    assert result.observed == {
        "designed": 2,
        "fabric_matched": 6,
        "fabric_designed": 6,
        "unsure": [],
    }


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


MORE = [f"gpu-{number}" for number in range(40, 52)]
"""Servers that are designed and not there."""


@pytest.mark.parametrize("status", ["active", "planned"])
def test_servers_that_are_not_there_hide_no_fault_of_the_node(status: str) -> None:
    """Nor are they its faults; those that are not in service are not even looked for."""
    more = [[name, "ib0", "leaf-1", str(number), NDR, []] for number, name in enumerate(MORE, start=40)]
    devices = FABRIC["devices"] | {name: FABRIC["devices"]["gpu-02"] | {"status": status} for name in MORE}
    lines = "\n".join(line for line in BY_PORT.split("\n") if "gpu-01 mlx5_0" not in line)
    changed = {"links": [*FABRIC["links"], *more], "devices": devices}
    (finding,) = asked(lines, **changed).findings
    assert (finding.code, finding.nodes) == ("cabling.missing", ("gpu-01",))
    result = asked(lines, "gpu-02", **changed)
    assert result.verdict is Verdict.PASS
    assert result.observed["fabric_designed"] == (18 if status == "active" else 6)


def test_what_another_fabric_says_is_no_fault_of_the_node() -> None:
    """Of which most names are not in the design: it is unknown, in a sentence."""
    result = asked(BY_PORT.replace("gpu-01", "other-01").replace("leaf-", "tor-").replace("spine-", "top-"))
    assert (result.verdict, result.findings) == (Verdict.UNKNOWN, ())
    assert result.message.startswith("the fabric as gpu-01 sees it: 5 observed links are not in the design, 0 are;")


def test_a_switch_that_is_not_in_service_is_not_missed_and_the_message_says_so() -> None:
    devices = FABRIC["devices"] | {"leaf-2": FABRIC["devices"]["leaf-2"] | {"status": "planned"}}
    lines = "\n".join(line for line in BY_PORT.split("\n") if "leaf-2" not in line)
    result = asked(lines, devices=devices)
    assert (result.verdict, result.message) == (
        Verdict.PASS,
        "InfiniBand links as designed: 1; 1 of devices that are not in service were not checked",
    )
    assert result.observed["unsure"] == ["leaf-2"]


def test_a_node_is_looked_at_whatever_its_own_status_is() -> None:
    devices = FABRIC["devices"] | {"gpu-01": FABRIC["devices"]["gpu-01"] | {"status": "planned"}}
    lines = "\n".join(line for line in BY_PORT.split("\n") if "gpu-01 mlx5_0" not in line)
    assert [finding.code for finding in asked(lines, devices=devices).findings] == ["cabling.missing"]


def test_a_node_that_earns_production_has_its_planned_cables_too() -> None:
    """Other nodes' planned cables are a later phase's; whoever certified this one says that it is built."""
    later = {"planned": [["leaf-1", "1", "gpu-01", "ib0"]]}
    lines = "\n".join(line for line in BY_PORT.split("\n") if "gpu-01 mlx5_0" not in line)
    assert [finding.code for finding in asked(lines, **later).findings] == ["cabling.missing"]
    assert asked(lines, "gpu-02", **later).verdict is Verdict.PASS
    assert asked(BY_PORT, **later).message == "InfiniBand links as designed: 2"


def test_every_device_types_adapters_are_known_by_its_own_profile() -> None:
    """A swap with a node of another type is one fault, not a cable of the node beside an unknown one."""
    devices = FABRIC["devices"] | {"gpu-02": FABRIC["devices"]["gpu-02"] | {"device_type": "u"}}
    other = {"hca_interfaces": {"HCA-1": "ib0", "HCA-2": "ib1"}}
    text = renamed(BY_PORT.replace("gpu-02 mlx5_0", "gpu-02 HCA-1"), "gpu-01 mlx5_0", "gpu-02 HCA-1")
    (fault,) = asked(text, devices=devices, profiles={"t": PROFILE, "u": other}).findings
    assert (fault.code, fault.nodes) == ("cabling.swap", ("gpu-01", "gpu-02"))


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


# Rails that are fabrics of their own: none is seen from another.

RAILS = [row for row in FABRIC["links"] if "spine-1" not in row]
HCA = {"leaf-1": "mlx5_0", "leaf-2": "mlx5_1"}


def rail(leaf: str) -> str:
    """What is seen of one leaf."""
    return "".join(each for each in BY_PORT.splitlines(keepends=True) if leaf in each and "spine-1" not in each)


def looks(*rails: str, failed: tuple[str, ...] = (), **texts: str) -> str:
    """What a look through one adapter of each rail brought together."""
    said = {HCA[leaf]: {"end": "ok", "rc": 0, "error": "", "text": rail(leaf)} for leaf in rails}
    said |= {HCA[leaf]: {"end": "ok", "rc": 1, "error": "", "text": "can not open the port"} for leaf in failed}
    said |= {adapter: {"end": "ok", "rc": 0, "error": "", "text": text} for adapter, text in texts.items()}
    return json.dumps(said)


def test_a_rail_of_which_nothing_is_heard_is_unknown() -> None:
    """The other one's faults are told, and prove nothing gone at the silent one."""
    result = asked(rail("leaf-1"), links=RAILS)
    assert (result.verdict, result.message) == (Verdict.UNKNOWN, "no data about gpu-01 ib1 to leaf-2 1")
    crossed = asked(renamed(rail("leaf-1"), *SWAPPED[0]), links=RAILS)
    assert [finding.code for finding in crossed.findings] == ["cabling.swap"]
    assert crossed.observed["unsure"] == ["leaf-2"]


def test_where_nothing_says_which_adapters_lie_in_which_fabric_the_message_says_what_to_declare() -> None:
    text = rail("leaf-1").replace("gpu-01 mlx5_0", "gpu-01 ib0").replace("gpu-02 mlx5_0", "gpu-02 ib0")
    assert asked(text, links=RAILS, profile={}).message == (
        "no data about gpu-01 ib1 to leaf-2 1; gpu-01 has ports in 2 fabrics, and not all were read: name "
        "its adapters in hca_interfaces of its device type's file (docs/cabling.md)"
    )


def test_rails_that_were_each_looked_at_are_judged_together() -> None:
    assert asked(looks("leaf-1", "leaf-2"), links=RAILS).message == "InfiniBand links as designed: 2"
    text = looks("leaf-1", mlx5_1=renamed(rail("leaf-2"), "gpu-01 mlx5_1", "gpu-02 mlx5_1"))
    assert [finding.code for finding in asked(text, links=RAILS).findings] == ["cabling.swap"]


def test_a_link_that_two_looks_saw_is_one() -> None:
    """Rails that were joined by mistake, or by design."""
    assert asked(looks(mlx5_0=BY_PORT, mlx5_1=BY_PORT)).message == "InfiniBand links as designed: 2"


def test_a_look_that_failed_says_why_and_hides_no_fault_of_the_other_rail() -> None:
    result = asked(looks("leaf-1", failed=("leaf-2",)), links=RAILS)
    assert result.verdict is Verdict.UNKNOWN
    assert result.message == (
        "no data about gpu-01 ib1 to leaf-2 1; mlx5_1: ibnetdiscover exited with 1: can not open the port; expected 0"
    )
    late = {"end": "timeout", "rc": 0, "error": "ended after 120 s", "text": ""}
    said = json.dumps({"mlx5_0": late, "mlx5_1": late})
    assert asked(said, links=RAILS).message == (
        "mlx5_0: ibnetdiscover: ended after 120 s; mlx5_1: ibnetdiscover: ended after 120 s"
    )


def test_a_look_through_a_second_adapter_makes_up_for_one_that_failed() -> None:
    assert asked(looks(mlx5_1=BY_PORT, failed=("leaf-1",))).verdict is Verdict.PASS


@given(st.dictionaries(st.text(max_size=5), st.none() | st.dictionaries(st.text(max_size=5), st.text()), max_size=3))
def test_an_object_that_no_adapter_said_is_unknown(said: object) -> None:
    assert asked(json.dumps(said)).verdict is Verdict.UNKNOWN
