"""Counts of states day by day, walked back from now."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.lifecycle.days import KINDS, Day, Moved, areas, changes, days, highest
from fleet_runner.core.lifecycle.diagram import kind
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.lifecycle.states import State
from fleet_runner.core.schedules.retention import DAY

STATES = [state for state in State if state is not State.WATCHED]


def node(state: State, since: float = 0.0) -> Node:
    """Return a node in a state."""
    return Node("n", "h100", state, since, 1)


def test_a_day_is_what_now_is_without_what_came_after_it() -> None:
    nodes = [node(State.PRODUCTION), node(State.TRIAGE), node(State.REGISTERED, since=1.5 * DAY)]
    moves = [
        Moved(2, State.PRODUCTION, State.TRIAGE, 1),
        Moved(1, State.BURN_IN, State.PRODUCTION, 2),
        Moved(1, State.REGISTERED, State.PROVISION, 2),
        Moved(1, State.PROVISION, State.BURN_IN, 2),
        Moved(0, State.WATCHED, State.RETIRED, 1),
    ]
    found = days(nodes, moves, 0.0, 2.5 * DAY)
    assert [(day.at / DAY, *(day.counts[name] for name in KINDS)) for day in found] == [
        (1.0, 0, 0, 0, 0),
        (2.0, 2, 0, 1, 0),
        (2.5, 1, 0, 2, 0),
    ]
    assert highest(found) == 3
    assert changes(found) == {"serving": 1, "moving": 0, "resting": 2, "ended": 0}  # since the end of the first day
    assert changes(found[2:]) == {}
    assert changes([]) == {}


@given(st.lists(st.lists(st.sampled_from(STATES), min_size=1, max_size=6), max_size=8))
def test_every_day_counts_each_node_as_it_was(paths: list[list[State]]) -> None:
    """Each path is a node's states, one a day, the last of them now."""
    last = max((len(path) for path in paths), default=1)
    begun = [[State.PRODUCTION] * (last - len(path)) + path for path in paths]
    begun = [path for path in begun if State.REGISTERED not in path]
    moves = [Moved(day, one, other, 1) for path in begun for day, (one, other) in enumerate(pairwise(path), start=1)]
    found = days([node(path[-1]) for path in begun], moves, 0.0, last * DAY - 1)
    for number, day in enumerate(found):
        expected = [kind(path[number]) for path in begun]
        assert day.counts == {name: expected.count(name) for name in KINDS}


def test_the_kinds_lie_one_above_the_other_and_fill_the_picture() -> None:
    two = [Day(0.0, dict.fromkeys(KINDS, 1)), Day(1.0, {"serving": 4, "moving": 0, "resting": 0, "ended": 0})]
    serving, *others = areas(two, 100.0, 40.0)
    assert (serving.kind, serving.points) == ("serving", "0.0,30.0 100.0,0.0 100.0,40.0 0.0,40.0")
    assert [each.kind for each in others] == ["moving", "resting", "ended"]


def test_one_day_is_as_wide_as_the_picture_and_nothing_is_drawn_of_none() -> None:
    counts = {"serving": 2, "moving": 0, "resting": 0, "ended": 0}
    assert areas([Day(0.0, counts)], 100.0, 40.0)[0].points == "0.0,0.0 100.0,0.0 100.0,40.0 0.0,40.0"
    assert areas([Day(0.0, dict.fromkeys(KINDS, 0))], 100.0, 40.0) == ()
    assert highest([]) == 1
