"""`lldpctl` as JSON, in both of its shapes."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.lldp import Neighbour, announced_pfc, parse
from tests.core.checks.catalogue.judging import cuts, text_of

SHAPES = {name: text_of(f"lldp/two_ports.{name}") for name in ("json", "json0")}

NEIGHBOURS = (
    Neighbour("eth0", "mgmt-1", "swp1", "swp1"),
    Neighbour("eth1", "mgmt-2", "02:00:00:00:01:03", "swp1"),
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["interface", "chassis", "port", "id", "name", "value", "descr", "x"]), inner
        )
    ),
    max_leaves=20,
)


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(EvidenceError):
        parse(text)


@given(JSON)
def test_any_json_is_read_and_every_word_of_it_is_text(lldp: Any) -> None:
    """Whatever stands where: a neighbour has four texts."""
    assert all(isinstance(word, str) for neighbour in parse(json.dumps({"lldp": lldp})) for word in neighbour)


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES)
def test_both_shapes_tell_the_same_neighbours(text: str) -> None:
    assert parse(text) == NEIGHBOURS


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES)
def test_a_capture_that_was_cut_is_refused(text: str) -> None:
    for cut in cuts(text.rstrip()):
        with pytest.raises(EvidenceError):
            parse(cut)


@pytest.mark.parametrize(
    ("text", "said"),
    [("[]", "expected an object"), ("{}", "found nothing"), ('{"a": 1}', "expected the key 'lldp', found a")],
)
def test_what_is_not_lldpctls_is_refused(text: str, said: str) -> None:
    with pytest.raises(EvidenceError, match=said):
        parse(text)


def test_a_single_interface_is_no_list() -> None:
    """The shape that is meant for people drops lists of one."""
    eth0 = json.loads(SHAPES["json"])["lldp"]["interface"][0]
    assert parse(json.dumps({"lldp": {"interface": eth0}})) == NEIGHBOURS[:1]


def test_a_port_that_hears_two_systems_has_two_neighbours() -> None:
    """An adapter's own agent answers beside the switch."""
    raw = json.loads(SHAPES["json0"])
    raw["lldp"][0]["interface"][1]["name"] = "eth0"
    assert [each.system for each in parse(json.dumps(raw)) if each.interface == "eth0"] == ["mgmt-1", "mgmt-2"]


@pytest.mark.parametrize(
    "nothing", [{}, {"interface": None}, {"interface": []}, {"interface": ["x", 1]}, [], None, "x"]
)
def test_nobody_heard_is_no_neighbour(nothing: object) -> None:
    assert parse(json.dumps({"lldp": nothing})) == ()


def test_a_system_without_a_name_has_none() -> None:
    """Its chassis is known by an address only."""
    heard = {"eth0": {"chassis": {"id": {"type": "mac", "value": "02:00:00:00:01:01"}}, "port": {"descr": "swp1"}}}
    assert parse(json.dumps({"lldp": {"interface": heard}})) == (Neighbour("eth0", "", "", "swp1"),)


def test_captured_neighbours_are_the_same_in_both_shapes(samples: Path) -> None:
    """From two real lldpd."""
    one, other = (parse((samples / "fabric" / f"lldpctl_leaf.{shape}").read_text("utf-8")) for shape in SHAPES)
    assert one == other
    assert one[0] == Neighbour("swp1", "host01", "3e:6f:ca:f1:c3:90", "eth0")


DCBX = text_of("lldp/dcbx.json0")


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ("08,08", {"eth1": frozenset({3}), "eth2": frozenset({3})}),
        ("08,88", {"eth1": frozenset({3, 7}), "eth2": frozenset({3})}),
        ("48,00", {"eth1": frozenset[int](), "eth2": frozenset({3})}),
        ("88,08", {"eth2": frozenset({3})}),
        ("08", {"eth2": frozenset({3})}),
        ("08,0", {"eth2": frozenset({3})}),
        ("08,08,08", {"eth2": frozenset({3})}),
        ("of nobody", {"eth2": frozenset({3})}),
    ],
)
def test_pfc_that_is_announced_by_dcbx_is_read_unless_it_is_willing_or_nonsense(
    told: str, found: dict[str, frozenset[int]]
) -> None:
    assert announced_pfc(DCBX.replace("08,08", told, 1)) == found


def test_two_neighbours_at_a_port_that_announce_different_pfc_tell_nothing() -> None:
    root = json.loads(DCBX)
    interfaces = root["lldp"][0]["interface"]
    interfaces[1]["name"] = "eth1"
    assert announced_pfc(json.dumps(root)) == {"eth1": frozenset({3})}
    interfaces[1]["unknown-tlvs"][0]["unknown-tlv"][1]["value"] = "08,10"
    assert announced_pfc(json.dumps(root)) == {}


def test_who_announces_nothing_is_left_out() -> None:
    assert announced_pfc(DCBX.replace('"subtype": "11"', '"subtype": "12"')) == {}
    assert announced_pfc("{}") == {}


@given(
    st.recursive(
        st.none() | st.text() | st.integers(), lambda each: st.lists(each) | st.dictionaries(st.text(), each)
    )
)
def test_whatever_tlvs_are_none_raises(tlvs: object) -> None:
    root = json.loads(DCBX)
    root["lldp"][0]["interface"][0]["unknown-tlvs"] = tlvs
    assert announced_pfc(json.dumps(root)).get("eth2") == frozenset({3})
