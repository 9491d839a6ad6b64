"""Links and matchings."""

from itertools import chain
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling.links import (
    Link,
    LinkColumns,
    Port,
    PortTakenError,
    both_ends,
    designed_ends,
    devices_of,
    link,
    matching,
    rates_of,
    undesigned,
    unplugged,
    without,
)
from fleet_runner.core.cabling.names import names
from fleet_runner.core.cabling.port_index import IndexedPorts
from tests.core.cabling.fabrics import matchings

PORTS = st.builds(Port, st.text(max_size=3), st.text(max_size=3))


@given(PORTS, PORTS)
def test_a_link_is_the_same_from_both_ends(one: Port, other: Port) -> None:
    assert link(one, other) == link(other, one)
    assert set(link(one, other)) == {one, other}


@given(matchings())
def test_a_matching_leads_from_each_port_to_its_other_end_and_back(links: tuple[Link, ...]) -> None:
    """Whatever the order of the links, and a cable told twice is one cable."""
    ends = matching([*reversed(links), *links])
    assert ends == matching(links)
    assert {link(port, far) for port, far in ends.items()} == set(links)
    assert all(ends[far] == port for port, far in ends.items())


def test_a_port_with_two_cables_is_refused_by_name() -> None:
    a, b, c = Port("leaf-1", "7"), Port("gpu-1", "ib0"), Port("gpu-2", "ib0")
    with pytest.raises(
        PortTakenError, match=r"^leaf-1 7 has two cables, one to gpu-[12] ib0 and one to gpu-[12] ib0"
    ):
        matching([link(a, b), link(a, c)])


def test_a_cable_onto_its_own_port_is_refused() -> None:
    port = Port("leaf-1", "7")
    with pytest.raises(PortTakenError, match="leaf-1 7 has two cables"):
        matching([link(port, port)])


RATES = st.sampled_from(["4x NDR", "2x NDR", ""])


@st.composite
def columns(draw: st.DrawFn) -> tuple[LinkColumns, tuple[Link, ...]]:
    """Draw a design, and links by columns whose ports are bound to those of this or another one, in any order."""
    design = draw(matchings())
    named = draw(st.sampled_from((design, (*design, *design), draw(matchings()))))
    ports = IndexedPorts(names(chain.from_iterable(named), {}, {}).index)
    seen = draw(st.sampled_from((draw(matchings()), _plugged(design, draw(st.randoms(use_true_random=False))))))
    ends = [each if draw(st.booleans()) else each[::-1] for each in seen]
    near, far = ([ports.add(each[end]) for each in ends] for end in (0, 1))
    return LinkColumns(ports, near, far, [draw(RATES) for _ in ends]), design


def _plugged(design: tuple[Link, ...], chance: Random) -> tuple[Link, ...]:
    """Return a design with some of its cables gone, and some of its ports joined otherwise."""
    here = [each for each in design if chance.random() < 0.9]
    moved = [each for each in here if chance.random() < 0.3]
    far = [each.b for each in moved]
    chance.shuffle(far)
    right = [each for each in here if each not in moved]
    return (*right, *(link(each.a, b) for each, b in zip(moved, far, strict=True)))


@given(columns())
def test_links_by_columns_are_what_a_dict_of_them_is(drawn: tuple[LinkColumns, tuple[Link, ...]]) -> None:
    """Also where one is plugged into the same ports otherwise than designed."""
    links, design = drawn
    told = dict(links.items())
    expected = designed_ends(design, links)
    assert expected == matching(design)
    assert len(expected) == len(matching(design))
    assert devices_of(expected) == {port.device for port in matching(design)}
    assert links == told
    assert [links[each] for each in links] == list(rates_of(links))
    assert list(told) == [link(*ends) for ends in both_ends(links)]
    assert list(told.values()) == list(rates_of(links))
    assert len(links) == len(told)
    assert links.keys() == told.keys()
    wrong = undesigned(links, expected)
    assert wrong == undesigned(told, expected) == [each for each in told if each not in design]
    right = without(links, wrong)
    assert right == without(told, wrong) == {each: told[each] for each in told if each in design}
    missing = unplugged(expected, right)
    assert len(missing) == len(set(missing))
    assert set(missing) == set(unplugged(expected, dict(right))) == set(design) - told.keys()
