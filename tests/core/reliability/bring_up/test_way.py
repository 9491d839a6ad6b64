"""A node's way into production: what it waited for, part by part."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.states import State
from fleet_runner.core.reliability.bring_up.way import QUICK, Part, Try, Wait, way
from fleet_runner.core.reliability.report.stories import BringUp, Stay


def up(*stays: Stay) -> BringUp:
    """A bring-up of some stays."""
    return BringUp("gpu-01", stays[-1].ends, stays[-1].ends - stays[0].begins, {}, stays)


def told(*stays: Stay, tries: tuple[Try, ...] = (), holds: tuple[tuple[float, float], ...] = ()) -> list[Part]:
    """The parts of its way."""
    return list(way(up(*stays), tries, holds, done=True).parts)


def test_states_without_stages_wait_for_people_and_for_the_vendor() -> None:
    """A hold changes nothing about that."""
    stays = (Stay(State.ONBOARD, 0.0, 10.0), Stay(State.RMA, 10.0, 30.0))
    expected = [Part(State.ONBOARD, Wait.PERSON, 0.0, 10.0), Part(State.RMA, Wait.VENDOR, 10.0, 30.0)]
    assert told(*stays) == told(*stays, holds=((5.0, 20.0),)) == expected


def test_a_run_is_its_devices_work_and_what_lies_around_it_the_runners() -> None:
    """Up to the run, from the play's end to the run's, and after it."""
    ran = Try(2.0, 9.0, Outcome.PASSED, play_ended=8.0)
    assert told(Stay(State.VERIFY, 0.0, 10.0), tries=(ran,)) == [
        Part(State.VERIFY, Wait.RUNNER, 0.0, 2.0),
        Part(State.VERIFY, Wait.DEVICE, 2.0, 8.0),
        Part(State.VERIFY, Wait.RUNNER, 8.0, 10.0),
    ]


def test_between_looks_at_tests_devices_work_and_an_open_run_lasts() -> None:
    """Looks that follow each other are told of once."""
    tries = (Try(0.0, 5.0, Outcome.WORKING), Try(300.0, None, None))
    assert told(Stay(State.BURN_IN, 0.0, 400.0), tries=tries) == [Part(State.BURN_IN, Wait.DEVICE, 0.0, 400.0)]


def test_a_try_without_a_verdict_is_lost_with_the_pause_that_follows() -> None:
    """Whoever ended it."""
    for outcome in (Outcome.UNKNOWN, Outcome.LOST, Outcome.SKIPPED, Outcome.CANCELLED):
        tries = (Try(0.0, 5.0, outcome), Try(35.0, 40.0, Outcome.PASSED))
        assert told(Stay(State.VERIFY, 0.0, 40.0), tries=tries) == [
            Part(State.VERIFY, Wait.RETRY, 0.0, 35.0),
            Part(State.VERIFY, Wait.DEVICE, 35.0, 40.0),
        ]


def test_before_a_first_flash_a_slot_is_waited_for_and_nowhere_else() -> None:
    """A tick's length is the runner's own."""
    late = Try(QUICK, QUICK + 9.0, Outcome.PASSED)
    for state, wait in ((State.FIRMWARE, Wait.BUDGET), (State.VERIFY, Wait.RUNNER)):
        assert told(Stay(state, 0.0, QUICK + 9.0), tries=(late,))[0] == Part(state, wait, 0.0, QUICK)
    soon = Try(QUICK - 1.0, QUICK, Outcome.PASSED)
    assert told(Stay(State.FIRMWARE, 0.0, QUICK), tries=(soon,))[0].wait is Wait.RUNNER


def test_a_hold_is_cut_out_of_what_the_runner_would_have_done() -> None:
    """Devices work on under it."""
    stay, ran = Stay(State.VERIFY, 0.0, 100.0), Try(60.0, 80.0, Outcome.PASSED)
    assert told(stay, tries=(ran,), holds=((10.0, 70.0), (200.0, 300.0))) == [
        Part(State.VERIFY, Wait.RUNNER, 0.0, 10.0),
        Part(State.VERIFY, Wait.HOLD, 10.0, 60.0),
        Part(State.VERIFY, Wait.DEVICE, 60.0, 80.0),
        Part(State.VERIFY, Wait.RUNNER, 80.0, 100.0),
    ]


_MOMENTS = st.floats(0, 1_000)
_TRIES = st.builds(
    Try, _MOMENTS, st.none() | _MOMENTS, st.none() | st.sampled_from(Outcome), play_ended=st.none() | _MOMENTS
)


@given(
    st.lists(st.tuples(st.sampled_from(State), st.floats(0, 300)), min_size=1, max_size=6),
    st.lists(_TRIES, max_size=8),
    st.lists(st.tuples(_MOMENTS, _MOMENTS), max_size=3),
)
def test_whatever_is_known_a_way_has_no_gap_and_no_moment_twice(
    told_: list[tuple[State, float]], tries: list[Try], holds: list[tuple[float, float]]
) -> None:
    """Also where clocks were set back, and runs end before they begin."""
    at, stays = 0.0, list[Stay]()
    for state, seconds in told_:
        stays.append(Stay(state, at, at + seconds))
        at += seconds
    tries.sort(key=lambda each: each.begins)
    parts = way(up(*stays), tries, holds, done=False).parts
    assert sum(each.seconds for each in parts) <= at + 1e-6
    assert all(before.ends <= after.begins for before, after in itertools.pairwise(parts))
    assert abs(sum(each.seconds for each in parts) - at) < 1e-6
