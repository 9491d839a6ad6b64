"""Ports of which nobody says what belongs there, and patch panels told by what is joined through them."""

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling.binding import Bound
from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.judge import hold
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.uncompared import apart, compared, passive

GPU, LEAF, THIRD = Port("gpu-1", "ib0"), Port("leaf-1", "1"), Port("gpu-3", "ib0")
FRONT, REAR = Port("PP-1", "F1"), Port("PP-1", "R1")
WAY = [link(GPU, FRONT), link(REAR, LEAF)]
STRAIGHT = link(THIRD, Port("leaf-1", "3"))
SEEN = [link(GPU, LEAF), STRAIGHT]
PORTS = st.builds(Port, st.sampled_from(["leaf-1", "gpu-1", "PP-1", "PP-2"]), st.sampled_from("12"))
LINKS = st.lists(st.tuples(PORTS, PORTS).map(lambda pair: link(*pair)))


@given(LINKS, LINKS)
def test_nothing_that_is_seen_is_taken_for_a_patch_panel(designed: list[Link], seen: list[Link]) -> None:
    panels = passive(designed, seen)
    assert not panels & {port.device for each in seen for port in each}
    way = apart(designed, panels)
    assert not {port.device for each in way.links for port in each} & panels
    assert not {port.device for port in way.ports} & panels


def test_what_joins_two_ports_and_is_seen_nowhere_is_a_panel() -> None:
    assert passive([*WAY, STRAIGHT], SEEN) == {"PP-1"}
    assert passive([*WAY, STRAIGHT], [STRAIGHT]) == frozenset()


def test_panels_that_are_cabled_to_a_panel_and_seen_nowhere_are_panels_too() -> None:
    trunk = link(REAR, Port("PP-2", "R1"))
    meet = link(Port("PP-2", "R2"), Port("PP-3", "R1"))
    ends = [WAY[0], trunk, meet, link(Port("PP-3", "F1"), LEAF)]
    assert passive(ends, SEEN) == {"PP-1", "PP-2", "PP-3"}


def test_ways_through_panels_are_set_apart_with_the_ports_at_their_ends() -> None:
    way = apart([*WAY, STRAIGHT], {"PP-1"})
    assert way.links == (STRAIGHT,)
    assert way.ports == {GPU, LEAF}
    assert way.panels == ("PP-1",)
    assert apart([*WAY, STRAIGHT], frozenset()).links == (*WAY, STRAIGHT)


def test_what_is_plugged_at_such_ports_is_no_fault() -> None:
    nowhere = Places({}, {}, frozenset({"gpu-1", "gpu-3"}), uncompared=frozenset({GPU, LEAF}))
    verdicts = hold([STRAIGHT], Bound(dict.fromkeys(SEEN, "")), nowhere)
    assert (verdicts.faults, verdicts.matched, verdicts.unbound) == ((), 1, ())


def test_what_is_plugged_from_there_into_a_port_that_is_anothers_by_design_stays() -> None:
    wrong = link(GPU, Port("leaf-1", "3"))
    assert compared({wrong: ""}, {GPU}, {*STRAIGHT}) == {wrong: ""}
    assert compared({link(GPU, LEAF): ""}, {GPU}, {*STRAIGHT}) == {}
    assert compared({link(GPU, LEAF): ""}, frozenset(), frozenset()) == {link(GPU, LEAF): ""}
