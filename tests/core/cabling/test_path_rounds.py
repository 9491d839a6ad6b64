"""Rounds of tests: no node has two at once, and none is lost."""

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling.links import Port
from fleet_runner.core.cabling.path_rounds import rounds
from fleet_runner.core.cabling.paths import Pair
from tests.core.cabling.test_paths import fabric, planned

NAMES = [f"gpu-{number}" for number in range(6)]
ENDS = st.lists(st.sampled_from(NAMES), min_size=2, max_size=2, unique=True)


def pair(one: str, other: str) -> Pair:
    return Pair(Port(one, "eth0"), Port(other, "eth1"), ("leaf-0", "leaf-1"), (), 1)


@given(st.lists(ENDS, max_size=12))
def test_each_pair_is_in_one_round_and_each_node_once_in_a_round(ends: list[list[str]]) -> None:
    pairs = [pair(*each) for each in ends]
    found = rounds(pairs)
    assert sorted(map(str, (each for mine in found for each in mine))) == sorted(map(str, pairs))
    for mine in found:
        nodes = [port.device for each in mine for port in (each.one, each.other)]
        assert len(nodes) == len(set(nodes))
        assert mine


def test_a_fabric_with_nodes_enough_is_tested_in_one_round() -> None:
    """Eight leaves take four tests; of eight servers none needs two."""
    assert len(rounds(planned(fabric(8, 8, 2), 8).pairs)) == 1
    assert len(rounds(planned(fabric(2, 8, 2), 2).pairs)) == 4
