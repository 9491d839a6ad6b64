"""Designed links held against a whole fabric."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.cabling.binding import Bound
from fleet_runner.core.cabling.explain import Kind, Places
from fleet_runner.core.cabling.judge import hold, judge
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.names import names
from fleet_runner.core.cabling.plan import Reseat
from fleet_runner.core.checks.parsers.discovery import FabricPort
from tests.core.cabling.discoveries import by_port, discovered, plain
from tests.core.cabling.fabrics import SERVERS, Story, matchings, places, rails, stories

NOWHERE = Places({}, {}, SERVERS)


def told(links: tuple[Link, ...], rate: str = "4x NDR") -> Bound:
    """Links that all run alike."""
    return Bound(dict.fromkeys(links, rate))


@given(stories(), st.booleans())
def test_what_a_fabric_tells_in_either_form_has_every_fault(story: Story, ports: bool) -> None:
    """From the text that ibnetdiscover would print to the faults."""
    text = by_port(story.observed) if ports else plain(story.observed)
    known = names([port for each in story.designed for port in each], {}, {}, story.designed)
    verdicts = judge(story.designed, discovered(text).links, known, places(story.designed))
    assert len(verdicts.faults) == len(story.mishaps)
    assert verdicts.matched == len(set(story.designed) & set(story.observed))
    assert verdicts.designed == len(story.designed)
    assert verdicts.unbound == verdicts.doubts == verdicts.silent == ()


@given(matchings())
def test_a_fabric_as_designed_has_no_fault(links: tuple[Link, ...]) -> None:
    verdicts = hold(links, told(links), places(links))
    assert (verdicts.faults, verdicts.matched) == ((), len(links))


def test_a_port_that_is_up_is_bound_as_the_end_of_a_link_is() -> None:
    """By the name or the number that the fabric has for it; one that nothing identifies says nothing."""
    designed = rails(2, 2)
    known = names([port for each in designed for port in each], {}, {}, designed)
    for said, silent in (
        (FabricPort("MF0;leaf-1:MQM9700/U1", 1, "SW", "1" * 16), (designed[0],)),
        (FabricPort("gpu-01 ib0", 1, "CA", "2" * 16), (designed[0],)),
        (FabricPort("MT4129 ConnectX7", 1, "CA", "3" * 16), ()),
    ):
        seen = discovered(by_port(designed[1:])).links
        verdicts = judge(designed, seen, known, places(designed), unanswered=[said])
        assert verdicts.silent == silent
        assert len(verdicts.faults) == 1 - len(silent)


def test_a_design_that_uses_a_port_twice_cannot_be_judged() -> None:
    a, b, c = Port("a", "1"), Port("b", "1"), Port("c", "1")
    with pytest.raises(EvidenceError, match="two cables"):
        hold([link(a, b), link(a, c)], told(()), NOWHERE)
    with pytest.raises(EvidenceError, match="two cables"):
        hold([link(a, b)], told((link(a, b), link(a, c))), NOWHERE)


def test_what_the_design_does_not_know_is_counted_and_no_fault() -> None:
    """A storage fabric behind the same spines; a loopback plug."""
    designed = rails(2, 2)
    others = (link(Port("x", "1"), Port("y", "1")), link(Port("leaf-1", "60"), Port("x", "2")))
    loop = link(designed[0].a, designed[0].a)
    verdicts = hold(designed, told((*designed, *others, loop)), NOWHERE)
    assert verdicts.faults == ()
    assert set(verdicts.unbound) == {*others, loop}


def test_a_cable_that_no_one_designed_between_two_designed_devices_is_a_fault() -> None:
    designed = rails(2, 2)
    extra = link(Port("leaf-1", "60"), Port("leaf-2", "60"))
    (fault,) = hold(designed, told((*designed, extra)), NOWHERE).faults
    assert fault.kind is Kind.EXTRA


def test_a_nameless_end_at_a_port_whose_own_is_seen_nowhere_is_a_doubt_and_no_fault() -> None:
    """Until its driver says otherwise, every adapter of a kind has the same description."""
    designed = rails(2, 2)
    stranger = link(Port("MT4129 ConnectX7 0xcc", "1"), designed[0].b)
    verdicts = hold(
        designed, Bound(dict.fromkeys((*designed[1:], stranger), ""), frozenset({stranger.a.device})), NOWHERE
    )
    assert verdicts.faults == ()
    (doubt,) = verdicts.doubts
    assert (doubt.designed, doubt.seen) == (designed[0], stranger)
    assert str(doubt) == "expected gpu-01 ib0 to leaf-1 1, observed MT4129 ConnectX7 0xcc 1 to leaf-1 1"
    assert (verdicts.matched, verdicts.designed) == (len(designed) - 1, len(designed))


def test_a_nameless_end_is_a_fault_where_the_designed_one_is_seen_elsewhere() -> None:
    """Then it cannot be the one that belongs there."""
    designed = rails(2, 2)
    stranger = link(Port("unnamed 0xcc", "1"), designed[0].b)
    moved = link(designed[0].a, Port("leaf-1", "60"))
    observed = dict.fromkeys((*designed[1:], stranger, moved), "")
    verdicts = hold(designed, Bound(observed, frozenset({"unnamed 0xcc"})), NOWHERE)
    assert verdicts.doubts == ()
    assert [fault.kind for fault in verdicts.faults] == [Kind.OCCUPIED]


def test_a_nameless_end_at_a_port_that_is_not_designed_is_nothing() -> None:
    """Switches have aggregation nodes of their own, behind a port that no cable can use."""
    designed = rails(2, 2)
    own = link(Port("Mellanox Technologies Aggregation Node 0xcc", "1"), Port("leaf-1", "65"))
    verdicts = hold(
        designed, Bound(dict.fromkeys((*designed, own), ""), frozenset({own.b.device, own.a.device})), NOWHERE
    )
    assert (verdicts.faults, verdicts.doubts, verdicts.unbound) == ((), (), (own,))


def test_a_link_slower_than_its_kind_is_degraded() -> None:
    """It is as designed, and one cable to reseat."""
    designed = rails(3, 2)
    verdicts = hold(designed, Bound(dict.fromkeys(designed, "4x NDR") | {designed[0]: "4x HDR"}), NOWHERE)
    (fault,) = verdicts.faults
    assert (fault.kind, fault.key) == (Kind.DEGRADED, "cabling/degraded/gpu-01/ib0")
    assert fault.actions == (Reseat(designed[0], "4x HDR"),)
    assert (verdicts.matched, verdicts.absent) == (len(designed), ())
