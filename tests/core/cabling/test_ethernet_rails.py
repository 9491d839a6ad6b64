"""A rail-optimised Ethernet fabric: interface i of every server goes to the leaf of rail i."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling import ethernet
from fleet_runner.core.cabling.explain import Kind, Places
from fleet_runner.core.cabling.judge import Verdicts
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.names import names
from fleet_runner.core.checks.parsers.lldp import Neighbour

SERVERS, RAILS, SPINES = 6, 4, 2
NODES = [f"gpu-{number}" for number in range(1, SERVERS + 1)]
LEAVES = [f"leaf-{rail}" for rail in range(RAILS)]


def server_end(server: int, rail: int) -> Port:
    return Port(NODES[server], f"eth{rail}")


def leaf_end(server: int, rail: int) -> Port:
    return Port(LEAVES[rail], f"Ethernet{server + 1}")


UPLINKS = [
    link(Port(leaf, f"Ethernet{49 + spine}"), Port(f"spine-{spine + 1}", f"Ethernet{rail + 1}"))
    for rail, leaf in enumerate(LEAVES)
    for spine in range(SPINES)
]
DESIGN = (
    *(link(server_end(server, rail), leaf_end(server, rail)) for server in range(SERVERS) for rail in range(RAILS)),
    *UPLINKS,
)
PLACES = Places({}, {}, frozenset(NODES))

Ends = st.sampled_from(["all", "servers", "leaves", "one server"])


def judged(cables: Iterable[Link], told_by: str, server: str) -> Verdicts:
    """Judge what some of the devices hear over cables that are all up."""
    heard: dict[str, list[Neighbour]] = {}
    for a, b in cables:
        for near, far in ((a, b), (b, a)):
            heard.setdefault(near.device, []).append(Neighbour(near.interface, far.device, far.interface, ""))
    speaks = {"all": set(heard), "servers": set(NODES), "leaves": set(LEAVES), "one server": {server}}[told_by]
    captures = {device: told for device, told in heard.items() if device in speaks}
    return ethernet.judge(DESIGN, captures, names([end for each in DESIGN for end in each], {}, {}), PLACES)


def exchanged(one: tuple[int, int], other: tuple[int, int]) -> list[Link]:
    """Return the cables with two servers' cables in each other's leaf ports."""
    gone = {link(server_end(*each), leaf_end(*each)) for each in (one, other)}
    instead = [link(server_end(*one), leaf_end(*other)), link(server_end(*other), leaf_end(*one))]
    return [*(each for each in DESIGN if each not in gone), *instead]


@given(st.integers(0, SERVERS - 1), st.lists(st.integers(0, RAILS - 1), min_size=2, max_size=2, unique=True), Ends)
def test_two_exchanged_rails_of_a_server_are_one_wrong_rail_from_whichever_end(
    server: int, rails: list[int], told_by: str
) -> None:
    """Every cable is plugged and up: only where it ends tells."""
    one, other = ((server, rail) for rail in rails)
    (fault,) = judged(exchanged(one, other), told_by, NODES[server]).faults
    assert fault.kind is Kind.WRONG_RAIL
    assert set(fault.expected) == {link(server_end(*each), leaf_end(*each)) for each in (one, other)}
    assert set(fault.devices) == {NODES[server], *(LEAVES[rail] for rail in rails)}
    assert fault.touches == 2
    assert fault == next(iter(judged(exchanged(one, other), "all", "").faults))


@pytest.mark.parametrize("told_by", ["all", "servers", "leaves"])
def test_rails_of_two_servers_are_a_swap(told_by: str) -> None:
    """They are told as what they are: both servers' cables are to be moved."""
    (fault,) = judged(exchanged((0, 1), (3, 2)), told_by, "").faults
    assert (fault.kind, set(fault.devices)) == (Kind.SWAP, {"gpu-1", "gpu-4", "leaf-1", "leaf-2"})


def test_a_fabric_whose_rails_are_right_has_no_fault() -> None:
    verdicts = judged(DESIGN, "all", "")
    assert (verdicts.faults, verdicts.matched) == ((), len(DESIGN))
