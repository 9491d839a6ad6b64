"""What differs, taken apart."""

from hypothesis import given

from fleet_runner.core.cabling.diff import diff
from fleet_runner.core.cabling.links import Link, matching
from tests.core.cabling.fabrics import Mishap, Story, matchings, stories


@given(matchings())
def test_nothing_differs_from_itself(links: tuple[Link, ...]) -> None:
    assert diff(matching(links), matching(reversed(links))) == ()


@given(matchings(), matchings())
def test_the_faults_share_no_port_and_hold_every_difference_once(
    designed: tuple[Link, ...], observed: tuple[Link, ...]
) -> None:
    """They are the symmetric difference, cut where it falls apart."""
    components = diff(matching(designed), matching(observed))
    ports = [port for each in components for port in each.ports]
    assert len(ports) == len(set(ports))
    missing = [each for component in components for each in component.designed]
    extra = [each for component in components for each in component.observed]
    assert sorted(missing) == sorted(set(designed) - set(observed))
    assert sorted(extra) == sorted(set(observed) - set(designed))


@given(matchings(), matchings())
def test_designed_and_observed_links_take_turns(designed: tuple[Link, ...], observed: tuple[Link, ...]) -> None:
    """Along a path or round a cycle, neighbouring links share a port."""
    for component in diff(matching(designed), matching(observed)):
        links = component.links
        round_trip = zip(links, (*links[1:], links[0]) if component.closed else links[1:], strict=False)
        assert all(one[1] != other[1] and set(one[0]) & set(other[0]) for one, other in round_trip)
        assert abs(len(component.designed) - len(component.observed)) <= (0 if component.closed else 1)


@given(matchings(), matchings())
def test_what_is_missing_one_way_is_extra_the_other_way(
    designed: tuple[Link, ...], observed: tuple[Link, ...]
) -> None:
    there = diff(matching(designed), matching(observed))
    back = diff(matching(observed), matching(designed))
    assert [(set(each.designed), set(each.observed)) for each in there] == [
        (set(each.observed), set(each.designed)) for each in back
    ]


@given(stories())
def test_each_mishap_on_cables_of_its_own_is_one_fault(story: Story) -> None:
    assert len(diff(matching(story.designed), matching(story.observed))) == len(story.mishaps)


@given(stories([Mishap.SWAP]))
def test_every_swap_is_a_ring_of_four_ports(story: Story) -> None:
    components = diff(matching(story.designed), matching(story.observed))
    assert [(each.closed, len(each.ports)) for each in components] == [(True, 4)] * len(story.mishaps)
