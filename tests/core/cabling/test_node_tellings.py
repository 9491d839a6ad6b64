"""What nodes heard before, beside a switch that was not read."""

from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.cabling.links import Link, Port, link
from tests.core.cabling.ethernet_halls import hall, heard, swept
from tests.examples import examples

HALL = hall(servers=6, rails=2, spines=2)
LEAF = "leaf-0-0"
READ = [name for name in HALL.switches if name != LEAF]
WHY = {LEAF: "it did not answer within 30 seconds"}
MINE = {each for each in HALL.links if LEAF in {each.a.device, each.b.device} and each.a.device in HALL.servers}


def test_a_leaf_that_was_not_read_has_its_servers_links_by_what_they_heard() -> None:
    found = swept(HALL, heard(HALL.links, READ), WHY, None, heard(HALL.links, HALL.servers))
    assert (found.verdicts.faults, found.mute, found.by_nodes) == ((), frozenset(), len(MINE))
    assert found.verdicts.matched == len(HALL.links)
    assert found.words() == f"; {len(MINE)} links are known by what nodes last heard themselves"


def test_a_cable_that_a_read_leaf_hears_nothing_of_may_be_gone_whatever_its_node_heard_before() -> None:
    gone = link(Port("gpu-05", "eth0"), Port("leaf-1-0", "swp2"))
    cables = [each for each in HALL.links if each != gone]
    found = swept(HALL, heard(cables, READ), WHY, None, heard(HALL.links, HALL.servers))
    assert (found.verdicts.silent, found.by_nodes) == ((gone,), len(MINE))


def test_what_nodes_heard_before_is_no_fault() -> None:
    """Two cables were swapped when they looked; their own checks said so, and one of them may be right by now."""
    one, other = (
        link(Port(name, "eth0"), Port(LEAF, port)) for name, port in (("gpu-00", "swp2"), ("gpu-01", "swp1"))
    )
    rest = [each for each in HALL.links if each.a not in {one.a, other.a}]
    found = swept(HALL, heard(HALL.links, READ), WHY, None, heard([*rest, one, other], HALL.servers))
    assert (found.verdicts.faults, found.verdicts.doubts, len(found.mute)) == ((), (), 2)


def test_what_nodes_heard_before_keeps_no_switch_from_being_dark() -> None:
    """It may have lost its power since."""
    cables = [each for each in HALL.links if LEAF not in {each.a.device, each.b.device}]
    found = swept(HALL, heard(cables, READ), WHY, None, heard(HALL.links, HALL.servers))
    assert [fault.key for fault in found.verdicts.faults] == [f"cabling/dark/{LEAF}"]
    assert (found.by_nodes, found.verdicts.matched) == (0, len(cables))


@settings(max_examples=examples(100))
@given(st.permutations(sorted(MINE)), st.frozensets(st.sampled_from(HALL.servers)))
def test_whatever_nodes_heard_before_the_sweep_says_the_same_of_what_it_hears(
    order: list[Link], nodes: frozenset[str]
) -> None:
    plugged = [link(each.a, other.b) for each, other in zip(sorted(MINE), order, strict=True)]
    before = heard([*plugged, *(each for each in HALL.links if each not in MINE)], nodes)
    found = swept(HALL, heard(HALL.links, HALL.switches), {}, None, before)
    assert (found.verdicts.faults, found.by_nodes) == ((), 0)
    assert found.verdicts.matched == len(HALL.links)
