"""What the switches of a fabric hear, as a sweep keeps it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.lldp import Neighbour
from fleet_runner.core.checks.parsers.neighbours.several import LONGEST, MOST, begins, parse, written
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
    ],
)
def test_something_else_is_refused(devices: str) -> None:
    with pytest.raises(EvidenceError, match="expected"):
        parse(devices)
