"""Nodes that take no new work are counted at once, with the same answer as one after the other."""

from collections import Counter
from dataclasses import replace
from functools import reduce

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.budgets.disruption_budget import (
    Grant,
    Limits,
    Location,
    Out,
    Usage,
    beside,
    cordons,
    grant,
    scopes,
    take,
    uses,
)

PLACES = st.builds(
    Location,
    rack=st.sampled_from(["", "hall/A", "hall/B"]),
    domain=st.sampled_from(["", "hall/feed-1", "hall/nvl-1"]),
    tenant=st.sampled_from(["", "red", "blue"]),
)
LIMITS = st.builds(
    Limits,
    share=st.floats(0.01, 1.0),
    rack=st.integers(1, 3),
    domain=st.floats(0.01, 1.0),
    tenant=st.floats(0.01, 1.0),
    small=st.integers(0, 30),
)
ASKED = st.lists(st.tuples(st.sampled_from(["cordon", "leave", "rolled"]), st.integers(0, 39)), max_size=25)


def taken_one(usage: Usage, out: Out) -> Usage:
    """One more node has left service, counted for it alone."""
    left = tuple(each for each in usage.pending if each.node != out.node)
    return Usage(Counter(usage.serving) - Counter(scopes(out.place)), (*usage.out, out), left)


def cordons_one(usage: Usage, where: Location, limits: Limits) -> Grant:
    """Whether one more may take no new work, each of those that do not counted anew."""
    granted = grant(reduce(taken_one, usage.pending, usage), where, limits)
    return granted if granted.allowed else Grant(allowed=False, sentence=f"not cordoned yet, {granted.sentence}")


def drawn(places: list[Location], out: int, pending: int) -> Usage:
    """A fleet of which some are out for whatever reason, and some of the others wait."""
    gone = tuple(Out(f"n{at}", place, "triage", float(at)) for at, place in enumerate(places[:out]))
    held = [(f"n{at}", place) for at, place in enumerate(places[out:], out)][:pending]
    serving = Counter(scope for place in places[out:] for scope in scopes(place))
    return Usage(serving, gone, tuple(Out(name, place, "cordoned", None) for name, place in held))


@given(st.lists(PLACES, min_size=1, max_size=40), st.integers(0, 6), st.integers(0, 6), LIMITS, ASKED)
def test_every_node_in_turn_gets_the_answer_of_counting_for_it_alone(
    places: list[Location], out: int, pending: int, limits: Limits, asked: list[tuple[str, int]]
) -> None:
    """Those that were given leave earlier count for later ones, whether they wait, have left or are rolled."""
    now = alone = drawn(places, out, pending)
    rolled: tuple[Out, ...] = ()
    for what, number in asked:
        where = places[number % len(places)]
        node = Out(f"n{number % len(places)}", where, what, None)
        if what == "cordon":
            answer = cordons(now, where, limits)
            assert answer == cordons_one(alone, where, limits)
            if answer.allowed:
                now, alone = (replace(each, pending=(*each.pending, node)) for each in (now, alone))
        elif what == "leave":
            answer = grant(now, where, limits)
            assert answer == grant(alone, where, limits)
            if answer.allowed:
                now, alone = take(now, node), taken_one(alone, node)
        else:
            assert grant(beside(now, rolled), where, limits) == grant(beside(alone, rolled), where, limits)
            rolled = (*rolled, node)
        assert (now.serving, now.out, now.pending) == (dict(alone.serving), alone.out, alone.pending)
        assert uses(now, limits) == uses(alone, limits)


def test_more_of_a_rack_wait_than_are_known_to_serve_and_it_stays_at_none() -> None:
    """A record that is read late must give nobody room."""
    held = tuple(Out(f"n{at}", Location("hall/A"), "cordoned", None) for at in range(3))
    usage = Usage(Counter(dict.fromkeys(scopes(Location("hall/A")), 2)), (), held)
    limits = Limits(rack=4, share=1.0, small=0)
    assert cordons(usage, Location("hall/A"), limits) == cordons_one(usage, Location("hall/A"), limits)
    assert "3 of at most 3 nodes out" in cordons(usage, Location("hall/A"), limits).sentence
