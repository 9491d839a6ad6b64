"""Which pairs of ports use every link between switches, in the fewest tests."""

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.paths import LIKELY, PathTests, crossed, flows, other_nodes, path_tests


def fabric(servers: int, leaves: int, spines: int, ways: int = 1) -> tuple[Link, ...]:
    """Return rails: each server has a port at each leaf, each leaf some cables to each spine."""
    rails = [
        link(Port(f"gpu-{server}", f"eth{leaf}"), Port(f"leaf-{leaf}", f"Ethernet{server}"))
        for server, leaf in product(range(servers), range(leaves))
    ]
    ups = [
        link(
            Port(f"leaf-{leaf}", f"Ethernet{100 + spine * ways + way}"),
            Port(f"spine-{spine}", f"{leaf * ways + way}"),
        )
        for leaf, spine, way in product(range(leaves), range(spines), range(ways))
    ]
    return (*rails, *ups)


def names(count: int) -> list[str]:
    return [f"gpu-{number}" for number in range(count)]


def planned(links: tuple[Link, ...], servers: int, idle: list[str] | None = None) -> PathTests:
    everyone = names(servers)
    return path_tests(links, frozenset(everyone), frozenset(everyone if idle is None else idle))


@given(st.integers(2, 6), st.integers(2, 7), st.integers(1, 4), st.integers(1, 3))
def test_every_link_of_a_leaf_spine_fabric_is_used_in_the_fewest_tests(
    servers: int, leaves: int, spines: int, ways: int
) -> None:
    """Half as many tests as leaves: each leaf's own uplinks need a test that begins or ends there."""
    links = fabric(servers, leaves, spines, ways)
    tests = planned(links, servers)
    assert (tests.covered, tests.links) == (leaves * spines * ways,) * 2
    assert (len(tests.pairs), tests.least) == (math.ceil(leaves / 2),) * 2
    assert (tests.deserted, tests.unreached) == ({}, ())


@given(st.integers(2, 6), st.integers(2, 6), st.integers(1, 3), st.data())
def test_only_idle_servers_are_asked_and_what_is_not_covered_is_told(
    servers: int, leaves: int, spines: int, data: st.DataObject
) -> None:
    """Whichever are idle: no busy server's port is in a test, both ends are two servers', and no link is lost."""
    links = tuple(each for each in fabric(servers, leaves, spines) if data.draw(st.booleans()))
    idle = data.draw(st.lists(st.sampled_from(names(servers)), unique=True))
    tests = planned(links, servers, idle)
    for pair in tests.pairs:
        assert {pair.one.device, pair.other.device} <= set(idle)
        assert pair.one.device != pair.other.device
        for port, leaf in zip((pair.one, pair.other), pair.leaves, strict=True):
            assert any(port in each and leaf in {each.a.device, each.b.device} for each in links)
    covered = [each for pair in tests.pairs for each in pair.links]
    left = [*tests.unreached, *(each for mine in tests.deserted.values() for each in mine)]
    goals = [each for each in links if not {each.a.device, each.b.device} & set(names(servers))]
    assert sorted([*covered, *left]) == sorted(goals)
    assert tests.least <= len(tests.pairs)


def test_a_leaf_without_an_idle_server_is_told_with_its_links() -> None:
    links = tuple(each for each in fabric(3, 3, 2) if not (each.a.device == "gpu-2" and each.b.device != "leaf-2"))
    links = tuple(each for each in links if each.a.device in {"gpu-2", "leaf-2"} or each.b.device != "leaf-2")
    tests = planned(links, 3, ["gpu-0", "gpu-1"])
    assert list(tests.deserted) == ["leaf-2"]
    assert len(tests.deserted["leaf-2"]) == 2
    assert [pair.leaves for pair in tests.pairs] == [("leaf-0", "leaf-1")]


def test_one_idle_server_tests_nothing_alone() -> None:
    tests = planned(fabric(3, 4, 2), 3, ["gpu-1"])
    assert (tests.pairs, len(tests.unreached)) == ((), 8)


def test_a_spine_that_joins_one_leaf_with_nobody_is_reached_by_no_way() -> None:
    odd = link(Port("leaf-0", "Ethernet200"), Port("spine-9", "1"))
    tests = planned((*fabric(2, 2, 2), odd), 2)
    assert tests.unreached == (odd,)
    assert tests.covered == 4


def test_a_cable_between_two_leaves_is_no_way_up() -> None:
    peer = link(Port("leaf-0", "Ethernet300"), Port("leaf-1", "Ethernet300"))
    tests = planned((*fabric(2, 2, 2), peer), 2)
    assert (tests.covered, tests.links) == (4, 4)


def test_a_cable_between_two_spines_is_counted_only_where_it_is_a_way() -> None:
    """It is where a leaf has but one of them."""
    peer = link(Port("spine-0", "Ethernet300"), Port("spine-1", "Ethernet300"))
    whole = fabric(2, 2, 2)
    assert (planned((*whole, peer), 2).covered, planned((*whole, peer), 2).links) == (4, 4)
    apart = tuple(each for each in whole if not {("leaf-0", "spine-1"), ("leaf-1", "spine-0")} & _devices(each))
    tests = planned((*apart, peer), 2)
    assert (tests.covered, tests.links) == (3, 3)


def _devices(each: Link) -> set[tuple[str, str]]:
    return {(each.a.device, each.b.device), (each.b.device, each.a.device)}


def test_three_layers_are_covered_by_tests_between_pods() -> None:
    """Two pods of two leaves and two spines, and two cores over all: within a pod no core would be used."""
    links: list[Link] = []
    for pod in (0, 1):
        for leaf in (0, 1):
            name = f"leaf-{pod}{leaf}"
            links += [link(Port(f"gpu-{2 * pod + leaf}", "eth0"), Port(name, "1"))]
            links += [link(Port(name, f"{10 + spine}"), Port(f"spine-{pod}{spine}", f"{leaf}")) for spine in (0, 1)]
        links += [
            link(Port(f"spine-{pod}{spine}", f"{10 + core}"), Port(f"core-{core}", f"{2 * pod + spine}"))
            for spine, core in product((0, 1), (0, 1))
        ]
    tests = planned(tuple(links), 4)
    assert (tests.covered, len(tests.pairs), tests.least) == (16, 2, 2)
    assert {pair.leaves[0][:-1] != pair.leaves[1][:-1] for pair in tests.pairs} == {True}


def test_one_way_takes_one_flow_and_more_ways_take_more() -> None:
    (one,) = planned(fabric(2, 2, 1), 2).pairs
    (two,) = planned(fabric(2, 2, 2), 2).pairs
    (many,) = planned(fabric(2, 2, 4, 4), 2).pairs
    assert one.flows == 1
    assert one.flows < two.flows < many.flows


@pytest.mark.parametrize(("ways", "count"), [(2, 10), (16, 136), (64, 645)])
def test_flows_are_as_many_as_the_sum_of_what_each_link_misses_allows(ways: int, count: int) -> None:
    """A link of `ways` is missed by n flows with (1 - 1/ways)^n: 4 * ways directions of links, 1 % in all."""
    shares = {1 / ways: 4 * ways}
    assert flows(shares, LIKELY) == count
    assert 4 * ways * (1 - 1 / ways) ** count <= 1 - LIKELY < 4 * ways * (1 - 1 / ways) ** (count - 1)


def test_a_test_names_every_link_that_its_flows_may_take() -> None:
    """Of three leaves the second test covers the third one's links, and goes by those of its other end, too."""
    first, second = planned(fabric(3, 3, 2), 3).pairs
    assert (len(first.links), len(first.ways)) == (4, 4)
    assert (len(second.links), len(second.ways)) == (2, 4)


def test_a_test_is_repeated_between_two_other_nodes_at_its_leaves_or_not_at_all() -> None:
    links, everyone = fabric(4, 2, 2), frozenset(names(4))
    (pair,) = planned(links, 4).pairs
    again = other_nodes(pair, links, everyone, everyone)
    assert again is not None
    assert {again.one.device, again.other.device}.isdisjoint({pair.one.device, pair.other.device})
    assert [again.one.interface, again.other.interface] == [pair.one.interface, pair.other.interface]
    assert (again.leaves, again.links, again.ways, again.flows) == (pair.leaves, (), pair.ways, pair.flows)
    assert other_nodes(pair, links, everyone, everyone - {again.one.device}) is None


def test_two_leaves_are_told_apart_by_a_test_of_each_with_a_leaf_of_a_fast_pair() -> None:
    links, everyone = fabric(4, 4, 2), frozenset(names(4))
    slow, fast = planned(links, 4).pairs
    tests = crossed(slow, fast, links, everyone, everyone)
    assert [each.leaves for each in tests] == list(zip(slow.leaves, fast.leaves, strict=True))
    for each in tests:
        assert {each.one.device, each.other.device}.isdisjoint({slow.one.device, slow.other.device})
        assert each.one.device != each.other.device
        ups = {port.device for way in each.ways for port in way}
        assert ups == {*each.leaves, "spine-0", "spine-1"}
        assert (each.links, len(each.ways)) == ((), 4)
        assert each.flows >= 2
    left = everyone - {tests[0].one.device}
    assert len(crossed(slow, fast, links, everyone, left - {slow.one.device, slow.other.device})) == 0
    apart = tuple(
        each
        for each in links
        if {each.a.device, each.b.device}.isdisjoint(fast.leaves)
        or each.a in {port for test in tests for port in (test.one, test.other)}
    )
    assert crossed(slow, fast, apart, everyone, everyone) == ()
