"""Tests that come once a week: looked at in weeks, told by their dates and by days."""

from collections.abc import Iterator
from datetime import date
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.reliability.forecasts import Kind
from fleet_runner.core.reliability.trends import weeks
from fleet_runner.core.reliability.trends.analyse import Drift, MetricAnalysis, look
from fleet_runner.core.reliability.trends.causes import once
from fleet_runner.core.reliability.trends.metrics import BY_NAME, Metric
from fleet_runner.core.reliability.trends.panel import Panel, Window
from fleet_runner.core.reliability.trends.peers import Location
from fleet_runner.core.reliability.trends.silence import Silence
from tests.core.reliability.trends.fleets import GPUS, MARK, METRIC, Numbers, looked, noise, places, stays, window

NODES, WEEKS = 12, 56
UNTIL = 20_780
"""A Monday: the newest week has but begun."""


def weekday(node: int) -> int:
    """Return how many days before the end of each week a node is tested; nobody is on the newest day."""
    return 1 + node % 5


def told_on(values: Numbers) -> list[int]:
    """Return the day of each test of the first node."""
    return [UNTIL - weekday(0) - 7 * at for at in reversed(range(values.shape[1]))]


def panels(values: Numbers) -> Iterator[Panel]:
    """Yield the days of weekly tests, a column each, of which the newest was within the last days."""
    count = values.shape[1]
    node = np.arange(len(values)) // GPUS
    for day in range(UNTIL - 7 * count, UNTIL + 1):
        ago = UNTIL - day - np.array([weekday(each) for each in node])
        column = count - 1 - ago // 7
        mine = np.flatnonzero((ago >= 0) & (ago % 7 == 0) & ~np.isnan(values[np.arange(len(node)), column % count]))
        if len(mine):
            yield panel(day, mine, values[mine, column[mine]])


def panel(day: int, rows: np.ndarray[tuple[int, ...], np.dtype[np.int64]], told: Numbers) -> Panel:
    """Return a day on which some told one number each."""
    ones, none = np.ones(len(rows), np.uint32), np.zeros(len(rows), np.float32)
    return Panel(METRIC.name, day, rows.astype(np.uint32), ones, told.astype(np.float32), none)


def weekly(values: Numbers) -> Window:
    """Return the weeks of weekly tests."""
    return weeks.over(METRIC.name, UNTIL, panels(values), np.arange(len(values), dtype=np.uint32))


def seen(values: Numbers, metric: Metric = METRIC) -> MetricAnalysis:
    """Return what is seen in weeks."""
    return look(metric, weekly(values), stays(len(values)), places(NODES), {"dgxh100": MARK})


def test_a_week_is_the_median_of_its_days_and_ends_on_a_sunday() -> None:
    """Of those that are asked for; the newest is not over."""
    rows = np.array([1, 4])
    told = [
        panel(UNTIL - ago, rows, np.array([value, 9.0])) for ago, value in [(8, 5.0), (7, 2.0), (4, 3.0), (0, 7.0)]
    ]
    found = weeks.over(METRIC.name, UNTIL, told, np.array([1], np.uint32))
    assert (found.stays.tolist(), found.step) == ([1], 7)
    assert [date.fromordinal(719_163 + day).strftime("%a %F") for day in found.days.tolist()] == [
        "Sun 2026-11-15", "Sun 2026-11-22", "Mon 2026-11-23",
    ]  # fmt: skip
    assert (found.middle.tolist(), found.count.tolist()) == ([[5.0, 2.5, 7.0]], [[1, 2, 1]])
    assert found.spread.tolist() == [[0.0, 0.5, 0.0]]
    assert [found.since(at) - UNTIL for at in range(3)] == [-14, -7, 0]
    assert [found.ago(at) for at in range(3)] == [11, 4, 0]


def test_what_nobody_told_has_no_weeks() -> None:
    """And nothing is seen in it."""
    found = weeks.over(METRIC.name, UNTIL, [], np.array([1], np.uint32))
    assert (found.middle.shape, found.step) == ((0, 0), 7)
    assert look(METRIC, found, {}, {}, {}).series == 0


@given(st.integers(15_000, 30_000))
def test_a_night_looks_at_the_weeks_of_the_night_before(day: int) -> None:
    """The oldest of them is kept whole for 400 days, and begins on a Monday."""
    first, then = weeks.first_day(day), weeks.first_day(day + 1)
    assert then - first in {0, 7}
    assert day - first < 400
    assert date.fromordinal(719_163 + first).weekday() == 0


def test_nothing_is_told_of_noise() -> None:
    """Not even where tests are missed now and then."""
    values = noise(NODES, seed=3, days=WEEKS)
    values[np.random.default_rng(1).random(values.shape) < 0.1] = np.nan
    found = seen(values)
    assert (found.found, found.together, found.judged) == ((), (), NODES * GPUS)


def test_a_jump_is_told_with_the_week_of_its_first_test() -> None:
    """Seven days of each week count, as far as anybody knows."""
    values = noise(NODES, days=WEEKS)
    values[5, -20:] += 8
    (one,) = seen(values).found
    first = date.fromordinal(719_163 + told_on(values)[-20])
    since = date.fromisoformat(one.numbers["since_day"])
    assert (since.weekday(), 0 <= (first - since).days < 7) == (0, True)
    assert f"at once in the week of {since}, " in one.sentence
    assert (one.numbers["days_since"], one.numbers["days_before"], one.numbers["step_days"]) == (140, 252, 7)


def test_a_drift_is_told_by_days_and_its_mark_is_as_far_ahead_as_it_is() -> None:
    """It goes by 0.7 a week, a tenth of that a day; the sentence counts in weeks, as the test comes."""
    values = noise(NODES, days=WEEKS)
    values[9, -24:] += 0.7 * np.arange(1, 25)
    truth = (MARK - values[9, :30].mean() - 24 * 0.7) / 0.1 - (UNTIL - told_on(values)[-1])
    (one,) = seen(values).found
    assert (one.kind, one.serial) == (Kind.TREND, "S9")
    assert one.numbers["slope_low_per_day"] < 0.1 < one.numbers["slope_high_per_day"] < 0.2
    assert one.numbers["crosses_soonest_days"] < truth < one.numbers["crosses_latest_days"]
    assert one.numbers["crosses_in_days"] == pytest.approx(truth, abs=15)
    assert " celsius a week since the week of 2026-0" in one.sentence


def test_a_drift_that_was_last_told_some_weeks_ago_is_nearer_to_its_mark() -> None:
    """By as many days: it is counted from the last day, and not from the last test."""
    values = noise(NODES, days=WEEKS)
    values[9, -26:] += 0.7 * np.arange(1, 27)
    values[9, -2:] = np.nan
    (late,) = seen(values).found
    values = np.concatenate([np.full((NODES * GPUS, 2), np.nan), values[:, :-2]], axis=1)
    (soon,) = seen(values).found
    assert soon.numbers["crosses_in_days"] - late.numbers["crosses_in_days"] == pytest.approx(14, abs=1)


def test_what_weeks_do_not_carry_is_counted() -> None:
    """A test that ended, one that paused for a season, and parts that are new; a holiday is no matter."""
    values = noise(NODES, days=WEEKS)
    values[0, -5:] = np.nan
    values[1, 20:31] = np.nan
    values[2, :-20] = np.nan
    values[3, 20:26] = np.nan
    silences = {reason: count for reason, count in seen(values).silences.items() if count}
    assert silences == {Silence.STALE: 1, Silence.GAPS: 1, Silence.SHORT: 1}


def test_parts_of_a_node_that_change_within_weeks_are_told_as_one() -> None:
    """What days tell apart, weeks cannot."""
    values = noise(NODES, days=WEEKS)
    for row, ago in zip(range(8, 12), (22, 22, 21, 20), strict=True):
        values[row, -ago:] += 9
    (one,) = seen(values).found
    assert (one.node, one.numbers["parts"]) == ("gpu-01", 4)


def test_a_rack_that_changes_as_a_whole_is_told_with_its_week() -> None:
    """And no part of it is."""
    values = noise(NODES, days=WEEKS)
    values[32:64, -20:] += 8
    found = seen(values)
    assert found.found == ()
    (rack,) = found.together
    since = date.fromisoformat(rack.numbers["since_day"])
    assert f"since the week of {since}: " in rack.sentence
    assert since.weekday() == 0


def test_what_changes_in_days_and_in_weeks_is_one_cause_as_far_as_weeks_can_say() -> None:
    """Ten days apart are two tests."""
    values = noise(NODES, days=WEEKS)
    values[5, -10:] += 9
    (slow,) = seen(values, BY_NAME["gpu_watts"]._replace(least=1.0, worse="high", part="gpu")).found
    daily = noise(NODES)
    daily[5, -20:] += 9
    (fast,) = looked(daily).found
    by_name = {name: BY_NAME[name]._replace(part="gpu") for name in (slow.metric, fast.metric)}
    for days, causes in [(10, 1), (60, 2)]:
        then = date.fromordinal(date.fromisoformat(slow.numbers["since_day"]).toordinal() + days).isoformat()
        other = type(fast)(fast.kind, fast.node, fast.component, fast.sentence, fast.metric, fast.serial,
                           dict(fast.numbers) | {"since_day": then})  # fmt: skip
        assert len(once([slow, other], by_name)) == causes


def mixed(often: int, every: int) -> tuple[Window, dict[str, Location]]:
    """Return 90 days of a fleet of which the first nodes tell daily, and the others every so many days."""
    values = noise(NODES)
    rare = np.arange(values.shape[1]) % every != 0
    values[often * GPUS :, rare] = np.nan
    where = {name: Location("daily" if at < often else "weekly") for at, name in enumerate(places(NODES))}
    return window(values), where


def test_device_types_are_looked_at_in_days_or_in_weeks() -> None:
    """Each as a whole, and none in both; of whom nothing is known, nothing is read anew."""
    told, where = mixed(6, 7)
    del where["gpu-11"]
    found = weeks.parted(told, stays(NODES * GPUS), where)
    assert found.device_types == {"weekly": 40}
    assert sorted([*found.seldom.tolist(), *found.often.stays.tolist()]) == list(range(NODES * GPUS))
    assert {int(each) // GPUS for each in found.seldom} == {6, 7, 8, 9, 10}
    assert found.often.middle.shape == (56, 90)


def test_what_is_told_often_stays_as_it_is() -> None:
    """Twice a week is enough; and so is one that has just begun, of which nobody knows better."""
    told, where = mixed(6, 3)
    assert weeks.parted(told, stays(NODES * GPUS), where).often is told
    values = noise(NODES)
    values[:, :-5] = np.nan
    assert weeks.parted(window(values), stays(NODES * GPUS), where).device_types == {}


def test_near_to_enough_it_stays_as_it_was() -> None:
    """Or it would be looked at by turns: a test that comes every fourth day and is missed now and then."""
    for every, fresh, stood in [(3, False, True), (4, False, True), (2, False, False), (7, True, True)]:
        told, where = mixed(6, every)
        found = [weeks.parted(told, stays(NODES * GPUS), where, before) for before in ((), ("weekly",))]
        assert [bool(each.device_types) for each in found] == [fresh, stood], every


def test_a_test_that_falls_from_daily_to_weekly_changes_once() -> None:
    """Night by night, over the months in which days of both are in sight."""
    every = np.ones(300, bool)
    every[100:] = np.arange(200) % 7 == 0
    before: frozenset[str] = frozenset()
    modes: list[bool] = []
    for night in range(90, 300):
        values = np.where(every[night - 90 : night], 60.0, np.nan) * np.ones((GPUS, 1))
        found = weeks.parted(window(values), stays(GPUS), places(1), before)
        before = frozenset(found.device_types)
        modes.append(bool(before))
    assert (modes[0], modes[-1], sum(one != other for one, other in pairwise(modes))) == (False, True, 1)


def test_both_are_one_answer() -> None:
    """With the series of both, and how many were looked at in weeks."""
    values = noise(NODES)
    values[5, -20:] += 8
    days, slow = looked(values), noise(NODES, days=WEEKS)
    slow[7, -20:] += 8
    both = days.beside(seen(slow), {"dgxb200": 96})
    assert {each.serial for each in both.found} == {"S5", "S7"}
    body = Drift((both,)).to_json()
    assert body["metrics"][0]["weekly"] == {"dgxb200": 96}
    assert body["sentences"][0] == (
        "192 series of 1 metric were looked at; 192 could be judged."
        " 96 of them are reported too rarely for days, and were analysed by week."
    )
    nobody = look(METRIC, window(np.empty((0, 90))), {}, {}, {})
    assert nobody.beside(nobody, {}).days is None
