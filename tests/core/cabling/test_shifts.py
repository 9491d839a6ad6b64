"""Switches whose ports are counted otherwise: no right cable of them is told to be moved, whatever else is wrong."""

from collections.abc import Iterable

import pytest

from fleet_runner.core.cabling.binding import bind
from fleet_runner.core.cabling.explain import Kind, Places
from fleet_runner.core.cabling.judge import Verdicts, hold
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.names import names
from fleet_runner.core.checks.parsers import fabric_capture
from tests.core.cabling.discoveries import plain

SERVERS = [f"gpu-{number:02}" for number in range(1, 17)]
DOWN = [
    link(Port(name, f"ib{rail}"), Port(f"leaf-{rail}", str(at)))
    for rail in (1, 2)
    for at, name in enumerate(SERVERS, 2)
]
UP = [
    link(Port(f"leaf-{rail}", str(40 + at)), Port("spine-1", str(8 * rail + at)))
    for rail in (1, 2)
    for at in range(8)
]
BUILT = [*DOWN, *UP]
"""As plugged: two leaves, of which the first port is free, and a spine."""


def counted(links: Iterable[Link], *switches: str) -> list[Link]:
    """Return the links with the ports of some switches counted from zero."""

    def one(port: Port) -> Port:
        if port.device in SERVERS:
            return port
        return Port(port.device, f"Port {int(port.interface) - (port.device in switches)}")

    return [link(one(a), one(b)) for a, b in links]


def judged(design: list[Link], plugged: Iterable[Link]) -> Verdicts:
    known = names([port for each in design for port in each], {}, {}, design)
    seen = bind(fabric_capture.read(plain(plugged)).links, known)
    return hold(design, seen, Places({}, {}, frozenset(SERVERS)), one_fabric=True)


def turned(*places: int) -> list[Link]:
    """Return what is plugged with some servers' cables in each other's ports."""
    plugged = list(BUILT)
    for at, to in zip(places, [*places[1:], places[0]], strict=True):
        plugged[at] = link(BUILT[at].a, BUILT[to].b)
    return plugged


@pytest.mark.parametrize(
    "plugged",
    [
        BUILT,
        turned(3, 9),
        [*BUILT[:5], link(BUILT[5].a, Port("leaf-1", "39")), *BUILT[6:]],
        [link(BUILT[0].a, Port("leaf-1", "1")), *BUILT[1:]],
        [each for each in BUILT if each != BUILT[4]],
    ],
    ids=["as designed", "two swapped", "one elsewhere", "one that seems right", "one missing"],
)
def test_one_fault_besides_moves_no_right_cable(plugged: list[Link]) -> None:
    verdicts = judged(counted(BUILT, "leaf-1"), plugged)
    assert (verdicts.faults, verdicts.shifted, verdicts.matched) == ((), ("leaf-1",), 24)


def test_a_server_that_belongs_elsewhere_says_nothing_of_how_a_switch_is_counted() -> None:
    """One of the second leaf's servers sits in the first leaf, whose ports are counted from zero."""
    plugged = [*BUILT[:16], link(BUILT[16].a, Port("leaf-1", "30")), *BUILT[17:]]
    assert judged(counted(BUILT, "leaf-1"), plugged).shifted == ("leaf-1",)


def test_switches_that_are_all_counted_otherwise_do_not_vouch_for_each_other() -> None:
    verdicts = judged(counted(BUILT, "leaf-1", "leaf-2", "spine-1"), BUILT)
    assert (verdicts.faults, verdicts.shifted) == ((), ("leaf-1", "leaf-2"))


def test_a_bundle_of_servers_is_shifted_where_the_uplinks_are_right() -> None:
    """They tell how the ports are counted."""
    shifted = [link(each.a, Port("leaf-1", str(int(each.b.interface) + 1))) for each in BUILT[:16]]
    verdicts = judged(counted(BUILT), [*shifted, *BUILT[16:]])
    assert verdicts.shifted == ()
    assert [fault.kind for fault in verdicts.faults] == [Kind.SHIFTED]


def test_a_director_counted_from_zero_is_not_compared() -> None:
    design = [link(each.a, Port("dir-1", f"Blade 1_Port 1/{int(each.b.interface) - 1}")) for each in BUILT[:16]]
    seen = [link(each.a, Port("MF0;dir-1:MCS8500/L01/U1", each.b.interface)) for each in BUILT[:16]]
    verdicts = judged([*design, *counted(BUILT[16:32])], [*seen, *BUILT[16:32]])
    assert (verdicts.faults, verdicts.shifted, verdicts.matched) == ((), ("dir-1",), 16)
