"""Links that run below their peers, in a cage that two of them share."""

import pytest

from fleet_runner.core.cabling.explain import Fault, Kind, Places
from fleet_runner.core.cabling.links import Link, Port, link, matching
from fleet_runner.core.cabling.slow import Half, half, slow_faults

SERVERS = frozenset(f"gpu-{number:02d}" for number in range(1, 13)) | {"store-1", "store-2"}


def told(there: dict[Link, str]) -> list[Fault]:
    return list(slow_faults(there, matching(there), Places({}, {}, SERVERS)))


@pytest.mark.parametrize(
    ("name", "cage", "part"),
    [
        ("sw7p2", "sw7", "2"),
        ("sw7p2s1", "sw7", "2s1"),
        ("P7.1", "P7", "1"),
        ("IB1/7/2", "IB1/7", "2"),
        ("1/7/2", "1/7", "2"),
        ("1/7/2/1", "1/7", "2/1"),
    ],
)
def test_a_name_tells_a_cage_and_its_half(name: str, cage: str, part: str) -> None:
    assert half(Port("leaf-1", name)) == Half("leaf-1", cage, part)


@pytest.mark.parametrize("name", ["7", "swp7", "1/7", "Ethernet1/7", "ib0", "mlx5_0", "IB1/7"])
def test_a_name_that_tells_no_half_is_none(name: str) -> None:
    assert half(Port("leaf-1", name)) is None


def halves(names: tuple[str, str]) -> list[Link]:
    """Six cages, of which each half has a server's cable."""
    return [
        link(Port(f"gpu-{2 * cage + at + 1:02d}", "ib0"), Port("leaf-1", names[at].format(cage + 1)))
        for cage in range(6)
        for at in (0, 1)
    ]


@pytest.mark.parametrize("rate", ["2x NDR", "4x HDR"])
def test_a_wrong_rate_on_one_half_is_told_as_that_halfs(rate: str) -> None:
    cables = halves(("sw{}p1", "sw{}p2"))
    (fault,) = told(dict.fromkeys(cables, "4x NDR") | {cables[3]: rate})
    assert (fault.kind, fault.expected) == (Kind.DEGRADED, (cables[3],))
    assert fault.message == (
        f"The link gpu-04 ib0 to leaf-1 sw2p2 runs at {rate}, most run at 4x NDR. It is half 2 of cage sw2 of leaf-1,"
        " whose other half sw2p1 runs at 4x NDR."
    )
    assert "takes leaf-1 sw2p1 down, too" in fault.steps[0]


def test_of_two_slow_halves_each_is_told_with_the_module_that_they_share() -> None:
    cables = halves(("IB1/{}/1", "IB1/{}/2"))
    one, other = told(dict.fromkeys(cables, "4x NDR") | dict.fromkeys(cables[2:4], "4x HDR"))
    assert (
        one.steps[0]
        == other.steps[0]
        == ("Both halves of cage IB1/2 of leaf-1 are slow: look at the module that they share first.")
    )


def test_split_ports_are_held_against_split_ports() -> None:
    """Two servers at half the lanes each behind a splitter, by the names of their ports."""
    cables = halves(("sw{}p1", "sw{}p2"))
    split = [link(Port(f"gpu-{11 + at:02d}", "ib1"), Port("leaf-1", f"sw9p1s{at + 1}")) for at in (0, 1)]
    rates = dict.fromkeys(cables, "4x NDR") | dict.fromkeys(split, "2x NDR")
    assert told(rates) == []
    (fault,) = told(rates | {split[1]: "2x HDR"})
    assert "half 1s2 of cage sw9 of leaf-1, whose other half sw9p1s1 runs at 2x NDR" in fault.message


def test_servers_of_a_kind_that_all_have_half_the_lanes_are_behind_splitters() -> None:
    cables = halves(("{}", "5{}"))
    stores = [
        link(Port(f"store-{at}", f"ib{rail}"), Port("leaf-1", str(90 + 2 * at + rail)))
        for at in (1, 2)
        for rail in (0, 1)
    ]
    rates = dict.fromkeys(cables, "4x NDR") | dict.fromkeys(stores, "2x NDR")
    assert told(rates) == []
    assert len(told(rates | {cables[0]: "2x NDR"})) == 1
    assert len(told(rates | {stores[0]: "4x HDR"})) == len(stores)


def test_a_half_whose_other_is_not_seen_says_so() -> None:
    cables = halves(("P{}.0", "P{}.1"))
    there = dict.fromkeys(cables[1:], "4x NDR") | {cables[1]: "4x HDR"}
    (fault,) = slow_faults(there, matching(cables), Places({}, {}, SERVERS))
    assert fault.message.endswith("It is half 1 of cage P1 of leaf-1, whose other half P1.0 is not seen.")
