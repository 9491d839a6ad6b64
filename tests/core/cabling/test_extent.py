"""Which links are a fabric's own."""

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling.binding import Bound
from fleet_runner.core.cabling.explain import Kind
from fleet_runner.core.cabling.extent import narrowed, near, own
from fleet_runner.core.cabling.judge import Verdicts, hold
from fleet_runner.core.cabling.links import Link, Port, link
from tests.core.cabling.fabrics import SERVERS, Story, places, rails, stories

HERE = rails()
SWITCHES = frozenset({port.device for each in HERE for port in each} - SERVERS)
THERE = tuple(link(Port(f"gpu-1{number}", "ib9"), Port("other-1", str(number))) for number in range(3))
"""Another fabric of the same site, of servers that the first one has no part in."""

SITE = (*HERE, *THERE)


def judged(heard: Iterable[Link], unanswered: Iterable[Port] = ()) -> Verdicts:
    """Hold what was heard against the first fabric."""
    seen = Bound(dict.fromkeys(heard, ""), unanswered=frozenset(unanswered))
    verdicts = hold(near(SITE, SWITCHES, seen, SERVERS), seen, places(SITE))
    return narrowed(verdicts, own(SITE, SWITCHES), SWITCHES)


def test_another_fabric_that_nothing_is_seen_of_is_not_looked_for() -> None:
    verdicts = judged(HERE)
    assert (verdicts.faults, verdicts.silent) == ((), ())
    assert verdicts.matched == verdicts.designed == len(HERE)


def test_of_another_fabric_that_a_cable_made_visible_only_the_cable_is_told() -> None:
    """Its own missing link is its own; the cable between the two belongs to both."""
    between = link(Port("spine-1", "60"), Port("other-1", "60"))
    verdicts = judged([*HERE, between, *THERE[1:]])
    assert [(fault.kind, fault.observed) for fault in verdicts.faults] == [(Kind.EXTRA, (between,))]
    assert (verdicts.matched, verdicts.designed, verdicts.absent) == (len(HERE), len(HERE), ())


def test_a_cable_that_left_for_another_fabric_is_missed_here() -> None:
    cable = HERE[0]
    left = link(cable.a, Port("other-1", "60"))
    verdicts = judged([*HERE[1:], left, *THERE])
    assert [fault.kind for fault in verdicts.faults] == [Kind.WRONG_SWITCH]
    assert (verdicts.matched, verdicts.absent) == (len(HERE) - 1, (cable,))


def test_what_cannot_be_told_is_not_matched() -> None:
    verdicts = judged(HERE[1:], {HERE[0].b})
    assert (verdicts.faults, verdicts.silent) == ((), (HERE[0],))
    assert (verdicts.matched, verdicts.designed) == (len(HERE) - 1, len(HERE))


def test_the_links_of_exchanged_devices_are_not_in_place() -> None:
    names = {"gpu-01": "gpu-02", "gpu-02": "gpu-01"}
    plugged = [link(Port(names.get(each.a.device, each.a.device), each.a.interface), each.b) for each in HERE]
    verdicts = judged(plugged)
    assert [fault.kind for fault in verdicts.faults] == [Kind.EXCHANGED]
    assert verdicts.matched == len(HERE) - 8


def test_cables_as_designed_are_in_place_also_where_leaves_or_cables_may_be_exchanged() -> None:
    names = {"leaf-1": "leaf-2", "leaf-2": "leaf-1"}
    down = [each for each in HERE if each.a.device in SERVERS]
    up = [each for each in HERE if each.a.device not in SERVERS]
    verdicts = judged(
        [*up, *(link(each.a, Port(names.get(each.b.device, each.b.device), each.b.interface)) for each in down)]
    )
    assert [(fault.kind, fault.actions) for fault in verdicts.faults] == [(Kind.EXCHANGED, ())]
    assert verdicts.matched == len(HERE) - 8


@given(stories(), st.booleans())
def test_a_fabric_that_is_all_there_is_has_what_the_whole_has(story: Story, beside: bool) -> None:
    """The same faults and the same counts, whether another fabric stands beside it or not."""
    switches = {port.device for each in story.designed for port in each} - SERVERS
    seen = Bound(dict.fromkeys(story.observed, ""))
    whole = hold(story.designed, seen, places(story.designed))
    site = (*story.designed, *(THERE if beside else ()))
    part = hold(near(site, switches, seen, SERVERS), seen, places(site))
    assert narrowed(part, own(site, switches), switches) == whole
