"""A node's life as a band: every stay has its place, short ones are seen, times are readable."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.lifecycle.journey import Stay
from fleet_runner.core.lifecycle.life_band import DAY, HOUR, MARKS, SPAN, STEPS, THIN, TICKS, WIDTH, Part, Tick, band
from fleet_runner.core.lifecycle.runs import Ticket
from fleet_runner.core.lifecycle.states import State

NOW = 20_000 * DAY
TICKET = Ticket(1, "f", "c", "t", "b", ("n",), "TRIAGE", NOW - DAY)


def test_a_band_begins_with_the_node_and_ends_now() -> None:
    stays = [Stay(State.BURN_IN, NOW - 10 * DAY, NOW - 5 * DAY), Stay(State.PRODUCTION, NOW - 5 * DAY, None)]
    found = band(stays, [TICKET, replace(TICKET, opened_at=NOW - 11 * DAY)], NOW)
    assert found.since == NOW - 10 * DAY
    assert found.parts == (
        Part(State.BURN_IN, "moving", 0.0, 500.0, NOW - 10 * DAY, NOW - 5 * DAY),
        Part(State.PRODUCTION, "serving", 500.0, 500.0, NOW - 5 * DAY, None),
    )
    assert [(mark.x, mark.ticket) for mark in found.marks] == [(900.0, TICKET)]
    assert (found.ticks[0], found.ticks[-1]) == (Tick(0.0, "09-24"), Tick(1000.0, "10-04"))


def test_of_a_long_life_the_last_months_are_drawn_and_a_minute_is_seen() -> None:
    stays = [
        Stay(State.PRODUCTION, None, NOW - 200 * DAY),
        Stay(State.TRIAGE, NOW - 200 * DAY, NOW - 100 * DAY),
        Stay(State.PRODUCTION, NOW - 100 * DAY, NOW - 60.0),
        Stay(State.REBOOT, NOW - 60.0, None),
    ]
    found = band(stays, (), NOW)
    assert found.since == NOW - SPAN
    assert [(each.state, each.x, each.width) for each in found.parts] == [
        (State.PRODUCTION, 0.0, 1000.0),
        (State.REBOOT, WIDTH - THIN, THIN),
    ]


def test_of_a_stay_that_nobody_saw_begin_a_little_is_drawn() -> None:
    found = band([Stay(State.ONBOARD, None, NOW - 10 * DAY), Stay(State.VERIFY, NOW - 10 * DAY, None)], (), NOW)
    assert found.since == NOW - 11 * DAY
    assert band([Stay(State.ONBOARD, None, None)], (), NOW).since == NOW - HOUR


def test_a_node_that_came_now_has_an_hour() -> None:
    found = band([Stay(State.REGISTERED, NOW, None)], (), NOW)
    assert found.since == NOW - HOUR
    assert [tick.words for tick in found.ticks] == ["23:00", "00:00"]


def test_of_many_tickets_the_newest_are_marked() -> None:
    tickets = [replace(TICKET, id=number, opened_at=NOW - number) for number in range(MARKS + 5)]
    found = band([Stay(State.PRODUCTION, NOW - DAY, None)], tickets, NOW)
    assert [mark.ticket.id for mark in found.marks] == list(reversed(range(MARKS)))


@given(st.lists(st.floats(0.0, 400 * DAY), min_size=1, max_size=6))
def test_whatever_a_clock_did_nothing_leaves_the_picture(ends: list[float]) -> None:
    times = [NOW - end for end in ends]
    stays = [Stay(State.PRODUCTION, one, other) for one, other in zip(times, [*times[1:], None], strict=True)]
    found = band(stays, (), NOW)
    assert all(0.0 <= each.x <= each.x + each.width <= WIDTH + 0.1 for each in found.parts)
    assert all(0.0 <= tick.x <= WIDTH for tick in found.ticks)
    assert len(found.ticks) <= TICKS + 1
    assert STEPS[-1] * TICKS >= SPAN
