"""How long nodes served and were out: the same as the report counts from their whole stories."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.inventory.records import Device, Fleet, Part
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.lifecycle.service_time import HOUR, Passage, ServiceTime, service_time
from fleet_runner.core.lifecycle.states import Event, State
from fleet_runner.core.reliability.report.figures import Found, figures
from fleet_runner.core.reliability.report.rows import Span, Step
from fleet_runner.core.reliability.report.stories import Story, story

STATES = [state for state in State if state not in {State.WATCHED, State.RETIRED}]
DAY = 24 * HOUR


def at_work(name: str, state: State) -> Node:
    """Return a node in a state."""
    return Node(name, "h100", state, 0.0, 1)


def test_a_node_serves_is_out_and_serves_again() -> None:
    moves = [
        Passage("n1", 2 * HOUR, State.PRODUCTION, State.REBOOT),
        Passage("n1", 5 * HOUR, State.REBOOT, State.PRODUCTION),
    ]
    nodes = [at_work("n1", State.PRODUCTION), at_work("n2", State.PRODUCTION), at_work("n3", State.BURN_IN)]
    found = service_time(nodes, moves, {}, 0.0, 10 * HOUR)
    assert found == ServiceTime(17 * HOUR, {"n1": 3 * HOUR})
    assert found.availability == pytest.approx(17 / 20)
    assert found.lost_node_hours == 3.0


def test_a_node_that_never_served_loses_nothing_and_one_that_left_the_fleet_no_more() -> None:
    moves = [
        Passage("new", 1 * HOUR, State.BURN_IN, State.PRODUCTION),
        Passage("gone", 1 * HOUR, State.PRODUCTION, State.RMA),
        Passage("gone", 2 * HOUR, State.RMA, State.RETIRED),
    ]
    nodes = [at_work("new", State.PRODUCTION), at_work("gone", State.RETIRED), at_work("out", State.TRIAGE)]
    found = service_time(nodes, moves, {"out": -DAY, "new": 1 * HOUR}, 0.0, 4 * HOUR)
    assert found.served == 4 * HOUR
    assert found.lost == {"gone": 1 * HOUR, "out": 4 * HOUR}


def test_of_no_time_there_is_no_availability() -> None:
    assert service_time([at_work("n1", State.BURN_IN)], [], {}, 0.0, HOUR).availability is None


def test_gpu_hours_are_told_where_the_gpus_of_every_node_are_known() -> None:
    lost = ServiceTime(0.0, {"n1": 2 * HOUR, "n2": HOUR})
    gpus = tuple(Part(f"GPU {slot}", "gpu", "H100") for slot in range(8))
    devices = {name: Device(name, "h100", "gpu-server", "hall", parts=gpus) for name in ("n1", "n2")}
    fleet = Fleet(("hall",), {}, {}, devices, ())
    assert lost.lost_gpu_hours(fleet) == 24.0
    assert lost.lost_gpu_hours(None) is None
    assert lost.lost_gpu_hours(Fleet(("hall",), {}, {}, {"n1": devices["n1"]}, ())) is None
    bare = {**devices, "n2": Device("n2", "h100", "gpu-server", "hall")}
    assert lost.lost_gpu_hours(Fleet(("hall",), {}, {}, bare, ())) is None


PATH = st.lists(st.tuples(st.sampled_from(STATES), st.floats(0.0, 20 * DAY)), min_size=1, max_size=8)


@given(st.lists(PATH, max_size=4))
def test_it_is_what_the_report_counts(paths: list[list[tuple[State, float]]]) -> None:
    """Each path is where a node was, and when it came there, from the first day on."""
    since, now = 10 * DAY, 17 * DAY
    nodes: list[Node] = []
    moves: list[Passage] = []
    stories: list[Story] = []
    first: dict[str, float] = {}
    for number, path in enumerate(paths):
        name = f"n{number}"
        came = sorted(at for _, at in path)
        steps = [
            Step(name, at, one, Event.PASSED, other)
            for ((one, _), (other, _)), at in zip(pairwise(path), came[1:], strict=True)
            if one is not other and at < now
        ]
        # Where a state follows itself, nothing moved; the next step leaves it.
        here = steps[-1].to if steps else path[0][0]
        nodes.append(at_work(name, here))
        if steps:
            stories.append(story(name, steps))
        elif here is State.PRODUCTION:
            stories.append(Story(name, served=((0.0, None),)))
        came_to_serve = [0.0] if path[0][0] is State.PRODUCTION else []
        came_to_serve += [step.at for step in steps if step.to is State.PRODUCTION]
        first |= {name: came_to_serve[0]} if came_to_serve else {}
        moves += [Passage(name, step.at, step.state, step.to) for step in steps if step.at >= since]
    found = service_time(nodes, moves, first, since, now)
    expected = figures(Found(stories=stories), Span(since, now), now)
    assert found.served == pytest.approx(expected.production)
    assert {name: seconds for name, seconds in found.lost.items() if seconds} == pytest.approx(
        {name: seconds for name, seconds in expected.out if seconds}
    )
