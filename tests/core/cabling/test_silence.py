"""What cannot be missed: links of a fabric from which nothing was heard."""

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling.explain import Kind
from fleet_runner.core.cabling.judge import hold
from fleet_runner.core.cabling.links import Link, matching
from fleet_runner.core.cabling.names import Bound
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
    assert unheard(matching(story.designed), matching(story.observed), SERVERS) == ()


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
