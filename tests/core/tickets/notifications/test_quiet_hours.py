"""Quiet hours by the clock on the wall."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.tickets.notifications.quiet_hours import EVERY, is_quiet, quiet, window

BERLIN = "Europe/Berlin"


def at(text: str, zone: str = BERLIN, fold: int = 0) -> float:
    """The moment when a clock on the wall shows this."""
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone), fold=fold).timestamp()


def test_without_quiet_hours_it_is_never_quiet() -> None:
    """Nor with none on any day."""
    assert not is_quiet(None, at("2026-11-16T03:00"))
    assert not is_quiet(quiet(BERLIN, {}), at("2026-11-16T03:00"))


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2026-11-16T21:59", False),  # a Monday
        ("2026-11-16T22:00", True),
        ("2026-11-16T23:59", True),
        ("2026-11-17T00:00", True),  # what began on Monday lasts
        ("2026-11-17T06:59", True),
        ("2026-11-17T07:00", False),
        ("2026-11-17T22:00", False),  # Tuesday has none
        ("2026-11-15T23:00", False),
    ],
)
def test_a_window_over_midnight_belongs_to_the_day_on_which_it_begins(moment: str, expected: bool) -> None:
    """Its end is the next day's."""
    hours = quiet(BERLIN, {"mon": (window("22:00-07:00"),)})
    assert is_quiet(hours, at(moment)) is expected


def test_a_window_within_a_day_and_one_to_midnight_end_there() -> None:
    """24:00 is the end of the day."""
    hours = quiet("UTC", {"sat": (window("00:00-24:00"),), EVERY: (window("12:00-13:00"),)})
    assert is_quiet(hours, at("2026-11-21T00:00", "UTC"))
    assert is_quiet(hours, at("2026-11-21T23:59", "UTC"))
    assert not is_quiet(hours, at("2026-11-22T00:00", "UTC"))
    assert is_quiet(hours, at("2026-11-22T12:59", "UTC"))
    assert not is_quiet(hours, at("2026-11-22T13:00", "UTC"))


def test_an_hour_that_the_clock_shows_twice_is_quiet_twice_and_one_that_it_leaves_out_is_not_there() -> None:
    """As people hear their clock strike."""
    hours = quiet(BERLIN, {EVERY: (window("02:00-03:00"),)})
    assert is_quiet(hours, at("2026-10-25T02:30"))
    assert is_quiet(hours, at("2026-10-25T02:30", fold=1))
    before = at("2026-03-29T01:59")
    assert not is_quiet(hours, before)
    assert not is_quiet(hours, before + 60)  # 03:00
    night = quiet(BERLIN, {EVERY: (window("22:00-07:00"),)})
    for day, length in (("2026-03-28", 8), ("2026-10-24", 10), ("2026-06-01", 9)):
        began = at(f"{day}T22:00")
        assert sum(is_quiet(night, began + 60 * minute) for minute in range(12 * 60)) == length * 60


@given(
    st.integers(0, 1439),
    st.integers(0, 1439),
    st.integers(0, 6),
    st.datetimes(datetime.fromisoformat("2020-01-01"), datetime.fromisoformat("2030-01-01")),
)
def test_a_window_of_each_day_is_what_lies_between_two_times_of_the_day(
    begins: int, ends: int, day: int, moment: datetime
) -> None:
    """On whatever day; and a day of its own has no more than that."""
    text = f"{begins // 60:02}:{begins % 60:02}-{ends // 60:02}:{ends % 60:02}"
    stamp = moment.replace(tzinfo=UTC)
    minute = stamp.hour * 60 + stamp.minute
    inside = begins <= minute < ends if begins < ends else not ends <= minute < begins
    assert is_quiet(quiet("UTC", {EVERY: (window(text),)}), stamp.timestamp()) is inside
    if is_quiet(
        quiet("UTC", {["mon", "tue", "wed", "thu", "fri", "sat", "sun"][day]: (window(text),)}), stamp.timestamp()
    ):
        assert inside
        assert day in {stamp.weekday(), (stamp - timedelta(days=1)).weekday()}


@pytest.mark.parametrize("text", ["", "22-07", "24:00-07:00", "22:00 - 07:00", "22:00-25:00", "22:60-07:00"])
def test_what_is_no_window_is_refused(text: str) -> None:
    """Before anything is kept from people."""
    with pytest.raises(ValueError, match=text or "$"):
        window(text)
