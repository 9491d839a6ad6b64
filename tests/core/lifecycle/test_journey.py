"""A node's own way through the lifecycle, counted and drawn."""

from fleet_runner.core.lifecycle.diagram_layout import CENTRES
from fleet_runner.core.lifecycle.journey import Stay, Visited, journey, stays
from fleet_runner.core.lifecycle.journey_diagram import drawing
from fleet_runner.core.lifecycle.runs import Entry
from fleet_runner.core.lifecycle.states import FABRICS, TRANSITIONS, Event, State


def moved(at: float, state: State, event: Event) -> Entry:
    """A transition as the history keeps it."""
    row = TRANSITIONS[state, event]
    return Entry(0, "gpu-01", at, "transition", row.sentence, "runner", row.state, row.event, row.to)


CAME_BACK = (
    moved(100.0, State.PRODUCTION, Event.REBOOT_NEEDED),
    moved(160.0, State.REBOOT, Event.PASSED),
    moved(500.0, State.PRODUCTION, Event.REBOOT_NEEDED),
    moved(620.0, State.REBOOT, Event.FAILED),
)


def test_a_node_that_was_never_moved_stays_where_it_is() -> None:
    assert stays((), State.REGISTERED, 5.0) == (Stay(State.REGISTERED, 5.0, None),)


def test_what_was_before_the_first_move_has_no_beginning() -> None:
    found = stays(CAME_BACK, State.TRIAGE, 620.0)
    assert [(stay.state, stay.since, stay.until) for stay in found] == [
        (State.PRODUCTION, None, 100.0),
        (State.REBOOT, 100.0, 160.0),
        (State.PRODUCTION, 160.0, 500.0),
        (State.REBOOT, 500.0, 620.0),
        (State.TRIAGE, 620.0, None),
    ]
    assert (found[0].event, found[1].event) == (None, Event.REBOOT_NEEDED)


def test_a_line_of_history_that_is_no_move_tells_no_stay() -> None:
    said = Entry(0, "gpu-01", 1.0, "run", "verify passed.", "runner")
    assert stays((said,), State.VERIFY, 0.5) == (Stay(State.VERIFY, 0.5, None),)


def test_stays_and_arrows_are_counted() -> None:
    found = journey(stays(CAME_BACK, State.TRIAGE, 620.0), 1000.0)
    assert found.here is State.TRIAGE
    assert found.visited[State.REBOOT] == Visited(2, 180.0, 500.0)
    assert found.visited[State.PRODUCTION] == Visited(2, 340.0, 160.0)
    assert found.visited[State.TRIAGE] == Visited(1, 380.0, 620.0)
    assert found.taken[State.PRODUCTION, State.REBOOT] == (2, 500.0)
    assert found.taken[State.REBOOT, State.TRIAGE] == (1, 620.0)


def test_the_picture_marks_where_it_is_and_was() -> None:
    found = drawing(journey(stays(CAME_BACK, State.TRIAGE, 620.0), 1000.0))
    marks = {box.state: box.mark for box in found.boxes}
    assert marks[State.TRIAGE] == "here"
    assert marks[State.REBOOT] == marks[State.PRODUCTION] == "been"
    assert marks[State.RMA] == "never"
    assert {box.state for box in found.boxes} == set(CENTRES) - FABRICS
    said = {box.state: box.said for box in found.boxes}
    assert (said[State.REBOOT], said[State.TRIAGE], said[State.RMA]) == ("2 times, 3 min", "6 min", "")


def test_the_picture_marks_the_arrows_that_were_taken_and_lays_them_on_top() -> None:
    lines = drawing(journey(stays(CAME_BACK, State.TRIAGE, 620.0), 1000.0)).lines
    taken = [line for line in lines if line.times]
    assert lines[-len(taken) :] == tuple(taken)
    assert sorted((line.words, line.times) for line in taken) == [
        ("failed or overdue", 1),
        ("passed", 1),
        ("reboot needed", 2),
    ]


def test_an_arrow_of_the_frame_counts_whoever_took_it() -> None:
    back = (
        moved(1.0, State.TRIAGE, Event.REPAIRED),
        moved(2.0, State.ONBOARD, Event.WIPE),
        moved(3.0, State.WIPE, Event.PASSED),
        moved(4.0, State.TRIAGE, Event.RMA),
        moved(5.0, State.RMA, Event.REPAIRED),
    )
    lines = drawing(journey(stays(back, State.ONBOARD, 5.0), 9.0)).lines
    assert [line.times for line in lines if line.words == "repaired"] == [2]


def test_how_long_a_stay_without_a_beginning_was_is_not_said() -> None:
    found = drawing(journey(stays(CAME_BACK[:1], State.REBOOT, 100.0), 130.0))
    said = {box.state: (box.mark, box.said) for box in found.boxes}
    assert said[State.PRODUCTION] == ("been", "")
