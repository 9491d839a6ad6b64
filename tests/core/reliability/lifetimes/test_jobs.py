"""What jobs have to expect."""

from typing import Any

import pytest
from scipy import stats

from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.reliability.lifetimes.jobs import expect
from fleet_runner.core.reliability.lifetimes.saying import amount, days, percent


def told(rate: float | None, *, dispersion: float = 1.0, seen: int = 10_000_000) -> dict[str, Any]:
    """What the analysis keeps."""
    low, high = (None, None) if rate is None else (rate / 2, rate * 2)
    return {"rate_per_node_day": rate, "rate_per_node_day_low": low, "rate_per_node_day_high": high,
            "dispersion": dispersion, "interruptions": seen, "node_days": 60.0,
            "sentence": "Not enough data."}  # fmt: skip


def test_a_job_of_many_nodes_is_interrupted_by_chance() -> None:
    """With a rate that is known well, and nodes that are alike, it is Poisson's law."""
    found = expect(told(0.01), 100, 48.0)
    law = stats.poisson(2.0)
    assert (found["expected"], found["expected_low"], found["expected_high"]) == pytest.approx((2.0, 1.0, 4.0))
    assert (found["likely_low"], found["likely_high"]) == (law.ppf(0.05), law.ppf(0.95))
    assert found["none_chance"] == pytest.approx(law.pmf(0), rel=1e-4)
    assert found["sentence"] == (
        "A job of 100 nodes over 48 h is interrupted 2 times on average (1 to 4), nine of ten such jobs 0 to 5 times;"
        " 13.5 % of them never."
    )


def test_what_is_less_sure_spreads_wider() -> None:
    """Lemons, and a rate from few interruptions: the negative binomial law with that variance."""
    found = expect(told(0.01, dispersion=2.0, seen=8), 100, 48.0)
    variance = 2.0 * 2.0 + 4.0 * 2.0 / 8
    law = stats.nbinom(4.0 / (variance - 2.0), 2.0 / variance)
    assert (found["likely_low"], found["likely_high"]) == (law.ppf(0.05), law.ppf(0.95))
    assert found["none_chance"] == pytest.approx(law.pmf(0))


def test_great_and_empty_jobs_are_told_too() -> None:
    """A month of a great fleet, and nothing known."""
    great = expect(told(0.1, seen=1_000_000), 10_000, 24.0 * 30)
    assert great["likely_low"] < 30_000 < great["likely_high"]
    assert great["none_chance"] == 0.0
    many = expect(told(0.01), 1000, 48.0)
    assert (many["likely_low"], many["likely_high"]) == (stats.poisson(20.0).ppf(0.05), stats.poisson(20.0).ppf(0.95))
    assert expect(told(None), 4, 8.0)["sentence"] == "A job of 4 nodes: Not enough data."


def test_none_seen_is_not_none_possible() -> None:
    """What was never seen in 60 node days may well befall a job of 60: gamma's law of half an interruption."""
    known = told(0.0, seen=0) | {"rate_per_node_day_high": 0.0615}
    found = expect(known, 60, 24.0)
    law = stats.nbinom(0.5, 0.5)
    assert found["expected"] == 0.0
    assert (found["likely_low"], found["likely_high"]) == (law.ppf(0.05), law.ppf(0.95))
    assert found["none_chance"] == pytest.approx(law.pmf(0))
    assert found["sentence"] == (
        "A job of 60 nodes over 24 h: in 60 node days none was interrupted, so up to 3.69 times on average, nine of"
        " ten such jobs 0 to 2 times; 70.7 % of them never."
    )
    assert expect(known, 512, 720.0)["likely_high"] > 100


@pytest.mark.parametrize(("nodes", "hours"), [(0, 1.0), (1, 0.0), (10**9, 1.0), (1, float("nan")), (1, 1e9)])
def test_a_job_that_cannot_be_is_refused(nodes: int, hours: float) -> None:
    """With what is expected."""
    with pytest.raises(FleetError, match="expected 1 to 1,000,000 nodes"):
        expect(told(0.01), nodes, hours)


def test_numbers_are_said_as_people_say_them() -> None:
    """With three digits, and units that fit."""
    assert [amount(each) for each in (12_345.0, 999.7, 123.4, 1.234, 0.01234)] == [
        "12,300", "1,000", "123", "1.23", "0.0123",
    ]  # fmt: skip
    assert [percent(each) for each in (0.5, 1.0, 0.99966, 0.9999999, 0.00037, 1e-9, 0.0)] == [
        "50.0 %",
        "100.0 %",
        "99.966 %",
        "100.0000 %",
        "0.037 %",
        "0.0000 %",
        "0.0 %",
    ]
    assert [days(each) for each in (1000.0, 30.0, 0.5)] == ["2.74 years", "30 d", "12 h"]
