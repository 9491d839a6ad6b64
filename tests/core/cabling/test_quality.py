"""The rules for links that are plugged right and still bad."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling.links import Port
from fleet_runner.core.cabling.quality import (
    DAY,
    HOUR,
    LONG_SECONDS,
    MOST_DOWNS,
    SHORT_SECONDS,
    Count,
    Downs,
    End,
    Grown,
    Kind,
    Known,
    Side,
    Window,
    allowed_symbols,
    disturbed,
    downs,
    flapping,
    grown,
    kept,
    key,
    lopsided,
    spoken,
    times,
    worn,
)

NOW = 1_000_000.0
NODE, LEAF = Port("gpu-01", "ib0"), Port("leaf-1", "1")
WINDOW = Window(NOW - 600.0, NOW)

counts = st.builds(Count, st.integers(0, 65_535), st.integers(0, 255))
knowns = st.builds(Known, st.integers(0, 65_535), st.integers(0, 65_535), st.integers(0, 255)).filter(
    lambda known: known.older <= known.newer
)
grew = st.builds(Grown, st.none() | st.integers(0, 70_000), st.none() | st.integers(0, 255))


def sides(near: Grown, far: Grown) -> tuple[Side, Side]:
    """Return a link between a server and its leaf."""
    return Side(NODE, End("a" * 16, 1), near), Side(LEAF, End("b" * 16, 1), far)


@given(counts, knowns, st.booleans())
def test_a_count_never_grows_backwards(now: Count, known: Known, soon: bool) -> None:
    """Nor by more than it shows."""
    told = grown(now, known, soon=soon)
    assert 0 <= (told.symbol or 0) <= now.symbol
    assert 0 <= (told.downed or 0) <= now.downed


def test_a_count_grows_by_the_difference() -> None:
    """Errors since a mark, the older one in a look soon after the newer; downs since the last look."""
    assert grown(Count(7, 3), Known(4, 5, 1)) == Grown(2, 2)
    assert grown(Count(7, 3), Known(4, 5, 1), soon=True) == Grown(3, 2)
    assert grown(Count(5, 1), Known(5, 5, 1)) == Grown(0, 0)


@pytest.mark.parametrize("now", [Count(4, 9), Count(9, 0)])
def test_a_count_that_went_backwards_says_nothing_of_its_port(now: Count) -> None:
    """It was cleared, or its device restarted: of the other counter, too, nobody knows since when it counts."""
    assert grown(now, Known(1, 5, 1), soon=True) == Grown(0, 0)


def test_a_count_of_which_nothing_was_known_says_nothing() -> None:
    assert grown(Count(5, 1), None) == Grown(None, None)


def test_a_full_counter_tells_the_least_that_it_may_have_counted_and_then_nothing() -> None:
    assert grown(Count(65_535, 1), Known(0, 65_000, 0)) == Grown(535, 1, full=True)
    assert grown(Count(65_535, 1), Known(0, 65_535, 0)) == Grown(None, 1, full=True)
    assert grown(Count(0, 255), Known(0, 0, 250)) == Grown(0, None)


def test_the_rules_own_windows_hold_as_they_stand() -> None:
    assert allowed_symbols(SHORT_SECONDS) == 2.88
    assert allowed_symbols(LONG_SECONDS) == 3.0


@given(st.floats(1.0, DAY), st.floats(1.0, DAY))
def test_a_longer_window_never_allows_fewer_errors(one: float, other: float) -> None:
    assert allowed_symbols(min(one, other)) <= allowed_symbols(max(one, other))


def test_in_four_hours_as_many_errors_are_allowed_as_the_rate_of_the_rule_makes() -> None:
    assert allowed_symbols(4 * HOUR) == pytest.approx(3.0 * 240 / 125)


@given(grew, grew)
def test_what_only_one_end_saw_is_no_link_down(near: Grown, far: Grown) -> None:
    found = downs(near, far)
    assert found == downs(far, near)
    assert found == 0 or (near.downed and far.downed)


def test_a_link_whose_ends_disagree_is_told_apart_from_one_that_nobody_knows() -> None:
    assert lopsided(Grown(0, 2), Grown(0, 0))
    assert not lopsided(Grown(0, 2), Grown(0, 1))
    assert not lopsided(Grown(0, 0), Grown(0, 0))
    assert not lopsided(Grown(0, 2), Grown(0, None))


@given(st.lists(st.builds(Downs, st.floats(NOW - 2 * DAY, NOW), st.just(NOW), st.integers(1, 9)), max_size=40))
def test_what_is_remembered_is_young_and_bounded(known: list[Downs]) -> None:
    remembered = kept(known, WINDOW, 1)
    assert len(remembered) <= MOST_DOWNS
    assert remembered[-1] == Downs(WINDOW.since, WINDOW.until, 1)
    assert all(each.since >= NOW - DAY for each in remembered)


def test_a_quiet_window_adds_nothing_to_the_memory() -> None:
    assert kept((), WINDOW, 0) == ()


@pytest.mark.parametrize(
    ("known", "says"),
    [
        ([Downs(NOW - 600, NOW, 3)], "went down 3 times in 60 min, expected fewer than 3"),
        ([Downs(NOW - 600, NOW, 2)], ""),
        ([Downs(NOW - 4 * HOUR, NOW, 5)], ""),
        ([Downs(NOW - 4 * HOUR, NOW, 6)], "went down 6 times in 24 h, expected fewer than 6"),
        ([Downs(NOW - HOUR * at, NOW - HOUR * (at - 1), 1) for at in range(2, 8)], "went down 6 times in 24 h"),
        ([Downs(NOW - DAY - 600, NOW - DAY + 600, 9)], ""),
        ([], ""),
    ],
)
def test_a_link_flaps_three_times_an_hour_or_six_times_a_day(known: list[Downs], says: str) -> None:
    """A look back over four hours does not say in which of them it was."""
    assert flapping(known, NOW).startswith(says)
    assert bool(flapping(known, NOW)) is bool(says)


@given(grew, grew)
def test_a_link_is_judged_the_same_from_either_end(near: Grown, far: Grown) -> None:
    one, other = worn(sides(near, far), (), WINDOW), worn(sides(near, far)[::-1], (), WINDOW)
    assert (one is None) is (other is None)
    if one is not None and other is not None:
        assert one.kinds == other.kinds


def test_symbol_errors_are_told_at_the_end_that_counted_more() -> None:
    found = worn(sides(Grown(4, 0), Grown(9, 0)), (), WINDOW)
    assert found is not None
    assert (found.kinds, found.first.port) == ((Kind.SYMBOLS,), LEAF)
    assert (
        found.message
        == "The link leaf-1 1 to gpu-01 ib0 counted 9 symbol errors at leaf-1 1 in 10 min, allowed 2.88."
    )


def test_a_full_counter_is_told_as_at_least_so_many() -> None:
    found = worn(sides(Grown(535, 0, full=True), Grown(0, 0)), (), WINDOW)
    assert found is not None
    assert "counted at least 535 symbol errors at gpu-01 ib0" in found.message


def test_a_link_that_went_down_is_bad_only_if_it_flaps() -> None:
    assert worn(sides(Grown(0, 2), Grown(0, 2)), kept((), WINDOW, 2), WINDOW) is None
    often = worn(sides(Grown(50, 3), Grown(0, 4)), kept((), WINDOW, 3), WINDOW)
    assert often is not None
    assert often.kinds == (Kind.SYMBOLS, Kind.FLAPS)


def test_how_often_is_told_in_words() -> None:
    assert (times(1), times(2)) == ("once", "2 times")


def test_a_link_that_went_down_often_today_is_bad_even_in_a_quiet_window() -> None:
    """Its ticket stays open until a day has passed without."""
    found = worn(sides(Grown(0, 0), Grown(0, 0)), (Downs(NOW - 5 * HOUR, NOW - HOUR, 6),), WINDOW)
    assert found is not None
    assert found.kinds == (Kind.FLAPS,)


def test_a_quiet_link_is_good() -> None:
    assert worn(sides(Grown(2, 0), Grown(None, 3)), (), WINDOW) is None


def test_a_links_key_is_the_same_from_either_end_and_another_links_is_not() -> None:
    assert key((NODE, LEAF)) == key((LEAF, NODE))
    assert key((NODE, LEAF)).startswith("cabling/quality/")
    assert key((NODE, LEAF)) != key((NODE, Port("leaf-1", "2")))


@pytest.mark.parametrize(
    ("until", "left_out"),
    [({}, False), ({"gpu-01": NOW - 601}, False), ({"gpu-01": NOW - 599}, True), ({"leaf-1": NOW + 60}, True)],
)
def test_a_link_is_disturbed_if_work_on_either_device_reached_into_the_window(
    until: dict[str, float], left_out: bool
) -> None:
    assert disturbed((NODE, LEAF), until, WINDOW.since) is left_out


def test_a_length_of_time_is_told_in_minutes_and_hours() -> None:
    assert (spoken(600), spoken(HOUR), spoken(4.1 * HOUR), WINDOW.words) == ("10 min", "60 min", "4.1 h", "10 min")
