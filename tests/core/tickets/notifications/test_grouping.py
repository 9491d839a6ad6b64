"""Lines become messages: each is shown in one, or counted."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.lifecycle.states import State
from fleet_runner.core.tickets.notifications.channel import Channel, ChannelKind, Filters, concerns, left_alone
from fleet_runner.core.tickets.notifications.grouping import (
    NAMED,
    SHOWN,
    ChannelPosition,
    Collected,
    DueMessage,
    collect,
    due,
    key,
    was_away,
)
from fleet_runner.core.tickets.notifications.lines import RANK, Line, Location, NewsKind
from fleet_runner.core.tickets.notifications.quiet_hours import EVERY, quiet, window

OF = Channel("ops", ChannelKind.SLACK, group_seconds=60.0, most_per_hour=2)
LINE = Line(1, 1000.0, NewsKind.MOVED, "gpu-01", "It moved.", to=State.TRIAGE, remedy="TRIAGE")

LINES = st.lists(
    st.builds(
        Line,
        id=st.integers(1, 10**6),
        at=st.sampled_from([1000.0, 1001.0, 990.0]),
        what=st.sampled_from(NewsKind),
        node=st.sampled_from(["gpu-01", "gpu-02", "gpu-03"]),
        sentence=st.sampled_from([f"sentence {number}" for number in range(40)]),
    ),
    max_size=120,
)


@given(LINES, st.integers(0, 120))
def test_each_line_is_shown_once_or_counted(lines: list[Line], cut: int) -> None:
    """However many there are, and in however many pieces they are read."""
    found = collect(collect(Collected(), lines[:cut]), lines[cut:])
    assert found == collect(Collected(), lines)
    assert found.total == len(lines) == sum(found.counts.values())
    assert sum(item.lines for item in found.items) + found.rest == len(lines)
    assert found.rest >= 0
    assert len(found.items) <= SHOWN
    assert [RANK[item.what] for item in found.items] == sorted(RANK[item.what] for item in found.items)
    for item in found.items:
        same = [each for each in lines if (each.what, each.at, each.sentence) == (item.what, item.at, item.sentence)]
        assert 1 <= item.lines <= len(same)
        assert len(item.nodes) <= NAMED
    if lines:
        assert (found.first_at, found.last_at) == (min(each.at for each in lines), max(each.at for each in lines))
        assert (found.first, found.last) == (lines[0].id, lines[-1].id)


def test_what_presses_most_is_shown_though_it_came_last() -> None:
    """A breaker after a hundred closed tickets."""
    closed = [replace(LINE, id=at, what=NewsKind.TICKET_CLOSED, sentence=f"closed {at}") for at in range(1, 101)]
    found = collect(Collected(), [*closed, replace(LINE, id=101, what=NewsKind.BREAKER)])
    assert found.items[0].what is NewsKind.BREAKER
    assert found.rest == 101 - SHOWN


def test_a_message_is_due_when_its_first_line_has_waited_and_the_hour_has_room() -> None:
    """A clock that was set back keeps nothing waiting."""
    waiting, fresh = collect(Collected(), [LINE]), ChannelPosition("ops", 0)
    assert not due(OF, fresh, Collected(), 1060.0)
    assert not due(OF, fresh, waiting, 1059.0)
    assert due(OF, fresh, waiting, 1060.0)
    assert due(OF, fresh, waiting, 900.0)
    full = replace(fresh, hour=0, sent=2)
    assert not due(OF, full, waiting, 1060.0)
    assert due(OF, full, waiting, 3600.0)
    assert due(OF, replace(full, sent=1), waiting, 1060.0)


def test_the_same_lines_have_the_same_key_and_others_another() -> None:
    """Urgent ones are counted by themselves."""
    lines = collect(Collected(), [LINE])
    standing = ChannelPosition("ops", 4, 6)
    keys = [key(standing, DueMessage(9, urgent, lines)) for urgent in (False, True)]
    assert keys == ["fleet-runner.ops.all.5-9", "fleet-runner.ops.urgent.7-9"]
    assert key(replace(standing, tries=3, away_at=5.0), DueMessage(9, urgent=False, lines=lines)) == keys[0]


def test_only_what_waited_for_the_channel_says_that_it_did() -> None:
    """Not the first try, nor what happened after it was reached again."""
    lines = collect(Collected(), [LINE, replace(LINE, id=2, at=1100.0)])
    assert not was_away(ChannelPosition("ops", 0), lines)
    assert not was_away(ChannelPosition("ops", 0, away_at=1100.0), lines)
    assert was_away(ChannelPosition("ops", 0, away_at=1050.0), lines)
    assert was_away(ChannelPosition("ops", 0, away_at=1050.0, told_at=900.0), lines)
    assert was_away(ChannelPosition("ops", 0, away_at=1050.0, told_at=1080.0), lines)
    assert not was_away(ChannelPosition("ops", 0, away_at=900.0, told_at=950.0), lines)


def test_every_filter_holds() -> None:
    """States ask for moves alone; a node of unknown place concerns nobody who asks for places."""
    place = Location("hall-1", "hgx", "Acme")
    assert concerns(Filters(), LINE, Location())
    asked = Filters(
        frozenset({NewsKind.MOVED}), frozenset({"hall-1"}), frozenset({"hgx"}), frozenset({"Acme"}),
        frozenset({State.TRIAGE}), frozenset({Remedy.TRIAGE}),
    )  # fmt: skip
    assert concerns(asked, LINE, place)
    assert not concerns(asked, replace(LINE, what=NewsKind.HELD), place)
    assert not concerns(asked, replace(LINE, to=State.RMA), place)
    assert not concerns(asked, replace(LINE, remedy=""), place)
    for other in (replace(place, site=""), replace(place, device_type="b"), replace(place, tenant="Globex")):
        assert not concerns(asked, LINE, other)
    held = replace(LINE, what=NewsKind.HELD, to=None)
    assert concerns(Filters(states=frozenset({State.TRIAGE})), held, place)


def test_a_channel_is_left_alone_in_its_quiet_hours() -> None:
    """And never without."""
    assert not left_alone(OF, 1000.0)
    assert left_alone(replace(OF, quiet=quiet("UTC", {EVERY: (window("00:00-24:00"),)})), 1000.0)
