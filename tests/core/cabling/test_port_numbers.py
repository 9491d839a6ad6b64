"""Which number a switch's port has in the fabric, from what all of its ports are called."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling.port_numbers import MOST_WAYS, fitting, ways

CAGES = {
    "nvos": "sw{cage}p{place}",
    "onyx": "IB1/{cage}/{place}",
    "bare": "1/{cage}/{place}",
    "dots": "P{cage}.{place}",
}
"""How a cage and its half are written."""


def named(style: str, cages: range, first: int = 1) -> dict[str, int]:
    """Return all ports of a switch with two to a cage, by name, with their numbers; both count from `first`."""
    start = cages[0]
    return {
        CAGES[style].format(cage=cage - start + first, place=place + first): (cage - start) * 2 + place + 1
        for cage in cages
        for place in (0, 1)
    }


@pytest.mark.parametrize("style", CAGES)
@pytest.mark.parametrize("first", [0, 1])
def test_a_whole_switch_of_cages_tells_its_numbers_itself(style: str, first: int) -> None:
    """32 cages of two, as the community's device types and the switches' own systems write them."""
    port = named(style, range(1, 33), first)
    assert ways(tuple(port)) == (port,)
    assert sorted(port.values()) == [*range(1, 65)]


@pytest.mark.parametrize("style", ["{cage}{half}", "1/{cage}{half}", "P{cage}-{half}", "Port {cage} {half}"])
@pytest.mark.parametrize("halves", ["ab", "AB"])
def test_the_half_of_a_cage_may_be_a_letter(style: str, halves: str) -> None:
    port = {
        style.format(cage=cage, half=half): cage * 2 - 1 + at
        for cage in range(1, 33)
        for at, half in enumerate(halves)
    }
    assert ways(tuple(port)) == (port,)


def test_a_half_that_is_not_split_further_is_a_half() -> None:
    port = {f"sw{cage}p{half}s1": cage * 2 - 2 + half for cage in range(1, 73) for half in (1, 2)}
    assert ways(tuple(port)) == (port,)
    assert ways(("sw1p1s1", "sw1p1s2", "sw2p1s1", "sw2p1s2")) == ({},)


@pytest.mark.parametrize(
    ("names", "numbers"),
    [
        (("swp1", "swp7"), (1, 7)),
        (("Port 1", "Port 40"), (1, 40)),
        (("Ethernet1/7", "Ethernet1/9"), (7, 9)),
        (("1/7",), (7,)),
        (("7", "9"), (7, 9)),
        (("L2/U1/7", "L2/U1/20"), (7, 20)),
    ],
)
def test_a_last_number_that_alone_differs_is_the_ports(names: tuple[str, ...], numbers: tuple[int, ...]) -> None:
    assert ways(names) == (dict(zip(names, numbers, strict=True)),)


def test_one_half_of_each_cage_leaves_open_whether_there_is_another() -> None:
    whole, half = {"sw5p1": 5, "sw6p1": 6}, {"sw5p1": 9, "sw6p1": 11}
    assert ways(("sw5p1", "sw6p1")) == (whole, half)
    assert fitting((whole, half), [("sw5p1", 9), ("sw6p1", 11)]) == half
    assert fitting((whole, half), [("sw5p1", 5), ("sw6p1", 6)]) == whole


def test_what_the_cables_do_not_tell_either_is_not_told() -> None:
    """No cable, one for each way, or hardly any that fits: a correct cable is never told to be moved for that."""
    several = ways(("sw5p1", "sw6p1"))
    assert fitting(several, []) == {}
    assert fitting(several, [("sw5p1", 5), ("sw6p1", 11)]) == {}
    assert fitting(several, [("sw5p1", 5), ("sw6p1", 40)]) == {}
    assert fitting(several, [("sw5p1", 5)]) == {}
    assert fitting((), [("A", 1)]) == {}


def test_a_bundle_one_port_too_far_does_not_tell_that_a_switch_counts_from_zero() -> None:
    """One cable beside it is right by the other way: that many more must speak against it."""
    one, other = several = ways(tuple(f"Port {number}" for number in range(20)))
    right = ("Port 0", 1)
    assert one["Port 0"] == 1
    bundle = [(f"Port {number}", number) for number in range(2, 12)]
    assert fitting(several, bundle) == other
    assert fitting(several, [right, *bundle]) == other
    assert fitting(several, [right, *bundle[:-1]]) == {}


def test_one_cable_does_not_tell_how_ports_are_numbered_that_differ_in_more() -> None:
    """A cable at a port that every way numbers alike says nothing of the others."""
    several = ways(("sw1p1", "sw2p1", "sw3p1"))
    assert fitting(several, [("sw1p1", 1), ("sw2p1", 3)]) == {"sw1p1": 1}
    assert fitting(several, [("sw2p1", 3), ("sw3p1", 5)]) == {"sw1p1": 1, "sw2p1": 3, "sw3p1": 5}


def test_what_all_ways_have_in_common_is_told() -> None:
    several = ways(("swp1", "swp2", "sw5p1"))
    assert len(several) == 2
    assert fitting(several, []) == {"swp1": 1, "swp2": 2}
    assert fitting(several, [("swp1", 1), ("swp2", 2), ("sw5p1", 9)]) == {"swp1": 1, "swp2": 2, "sw5p1": 9}


def test_the_only_way_holds_against_cables_that_are_plugged_elsewhere() -> None:
    """They are moved; where none of several is plugged at a designed port, the switch counts otherwise."""
    (only,) = ways(("swp1", "swp2"))
    assert fitting((only,), [("swp1", 2), ("swp2", 1)]) == only
    assert fitting((only,), [("swp1", 9)]) == only
    assert fitting((only,), [("swp1", 9), ("swp2", 10)]) == {}
    assert fitting((only,), [("swp1", 1), ("swp2", 9), ("swp2", 10)]) == {}


def test_ports_that_count_from_zero_are_numbered_from_one() -> None:
    """A switch's port 0 is the switch itself. As long as no cable tells, a name with a zero may yet be its number."""
    assert ways(("Port 0", "Port 3")) == ({"Port 0": 1, "Port 3": 4}, {"Port 0": 0, "Port 3": 3})


@pytest.mark.parametrize(
    "names", [("A", "B"), ("L1/2", "L2/20"), ("1/2/3/4", "2/2/3/4"), ("sw1p1", "sw1p9", "sw2p1")]
)
def test_names_that_tell_no_number_have_none(names: tuple[str, ...]) -> None:
    assert ways(names) == ({},)


def test_a_slot_and_its_ports_may_be_a_cage_and_its_halves() -> None:
    assert ways(("1/1", "2/2")) == ({"1/1": 1, "2/2": 4}, {})


def test_ports_of_two_sorts_are_numbered_together_and_never_alike() -> None:
    assert ways(("swp1", "IB1/2/1", "IB1/2/2")) == ({"swp1": 1, "IB1/2/1": 3, "IB1/2/2": 4},)
    assert ways(("swp3", "IB1/2/1", "IB1/2/2")) == ({"IB1/2/2": 4},)
    assert ways(("swp1", "swp2", "mgmt0", "mgmt1", "uplink")) == ({"swp1": 1, "swp2": 2},)


def test_names_of_many_kinds_are_nobodys() -> None:
    names = tuple(f"{letter * 2}P3.0" for letter in "abcdef")
    assert len(ways(names[:2])) <= MOST_WAYS
    assert ways(names) == ()


@given(st.lists(st.text("swpIB/.0123456789 ", max_size=12), unique=True, max_size=6))
def test_whatever_ports_are_called_no_two_share_a_number(names: list[str]) -> None:
    for way in ways(tuple(names)):
        assert len(set(way.values())) == len(way)
        assert way.keys() <= set(names)
