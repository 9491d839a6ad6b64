"""A fleet's job by the clock: each moment once, whatever clocks and runners do."""

import math
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.schedules.firing import GRACE, WRONG, Row, step, taken
from fleet_runner.core.schedules.schedule import Missed, Schedule, schedule

NOW = 1_700_000_000.0
LEASE = 30.0
HOURLY = schedule("retention", "17 * * * *; jitter 10min")
SKIPPING = schedule("retention", "17 * * * *; jitter 10min; skip")
FRESH = Row("retention")


def planned(found: Schedule = HOURLY, now: float = NOW) -> Row:
    """A row that knows its next moment."""
    return step(FRESH, found, "fleet", now)[0]


def fired(row: Row, now: float, found: Schedule = HOURLY) -> Row:
    """A row whose firing began."""
    after, fires = step(row, found, "fleet", now)
    assert fires
    return taken(after, "a", now, LEASE)


def over(row: Row, now: float) -> Row:
    """A row whose firing ended."""
    return replace(row, ended_at=now, outcome="done")


def test_a_new_schedule_waits_for_its_first_moment() -> None:
    """It is written down, and nothing begins."""
    row, fires = step(FRESH, HOURLY, "fleet", NOW)
    assert not fires
    assert row.due_at == HOURLY.next("fleet", NOW) > NOW
    assert step(row, HOURLY, "fleet", row.due_at - 0.1) == (row, False)
    assert row.is_running is False


def test_a_moment_begins_once_and_the_next_is_known_at_once() -> None:
    """For whoever looks after it."""
    due = planned().due_at
    row = fired(planned(), due)
    assert (row.firing, row.token, row.runner, row.until) == (due, 1, "a", due + LEASE)
    assert row.due_at == HOURLY.next("fleet", due)
    assert step(row, HOURLY, "fleet", due + 1) == (row, False)
    assert step(over(row, due + 2), HOURLY, "fleet", due + 3) == (over(row, due + 2), False)


def test_the_next_one_waits_while_one_runs() -> None:
    """However long that takes, as long as its lease is renewed; then one is made up for."""
    row = fired(planned(), planned().due_at)
    late = row.due_at + 3 * 3600
    busy = replace(row, until=late + 10)
    assert step(busy, HOURLY, "fleet", late) == (busy, False)
    again = fired(over(busy, late), late + 1)
    assert again.due_at > late + 1


def test_what_a_dead_runner_left_is_taken_up_for_the_same_moment() -> None:
    """By one who may, with a new token."""
    row = fired(planned(), planned().due_at)
    assert step(row, HOURLY, "fleet", row.until - 0.1)[1] is False
    after, fires = step(row, HOURLY, "fleet", row.until)
    assert fires
    assert (after.firing, taken(after, "b", row.until, LEASE).token) == (row.firing, 2)
    assert step(row, HOURLY, "fleet", row.until, paused=True)[1] is False


def test_missed_moments_are_caught_up_with_once_or_skipped() -> None:
    """As the rule says; a minute late is only late."""
    due = planned().due_at
    caught_up = fired(planned(), due + 80_000)
    assert caught_up.due_at == HOURLY.next("fleet", due + 80_000)
    skipped, fires = step(planned(SKIPPING), SKIPPING, "fleet", due + 1000)
    assert (fires, skipped.due_at) == (False, SKIPPING.next("fleet", due + 1000))
    assert step(planned(SKIPPING), SKIPPING, "fleet", due + GRACE - 1)[1] is True
    assert step(planned(SKIPPING), SKIPPING, "fleet", due + 3600 + 1)[1] is True


def test_a_schedule_that_changed_is_planned_anew() -> None:
    """And fires nothing that its old plan, or its new one, had before."""
    row = planned()
    nightly = schedule("retention", "17 3 * * *; Europe/Berlin")
    after, fires = step(row, nightly, "fleet", row.due_at + 5)
    assert (fires, after.due_at) == (False, nightly.next("fleet", row.due_at + 5))
    off = step(after, schedule("retention", "never"), "fleet", NOW)[0]
    assert off.due_at == math.inf


def test_what_a_person_asks_for_begins_now_and_moves_nothing() -> None:
    """Also of a schedule that is off; not while it is paused."""
    asked = replace(planned(), asked_at=NOW + 1)
    row = fired(asked, NOW + 2)
    assert (row.asked_at, row.due_at, row.firing) == (None, asked.due_at, NOW + 2)
    assert step(asked, HOURLY, "fleet", NOW + 2, paused=True) == (asked, False)
    off = schedule("retention", "never")
    assert step(replace(planned(off), asked_at=NOW), off, "fleet", NOW)[1] is True


def test_a_clock_that_was_a_year_ahead_is_believed_when_it_is_right() -> None:
    """Or nothing would come for a year."""
    ahead = fired(planned(), NOW + 3e7)
    after, fires = step(over(ahead, NOW + 3e7), HOURLY, "fleet", NOW)
    assert (fires, after.due_at) == (False, HOURLY.next("fleet", NOW))


@given(
    st.sampled_from(["every 1s", "every 5min", "17 * * * *", "30 2 * * *"]),
    st.sampled_from(list(Missed)),
    st.lists(st.tuples(st.floats(-0.9 * WRONG, 3 * WRONG) | st.floats(0, 90), st.booleans()), max_size=60),
)
def test_no_moment_comes_twice_however_the_clock_is_set(
    text: str, missed: Missed, looks: list[tuple[float, bool]]
) -> None:
    """Forward by days, back by less than one, with runners that die: each moment ends once, none early."""
    found = schedule("retention", f"{text}; Europe/Berlin; {missed}")
    row, now, ended, lowest, highest = planned(found), NOW, list[float](), NOW, NOW
    for moved, dies in looks:
        now = max(now + moved, highest - 0.9 * WRONG, lowest)
        highest = max(highest, now)
        row, fires = step(row, found, "fleet", now)
        if fires:
            assert row.firing is not None
            assert row.firing <= now
            row = taken(row, "a", now, LEASE)
            assert step(row, found, "fleet", now) == (row, False)
            if not dies:
                row = over(row, now)
                ended.append(row.firing or 0.0)
    assert len(ended) == len(set(ended))
    assert ended == sorted(ended)
