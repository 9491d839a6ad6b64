"""Where everything stands in the picture of the lifecycle, in pixels: laid by hand, so that it reads at a glance.

`diagram` draws it. A new state or transition has no place yet: drawing it raises KeyError until it gets one here.
"""

from typing import NamedTuple

from fleet_runner.core.lifecycle.states import State

WIDTH, HEIGHT = 1600, 550
BOX_WIDTH, BOX_HEIGHT = 134, 54
_UP, _MID, _LOW = 112, 262, 418  # the three rows
_COLUMNS = tuple(95 + 194 * column for column in range(7))
_BESIDE = _COLUMNS[6] + 236  # right of the lane that passes the last column

CENTRES: dict[State, tuple[float, float]] = {
    State.REGISTERED: (_COLUMNS[0], _UP),
    State.PROVISION: (_COLUMNS[1], _UP),
    State.ONBOARD: (_COLUMNS[2], _UP),
    State.VERIFY: (_COLUMNS[3], _UP),
    State.FIRMWARE: (_COLUMNS[4], _UP),
    State.BURN_IN: (_COLUMNS[5], _UP),
    State.PRODUCTION: (_COLUMNS[6], _UP),
    State.FIRMWARE_FAILED: (_COLUMNS[4], _MID),
    State.REBOOT: (_COLUMNS[6], _MID),
    State.RESET: (_BESIDE, _MID),
    State.TRIAGE: (_COLUMNS[5], _LOW),
    State.DEBUG: (_COLUMNS[3] + 60, _LOW),
    State.RMA: (_COLUMNS[2], _LOW),
    State.WIPE: (_COLUMNS[3], _MID),
    State.RETIRED: (_COLUMNS[0], _LOW),
    State.WATCHED: (_COLUMNS[0], _MID),
}


class Arrow(NamedTuple):
    """The corners of an arrow, and where its words stand: beside `label`, written from its `anchor`."""

    corners: tuple[tuple[float, float], ...]
    label: tuple[float, float]
    anchor: str = "middle"


def _across(left: State, right: State) -> Arrow:
    (x, y), (to, _) = CENTRES[left], CENTRES[right]
    side = BOX_WIDTH / 2 if x < to else -BOX_WIDTH / 2
    return Arrow(((x + side, y), (to - side, y)), ((x + to) / 2, y - 9))


_TOP, _BOTTOM = _UP - BOX_HEIGHT / 2, _UP + BOX_HEIGHT / 2
_MID_TOP, _MID_BOTTOM = _MID - BOX_HEIGHT / 2, _MID + BOX_HEIGHT / 2
_LOW_TOP, _LOW_BOTTOM = _LOW - BOX_HEIGHT / 2, _LOW + BOX_HEIGHT / 2
_TRIAGE_RIGHT = _COLUMNS[5] + BOX_WIDTH / 2
_LANE = _COLUMNS[6] + BOX_WIDTH / 2 + 18  # right of the last column
FRAME = (_COLUMNS[2] - 96, _LOW - 66, _COLUMNS[5] - _COLUMNS[2] + 182, 146)  # around the states people work in

WITH_PEOPLE = (State.TRIAGE, State.DEBUG, State.RMA)
"""States drawn in one frame: an arrow that leaves all three for the same place is drawn once, from the frame."""

FRAMED: dict[State, Arrow] = {
    State.ONBOARD: Arrow(((_COLUMNS[2], FRAME[1]), (_COLUMNS[2], _BOTTOM)), (_COLUMNS[2] + 8, _MID), "start"),
    State.PROVISION: Arrow(
        ((FRAME[0], _LOW), (_COLUMNS[1] + 22, _LOW), (_COLUMNS[1] + 22, _BOTTOM)), (_COLUMNS[1] + 30, _MID), "start"
    ),
    State.WIPE: Arrow(
        ((_COLUMNS[3] - 27, FRAME[1]), (_COLUMNS[3] - 27, _MID_BOTTOM)), (_COLUMNS[3] - 35, 325), "end"
    ),
}

ARROWS: dict[tuple[State, State], Arrow] = {
    (State.REGISTERED, State.PROVISION): _across(State.REGISTERED, State.PROVISION),
    (State.REGISTERED, State.PRODUCTION): Arrow(
        ((_COLUMNS[0], _TOP), (_COLUMNS[0], 22), (_COLUMNS[6] - 22, 22), (_COLUMNS[6] - 22, _TOP)),
        ((_COLUMNS[0] + _COLUMNS[1]) / 2, 14),
    ),
    (State.PROVISION, State.ONBOARD): _across(State.PROVISION, State.ONBOARD),
    (State.ONBOARD, State.VERIFY): _across(State.ONBOARD, State.VERIFY),
    (State.VERIFY, State.FIRMWARE): _across(State.VERIFY, State.FIRMWARE),
    (State.FIRMWARE, State.BURN_IN): _across(State.FIRMWARE, State.BURN_IN),
    (State.BURN_IN, State.PRODUCTION): _across(State.BURN_IN, State.PRODUCTION),
    (State.VERIFY, State.ONBOARD): Arrow(
        ((_COLUMNS[3], _TOP), (_COLUMNS[3], 52), (_COLUMNS[2], 52), (_COLUMNS[2], _TOP)),
        ((_COLUMNS[2] + _COLUMNS[3]) / 2, 44),
    ),
    (State.FIRMWARE, State.FIRMWARE_FAILED): Arrow(
        ((_COLUMNS[4] - 22, _BOTTOM), (_COLUMNS[4] - 22, _MID_TOP)), (_COLUMNS[4] - 30, 190), "end"
    ),
    (State.FIRMWARE_FAILED, State.FIRMWARE): Arrow(
        ((_COLUMNS[4] + 22, _MID_TOP), (_COLUMNS[4] + 22, _BOTTOM)), (_COLUMNS[4] + 30, 190), "start"
    ),
    (State.FIRMWARE_FAILED, State.TRIAGE): Arrow(
        ((_COLUMNS[4], _MID_BOTTOM), (_COLUMNS[4], 320), (_COLUMNS[5] - 26, 320), (_COLUMNS[5] - 26, _LOW_TOP)),
        ((_COLUMNS[4] + _COLUMNS[5]) / 2 - 12, 312),
    ),
    (State.BURN_IN, State.TRIAGE): Arrow(
        ((_COLUMNS[5], _BOTTOM), (_COLUMNS[5], _LOW_TOP)), (_COLUMNS[5] + 8, 226), "start"
    ),
    (State.PRODUCTION, State.REBOOT): Arrow(
        ((_COLUMNS[6] - 22, _BOTTOM), (_COLUMNS[6] - 22, _MID_TOP)), (_COLUMNS[6] - 30, 190), "end"
    ),
    (State.PRODUCTION, State.FIRMWARE): Arrow(
        ((_COLUMNS[6], _TOP), (_COLUMNS[6], 52), (_COLUMNS[4], 52), (_COLUMNS[4], _TOP)),
        ((_COLUMNS[4] + _COLUMNS[6]) / 2, 44),
    ),
    (State.PRODUCTION, State.RESET): Arrow(
        ((_COLUMNS[6] + BOX_WIDTH / 2, _UP - 12), (_BESIDE - 22, _UP - 12), (_BESIDE - 22, _MID_TOP)),
        (_BESIDE - 30, 190),
        "end",
    ),
    (State.RESET, State.PRODUCTION): Arrow(
        ((_BESIDE + 22, _MID_TOP), (_BESIDE + 22, 66), (_COLUMNS[6] + 40, 66), (_COLUMNS[6] + 40, _TOP)),
        (_BESIDE + 30, 190),
        "start",
    ),
    (State.RESET, State.REBOOT): Arrow(
        ((_BESIDE - BOX_WIDTH / 2, _MID), (_COLUMNS[6] + BOX_WIDTH / 2, _MID)), (_LANE + 8, _MID_BOTTOM + 16), "start"
    ),
    (State.RESET, State.TRIAGE): Arrow(
        (
            (_BESIDE, _MID_BOTTOM),
            (_BESIDE, _LOW + 50),
            (_COLUMNS[5] + 50, _LOW + 50),
            (_COLUMNS[5] + 50, _LOW_BOTTOM),
        ),
        ((_LANE + _BESIDE) / 2, _LOW + 42),
    ),
    (State.REBOOT, State.PRODUCTION): Arrow(
        ((_COLUMNS[6] + 22, _MID_TOP), (_COLUMNS[6] + 22, _BOTTOM)), (_COLUMNS[6] + 30, 190), "start"
    ),
    (State.PRODUCTION, State.TRIAGE): Arrow(
        ((_LANE - 18, _UP), (_LANE, _UP), (_LANE, _LOW + 12), (_TRIAGE_RIGHT, _LOW + 12)),
        ((_TRIAGE_RIGHT + _LANE) / 2 + 18, _LOW + 28),
    ),
    (State.REBOOT, State.TRIAGE): Arrow(
        ((_COLUMNS[6], _MID_BOTTOM), (_COLUMNS[6], _LOW - 12), (_TRIAGE_RIGHT, _LOW - 12)),
        (_COLUMNS[6] - 8, 330),
        "end",
    ),
    (State.ONBOARD, State.WIPE): Arrow(
        ((_COLUMNS[2] + 47, _BOTTOM), (_COLUMNS[2] + 47, 245), (_COLUMNS[3] - BOX_WIDTH / 2, 245)),
        (_COLUMNS[2] + 55, 239),
        "start",
    ),
    (State.WIPE, State.TRIAGE): Arrow(
        (
            (_COLUMNS[3] + 27, _MID_BOTTOM),
            (_COLUMNS[3] + 27, 336),
            (_COLUMNS[5] - 50, 336),
            (_COLUMNS[5] - 50, _LOW_TOP),
        ),
        (_COLUMNS[3] + 35, 349),
        "start",
    ),
    (State.TRIAGE, State.DEBUG): _across(State.TRIAGE, State.DEBUG),
    (State.DEBUG, State.RMA): _across(State.DEBUG, State.RMA),
    (State.TRIAGE, State.RMA): Arrow(
        ((_COLUMNS[5], _LOW_BOTTOM), (_COLUMNS[5], _LOW + 56), (_COLUMNS[2], _LOW + 56), (_COLUMNS[2], _LOW_BOTTOM)),
        ((_COLUMNS[2] + _COLUMNS[5]) / 2, _LOW + 50),
    ),
    (State.PROVISION, State.TRIAGE): Arrow(
        (
            (_COLUMNS[1] - 22, _BOTTOM),
            (_COLUMNS[1] - 22, _LOW + 112),
            (_COLUMNS[5] + 26, _LOW + 112),
            (_COLUMNS[5] + 26, _LOW_BOTTOM),
        ),
        ((_COLUMNS[1] + _COLUMNS[5]) / 2, _LOW + 106),
    ),
}
