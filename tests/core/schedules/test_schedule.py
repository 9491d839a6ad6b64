"""How moments are spread over nodes and fleets, and when a node's turn comes."""

import math
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.schedules.known import KNOWN, parsed
from fleet_runner.core.schedules.schedule import Missed, schedule
from fleet_runner.core.schedules.sweep import CATCHING_UP, Sweep, SweepHistory

NOW = 1_700_000_000.0
PASSIVE = Sweep(parsed("passive", KNOWN["passive"].default))
CABLING = Sweep(parsed("cabling", "0 */4 * * *"))

clocks = st.floats(0, 4e9)
names = st.text(min_size=1, max_size=20)
texts = st.builds(
    "{}; {}; jitter {}".format,
    st.sampled_from(["every 1min", "every 4h", "*/7 * * * *", "17 3 * * *"]),
    st.sampled_from(["UTC", "Europe/Berlin"]),
    st.sampled_from(["0", "1s", "59s", "1min"]),
)


@given(texts, names, clocks)
def test_everybody_has_moments_of_their_own_and_keeps_them(text: str, key: str, at: float) -> None:
    """No moment is its own next one, however the clock's fractions are rounded."""
    found = schedule("test", text)
    after = found.next(key, at)
    assert after > at
    assert found.next(key, after) > after
    assert found.next(key, after - 0.5) == after
    late = after - found.times.after(after - found.jitter - 0.5)
    assert -0.5 <= late <= found.jitter + 0.5


def test_ten_thousand_nodes_do_not_start_at_one_second() -> None:
    """A passive sweep, every five minutes, is spread over all of them."""
    begun = Counter(int(PASSIVE.due(f"gpu-{number:05}", NOW, NOW)) for number in range(10_000))
    assert len(begun) == 300
    assert max(begun.values()) < 80


def test_a_setting_says_moments_zone_jitter_and_rule() -> None:
    """In one line; what it does not say is as it mostly should be."""
    full = schedule("retention", "17  3 * * * ; Skip; Europe/Berlin; jitter 1h")
    assert (full.text, full.zone, full.jitter, full.missed) == ("17 3 * * *", "Europe/Berlin", 3600.0, Missed.SKIP)
    assert full.plan == "17 3 * * *; Europe/Berlin; jitter 3600 s"
    plain = schedule("retention", "17 3 * * *")
    assert (plain.zone, plain.jitter, plain.missed) == ("UTC", 0.0, Missed.CATCH_UP)
    spread = [parsed("cabling", text).jitter for text in ("17 3 * * *", "every 10s", "every 10s; jitter 0")]
    assert spread == [14_400.0, 10.0, 0.0]
    assert parsed("active", "never").jitter == 0.0


@pytest.mark.parametrize("name", KNOWN)
def test_every_schedule_has_a_default_that_can_be_kept(name: str) -> None:
    """And says what it does."""
    assert not parsed(name, KNOWN[name].default).is_off
    assert KNOWN[name].meaning


@pytest.mark.parametrize(("text", "why"), [
    ("every 5min; jitter 10min", "its jitter of 600 s is longer than the 300 s between two of its times"),
    ("every 5min; jitter much", "'much' is no span of time"),
    ("17 3 * * *; jump", "'jump' is no time zone; expected one such as UTC or Europe/Berlin"),
    ("", "it has 0 fields, not 5"),
    ("sometimes", "it has 1 fields, not 5"),
    ("never", "it must not be never; for a while, `fleet-runner schedules pause passive` stops it"),
])  # fmt: skip
def test_a_schedule_that_cannot_be_kept_is_refused(text: str, why: str) -> None:
    """Before anything runs by it."""
    with pytest.raises(ValueError, match=r"expected|shorten|stops it") as refused:
        parsed("passive", text)
    assert why in str(refused.value)


@given(names, st.floats(1e9, 2e9), st.floats(0, 1e5))
def test_a_nodes_turn_comes_once_in_each_pause(name: str, ended: float, later: float) -> None:
    """In order, and at its own moments: late is late, and no other time comes of that."""
    due = PASSIVE.due(name, ended, ended)
    assert ended < due <= ended + 300.0
    assert PASSIVE.due(name, due + 1.0, due + 1.0) == due + 300.0
    assert PASSIVE.due(name, ended, ended + later) == due


def test_what_is_off_or_paused_has_no_turn() -> None:
    """Not even for one who was never looked at."""
    for off in (
        Sweep(parsed("active", "never")),
        replace(PASSIVE, standing=SweepHistory(paused="paused by kim: cables")),
    ):
        assert off.is_off
        assert off.due("gpu-01", 0.0, NOW) == math.inf


def test_a_turn_that_ended_in_the_future_is_not_waited_for() -> None:
    """A clock that was a year ahead costs no year; one that was set back a little costs no second turn."""
    assert PASSIVE.due("gpu-01", NOW + 3e7, NOW) <= NOW
    assert PASSIVE.due("gpu-01", NOW + 200.0, NOW) > NOW + 200.0


def dues(sweep: Sweep, ended: float, now: float) -> list[float]:
    """When the turns of a thousand nodes come."""
    return [sweep.due(f"gpu-{number}", ended, now) for number in range(1000)]


def test_after_an_outage_nodes_are_caught_up_with_one_by_one() -> None:
    """Within ten minutes of the runners' return, or their own next moment, which is sooner; never all at once."""
    back = replace(CABLING, standing=SweepHistory(awake_since=NOW))
    caught_up = dues(back, NOW - 50_000.0, NOW)
    assert all(NOW <= at <= NOW + CATCHING_UP for at in caught_up)
    assert max(Counter(map(int, caught_up)).values()) < 15
    assert dues(back, NOW - 1.0, NOW) == dues(CABLING, NOW - 1.0, NOW)


def test_after_an_outage_the_next_moment_is_waited_for_where_the_rule_says_so() -> None:
    """Each node's own."""
    rule = replace(CABLING.schedule, missed=Missed.SKIP)
    skipping = Sweep(rule, SweepHistory(awake_since=NOW))
    assert dues(skipping, NOW - 50_000.0, NOW) == [rule.next(f"gpu-{number}", NOW) for number in range(1000)]


def test_what_a_person_asks_for_comes_soon_and_once() -> None:
    """For each node whose last turn ended before."""
    asked = replace(CABLING, standing=SweepHistory(asked_at=NOW))
    soon = dues(asked, NOW - 60.0, NOW)
    assert all(at <= NOW + CATCHING_UP for at in soon)
    assert max(Counter(map(int, soon)).values()) < 15
    assert dues(asked, NOW + 1.0, NOW + 1.0) == dues(CABLING, NOW + 1.0, NOW + 1.0)
