"""What the switches of a fabric hear, as a sweep keeps it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.forwarding import Learned
from fleet_runner.core.checks.parsers.lldp import Neighbour
from fleet_runner.core.checks.parsers.neighbours.several import (
    KEY,
    LONGEST,
    MOST,
    MOST_LEARNED,
    HeardByNode,
    before,
    begins,
    beside,
    parse,
    written,
)
from tests.core.checks.catalogue.judging import cuts

WORDS = st.text(max_size=LONGEST)
HEARD = st.dictionaries(WORDS, st.lists(st.builds(Neighbour, WORDS, WORDS, WORDS, WORDS), max_size=3).map(tuple))


@given(HEARD, st.dictionaries(WORDS, WORDS, max_size=2))
def test_what_is_written_is_read(heard: dict[str, tuple[Neighbour, ...]], unread: dict[str, str]) -> None:
    text = json.dumps(written(heard, unread))
    assert begins(text)
    found = parse(text)
    assert dict(found.unread) == unread
    assert dict(found.heard) == {name: each for name, each in heard.items() if name not in unread}


def test_what_a_neighbour_says_is_cut_to_what_the_standard_allows() -> None:
    """A name of 4 kB, and more neighbours than any switch has ports."""
    long = Neighbour("swp1", "\x1b[2J" + "x" * 4096, "eth0", "")
    found = parse(json.dumps(written({"leaf-1": [long] * (MOST + 1)}, {"leaf-2": "y" * 999})))
    assert {len(each.system) for each in found.heard["leaf-1"]} == {LONGEST}
    assert (len(found.heard["leaf-1"]), len(found.unread["leaf-2"])) == (MOST, LONGEST)


def test_what_switches_learned_is_read_and_of_too_much_nothing() -> None:
    near = Neighbour("swp1", "gpu-1", "eth0", "")
    rows = [Learned("swp1", "02:00:00:00:00:01"), Learned("swp2", "02:00:00:00:00:02")]
    many = [rows[0]] * (MOST_LEARNED + 1)
    told = written({"leaf-1": [near], "leaf-2": [near], "leaf-3": [near]}, {}, {"leaf-1": rows, "leaf-2": many})
    found = parse(json.dumps(told))
    assert dict(found.learned) == {"leaf-1": tuple(rows)}
    assert set(found.heard) == {"leaf-1", "leaf-2", "leaf-3"}


def test_what_nodes_heard_before_stands_beside_the_switches() -> None:
    node = HeardByNode(1_763_000_000.5, (Neighbour("eth0", "leaf-1", "x" * 999, ""),))
    told = written({}, {"leaf-1": "no route to host"})
    told["lldp_of_switches"] |= {"gpu-1": node.written()}
    found = parse(json.dumps(told))
    assert found.nodes == {"gpu-1": HeardByNode(node.at, (Neighbour("eth0", "leaf-1", "x" * LONGEST, ""),))}
    assert (dict(found.heard), set(found.unread)) == ({}, {"leaf-1"})


def test_of_what_nodes_heard_before_a_sweep_keeps_that_beside_a_switch_that_it_did_not_read() -> None:
    nodes = {name: HeardByNode(60.0, (Neighbour("eth0", "leaf-1", "swp1", ""),)) for name in ("gpu-1", "gpu-2")}
    told = before({"gpu-1": (nodes["gpu-1"], ["leaf-1", "leaf-2"]), "gpu-2": (nodes["gpu-2"], {"leaf-2"})})
    assert beside(told, {"leaf-2"}) == {"gpu-1": nodes["gpu-1"].written()}
    assert beside(told, {"leaf-1", "leaf-2", "leaf-3"}) == beside(before({}), ()) == {}
    assert parse(json.dumps({KEY: beside(told, ())})).nodes == nodes


def test_a_text_that_is_cut_is_refused() -> None:
    text = json.dumps(written({"leaf-1": [Neighbour("swp1", "gpu-1", "eth0", "")]}, {"leaf-2": "no route to host"}))
    for cut in cuts(text):
        with pytest.raises(EvidenceError):
            parse(cut)


@pytest.mark.parametrize(
    "devices",
    [
        "{}",
        '{"lldp_of_switches": []}',
        '{"lldp_of_switches": {"leaf-1": 7}}',
        '{"lldp_of_switches": {"leaf-1": {}}}',
        '{"lldp_of_switches": {"leaf-1": {"unread": 7}}}',
        '{"lldp_of_switches": {"leaf-1": {"neighbours": [["swp1", "gpu-1", "eth0"]]}}}',
        '{"lldp_of_switches": {"leaf-1": {"neighbours": [["swp1", "gpu-1", "eth0", null]]}}}',
        '{"lldp_of_switches": {"leaf-1": {"neighbours": [], "macs": [["swp1"]]}}}',
        '{"lldp_of_switches": {"leaf-1": {"neighbours": [], "macs": {}}}}',
        '{"lldp_of_switches": {"gpu-1": {"neighbours": [], "at": "now"}}}',
    ],
)
def test_something_else_is_refused(devices: str) -> None:
    with pytest.raises(EvidenceError, match="expected"):
        parse(devices)
