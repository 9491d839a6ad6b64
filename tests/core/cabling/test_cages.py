"""Swaps between ports that are broken out: whole cables, single ends, and ends of cables that are not broken out."""

from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling.explain import Fault, Kind
from fleet_runner.core.cabling.lanes import written
from fleet_runner.core.cabling.links import Port, link
from fleet_runner.core.cabling.plan import apply
from tests.core.cabling.test_ethernet_ports import Cable, hears, swept

MAKERS = {
    "swp": ("swp{}", "swp{}s{}", 0),
    "EOS": ("Ethernet{}", "Ethernet{}/{}", 1),
    "NX-OS": ("Ethernet1/{}", "Ethernet1/{}/{}", 1),
    "Junos": ("et-0/0/{}", "et-0/0/{}:{}", 0),
    "OS10": ("ethernet1/1/{}", "ethernet1/1/{}:{}", 1),
}
"""A port, a lane of it, and the number of the first lane."""

CAGES = 4
"""Ports that are broken out; one more is not."""


class Leaf:
    """A leaf of one maker, whose ports 1 to 4 are broken out to servers; port 9 is not."""

    def __init__(self, maker: str, lanes: int, *, by_lane: bool = False) -> None:
        self.port, self.lane, self.first = MAKERS[maker]
        self.lanes = lanes
        self.design: list[Cable] = []
        for at in range(CAGES * lanes):
            name = self.name(at) if by_lane else self.port.format(at // lanes + 1)
            self.design.append(((f"gpu-{at}", "eth0"), ("leaf-a", name)))
        self.design.append((("gpu-99", "eth0"), ("leaf-a", self.port.format(9))))

    def name(self, at: int) -> str:
        """Return the lane of the server with that number."""
        return self.lane.format(at // self.lanes + 1, at % self.lanes + self.first)

    def faults(self, moved: dict[int, int], plain: int = 99, mute: Collection[int] = ()) -> tuple[Fault, ...]:
        """Judge what the leaf hears: servers by the number of whose lane they are at, and who is at port 9."""
        told = {self.name(at): moved.get(at, at) for at in range(CAGES * self.lanes)} | {self.port.format(9): plain}
        rows = [hears(port, f"gpu-{server}", "eth0") for port, server in told.items() if server not in mute]
        heard = {"leaf-a": rows}
        found = swept(self.design, heard).verdicts
        assert all(apply(each.actions, each.observed) == set(each.expected) for each in found.faults)
        return found.faults


def swapped(leaf: Leaf, one: int = 0, other: int = 1) -> dict[int, int]:
    """Return who is at whose lane where two whole cables took each other's ports."""
    pairs = [(one * leaf.lanes + at, other * leaf.lanes + at) for at in range(leaf.lanes)]
    return {near: far for pair in pairs for near, far in (pair, pair[::-1])}


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("lanes", [2, 4])
@pytest.mark.parametrize("by_lane", [False, True])
def test_two_whole_cables_in_each_others_port_are_one_fault_of_two_plugs(
    maker: str, lanes: int, *, by_lane: bool
) -> None:
    """Whether the design names the ports or their lanes."""
    leaf = Leaf(maker, lanes, by_lane=by_lane)
    assert leaf.faults({}) == ()
    (fault,) = leaf.faults(swapped(leaf))
    one, other = (f"leaf-a port {leaf.port.format(at)}" for at in (1, 2))
    if by_lane:
        one += f" ({', '.join(leaf.name(at) for at in range(lanes))})"
        other += f" ({', '.join(leaf.name(lanes + at) for at in range(lanes))})"
    assert fault.kind is Kind.SWAP
    assert fault.steps == (
        f"Unplug {one} and {other}: all far ends of each are designed at the other.",
        f"Plug the cable that was in {one} into {other}, and that of {other} into {one}; their other ends stay.",
    )
    assert len(fault.expected) == len(fault.observed) == 2 * lanes
    assert leaf.faults(swapped(leaf))[0].key == fault.key != leaf.faults(swapped(leaf, 2, 3))[0].key


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("by_lane", [False, True])
def test_single_ends_that_are_swapped_are_moved_at_the_servers(maker: str, *, by_lane: bool) -> None:
    """At the switch they share their plug with ends that are right; and so it is with a cable of one end."""
    leaf = Leaf(maker, 4, by_lane=by_lane)
    (fault,) = leaf.faults({0: 4, 4: 0})
    assert (fault.kind, fault.devices, len(fault.steps)) == (Kind.SWAP, ("gpu-0", "gpu-4", "leaf-a"), 3)
    assert fault.steps[0].startswith("Unplug gpu-0 port eth0")
    (fault,) = leaf.faults({0: 99}, plain=0)
    assert (fault.kind, fault.devices) == (Kind.SWAP, ("gpu-0", "gpu-99", "leaf-a"))
    assert fault.steps[0].startswith("Unplug gpu-0 port eth0")


def test_two_cables_of_which_an_end_is_right_are_not_moved_as_a_whole() -> None:
    leaf = Leaf("EOS", 4)
    moved = {at: far for at, far in swapped(leaf).items() if at not in {0, 4}}
    assert sorted(fault.devices for fault in leaf.faults(moved)) == [
        ("gpu-1", "gpu-5", "leaf-a"),
        ("gpu-2", "gpu-6", "leaf-a"),
        ("gpu-3", "gpu-7", "leaf-a"),
    ]


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("by_lane", [False, True])
def test_a_plug_is_not_pulled_while_a_far_end_of_it_is_not_known_to_be_wrong(maker: str, *, by_lane: bool) -> None:
    """Two servers say nothing, and sit where they belong, or not: the six others are moved at the servers."""
    leaf = Leaf(maker, 4, by_lane=by_lane)
    for moved in (swapped(leaf), {at: far for at, far in swapped(leaf).items() if at not in {0, 4}}):
        faults = leaf.faults(moved, mute=(0, 4))
        assert sorted(fault.devices for fault in faults) == [
            (f"gpu-{n}", f"gpu-{n + 4}", "leaf-a") for n in (1, 2, 3)
        ]
        assert all(fault.steps[0].startswith("Unplug gpu-") for fault in faults)


def test_cables_whose_lanes_are_mixed_as_well_are_no_swap_of_two_plugs_where_the_design_names_lanes() -> None:
    """With its plug an end goes to the lane of the same place: the plugs would leave each end at the other's lane."""
    crossed = {0: 3, 1: 2, 2: 1, 3: 0}
    (fault,) = Leaf("EOS", 2).faults(crossed)
    assert fault.steps[0].startswith("Unplug leaf-a port Ethernet1 and leaf-a port Ethernet2:")
    faults = Leaf("EOS", 2, by_lane=True).faults(crossed)
    assert [fault.steps[0].split(",")[0] for fault in faults] == ["Unplug gpu-0 port eth0", "Unplug gpu-1 port eth0"]


def test_where_one_port_is_designed_by_its_lanes_their_places_count() -> None:
    leaf = Leaf("EOS", 2)
    leaf.design[2:4] = Leaf("EOS", 2, by_lane=True).design[2:4]
    leaf.design[4:6] = Leaf("EOS", 2, by_lane=True).design[4:6]
    (fault,) = leaf.faults(swapped(leaf))
    one, other = "leaf-a port Ethernet1", "leaf-a port Ethernet2 (Ethernet2/1, Ethernet2/2)"
    assert fault.steps[0].startswith(f"Unplug {one} and {other}:")
    assert len(leaf.faults({0: 3, 1: 2, 2: 0, 3: 1})) == 2


@given(st.sampled_from(sorted(MAKERS)), st.booleans(), st.permutations(range(CAGES * 2)))
def test_wherever_ends_are_no_right_one_is_moved(maker: str, by_lane: bool, order: list[int]) -> None:
    leaf = Leaf(maker, 2, by_lane=by_lane)
    seen = {f"gpu-{server}": leaf.name(at) for at, server in enumerate(order)}
    home = {f"gpu-{at}": {leaf.name(each) for each in range(CAGES * 2) if each // 2 == at // 2} for at in range(8)}
    right = {
        link(Port(server, "eth0"), Port("leaf-a", name))
        for server, name in seen.items()
        if (name == leaf.name(int(server[4:])) if by_lane else name in home[server])
    }
    for fault in leaf.faults(dict(enumerate(order))):
        assert right.isdisjoint(fault.observed)


def test_a_card_and_its_ports_are_not_taken_for_a_port_and_its_lanes() -> None:
    """What is designed at a card is more than lanes, or begins elsewhere, or there is one card of that kind."""

    def cages(*names: str) -> set[Port]:
        return set(
            written([link(Port("gpu", f"e{at}"), Port("leaf", name)) for at, name in enumerate(names)], {"gpu"})
        )

    assert cages("Ethernet1/1", "Ethernet1/2", "Ethernet2/1", "Ethernet2/2") == {
        Port("leaf", "Ethernet1"),
        Port("leaf", "Ethernet2"),
    }
    assert cages("Ethernet1/1", "Ethernet1/2") == set()
    assert cages("Ethernet1/1", "Ethernet1/2", "Ethernet1/3", "Ethernet2/1", "Ethernet2/2", "Ethernet2/3") == set()
    assert cages("Ethernet1/5", "Ethernet1/6", "Ethernet2/5", "Ethernet2/6") == set()
    assert cages("Ethernet1/1", "Ethernet1/6", "Ethernet2/1", "Ethernet2/6") == set()
    assert len(cages("Ethernet1/1", "Ethernet1/5", "Ethernet2/1", "Ethernet2/5")) == 2
    assert len(cages(*(f"Ethernet{port}/{lane}" for port in (1, 2, 3) for lane in (1, 3, 5, 7)))) == 3
    assert cages("et-0/0/0", "et-0/0/1", "et-1/0/0", "et-1/0/1") == set()
    assert len(cages("et-0/0/0:0", "et-0/0/0:1", "et-1/0/0:0", "et-1/0/0:1")) == 2
    assert cages("HundredGigE0/0/0/0", "HundredGigE0/0/0/1", "HundredGigE0/1/0/0", "HundredGigE0/1/0/1") == set()
    split = [f"FourHundredGigE0/0/0/{port}/{lane}" for port in (0, 1) for lane in range(4)]
    assert len(cages(*split)) == 2
    assert cages("ethernet-1/1", "ethernet-1/2", "ethernet-2/1", "ethernet-2/2") == set()
    assert len(cages("ethernet-1/1/1", "ethernet-1/1/2", "ethernet-1/2/1", "ethernet-1/2/2")) == 2
    assert cages("swp1.1", "swp1.2", "swp2.1", "swp2.2", "ge-1-1", "ge-1-2", "ge-2-1", "ge-2-2") == set()
    cards = [f"Ethernet{card}/{port}" for card in (3, 4) for port in (1, 2, 3, 4)]
    assert cages(*cards, "Ethernet5/1/1", "Ethernet5/1/2", "Ethernet5/2/1", "Ethernet5/2/2") == {
        Port("leaf", "Ethernet5/1"),
        Port("leaf", "Ethernet5/2"),
    }
