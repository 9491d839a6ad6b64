"""The picture shows every row of the lifecycle, readable: well-formed, inside its frame, nothing on top of a box."""

from itertools import combinations, pairwise
from xml.etree import ElementTree as ET

from fleet_runner.core.lifecycle.diagram import framed, kind, limit, single, svg
from fleet_runner.core.lifecycle.diagram_layout import (
    ARROWS,
    BOX_HEIGHT,
    BOX_WIDTH,
    CENTRES,
    FRAMED,
    HEIGHT,
    WIDTH,
    WITH_PEOPLE,
)
from fleet_runner.core.lifecycle.states import ENDED, STATES, TRANSITIONS, Event, State, Transition

SVG = "{http://www.w3.org/2000/svg}"


def test_every_state_has_one_place_and_every_pair_one_arrow() -> None:
    """An arrow too many is as wrong as one too few."""
    assert set(CENTRES) == set(State)
    assert set(ARROWS) == set(single())
    assert set(FRAMED) == set(framed())


def test_every_transition_is_drawn_once() -> None:
    drawn = {(state, event, to) for (state, to), events in single().items() for event in events}
    drawn |= {(state, event, to) for to, events in framed().items() for event in events for state in WITH_PEOPLE}
    assert drawn == {(row.state, row.event, row.to) for row in TRANSITIONS.values() if _is_drawn(row)}


def _is_drawn(row: Transition) -> bool:
    return row.to not in ENDED and row.event is not Event.REPLACED


def test_the_picture_is_well_formed_and_names_every_state() -> None:
    tree = ET.fromstring(svg())  # noqa: S314  we wrote it ourselves
    names = [text.text for text in tree.iter(f"{SVG}text") if text.get("class") == "name"]
    assert names == [state.value for state in STATES]


def test_the_picture_is_the_same_every_time() -> None:
    assert svg() == svg()


def test_boxes_do_not_overlap_and_stay_inside() -> None:
    for (x, y), (other_x, other_y) in combinations(CENTRES.values(), 2):
        assert abs(x - other_x) >= BOX_WIDTH or abs(y - other_y) >= BOX_HEIGHT
    for x, y in CENTRES.values():
        assert BOX_WIDTH / 2 <= x <= WIDTH - BOX_WIDTH / 2
        assert BOX_HEIGHT / 2 <= y <= HEIGHT - BOX_HEIGHT / 2


def test_arrows_are_straight_and_cross_no_box() -> None:
    for arrow in (*ARROWS.values(), *FRAMED.values()):
        for (x, y), (to_x, to_y) in pairwise(arrow.corners):
            assert x == to_x or y == to_y
            for centre_x, centre_y in CENTRES.values():
                beside = max(x, to_x) <= centre_x - BOX_WIDTH / 2 or min(x, to_x) >= centre_x + BOX_WIDTH / 2
                above = max(y, to_y) <= centre_y - BOX_HEIGHT / 2 or min(y, to_y) >= centre_y + BOX_HEIGHT / 2
                assert beside or above


def test_arrows_begin_and_end_at_their_boxes() -> None:
    for (state, to), arrow in ARROWS.items():
        for place, (x, y) in ((state, arrow.corners[0]), (to, arrow.corners[-1])):
            centre_x, centre_y = CENTRES[place]
            assert abs(x - centre_x) <= BOX_WIDTH / 2
            assert abs(y - centre_y) <= BOX_HEIGHT / 2


def test_every_colour_is_used() -> None:
    assert {kind(state) for state in State} == {"moving", "serving", "resting", "watched", "ended"}


def test_deadlines_read_as_people_say_them() -> None:
    assert (limit(6 * 3600.0), limit(40 * 60.0), limit(90 * 60.0)) == ("6 h", "40 min", "90 min")
