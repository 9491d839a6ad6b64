"""What switches of AI fabrics call their ports over LLDP, beside the names of the community's device type library."""

from collections.abc import Callable

import pytest

from fleet_runner.core.cabling.ethernet import judge
from fleet_runner.core.cabling.explain import Kind, Places
from fleet_runner.core.cabling.judge import Verdicts
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.names import names
from fleet_runner.core.checks.parsers.lldp import Neighbour
from tests.core.cabling.test_device_types import TYPES

Spelling = Callable[[int], str]

BOUND: dict[str, dict[str, Spelling]] = {
    "SN5600": {"Cumulus": lambda number: f"swp{number}"},
    "7060X6-64PE": {
        "EOS": lambda number: f"Ethernet{number}",
        "EOS, short": lambda number: f"Et{number}",
    },
    "Z9864F-ON": {
        "Enterprise SONiC": lambda number: f"Eth1/{number}",
        "in full": lambda number: f"Ethernet1/{number}",
    },
    "N9K-C9364D-GX2A": {
        "NX-OS": lambda number: f"Ethernet1/{number}",
        "NX-OS, short": lambda number: f"Eth1/{number}",
        "NX-OS, with a blank": lambda number: f"Ethernet 1/{number}",
    },
}
"""By device type: what its port is called by who means the same port as the library, whatever cables say."""

LEFT: dict[str, dict[str, Spelling]] = {
    "SN5600": {
        "SONiC": lambda number: f"etp{number}",
        "SONiC, lanes": lambda number: f"Ethernet{8 * (number - 1)}",
        "halves": lambda number: f"swp{(number + 1) // 2}s{(number + 1) % 2}",
    },
    "7060X6-64PE": {
        "EOS, first lanes": lambda number: f"Ethernet{number}/1",
        "SONiC, lanes": lambda number: f"Ethernet{8 * (number - 1)}",
        "halves": lambda number: f"Ethernet{(number + 1) // 2}/{1 if number % 2 else 5}",
        "SONiC": lambda number: f"etp{number}",
    },
    "Z9864F-ON": {
        "SONiC, lanes": lambda number: f"Ethernet{8 * (number - 1)}",
        "OS10": lambda number: f"ethernet1/1/{number}",
        "halves": lambda number: f"Eth1/{(number + 1) // 2}/{2 - number % 2}",
    },
    "N9K-C9364D-GX2A": {
        "IOS XR": lambda number: f"FourHundredGigE0/0/0/{number - 1}",
        "SONiC, lanes": lambda number: f"Ethernet{8 * (number - 1)}",
        "split": lambda number: f"Ethernet1/{(number + 1) // 2}/{2 - number % 2}",
    },
}
"""What it is called by who counts otherwise, or only may mean the same port."""

RIGHT = {("7060X6-64PE", "EOS, first lanes"), ("SN5600", "SONiC")}
"""What is taken for the same port where the far end agrees, and is not compared where it does not."""

PLUGS = [*range(2, 14)]


def judged(kind: str, spoken: Spelling, plugged: dict[int, int]) -> tuple[list[Link], Verdicts]:
    """Judge a switch of a type with a server at each of some ports; `plugged` are ports with others' cables."""
    wanted = [link(Port(f"gpu-{at:02}", "eth0"), Port("leaf-1", TYPES[kind][at - 1])) for at in PLUGS]
    heard = [Neighbour(spoken(plugged.get(at, at)), f"gpu-{at:02}", "eth0", "") for at in PLUGS]
    known = names([port for each in wanted for port in each], {}, {})
    servers = frozenset(each.a.device for each in wanted)
    return wanted, judge(wanted, {"leaf-1": heard}, known, Places({}, {}, servers))


def rows(table: dict[str, dict[str, Spelling]]) -> list[tuple[str, str]]:
    return [(kind, style) for kind, styles in table.items() for style in styles]


@pytest.mark.parametrize(("kind", "style"), rows(BOUND))
def test_a_port_is_bound_and_an_exchange_is_one(kind: str, style: str) -> None:
    wanted, verdicts = judged(kind, BOUND[kind][style], {})
    assert (verdicts.faults, verdicts.matched) == ((), len(wanted))
    wanted, verdicts = judged(kind, BOUND[kind][style], {4: 9, 9: 4})
    (fault,) = verdicts.faults
    assert (fault.kind, {*fault.expected}) == (Kind.SWAP, {wanted[2], wanted[7]})
    assert verdicts.matched == len(wanted) - 2


@pytest.mark.parametrize(("kind", "style"), rows(LEFT))
@pytest.mark.parametrize("plugged", [{}, {4: 9, 9: 4}])
def test_what_is_counted_otherwise_moves_no_cable(kind: str, style: str, plugged: dict[int, int]) -> None:
    wanted, verdicts = judged(kind, LEFT[kind][style], plugged)
    assert verdicts.faults == ()
    assert verdicts.matched + len(verdicts.unmapped) == len(wanted)
    assert (kind, style) not in RIGHT or verdicts.matched == len(wanted) - len(plugged)
    wrong = {wanted[PLUGS.index(at)] for at in plugged}
    assert wrong <= {*verdicts.unmapped}


@pytest.mark.parametrize("kind", sorted(TYPES.keys() & BOUND.keys()))
def test_a_switch_that_is_one_port_too_far_is_not_as_designed(kind: str) -> None:
    for spoken in BOUND[kind].values():
        _, verdicts = judged(kind, spoken, {at: at + 1 for at in PLUGS})
        assert (verdicts.faults, verdicts.matched, verdicts.shifted) == ((), 0, ("leaf-1",))


CHASSIS: dict[str, Spelling] = {
    "EOS": lambda number: f"Ethernet{3 + number // 36}/{number % 36 + 1}/1",
    "NX-OS": lambda number: f"Ethernet{1 + number // 16}/{number % 16 + 1}",
    "Junos": lambda number: f"et-{number // 18}/0/{number % 18}",
    "IOS XR": lambda number: f"FourHundredGigE0/{number // 18}/0/{number % 18}",
    "SONiC": lambda number: f"Ethernet{8 * number}",
}
"""What ports of switches with cards are called: 7800R, Nexus 9500, PTX, 8800, and a chassis of SONiC."""


@pytest.mark.parametrize("maker", CHASSIS)
@pytest.mark.parametrize("plugged", [{}, {2: 19, 19: 2}])
def test_a_switch_with_cards_is_one_device_and_what_is_inside_it_is_no_cable(
    maker: str, plugged: dict[int, int]
) -> None:
    ports = [1, 2, 3, 17, 18, 19, 40, 41]
    spoken = CHASSIS[maker]
    wanted = [link(Port(f"gpu-{at:02}", "eth0"), Port("spine-1", spoken(at))) for at in ports]
    heard = [Neighbour(spoken(plugged.get(at, at)), f"gpu-{at:02}", "eth0", "") for at in ports]
    inside = [
        Neighbour("Ethernet-BP0", "spine-1", "Ethernet-BP256", ""),
        Neighbour("Ethernet-IB0", "asic1", "Eth1", ""),
        Neighbour("Ethernet8", "spine-1", "Eth4/0/1", "Ethernet-BP4"),
    ]
    known = names([port for each in wanted for port in each], {}, {})
    places = Places({}, {}, frozenset(each.a.device for each in wanted))
    verdicts = judge(wanted, {"spine-1": [*heard, *inside]}, known, places)
    assert (verdicts.matched, verdicts.unbound) == (len(ports) - len(plugged), ())
    assert [fault.kind for fault in verdicts.faults] == [Kind.SWAP] * (len(plugged) // 2)
