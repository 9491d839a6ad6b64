"""What nobody looked at does not count."""

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.firmware.unobserved import Gap, gaps, unwatched

ALWAYS = float("-inf")
TIMES = st.lists(st.integers(0, 1000).map(float), max_size=6).map(sorted)


def test_only_what_is_longer_than_it_may_be_counts() -> None:
    found = gaps([0.0, 10.0, 100.0], 150.0, 10.0)
    assert found == (Gap(100.0, 80.0), Gap(150.0, 40.0))
    assert [unwatched(found, since) for since in (0.0, 99.0, 100.0, 150.0)] == [120.0, 41.0, 40.0, 0.0]
    assert gaps([0.0], 5.0, 10.0) == gaps([], 1e9, 10.0) == ()


@given(TIMES, st.integers(0, 1000), st.integers(1, 100), st.integers(0, 10_000), st.data())
def test_setting_the_clock_forward_adds_no_more_than_the_longest_gap_to_what_was_watched(
    looks: list[float], more: int, longest: int, ahead: int, data: st.DataObject
) -> None:
    """Whenever it was set: before the last look, or after it."""
    now = (looks[-1] if looks else 0.0) + more
    at = data.draw(st.integers(0, len(looks)))
    moved = [*looks[:at], *(look + ahead for look in looks[at:])]

    def watched(these: list[float], until: float) -> float:
        return until - these[0] - unwatched(gaps(these, until, longest), ALWAYS) if these else 0.0

    assert 0.0 <= watched(moved, now + ahead) <= watched(looks, now) + longest


def test_a_clock_that_was_set_back_takes_nothing_away() -> None:
    assert gaps([100.0, 0.0, 5.0], 7.0, 10.0) == ()
