"""A desk that begins again, and alarms that others clear."""

from dataclasses import replace

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.rules.effect import Following
from fleet_runner.core.faults.signals.alarm_engine import AlarmEngine
from fleet_runner.core.faults.signals.memory import Outcome
from tests.core.faults.signals.telling import NOW, Rules, signal


def test_a_desk_goes_on_where_another_ended() -> None:
    """What was heard is not heard again, what stands clears as it would have, and counts go on."""
    rules = Rules(Following(quiet=100))
    before = AlarmEngine(rules).hear([signal(), signal(10)], NOW + 10).changed
    desk = AlarmEngine.of([replace(each, id=7) for each in before], rules)
    assert desk.hear([signal(), signal(10)], NOW + 50).outcomes == {Outcome.REPEATED: 2}
    (alarm,) = desk.hear([signal(60)], NOW + 60).changed
    assert (alarm.id, alarm.count, alarm.first_at, alarm.raised_at) == (7, 3, NOW, NOW + 10)
    assert desk.due(NOW + 160)[0].cleared_at == NOW + 160


def test_signals_before_and_after_a_restart_add_up() -> None:
    """An alarm that did not count yet counts from its next signal."""
    rules = Rules(Following(repeats=3, within=600))
    before = AlarmEngine(rules).hear([signal(), signal(10)], NOW + 10).changed
    assert [(each.raised_at, each.count) for each in before] == [(None, 2)]
    assert AlarmEngine.of(before, rules).hear([signal(20)], NOW + 20).changed[0].raised_at == NOW + 20


def test_what_has_to_last_goes_on_lasting() -> None:
    """From when it was last heard."""
    rules = Rules(Following(hold=30))
    before = AlarmEngine(rules).hear([signal()], NOW).changed
    desk = AlarmEngine.of(before, rules)
    assert desk.due(NOW + 29) == ()
    assert desk.due(NOW + 30)[0].raised_at == NOW + 30


def test_other_rules_change_what_stands() -> None:
    """It is given back at once for storing; with the same rules nothing is."""
    before = AlarmEngine(Rules()).hear([signal()], NOW).changed
    assert AlarmEngine.of(before, Rules()).due(NOW + 1) == ()
    (alarm,) = AlarmEngine.of(before, Rules(Following(Remedy.TRIAGE, at_once=True))).due(NOW + 1)
    assert (alarm.remedy, alarm.at_once, alarm.count) == (Remedy.TRIAGE, True, 1)
    waiting = AlarmEngine(Rules(Following(repeats=2))).hear([signal()], NOW).changed
    assert AlarmEngine.of(waiting, Rules()).due(NOW + 1)[0].raised_at == NOW


def test_a_cleared_alarm_is_not_raised_by_its_old_signals() -> None:
    """Nor is a standing one of the same kind disturbed by it, whichever is told first."""
    rules = Rules(Following(quiet=100))
    desk = AlarmEngine(rules)
    desk.hear([signal()], NOW)
    (over,) = desk.due(NOW + 100)
    (stands,) = desk.hear([signal(200)], NOW + 200).changed
    assert AlarmEngine.of([over], rules).hear([signal()], NOW + 300).outcomes == {Outcome.REPEATED: 1}
    for alarms in ([over, stands], [stands, over]):
        again = AlarmEngine.of(alarms, rules)
        assert len(again) == 1
        assert again.hear([signal(200)], NOW + 201).outcomes == {Outcome.REPEATED: 1}


def test_what_others_clear_is_cleared_here() -> None:
    """Unless more was heard since: then it stands on, as another alarm than the one that they cleared."""
    desk = AlarmEngine(Rules())
    (alarm,) = desk.hear([signal()], NOW).changed
    cleared = replace(alarm, id=7, cleared_at=NOW + 50, cleared_because="gpu-01 serves again")
    others = [replace(cleared, node="gpu-09"), replace(cleared, code="xid.1")]
    assert desk.cleared([alarm, cleared, *others], NOW + 60) == ()
    assert (len(desk), desk.due(NOW + 10_000)) == (0, ())
    desk.hear([signal(60)], NOW + 60)
    (again,) = desk.cleared([cleared], NOW + 61)
    assert (again.id, again.cleared_at, len(desk)) == (0, None, 1)
    assert desk.hear([signal()], NOW + 62).outcomes == {Outcome.REPEATED: 1}


def test_nothing_is_due_at_an_empty_desk() -> None:
    """Nor does it ever become so by itself."""
    desk = AlarmEngine(Rules())
    assert (desk.due(NOW), desk.next_at, len(desk)) == ((), float("inf"), 0)


def test_company_before_a_restart_is_company() -> None:
    """Also where its alarm had cleared."""
    rules = Rules(Following(quiet=10), xid_74=Following(beside=("sxid.*",), within=600))
    desk = AlarmEngine(rules)
    desk.hear([signal(code="sxid.1")], NOW)
    again = AlarmEngine.of(desk.due(NOW + 10), rules)
    assert again.hear([signal(30, code="xid.74")], NOW + 30).changed[0].raised_at == NOW + 30
