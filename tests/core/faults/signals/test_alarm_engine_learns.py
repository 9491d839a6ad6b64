"""Two desks with one store: each is told what the other stored before it hears on."""

from dataclasses import replace

from fleet_runner.core.faults.rules.effect import Following
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.faults.signals.alarm_engine import ELSEWHERE, AlarmEngine
from fleet_runner.core.faults.signals.memory import Outcome
from tests.core.faults.signals.telling import NOW, Rules, signal

NODE = "gpu-01"


def learned(desk: AlarmEngine, *stored: Alarm, at: float = 20.0) -> AlarmEngine:
    """Tell a desk what is stored of the node."""
    desk.learn([(NODE, stored)], NOW + at)
    return desk


def test_what_another_opened_is_taken_over() -> None:
    """Its signals are known, its sender may take it back here, and it clears as it would have there."""
    rules = Rules(Following(quiet=100))
    stored = AlarmEngine(rules).hear([signal()], NOW).changed
    desk = learned(AlarmEngine(rules), *stored)
    assert desk.hear([signal()], NOW + 20).outcomes == {Outcome.REPEATED: 1}
    assert desk.next_at == NOW + 100
    (over,) = desk.hear([signal(30, ended=True)], NOW + 30).changed
    assert over.cleared_at == NOW + 30
    assert learned(AlarmEngine(rules), *stored).due(NOW + 100)[0].cleared_at == NOW + 100


def test_what_another_cleared_stands_no_more_and_begins_anew() -> None:
    """Its old signals do not raise it again."""
    desk = AlarmEngine(Rules())
    desk.hear([signal()], NOW)
    assert len(learned(desk)) == 0
    assert desk.hear([signal()], NOW + 21).outcomes == {Outcome.REPEATED: 1}
    (again,) = desk.hear([signal(22)], NOW + 22).changed
    assert (again.count, again.first_at, again.cleared_because) == (1, NOW + 22, "")
    assert "another" in ELSEWHERE


def test_what_another_heard_more_of_lasts_longer_and_is_counted() -> None:
    """The higher count is right: each tells of its own signals and of those it learned of."""
    rules = Rules(Following(quiet=100))
    desk, other = AlarmEngine(rules), AlarmEngine(rules)
    stored = desk.hear([signal()], NOW).changed
    learned(other, *stored, at=1.0)
    (more,) = other.hear([signal(50)], NOW + 50).changed
    learned(desk, more, at=60.0)
    assert desk.due(NOW + 149) == () or desk.next_at == NOW + 150
    assert desk.hear([signal(60)], NOW + 60).changed[0].count == 3


def test_what_counts_for_another_counts_here() -> None:
    """Also where it still waited for company; signals of both add up."""
    rules = Rules(Following(beside=("sxid.*",), repeats=2, within=100))
    desk, other = AlarmEngine(rules), AlarmEngine(rules)
    stored = desk.hear([signal(code="xid.74")], NOW).changed
    assert [each.raised_at for each in stored] == [None]
    learned(other, *stored, at=1.0)
    company = signal(2, code="sxid.1", component="switch")
    changed = other.hear([signal(15, code="xid.74"), company], NOW + 15).changed
    assert [each.raised_at for each in changed if each.code == "xid.74"] == [NOW + 15]
    learned(desk, *changed)
    assert [each.raised_at for each in desk.hear([signal(30, code="xid.74")], NOW + 30).changed] == [NOW + 15]


def test_its_own_word_changes_nothing() -> None:
    """Counts that are stored now and then are behind what it knows."""
    desk = AlarmEngine(Rules())
    stored = desk.hear([signal()], NOW).changed
    desk.hear([signal(1), signal(2)], NOW + 2)
    learned(desk, *stored, at=3.0)
    assert [each.count for each in desk.unstored(NOW + 3)] == [3]


def test_nodes_of_which_nothing_is_known_take_no_room() -> None:
    """A node that never told anything is not remembered for having been asked about."""
    desk = learned(AlarmEngine(Rules()))
    assert len(desk) == 0
    assert desk.hear([signal()], NOW).outcomes == {Outcome.TAKEN: 1}


def test_what_is_taken_over_may_count_at_once() -> None:
    """The rules are milder here than where it was stored."""
    stored = replace(AlarmEngine(Rules(Following(repeats=5))).hear([signal()], NOW).changed[0], id=3)
    desk = learned(AlarmEngine(Rules()), stored)
    assert [(each.id, each.raised_at) for each in desk.due(NOW + 30)] == [(3, NOW + 20)]
