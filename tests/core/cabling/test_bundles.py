"""Cables of several ports at each end."""

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling.bundles import paired
from fleet_runner.core.cabling.judge import hold
from fleet_runner.core.cabling.links import Link, Port, link, matching
from tests.core.cabling.fabrics import rails
from tests.core.cabling.plugging import NOWHERE
from tests.core.cabling.test_judge import told

NEAR = [Port("leaf-1", f"sw1p{number}") for number in range(1, 5)]
FAR = [Port("gpu-01", f"ib{number}") for number in range(4)]
CABLE = tuple(map(link, NEAR, FAR))
ALONE = link(Port("leaf-1", "sw9p1"), Port("gpu-09", "ib0"))


def pairings() -> st.SearchStrategy[list[Link]]:
    return st.permutations(FAR).map(lambda far: list(map(link, NEAR, far)))


@given(pairings(), st.sets(st.sampled_from(range(4))))
def test_any_way_to_pair_the_ports_of_a_cable_is_as_designed(plugged: list[Link], gone: set[int]) -> None:
    """Whole, and as far as it is there: no port of it is told to be moved to another of it."""
    seen = {each for at, each in enumerate(plugged) if at not in gone} | {ALONE}
    design = paired([*CABLE, ALONE], [CABLE], seen)
    assert len(matching(design)) == len(matching([*CABLE, ALONE]))
    assert seen <= set(design)
    verdicts = hold(design, told(tuple(seen)), NOWHERE)
    assert verdicts.matched == len(seen)
    assert not [fault for fault in verdicts.faults if fault.observed]


@given(st.lists(st.tuples(st.sampled_from(NEAR), st.sampled_from(FAR)), max_size=6))
def test_a_capture_that_contradicts_itself_makes_no_other_design(pairs: Iterable[tuple[Port, Port]]) -> None:
    design = paired(CABLE, [CABLE], {link(*each) for each in pairs})
    assert {port for each in design for port in each} == {*NEAR, *FAR}
    assert len(matching(design)) == 8


def test_ports_that_are_not_joined_within_their_cable_are_paired_in_their_order() -> None:
    seen = {link(NEAR[0], FAR[2]), link(NEAR[1], Port("gpu-02", "ib0"))}
    design = paired(CABLE, [CABLE], seen)
    assert set(design) == {link(NEAR[0], FAR[2]), *map(link, NEAR[1:], (FAR[0], FAR[1], FAR[3]))}


def test_what_is_in_no_bundle_stays() -> None:
    cables = rails(4, 4)
    assert paired(cables, [CABLE], cables) == cables
    assert paired(cables, [], ()) == cables
