"""What is kept of a day comes back as it was told, to the digits that mean something."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.reliability.trends import packing, windows
from fleet_runner.core.reliability.trends.daily import Last
from fleet_runner.core.reliability.trends.panel import Panel

ROWS = st.dictionaries(
    st.integers(1, 2**32 - 1),
    st.tuples(st.integers(1, 10_000), st.floats(-(2.0**40), 2.0**40, width=32), st.floats(0, 2.0**40, width=32)),
    max_size=30,
)


def panel(rows: dict[int, tuple[int, float, float]], day: int = 20_000) -> Panel:
    """Return a day of a metric."""
    stays = np.asarray(sorted(rows), np.uint32)
    count, middle, spread = (np.asarray([rows[stay][at] for stay in sorted(rows)]) for at in range(3))
    return Panel("watts", day, stays, count.astype(np.uint32), middle.astype(np.float32), spread.astype(np.float32))


@given(ROWS)
def test_a_panel_comes_back(rows: dict[int, tuple[int, float, float]]) -> None:
    told = panel(rows)
    found = packing.decode("watts", 20_000, len(rows), packing.encode(told))
    assert (found.metric, found.day) == ("watts", 20_000)
    assert np.array_equal(found.stays, told.stays)
    assert np.array_equal(found.count, told.count)
    assert np.allclose(found.middle, told.middle, rtol=1e-5, atol=1e-37)
    assert np.allclose(found.spread, told.spread, rtol=3e-3, atol=1e-37)


def test_whole_numbers_come_back_as_they_are() -> None:
    rows = {number: (1, float(number), 0.0) for number in range(1, 131_072, 13)}
    found = packing.decode("watts", 20_000, len(rows), packing.encode(panel(rows)))
    assert np.array_equal(found.middle, np.asarray(list(rows), np.float32))


def test_the_largest_numbers_do_not_become_endless() -> None:
    most = float(np.finfo(np.float32).max)
    found = packing.decode("watts", 20_000, 1, packing.encode(panel({1: (1, most, most)})))
    assert np.isfinite(found.middle).all()
    assert np.isfinite(found.spread).all()


@given(st.dictionaries(st.integers(1, 2**32 - 1), st.tuples(st.floats(0, 1e15), st.floats(0, 1e10)), max_size=20))
def test_counters_come_back_to_the_last_bit(rows: dict[int, tuple[float, float]]) -> None:
    values, at = (np.asarray([rows[stay][which] for stay in sorted(rows)], float) for which in (0, 1))
    last = Last(np.asarray(sorted(rows), np.uint32), values, at)
    found = packing.decode_last(len(rows), packing.encode_last(last))
    assert np.array_equal(found.stays, last.stays)
    assert np.array_equal(found.values, last.values)
    assert np.array_equal(found.at, last.at)


def test_days_lie_beside_each_other_and_others_are_left_out() -> None:
    days = [panel({1: (2, 5.0, 1.0)}, 10), panel({2: (3, 7.0, 0.0)}, 12), panel({9: (1, 1.0, 0.0)}, 99)]
    window = windows.over("watts", range(10, 13), days)
    assert (window.stays.tolist(), window.days.tolist()) == ([1, 2], [10, 11, 12])
    assert window.count.tolist() == [[2, 0, 0], [0, 0, 3]]
    assert np.isnan(window.middle).tolist() == [[False, True, True], [True, True, False]]
    assert windows.over("watts", range(10, 13), []).middle.shape == (0, 3)
