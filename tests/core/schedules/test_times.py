"""Moments that come again, over clocks at random and the nights in which they are set."""

import math
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.schedules.times import Cron, Every, Never, read, span

BERLIN = ZoneInfo("Europe/Berlin")
SPRING = datetime(2026, 3, 29, 1, 0, tzinfo=BERLIN).timestamp()
AUTUMN = datetime(2026, 10, 25, 1, 0, tzinfo=BERLIN).timestamp()
HOUR = 3600.0

clocks = st.floats(0, 4e9)
texts = st.sampled_from(
    [
        "every 1s",
        "every 5min",
        "every 7 h",
        "17 3 * * *",
        "*/5 * * * *",
        "0 */4 * * *",
        "30 2 * * *",
        "0 8,17 * * 1-5",
    ]
)
zones = st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"])


def clock(at: float) -> str:
    """A moment as a clock on a wall in Berlin shows it."""
    return datetime.fromtimestamp(at, BERLIN).strftime("%d %H:%M")


def moments(text: str, begin: float, count: int) -> list[float]:
    """The first moments after `begin`, in Berlin."""
    times, found = read(text, "Europe/Berlin"), list[float]()
    for _ in range(count):
        found.append(times.after(found[-1] if found else begin))
    return found


@given(texts, zones, clocks)
def test_the_next_moment_is_later_and_none_lies_between(text: str, zone: str, at: float) -> None:
    """Wherever the clock stands."""
    times = read(text, zone)
    after = times.after(at)
    assert at < after < math.inf
    between = (at + after) / 2
    assert times.after(between if between < after else at) == after  # halves of the smallest steps are none
    assert times.after(after) > after


@given(texts, zones, st.sampled_from([SPRING, AUTUMN]), st.floats(-2 * HOUR, 5 * HOUR), st.floats(0, 5 * HOUR))
def test_a_clock_that_is_set_for_the_season_brings_no_moment_back(
    text: str, zone: str, night: float, begin: float, later: float
) -> None:
    """Whoever asks later is never told an earlier moment."""
    times = read(text, zone)
    assert times.after(night + begin) <= times.after(night + begin + later)


def test_an_hour_that_is_left_out_is_made_up_for_right_after() -> None:
    """As Debian's cron does; what goes by the hour just goes on."""
    assert [clock(at) for at in moments("30 2 * * *", SPRING, 2)] == ["29 03:00", "30 02:30"]
    assert [clock(at) for at in moments("*/30 * * * *", SPRING, 4)] == [
        "29 01:30",
        "29 03:00",
        "29 03:30",
        "29 04:00",
    ]


def test_an_hour_that_comes_twice_has_its_moments_once() -> None:
    """But those that go by the hour come as often as hours pass."""
    daily = moments("30 2 * * *", AUTUMN, 2)
    assert [clock(at) for at in daily] == ["25 02:30", "26 02:30"]
    assert daily[1] - daily[0] == 25 * HOUR
    twice = moments("0 * * * *", AUTUMN, 4)
    assert [clock(at) for at in twice] == ["25 02:00", "25 02:00", "25 03:00", "25 04:00"]
    again = daily[0] + HOUR - 300.0  # 02:25 for the second time
    assert read("30 2 * * *", "Europe/Berlin").after(again) == daily[1]


def test_a_zone_is_meant_as_it_is_named() -> None:
    """Three in the morning there."""
    at = Cron("0 3 * * *", "Asia/Kolkata", 86_400.0).after(AUTUMN)
    assert datetime.fromtimestamp(at, ZoneInfo("Asia/Kolkata")).strftime("%H:%M") == "03:00"


@pytest.mark.parametrize(("text", "pause"), [
    ("every 30s", 30), ("every 5min", 300), ("Every 5 m", 300), ("every 1d", 86_400), ("*/5 * * * *", 300),
    ("0 */4 * * *", 14_400), ("0 8,17 * * *", 32_400), ("17  3 * * *", 86_400), ("never", math.inf),
])  # fmt: skip
def test_a_schedule_says_how_close_its_moments_are(text: str, pause: float) -> None:
    """The shortest pause counts."""
    assert read(text, "Europe/Berlin").pause == pause


def test_what_is_off_never_comes() -> None:
    """Whatever the clock says."""
    assert read(" Never ", "UTC").after(5.0) == Never().after(5.0) == math.inf
    assert Every(2.0).after(4.0) == 6.0
    assert Cron("0 0 29 2 *", "UTC", 1.0).after(0.0) == (datetime(1972, 2, 29, tzinfo=ZoneInfo("UTC"))).timestamp()
    assert timedelta(seconds=span("1w")) == timedelta(days=7)


@pytest.mark.parametrize(("text", "zone", "why"), [
    ("61 * * * *", "UTC", 'Bad minute; expected cron, such as "17 3 * * *", or "every 5min", or "never"'),
    ("* * * *", "UTC", "it has 4 fields, not 5"),
    ("0 * * * * *", "UTC", "it has 6 fields, not 5"),
    ("0 0 30 2 *", "UTC", "Bad day-of-month"),
    ("every now and then", "UTC", "'now and then' is no span of time; expected one such as 30s, 5min, 4h or 1d"),
    ("every 0s", "UTC", "'0s' is no span of time"),
    ("17 3 * * *", "Mars/Olympus", "'Mars/Olympus' is no time zone; expected one such as UTC or Europe/Berlin"),
    ("17 3 * * *", "../../etc/passwd", "is no time zone"),
    ("17 3 * * *", "Europe", "is no time zone"),
    ("* * * * 1L" + " " * 100, "UTC", "it has 110 characters, at most 100 are read"),
    ("* * */20 * 1L", "UTC", "never comes"),
])  # fmt: skip
def test_what_means_no_moments_is_refused(text: str, zone: str, why: str) -> None:
    """With what was expected."""
    with pytest.raises(ValueError, match=r"expected|shorten|read$") as refused:
        read(text, zone)
    assert why in str(refused.value)
