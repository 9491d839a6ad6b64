"""What cannot be missed: links of a fabric from which nothing was heard."""

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling.binding import Bound
from fleet_runner.core.cabling.explain import Kind
from fleet_runner.core.cabling.judge import Verdicts, hold
from fleet_runner.core.cabling.links import Link, Port, link, matching
from fleet_runner.core.cabling.silence import unheard
from tests.core.cabling.fabrics import SERVERS, Story, places, rails, stories


def planes(servers: int = 4, count: int = 4) -> tuple[Link, ...]:
    """Rails that nothing joins: a leaf each, and no spine."""
    return tuple(each for each in rails(servers, count) if each.a.device in SERVERS)


def of_leaf(links: tuple[Link, ...], leaf: str) -> tuple[Link, ...]:
    """The links of one leaf."""
    return tuple(each for each in links if leaf in {each.a.device, each.b.device})


@given(stories())
def test_in_one_fabric_everything_can_be_missed(story: Story) -> None:
    """Leaves that spines join are one fabric: whatever is not there is missing."""
    gone = set(story.designed) - set(story.observed)
    assert unheard(gone, matching(story.designed), matching(story.observed), SERVERS) == ()


@given(st.integers(1, 12), st.integers(1, 4))
def test_of_rails_that_are_fabrics_of_their_own_only_the_heard_one_is_judged(servers: int, count: int) -> None:
    designed = planes(servers, count)
    heard = of_leaf(designed, "leaf-1")
    verdicts = hold(designed, Bound(dict.fromkeys(heard, "")), places(designed))
    assert verdicts.faults == ()
    assert set(verdicts.silent) == set(designed) - set(heard)
    assert (verdicts.matched, verdicts.designed) == (len(heard), len(designed))


def test_in_a_rail_that_is_heard_a_cable_can_be_missed() -> None:
    designed = planes()
    heard = of_leaf(designed, "leaf-1")[1:]
    verdicts = hold(designed, Bound(dict.fromkeys(heard, "")), places(designed))
    assert [fault.kind for fault in verdicts.faults] == [Kind.MISSING]
    assert len(verdicts.silent) == len(designed) - len(heard) - 1


def test_a_leaf_without_power_is_dark_where_spines_tell_of_its_fabric() -> None:
    designed = rails()
    heard = set(designed) - set(of_leaf(designed, "leaf-2"))
    verdicts = hold(designed, Bound(dict.fromkeys(heard, "")), places(designed))
    assert verdicts.silent == ()
    assert [fault.key for fault in verdicts.faults] == ["cabling/dark/leaf-2"]


def judged(heard: Iterable[Link], unanswered: Iterable[Port], designed: tuple[Link, ...]) -> Verdicts:
    """Judge what was heard, with ports that are up and at whose far end nobody answers."""
    return hold(designed, Bound(dict.fromkeys(heard, ""), unanswered=frozenset(unanswered)), places(designed))


def test_a_neighbour_that_hangs_is_unknown_and_not_missing() -> None:
    """Its cable is plugged: the port at the near end is up. Another one that is gone is missing all the same."""
    designed = rails()
    hangs, gone = designed[0], designed[5]
    verdicts = judged(set(designed) - {hangs, gone}, {hangs.b}, designed)
    assert verdicts.silent == (hangs,)
    assert [(fault.kind, fault.expected) for fault in verdicts.faults] == [(Kind.MISSING, (gone,))]
    assert verdicts.absent == (gone,)
    assert (verdicts.matched, verdicts.designed) == (len(designed) - 2, len(designed))


def test_a_neighbour_that_is_seen_elsewhere_does_not_hang() -> None:
    """Something else is at the port; the designed cable was moved."""
    designed = rails()
    moved = link(designed[0].a, Port("leaf-1", "40"))
    verdicts = judged({*designed[1:], moved}, {designed[0].b}, designed)
    assert verdicts.silent == ()
    assert [fault.kind for fault in verdicts.faults] == [Kind.MOVED]


def test_of_a_switch_that_hangs_no_link_can_be_told() -> None:
    """Its servers are reached only through it. Where one of its ports has a cable of somebody else, that is told."""
    designed = rails()
    mine = of_leaf(designed, "leaf-2")
    up = {each.b for each in mine if each.b.device.startswith("spine")}
    assert len(up) == 2
    verdicts = judged(set(designed) - set(mine), up, designed)
    assert (verdicts.faults, set(verdicts.silent)) == ((), set(mine))
    first = next(each for each in mine if each.a.device in SERVERS)
    wrong = link(first.a, Port("leaf-1", "40"))
    verdicts = judged((set(designed) - set(mine)) | {wrong}, up, designed)
    assert set(verdicts.silent) == set(mine) - {first}
    assert [fault.kind for fault in verdicts.faults] == [Kind.WRONG_SWITCH]


def test_a_server_of_which_one_adapter_hangs_misses_the_cables_of_the_others() -> None:
    """Adapters answer each for itself."""
    designed = rails()
    mine = [each for each in designed if each.a.device == "gpu-01"]
    verdicts = judged(set(designed) - set(mine), {mine[0].b}, designed)
    assert verdicts.silent == (mine[0],)
    assert {each for fault in verdicts.faults for each in fault.expected} == set(mine[1:])


def test_a_port_without_a_designed_cable_may_be_up() -> None:
    designed = rails()
    verdicts = judged(designed[1:], {designed[0].b, Port("leaf-1", "40")}, designed)
    assert (verdicts.faults, verdicts.silent) == ((), (designed[0],))


@given(stories(), st.data())
def test_a_port_that_is_up_never_makes_a_fault(story: Story, data: st.DataObject) -> None:
    """Faults at other ports stay as they are, and every designed link is matched, silent or in a fault."""
    taken = {port for each in story.observed for port in each}
    free = sorted({port for each in story.designed for port in each} - taken)
    up = data.draw(st.sets(st.sampled_from(free))) if free else set[Port]()
    before, after = judged(story.observed, (), story.designed), judged(story.observed, up, story.designed)
    assert {fault.key for fault in after.faults} <= {fault.key for fault in before.faults}
    assert after.matched == before.matched
    assert {*after.silent, *after.absent} == {*before.silent, *before.absent}
    assert not {*after.silent}.intersection(after.absent)


@given(st.integers(4, 12), st.integers(2, 4), st.data())
def test_a_leaf_is_dark_though_one_of_its_servers_is_off(servers: int, count: int, drawn: st.DataObject) -> None:
    """A design of hosts' cables alone. Where most of its servers are off, nobody can tell."""
    designed = planes(servers, count)
    host = f"gpu-{drawn.draw(st.integers(1, servers)):02d}"
    heard = [each for each in designed if each.b.device != "leaf-2" and each.a.device != host]
    verdicts = hold(designed, Bound(dict.fromkeys(heard, "")), places(designed), one_fabric=True)
    told = {port.device for fault in verdicts.faults for port in fault.ports if port.device in {"leaf-2", host}}
    assert (told, verdicts.silent) == ({"leaf-2", host}, ())
    assert "cabling/dark/leaf-2" in {fault.key for fault in verdicts.faults}
    few = [each for each in heard if each.a.device == heard[0].a.device]
    verdicts = hold(designed, Bound(dict.fromkeys(few, "")), places(designed), one_fabric=True)
    assert {*of_leaf(designed, "leaf-2")} <= {*verdicts.silent}
