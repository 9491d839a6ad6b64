"""Estimates against the truth: fleets of known law, lives that are partly seen, and numbers of other tools."""

import math

import numpy as np
import pytest
from scipy import stats

from fleet_runner.core.reliability.lifetimes import rates, survival, weibull
from fleet_runner.core.reliability.lifetimes.rates import Between
from fleet_runner.core.reliability.lifetimes.survival import Sample

FLEETS = 120
"""That are drawn; a 95 % interval then misses between 0 and 14 of them but once in 1,000 times."""


def fleet(random: np.random.Generator, size: int, shape: float, scale: float = 100.0) -> Sample:
    """Draw lives of Weibull's law: half of them first seen at a greater age, all seen for a while only."""
    lives = scale * random.weibull(shape, size * 4)
    entry = np.where(random.random(size * 4) < 0.5, random.uniform(0, scale / 2, size * 4), 0.0)
    lives, entry = (each[lives > entry][:size] for each in (lives, entry))
    leave = entry + random.uniform(0.1, 0.8, size) * scale
    return Sample(entry, np.minimum(lives, leave), lives <= leave, np.ones(size))


def holds(between: Between | None, truth: float) -> bool:
    """Whether an interval holds the truth."""
    assert between is not None
    return (between.low or 0.0) <= truth <= (math.inf if between.high is None else between.high)


@pytest.mark.parametrize("shape", [0.7, 1.0, 2.0])
def test_intervals_hold_the_truth_as_often_as_they_say(shape: float) -> None:
    """The shape, the age of the first tenth, the share that lives, and the ratio of two cohorts."""
    random = np.random.default_rng(11)
    missed = dict.fromkeys(("shape", "tenth", "share", "ratio", "cohorts"), 0)
    for _ in range(FLEETS):
        mine, twin = fleet(random, 250, shape), fleet(random, 250, shape)
        worse = fleet(random, 250, shape, 100.0 * 2 ** (-1 / shape))
        law, curve, tested = weibull.fit(mine), survival.curve(mine), survival.logrank([mine, twin])
        assert law is not None
        assert curve is not None
        assert tested is not None
        missed["shape"] += not holds(law.shape, shape)
        missed["tenth"] += not holds(law.tenth, 100 * (-math.log(0.9)) ** (1 / shape))
        lived = math.exp(-((50 / 100) ** shape) + (curve.ages[0] / 100) ** shape)
        missed["share"] += not holds(curve.at(50.0), lived)
        missed["ratio"] += not holds(survival.hazard_ratio(worse, mine), 2.0)
        missed["cohorts"] += tested[1] < 0.05
    assert all(count <= 14 for count in missed.values()), missed


def test_rates_hold_the_truth_where_some_nodes_are_worse() -> None:
    """By chance alone, and where lemons have most of it; shares and times to return likewise."""
    random = np.random.default_rng(5)
    missed = dict.fromkeys(("chance", "lemons", "share", "back"), 0)
    for _ in range(FLEETS):
        times = random.uniform(50, 200, 100)
        for name, each in (("chance", np.full(100, 0.02)), ("lemons", random.gamma(1.0, 0.02, 100))):
            found = rates.rate(list(random.poisson(each * times)), list(times))
            missed[name] += not holds(found.each if found else None, 0.02)
        up, down = random.gamma(2, 50, 60), random.gamma(0.5, 4, 60)
        missed["share"] += not holds(rates.share(list(up), list(up + down)), 100 / 102)
        seen, left = random.exponential(6.0, 60), random.uniform(0, 30, 60)
        missed["back"] += not holds(rates.per_end(list(np.minimum(seen, left)), list(seen <= left)), 6.0)
    assert all(count <= 16 for count in missed.values()), missed


def test_the_curve_is_scipys_where_all_are_seen_from_the_first_day() -> None:
    """Kaplan-Meier and the log-rank test, without truncation."""
    random = np.random.default_rng(3)
    lives, leave = random.weibull(1.5, 200), random.uniform(0.2, 2, 200)
    mine = Sample(np.zeros(200), np.minimum(lives, leave), lives <= leave, np.ones(200))
    theirs = stats.ecdf(stats.CensoredData(mine.exit[mine.failed], right=mine.exit[~mine.failed])).sf
    curve = survival.curve(mine)
    assert curve is not None
    for age in (0.1, 0.4, 0.8):
        found = curve.at(age)
        interval = theirs.confidence_interval(method="log-log")
        assert found is not None
        expected = [float(each.evaluate(age)) for each in (theirs, interval.low, interval.high)]
        assert [found.value, found.low, found.high] == pytest.approx(expected)
    halves = [Sample(*(each[part] for each in (mine.entry, mine.exit, mine.failed, mine.weight)))
              for part in (slice(100), slice(100, None))]  # fmt: skip
    tested = survival.logrank(halves)
    given = [stats.CensoredData(each.exit[each.failed], right=each.exit[~each.failed]) for each in halves]
    assert tested is not None
    assert tested[1] == pytest.approx(stats.logrank(*given).pvalue)


def test_counts_without_scatter_have_garwoods_interval() -> None:
    """Five events in ten days of one node; and none: then there is no lower end."""
    five, none = rates.rate([5], [10.0]), rates.rate([0, 0], [5.0, 5.0])
    assert five is not None
    assert none is not None
    assert (five.each.low, five.each.high) == pytest.approx((0.16235, 1.16683), abs=1e-4)
    assert five.between.value == 2.0
    assert (none.each.value, none.each.low) == (0.0, 0.0)
    assert none.each.high == pytest.approx(0.36889, abs=1e-4)
    assert none.between.high is None
    assert none.between.value == math.inf


def test_the_ratio_of_two_rates_needs_events_of_both() -> None:
    """Ten in 100 days against ten in 200: twice as often, give or take."""
    one, other, none = (rates.rate([count], [time]) for count, time in ((10, 100.0), (10, 200.0), (0, 10.0)))
    assert one is not None
    assert other is not None
    assert none is not None
    found = rates.ratio(one, other)
    assert found is not None
    assert found.value == pytest.approx(2.0)
    assert holds(found, 0.8)
    assert not holds(found, 6.0)
    assert rates.ratio(one, none) is None


def test_too_little_gives_nothing() -> None:
    """No time, no ends, one node, too few failures, no two at one age."""
    assert rates.rate([], []) is None
    assert rates.per_end([3.0, 4.0], [True, False]) is None
    assert rates.share([], []) is None
    assert rates.share([5.0], [10.0]) == Between(0.5, None, None)
    few = survival.sample([(0.0, 1.0, True)] * 3)
    assert survival.curve(few) is None
    assert weibull.fit(few) is None
    assert survival.hazard_ratio(few, survival.sample([(0.0, 1.0, False)])) is None
    apart = survival.sample([(0.0, 1.0, True)] * 12), survival.sample([(5.0, 6.0, True)] * 12)
    assert survival.logrank(apart) is None
    assert survival.hazard_ratio(*apart) is None
    assert survival.sample([(2.0, 2.0, True)]).failures == 0


def test_no_law_is_told_where_all_fail_at_one_age() -> None:
    """The likelihood then grows without end."""
    assert weibull.fit(survival.sample([(0.0, 10.0, True)] * 30)) is None


def test_the_age_of_the_tenth_is_not_told_beyond_what_was_seen() -> None:
    """Ten of a thousand failed: no more than a hundredth of them is known of."""
    lives = [(0.0, 10.0 * (at + 1), True) for at in range(10)] + [(0.0, 100.0, False)] * 990
    found = weibull.fit(survival.sample(lives))
    assert found is not None
    assert found.tenth is None


def test_a_curve_shows_the_ages_at_which_enough_are_watched() -> None:
    """From the tenth that is watched on, up to the age at which the tenth last leaves; flat in between."""
    lives = [(5.0, 20.0, False)] * 9 + [(6.0, 20.0, False)] * 9 + [(6.0, 10.0, True)] * 9 + [(6.0, 30.0, False)]
    curve = survival.curve(survival.sample(lives))
    assert curve is not None
    assert list(curve.ages) == [6.0, 10.0, 20.0]
    assert [round(float(each), 3) for each in curve.share] == [1.0, 0.679, 0.679]
    assert curve.at(5.0) is None
    assert curve.half() is None


def test_half_of_them_have_failed_by_the_median() -> None:
    """And where all fail at once nothing is left, and the curve ends there."""
    curve = survival.curve(survival.sample([(0.0, float(at), True) for at in range(1, 41)]))
    assert curve is not None
    half = curve.half()
    assert half is not None
    assert half.value == 20.0
    assert holds(half, 22.0)
    gone = survival.curve(survival.sample([(0.0, 3.0, True)] * 12))
    assert gone is not None
    assert (list(gone.share), list(gone.low), list(gone.high)) == ([1.0, 0.0], [1.0, 0.0], [1.0, 1.0])


def test_one_failure_between_two_stretches_takes_no_curve_to_nought() -> None:
    """The stretch in which most failed is shown: of a few between two stretches one failed, and says nothing."""
    early, lone = [(0.0, 100.0, False)] * 12, [(0.0, 150.0, True)]
    late = [(200.0, 400.0 + at, at % 4 == 0) for at in range(20)]
    curve = survival.curve(survival.sample([*early, *lone, *late]))
    assert curve is not None
    assert (curve.ages[0], curve.ages[-1]) == (200.0, 410.0)
    assert curve.share[-1] == pytest.approx(19 / 20 * 15 / 16 * 11 / 12)
