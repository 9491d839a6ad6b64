"""A day is what was told of it, whoever tells it in how many pieces; counters grow, whatever is booted between."""

from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.reliability.trends import daily
from fleet_runner.core.reliability.trends.daily import NO_LAST, Last, Summary
from fleet_runner.core.reliability.trends.panel import DAY, Panel

TOLD = st.lists(st.tuples(st.integers(1, 4), st.floats(-100, 100, width=32)), min_size=1, max_size=40)

DAYS = 1_000 * DAY


def summed_up(told: list[tuple[int, float]]) -> Summary:
    """Sum numbers up."""
    return daily.summed_up(np.asarray([stay for stay, _ in told]), np.asarray([value for _, value in told]))


def panel(summary: Summary) -> Panel:
    """Return a summary as a day that is kept."""
    return Panel("watts", 1, summary.stays, summary.counts, summary.middle, summary.spread)


@given(TOLD)
def test_each_stay_has_its_median_and_the_deviation_from_it(told: list[tuple[int, float]]) -> None:
    found = summed_up(told)
    assert found.stays.tolist() == sorted({stay for stay, _ in told})
    for row, stay in enumerate(found.stays):
        mine = [value for each, value in told if each == stay]
        usual = median(mine)
        assert found.counts[row] == len(mine)
        assert found.middle[row] == pytest.approx(usual, abs=1e-4)
        assert found.spread[row] == pytest.approx(median(abs(value - usual) for value in mine), abs=1e-4)


@given(TOLD, TOLD)
def test_a_day_in_two_pieces_is_the_same_from_both_sides(
    one: list[tuple[int, float]], other: list[tuple[int, float]]
) -> None:
    first, second = summed_up(one), summed_up(other)
    forth = daily.merged(panel(first), second, counts=False)
    back = daily.merged(panel(second), first, counts=False)
    assert forth.stays.tolist() == back.stays.tolist() == sorted({stay for stay, _ in one + other})
    assert forth.count.sum() == len(one) + len(other)
    assert np.array_equal(forth.middle, back.middle)
    assert np.array_equal(forth.spread, back.spread)
    mine = dict(zip(first.stays.tolist(), zip(first.middle, first.spread, strict=True), strict=True))
    yours = dict(zip(second.stays.tolist(), zip(second.middle, second.spread, strict=True), strict=True))
    for row, stay in enumerate(forth.stays.tolist()):
        known = [each[stay] for each in (mine, yours) if stay in each]
        low, high = min(m - s for m, s in known), max(m + s for m, s in known)
        assert low - 1e-3 <= forth.middle[row] <= high + 1e-3


def test_one_strange_number_in_a_piece_of_its_own_moves_nothing() -> None:
    day = panel(summed_up([(1, 60.0), (1, 61.0), (1, 62.0), (1, 61.0)]))
    merged = daily.merged(day, summed_up([(1, 95.0)]), counts=False)
    assert merged.middle.tolist() == [61.0]
    assert merged.count.tolist() == [5]


def test_growth_of_a_day_is_added_up() -> None:
    day = panel(summed_up([(1, 3.0)]))
    more = Summary(np.asarray([1, 2], np.uint32), np.asarray([2, 1], np.uint32), np.asarray([4, 9], np.float32),
                   np.zeros(2, np.float32))  # fmt: skip
    merged = daily.merged(day, more, counts=True)
    assert (merged.count.tolist(), merged.middle.tolist(), merged.spread.tolist()) == ([3, 1], [7, 9], [0, 0])


def grown(told: list[tuple[int, float, float]], before: Last = NO_LAST) -> tuple[dict[int, list[float]], Last]:
    """Return how much each stay's counter grew on each day."""
    columns = [np.asarray(column) for column in zip(*told, strict=True)]
    found, last = daily.grown(columns[0], columns[1].astype(float), columns[2].astype(float), before)
    return {day: summary.middle.tolist() for day, summary in found.items()}, last


def test_a_counter_that_fell_counts_from_nought_and_the_first_look_says_nothing() -> None:
    found, last = grown([(1, DAYS, 100), (1, DAYS + 60, 103), (1, DAYS + 120, 2), (2, DAYS, 7)])
    assert found == {1_000: [5.0]}
    assert (last.stays.tolist(), last.values.tolist()) == ([1, 2], [2.0, 7.0])


def test_growth_over_a_gap_of_days_is_nobodys_and_what_is_old_news_changes_nothing() -> None:
    _, last = grown([(1, DAYS, 100), (3, DAYS, 1)])
    found, last = grown([(1, DAYS + 3 * DAY, 150), (1, DAYS + 3 * DAY + 9, 151), (3, DAYS - 5, 0)], last)
    assert found == {1_003: [1.0]}
    assert last.values.tolist() == [151.0, 1.0]


def test_what_arrives_late_is_not_counted_twice() -> None:
    _, last = grown([(1, DAYS, 100), (1, DAYS + 100, 110)])
    late = [(1, DAYS + 40, 104), (1, DAYS + 60, 106)]
    assert grown(late, last)[0] == {}
    found, last = grown([*late, (1, DAYS + 200, 111)], last)
    assert (found, last.values.tolist()) == ({1_000: [1.0]}, [111.0])


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 50)), min_size=1, max_size=30), st.integers(0, 30))
def test_counters_told_in_two_nights_grow_as_in_one(steps: list[tuple[int, int]], cut: int) -> None:
    totals = dict.fromkeys((1, 2, 3), 1_000)
    told: list[tuple[int, float, float]] = []
    for number, (stay, more) in enumerate(steps):
        totals[stay] += more
        told.append((stay, DAYS + 60.0 * number, float(totals[stay])))
    once, last = grown(told)
    added = np.zeros(4)
    before = NO_LAST
    for piece in (told[:cut], told[cut:]):
        if piece:
            columns = [np.asarray(column) for column in zip(*piece, strict=True)]
            found, before = daily.grown(columns[0], columns[1], columns[2], before)
            for summary in found.values():
                added[summary.stays] += summary.middle
    assert added.sum() == sum(map(sum, once.values()))
    assert before.values.tolist() == last.values.tolist()


def test_summaries_of_different_nodes_come_in_the_order_of_their_stays() -> None:
    both = daily.together([summed_up([(3, 1.0), (9, 2.0)]), summed_up([(5, 4.0)])])
    assert (both.stays.tolist(), both.middle.tolist()) == ([3, 5, 9], [1.0, 4.0, 2.0])
