"""Ports by index: a design that is not made a dict of, and verdicts that are the same by index and by name."""

from dataclasses import replace
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.cabling.binding import Bound, bind
from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.indexed_ends import IndexedEnds
from fleet_runner.core.cabling.judge import Verdicts, hold
from fleet_runner.core.cabling.links import Link, LinkColumns, Port, devices_of, matching, replaced
from fleet_runner.core.cabling.names import names
from fleet_runner.core.cabling.port_index import NONE, IndexedPorts
from fleet_runner.core.checks.parsers.discovery import FabricLink, FabricPort
from tests.core.cabling.discoveries import discovered, plain
from tests.core.cabling.fabrics import Story, matchings, places, rails, stories

DESIGN = rails(2, 2)
INDEX = names(chain.from_iterable(DESIGN), {}, {}).index
PORTS = st.sampled_from(
    (*chain.from_iterable(DESIGN), Port("leaf-9", "1"), Port("leaf-1", "9"), Port("leaf-1", "01"))
)

NAMES = st.sampled_from(
    ("gpu-01 ib0", "gpu-01 ib1", "gpu-02 ib0", "gpu-02", "gpu-9 ib0", "gpu-01 ib7", "MT4129 ConnectX7", " ")
)
SWITCHES = st.sampled_from(("leaf-1", "leaf-2", "MF0;leaf-1:MQM9700/U1", "spine-1", "leaf-9", "switch-a1b2c3"))
GUIDS = st.sampled_from(tuple(digit * 16 for digit in "123456"))
HOSTS = st.builds(FabricPort, NAMES, st.sampled_from((1, 1, 1, 2)), st.just("CA"), GUIDS)
ENDS = HOSTS | st.builds(FabricPort, SWITCHES, st.integers(0, 4) | st.just(4000), st.just("SW"), GUIDS)
LINKS = st.builds(FabricLink, ENDS, ENDS, st.sampled_from((4, 2, 0)), st.sampled_from(("NDR", "")))


def judged(design: tuple[Link, ...], seen: Bound, where: Places, *, one_fabric: bool) -> Verdicts | str:
    """Judge; where that is refused, return why."""
    try:
        return hold(design, seen, where, one_fabric=one_fabric)
    except EvidenceError as error:
        return str(error)


@given(stories(), st.booleans())
def test_verdicts_by_index_are_those_by_name(story: Story, one_fabric: bool) -> None:
    """Of a fabric with mishaps."""
    known = names(chain.from_iterable(story.designed), {}, {}, story.designed)
    seen = bind(discovered(plain(story.observed)).links, known)
    assert isinstance(seen.links, LinkColumns)
    where = places(story.designed)
    by_name = judged(story.designed, replace(seen, links=dict(seen.links)), where, one_fabric=one_fabric)
    assert judged(story.designed, seen, where, one_fabric=one_fabric) == by_name


@given(st.lists(LINKS, max_size=8), st.dictionaries(GUIDS, PORTS, max_size=3), st.booleans())
def test_verdicts_of_any_ends_are_the_same_by_index(
    links: list[FabricLink],
    guids: dict[str, Port],
    one_fabric: bool,
) -> None:
    """Also of strangers, of ends that nothing identifies, and of ports that are told twice."""
    known = names(chain.from_iterable(DESIGN), guids, {}, DESIGN)
    seen = bind(links, known)
    where = places(DESIGN)
    by_name = judged(DESIGN, replace(seen, links=dict(seen.links)), where, one_fabric=one_fabric)
    assert judged(DESIGN, seen, where, one_fabric=one_fabric) == by_name


@given(st.lists(st.tuples(PORTS, PORTS, st.booleans())), st.booleans())
def test_ends_by_index_are_what_a_dict_of_them_is(changes: list[tuple[Port, Port, bool]], asked: bool) -> None:
    """Whatever is taken out or put in, before or after they were all asked for."""
    ends, told = IndexedEnds(INDEX), matching(DESIGN)
    for port, far, put in changes:
        if asked:
            assert dict(ends) == told
        if put:
            ends[port] = told[port] = far
        elif port in told:
            del ends[port], told[port]
        else:
            with pytest.raises(KeyError):
                del ends[port]
            with pytest.raises(KeyError):
                ends[port]
        assert (port in ends) == (port in told)
        assert ends.get(port) == told.get(port)
    assert ends == told
    assert dict(ends.items()) == told
    assert len(ends) == len(told)
    assert devices_of(ends) == devices_of(told)
    assert Port("", "") not in ends


@given(matchings())
def test_another_matching_leaves_the_one_that_it_was_made_of(design: tuple[Link, ...]) -> None:
    ends = IndexedEnds(names(chain.from_iterable(design), {}, {}).index)
    assert replaced(ends, design[:1], design[:1]) == ends == matching(design)
    assert replaced(ends, design[:1], ()) == matching(design[1:])
    assert ends == matching(design)


def test_a_port_that_is_not_designed_is_nobodys_other_end() -> None:
    """Also of a design with an odd number of ports."""
    ports = IndexedPorts(names([*DESIGN[0], Port("leaf-7", "1")], {}, {}).index)
    others = Port("x", "1"), Port("y", "1")
    found = [ports.add(port) for port in (*others, *others, *DESIGN[0])]
    assert found == [4, 6, 4, 6, 0, 1]
    assert [ports.every[at] for at in found] == [*others, *others, *DESIGN[0]]
    assert [ports.find(port) for port in (others[1], Port("z", "1"))] == [6, NONE]
