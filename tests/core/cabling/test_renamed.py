"""Neighbours that the design does not know, where a device of it belongs that is heard nowhere by its own name."""

import pytest

from fleet_runner.core.cabling.ethernet import judge
from fleet_runner.core.cabling.explain import Kind, Places
from fleet_runner.core.cabling.judge import Verdicts
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.names import names
from fleet_runner.core.cabling.renamed import Heard, renamed
from tests.core.cabling.test_ethernet import both_ends

SERVERS = [f"gpu-{number}" for number in range(1, 7)]
DESIGN = tuple(link(Port(name, "eth0"), Port("leaf-1", f"swp{at}")) for at, name in enumerate(SERVERS, start=1))
ENDS = {port: each for each in DESIGN for port in each}
KNOWN = {port.device for port in ENDS}


def cable(name: str, at: int) -> tuple[Port, Port]:
    return Port(name, "eth0"), Port("leaf-1", f"swp{at}")


def judged(cables: list[tuple[Port, Port]], servers: frozenset[str] = frozenset(SERVERS)) -> Verdicts:
    known = names([end for each in DESIGN for end in each], {}, {})
    return judge(DESIGN, both_ends(cables), known, Places({}, {}, servers), prove=True)


def plugged(**servers: str) -> list[tuple[Port, Port]]:
    """Return the design's cables, with other servers at some ports."""
    return [cable(servers.get(f"swp{at}", name), at) for at, name in enumerate(SERVERS, start=1)]


def test_its_link_is_doubted() -> None:
    verdicts = judged(plugged(swp1="node1"))
    assert (verdicts.faults, verdicts.matched, verdicts.suspect) == ((), 5, "")
    assert [each.designed for each in verdicts.doubts] == [DESIGN[0]]


def test_one_in_place_of_a_device_that_is_heard_elsewhere_is_unplanned() -> None:
    verdicts = judged([*plugged(swp1="node1"), (Port("gpu-1", "eth1"), Port("leaf-1", "swp9"))])
    assert [fault.kind for fault in verdicts.faults] == [Kind.UNPLANNED]


def test_a_known_device_with_no_ethernet_cable_is_none_by_another_name() -> None:
    verdicts = judged(plugged(swp1="node1"), frozenset((*SERVERS, "node1")))
    assert [fault.kind for fault in verdicts.faults] == [Kind.UNPLANNED]


@pytest.mark.parametrize("name", ["gpu-1-bmc", "GPU-1_r12", "r12.gpu-1"])
def test_a_name_that_holds_the_devices_own_is_doubted_wherever_that_is_heard(name: str) -> None:
    more = (Port("gpu-1", "eth1"), Port("leaf-1", "swp9"))
    assert len(judged([*plugged(swp1=name), more]).doubts) == 1
    assert judged([*plugged(swp1="gpu-10"), more]).doubts == ()


def test_two_in_each_others_ports_are_doubted() -> None:
    verdicts = judged(plugged(swp1="gpu-2", swp2="node1"))
    assert (verdicts.faults, len(verdicts.doubts)) == ((), 2)


def test_where_most_neighbours_have_other_names_nothing_is_told() -> None:
    """Not even a swap beside them."""
    verdicts = judged(plugged(swp1="gpu-2", swp2="gpu-1", swp4="node4", swp5="node5", swp6="node6"))
    assert (verdicts.faults, verdicts.misnamed) == ((), True)
    assert "1 of 6 designed links could be matched; the likely reason is the names of devices" in verdicts.suspect
    assert "the design says 'gpu-4', the capture 'node4'" in verdicts.suspect


def heard(a: str, mine: str, b: str, its: str) -> Heard:
    return Heard(a, Port(a, mine) if mine else None, b, Port(b, its) if its else None)


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([heard("leaf-1", "swp1", "node1", "")], {"node1"}),
        ([heard("node1", "eth0", "leaf-1", "")], set[str]()),  # nobody knows in which port
        ([heard("leaf-1", "swp9", "node1", "eth0")], set[str]()),  # nothing belongs there
        (
            [heard("leaf-1", "swp1", "node1", "eth0"), heard("gpu-1", "eth0", "leaf-1", "")],
            set[str](),
        ),
        (
            [heard("leaf-1", "swp1", "node1", "eth0"), heard("leaf-1", "swp1", "gpu-1", "eth0")],
            set[str](),
        ),  # two claim one port
    ],
)
def test_one_heard_at_a_port_of_the_design(rows: list[Heard], found: set[str]) -> None:
    assert renamed(rows, ENDS, KNOWN) == found


def test_nothing_is_renamed_where_all_are_known() -> None:
    assert renamed([heard("leaf-1", "swp1", "gpu-2", "eth0")], ENDS, KNOWN) == frozenset()


def links(verdicts: Verdicts) -> list[Link]:
    return [each.designed for each in verdicts.doubts]


def test_its_own_capture_says_the_same() -> None:
    known = names([end for each in DESIGN for end in each], {}, {})
    whole = both_ends(plugged(swp1="node1"))
    del whole["leaf-1"]
    assert links(judge(DESIGN, whole, known, Places({}, {}, frozenset(SERVERS)), prove=True)) == [DESIGN[0]]
