"""When a tracker is asked again."""

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.tickets.trackers.backoff import FIRST, LONGEST, MOST_ASKED, Kind, TrackerError, pause


@given(st.integers(0, 10**6))
def test_pauses_double_up_to_an_hour(tries: int) -> None:
    """And never overflow."""
    assert FIRST <= pause(tries) <= pause(tries + 1) <= LONGEST


def test_the_first_pauses_are_half_a_minute_one_and_two() -> None:
    """So that a restart of a tracker is no long wait."""
    assert [pause(tries) for tries in (1, 2, 3)] == [30.0, 60.0, 120.0]


@given(st.floats(-1e12, 1e12))
def test_what_a_tracker_asks_for_is_heeded_within_limits(after: float) -> None:
    """No header makes us forget a ticket, and none makes us hammer."""
    assert FIRST <= pause(9, after) <= MOST_ASKED
    assert pause(9, 90.0) == 90.0


def test_an_error_is_its_sentence() -> None:
    """With whom it is about, and for how long."""
    error = TrackerError(Kind.BUSY, "desk: it asks us to wait", after=7.0)
    assert (str(error), error.kind, error.after) == ("desk: it asks us to wait", Kind.BUSY, 7.0)
