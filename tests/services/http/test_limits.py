"""One address may ask so much and no more, whoever else asks, and memory stays bounded."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.services.http.limits import Limits, network
from fleet_runner.services.http.recent import Recent

ASKS = st.lists(st.tuples(st.sampled_from(["a", "b", "fd00::1", "fd00::2"]), st.floats(0.0, 5.0)), max_size=60)


@given(ASKS, st.integers(1, 5), st.floats(0.5, 5.0))
def test_nobody_gets_more_than_the_burst_and_the_rate_allow(
    asks: list[tuple[str, float]], burst: int, per_second: float
) -> None:
    limits, now = Limits(per_second, float(burst)), 0.0
    given_to: dict[str, list[float]] = {}
    for source, pause in asks:
        now += pause
        if limits.take(source, now):
            given_to.setdefault(source.partition("::")[0], []).append(now)
    for moments in given_to.values():
        for first in range(len(moments)):
            for last in range(first, len(moments)):
                allowed = burst + per_second * (moments[last] - moments[first])
                assert last - first + 1 <= allowed + 1e-6


@given(ASKS)
def test_who_asks_slower_than_the_rate_is_never_refused(asks: list[tuple[str, float]]) -> None:
    limits = Limits(1.0, 2.0)
    for at, (source, _) in enumerate(asks):
        assert limits.take(source, at * 1.001)


def test_a_flood_of_addresses_is_forgotten_before_it_fills_memory() -> None:
    buckets = Recent[str, int](10.0, 100)
    for at in range(10_000):
        buckets.put(str(at), at, 1.0)
        assert len(buckets) <= 200
    assert buckets.get("9999") == 9999
    assert buckets.get("1") is None


def test_what_was_not_put_for_long_is_forgotten() -> None:
    recent = Recent[str, bool](10.0, 100)
    recent.put("old", value=True, now=0.0)
    recent.put("young", value=True, now=11.0)
    assert recent.get("old")
    recent.put("younger", value=True, now=22.0)
    assert recent.get("old") is None
    assert recent.get("young")


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("fd00:1:2:3:4:5:6:7", "fd00:1:2:3"),
        ("fd00::1", "fd00:0:0:0"),
        ("::1", "0:0:0:0"),
        ("fd00:1:2:3::", "fd00:1:2:3"),
        ("fe80::1%eth0", "fe80:0:0:0"),
        ("1:2::3:4:5:6:7", "1:2:0:3"),
    ],
)
def test_all_addresses_of_a_network_count_as_one(address: str, expected: str) -> None:
    assert network(address) == expected
