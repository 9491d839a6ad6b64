"""From signals to alarms, one example for each thing that a desk promises."""

from dataclasses import replace
from functools import partial

import pytest

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.rules.effect import Following
from fleet_runner.core.faults.signals import alarm_engine as desks
from fleet_runner.core.faults.signals.alarm_engine import ALARMS_A_NODE, SETTLES, STAYS, AlarmEngine, SignalOutcome
from fleet_runner.core.faults.signals.memory import RECENT, Outcome
from fleet_runner.core.faults.signals.node_alarms import BURST, ENDS, ENDS_PER_SECOND
from fleet_runner.core.faults.signals.signal import Signal, Source
from fleet_runner.core.faults.signals.standing import STORED_EVERY
from tests.core.faults.signals.telling import NOW, Rules, signal


def test_a_first_signal_is_an_alarm_that_counts() -> None:
    """With everything that is known about it, and the key under which checks know the same fault."""
    heard = AlarmEngine(Rules()).hear([signal()], NOW + 2)
    (alarm,) = heard.changed
    assert (alarm.node, alarm.code, alarm.component) == ("gpu-01", "xid.79", "GPU 0000:9b:00.0")
    assert alarm.fault == "gpu-01/xid.79/GPU 0000:9b:00.0"
    assert (alarm.first_at, alarm.last_at, alarm.heard_at) == (NOW, NOW, NOW + 2)
    assert (alarm.count, alarm.raised_at, alarm.cleared_at) == (1, NOW + 2, None)
    assert (alarm.remedy, alarm.at_once, alarm.source) == (Remedy.REBOOT, False, Source.KERNEL)
    assert heard.outcomes == {Outcome.TAKEN: 1}


def test_the_same_signal_again_changes_nothing() -> None:
    """In one push, in the next one, and with a key whatever else it says."""
    desk = AlarmEngine(Rules())
    assert desk.hear([signal(), signal()], NOW).outcomes == {Outcome.TAKEN: 1, Outcome.REPEATED: 1}
    assert desk.hear([signal()], NOW + 60).changed == ()
    desk.hear([signal(code="xid.48", key="k")], NOW)
    again = signal(60, code="xid.48", key="k", message="other words")
    assert desk.hear([again], NOW + 60).outcomes == {Outcome.REPEATED: 1}
    assert desk.due(NOW + 3600)[-1].heard_at == NOW


def test_an_alarm_whose_count_grows_is_stored_now_and_then() -> None:
    """Not for each signal; what was not stored yet is due a few seconds later."""
    desk = AlarmEngine(Rules())
    assert len(desk.hear([signal()], NOW).changed) == 1
    assert desk.hear([signal(1)], NOW + 1).changed == ()
    assert desk.due(NOW + 4) == ()
    (alarm,) = desk.due(NOW + STORED_EVERY)
    assert (alarm.count, alarm.first_at, alarm.last_at) == (2, NOW, NOW + 1)
    assert desk.due(NOW + 2 * STORED_EVERY) == ()
    assert desk.hear([signal(100)], NOW + 100).changed[0].count == 3


def test_a_late_one_makes_an_alarm_older_not_newer() -> None:
    """It is counted, and begins where it says."""
    desk = AlarmEngine(Rules())
    desk.hear([signal(10)], NOW + 10)
    (alarm,) = desk.hear([signal(-50)], NOW + 20).changed
    assert (alarm.count, alarm.first_at, alarm.last_at, alarm.heard_at) == (2, NOW - 50, NOW + 10, NOW + 20)


def test_it_clears_when_nothing_more_is_heard() -> None:
    """Silence is counted from when the last signal was heard, by our clock; the next signal is another alarm."""
    desk = AlarmEngine(Rules(Following(quiet=100)))
    desk.hear([signal(-3600)], NOW)
    assert desk.due(NOW + 99) == ()
    assert desk.next_at == NOW + 100
    (alarm,) = desk.due(NOW + 100)
    assert (alarm.cleared_at, alarm.cleared_because) == (NOW + 100, "no more signals for 100 seconds")
    assert (len(desk), desk.next_at) == (0, float("inf"))
    (again,) = desk.hear([signal(200)], NOW + 200).changed
    assert (again.count, again.first_at) == (1, NOW + 200)


def test_silence_counts_also_when_nobody_looked() -> None:
    """The old alarm is given back cleared before the new one."""
    desk = AlarmEngine(Rules(Following(quiet=100)))
    desk.hear([signal()], NOW)
    old, new = desk.hear([signal(500)], NOW + 500).changed
    assert (old.cleared_at, new.cleared_at, new.first_at) == (NOW + 500, None, NOW + 500)
    assert desk.due(NOW + 500) == ()


def test_what_stood_once_is_not_raised_by_its_old_signals() -> None:
    """A shipper that begins again from the start sends them all once more."""
    desk = AlarmEngine(Rules(Following(quiet=100)))
    desk.hear([signal(), signal(10)], NOW + 10)
    desk.due(NOW + 200)
    heard = desk.hear([signal(), signal(10)], NOW + 300)
    assert (heard.changed, heard.outcomes) == ((), {Outcome.REPEATED: 2})


def test_a_repeated_fault_counts_from_its_second_signal() -> None:
    """Before, it is known and does not count; signals too far from each other do not add up."""
    desk = AlarmEngine(Rules(Following(Remedy.TRIAGE, repeats=2, within=100, quiet=10)))
    (one,) = desk.hear([signal()], NOW).changed
    assert (one.raised_at, one.remedy, one.count) == (None, Remedy.TRIAGE, 1)
    (other,) = desk.hear([signal(101)], NOW + 99).changed
    assert (other.raised_at, other.count, other.first_at) == (None, 1, NOW + 101)
    (both,) = desk.hear([signal(150)], NOW + 150).changed
    assert (both.raised_at, both.count, both.first_at) == (NOW + 150, 2, NOW + 101)


def test_an_alarm_that_waits_for_more_gives_them_their_time() -> None:
    """It does not clear as quiet within the time that the rules give its signals."""
    desk = AlarmEngine(Rules(Following(repeats=2, within=100, quiet=10)))
    desk.hear([signal()], NOW)
    assert desk.due(NOW + 99) == ()
    assert desk.hear([signal(99)], NOW + 99).changed[0].raised_at == NOW + 99
    assert desk.due(NOW + 109)[0].cleared_at == NOW + 109


def test_more_repeats_than_are_remembered_are_as_many_as_are() -> None:
    """Or it could never count."""
    desk = AlarmEngine(Rules(Following(repeats=10 * RECENT, within=1e6)))
    changed = desk.hear([signal(10 * each) for each in range(RECENT)], NOW).changed
    assert changed[0].raised_at == NOW


@pytest.mark.parametrize("first", ["xid.74", "sxid.20034"])
def test_a_fault_that_counts_in_company_waits_for_it(first: str) -> None:
    """Whichever is heard first; another node's, another time's and its own kind are no company."""
    beside = Following(Remedy.RESET, beside=("sxid.*",), within=60)
    desk = AlarmEngine(Rules(xid_74=beside))
    desk.hear([signal(code="xid.74"), signal(code="sxid.1", node="gpu-02"), signal(-61, code="sxid.2")], NOW)
    assert [each.raised_at for each in desk.hear([signal(1, code="xid.74", component="GPU 2")], NOW).changed] == [
        None
    ]
    desk = AlarmEngine(Rules(xid_74=beside))
    other = {"xid.74": "sxid.20034", "sxid.20034": "xid.74"}[first]
    desk.hear([signal(code=first)], NOW)
    raised = {each.code: each.raised_at for each in desk.hear([signal(59, code=other)], NOW + 59).changed}
    assert raised["xid.74"] == NOW + 59


def test_company_that_has_cleared_is_company() -> None:
    """What an alarm that is over was about happened all the same."""
    desk = AlarmEngine(Rules(xid_74=Following(beside=("sxid.*",), within=600), sxid_1=Following(quiet=10)))
    desk.hear([signal(code="sxid.1")], NOW)
    desk.due(NOW + 20)
    assert desk.hear([signal(30, code="xid.74")], NOW + 30).changed[0].raised_at == NOW + 30


def test_an_alarm_that_has_to_last_counts_when_it_did() -> None:
    """Taken back before, it never did."""
    desk = AlarmEngine(Rules(Following(hold=30)))
    assert desk.hear([signal()], NOW).changed[0].raised_at is None
    assert desk.due(NOW + 29) == ()
    assert desk.due(NOW + 30)[0].raised_at == NOW + 30
    desk.hear([signal(code="xid.2")], NOW)
    (over,) = desk.hear([signal(10, code="xid.2", ended=True)], NOW + 10).changed
    assert (over.raised_at, over.cleared_at) == (None, NOW + 10)
    assert [each.code for each in desk.due(NOW + 60)] == []


def test_its_sender_takes_it_back() -> None:
    """Only its own, or a person; not what has happened again since; and not twice."""
    desk = AlarmEngine(Rules())
    desk.hear([signal(10)], NOW + 10)
    assert desk.hear([signal(20, ended=True, source=Source.ALERT)], NOW + 20).outcomes == {Outcome.REFUSED: 1}
    assert desk.hear([signal(5, ended=True)], NOW + 20).outcomes == {Outcome.LATE: 1}
    assert desk.hear([signal(5, ended=True)], NOW + 20).outcomes == {Outcome.REPEATED: 1}
    (over,) = desk.hear([signal(20, ended=True)], NOW + 21).changed
    assert (over.cleared_at, over.cleared_because) == (NOW + 21, "its sender ended it")
    assert desk.hear([signal(15)], NOW + 22).outcomes == {Outcome.LATE: 1}
    desk.hear([signal(30)], NOW + 30)
    assert desk.hear([signal(40, ended=True, source=Source.OPERATOR)], NOW + 40).changed[0].cleared_at == NOW + 40


def test_the_end_may_arrive_before_the_beginning() -> None:
    """Then the beginning is late and opens nothing; far later it is another one."""
    desk = AlarmEngine(Rules())
    assert desk.hear([signal(10, ended=True)], NOW).outcomes == {Outcome.TAKEN: 1}
    assert desk.hear([signal(5)], NOW).outcomes == {Outcome.LATE: 1}
    assert len(desk.hear([signal(11)], NOW).changed) == 1


def test_signals_before_an_end_do_not_add_up_with_those_after_it() -> None:
    """It was well in between."""
    desk = AlarmEngine(Rules(Following(repeats=3, within=600)))
    desk.hear([signal(1), signal(20)], NOW + 20)
    desk.hear([signal(10, ended=True)], NOW + 21)
    assert desk.hear([signal(32)], NOW + 32).changed[0].raised_at is None
    assert desk.hear([signal(43)], NOW + 43).changed[0].raised_at is not None


def test_what_one_crash_logs_over_several_lines_happened_once() -> None:
    """All are counted; but a fault that has to happen twice did not."""
    desk = AlarmEngine(Rules(Following(repeats=2, within=3600)))
    (one,) = desk.hear([signal(each) for each in range(10)], NOW + 10).changed
    assert (one.count, one.raised_at) == (10, None)
    assert desk.hear([signal(9.5)], NOW + 11).changed == ()
    assert desk.hear([signal(600)], NOW + 600).changed[0].raised_at == NOW + 600


def test_an_alert_that_goes_on_keeps_its_alarm() -> None:
    """Its sender says so again with the same key; that is no repetition of the fault. Its end is final."""
    desk = AlarmEngine(Rules(Following(quiet=100)))
    alert = partial(signal, key="k", source=Source.ALERT)
    desk.hear([alert()], NOW)
    for seconds in (90, 180):
        assert desk.hear([alert(seconds)], NOW + seconds).outcomes == {Outcome.REPEATED: 1}
        assert desk.due(NOW + seconds + 50)[0].count == 1
    (over,) = desk.hear([alert(200, ended=True)], NOW + 200).changed
    assert over.cleared_at == NOW + 200
    assert desk.hear([alert(201)], NOW + 201).outcomes == {Outcome.LATE: 1}
    assert len(desk.hear([alert(202, key="k2")], NOW + 202).changed) == 1


def test_a_condition_of_a_cluster_that_goes_on_is_not_counted_again_by_a_later_process() -> None:
    """It began before it was heard of last; one that began since is counted."""
    said = Signal("gpu-01", "alert.kubernetes.X", "", NOW, Source.CLUSTER, "it is so", key="X@1", began=NOW - 60)
    (first,) = AlarmEngine(Rules()).hear([said], NOW).changed
    for later, count in (
        (replace(said, at=NOW + 600, began=NOW - 60), 1),
        (replace(said, at=NOW + 600, began=NOW + 1), 2),
    ):
        engine = AlarmEngine.of([first], Rules())
        heard = engine.hear([replace(later, key="X@2")], NOW + 600)
        (now,) = (*heard.changed, *engine.unstored(NOW + 600))
        assert (now.count, now.last_at, now.heard_at) == (count, NOW + 600, NOW + 600)


def test_an_alarm_of_several_alerts_ends_with_the_last_of_them() -> None:
    """An end of one that was never told ends none."""
    desk = AlarmEngine(Rules())
    alert = partial(signal, source=Source.ALERT)
    desk.hear([alert(key="a"), alert(key="b")], NOW)
    assert desk.hear([alert(1, key="c", ended=True), alert(1, key="a", ended=True)], NOW + 1).changed == ()
    assert desk.hear([alert(2, key="b", ended=True)], NOW + 2).changed[0].cleared_at == NOW + 2


def test_the_hardest_remedy_counts_but_of_an_announced_state_the_newest() -> None:
    """Xid 154 says what the driver asks for now."""
    desk = AlarmEngine(Rules())
    desk.hear([signal(code="xid.149", remedy=Remedy.RESET), signal(1, code="xid.149", remedy=Remedy.WATCH)], NOW)
    asked = desk.hear([signal(code="xid.154"), signal(1, code="xid.154", remedy=Remedy.WATCH)], NOW).changed
    assert asked[0].remedy is Remedy.WATCH
    assert desk.hear([signal(0.5, code="xid.154", remedy=Remedy.TRIAGE)], NOW).changed == ()
    (worse,) = desk.hear([signal(2, code="xid.149", remedy=Remedy.TRIAGE)], NOW + 2).changed
    assert (worse.remedy, worse.count) == (Remedy.TRIAGE, 3)


def test_a_node_that_tells_too_much_is_counted_and_its_alarms_stand() -> None:
    """What is beyond its measure adds nothing but that it goes on; a new kind of fault is taken all the same."""
    desk = AlarmEngine(Rules(Following(quiet=100)))
    storm = [signal(each / 1000) for each in range(int(BURST) + 50)]
    heard = desk.hear(storm, NOW)
    assert (heard.outcomes[Outcome.REFUSED], heard.refused) == (50, {"gpu-01": 50})
    assert desk.hear([signal(2, code="xid.48")], NOW).changed[0].raised_at == NOW
    assert desk.hear([signal(3)], NOW + 0.01).outcomes == {Outcome.REFUSED: 1}
    assert desk.due(NOW + 99)[0].last_at == NOW + 3
    assert desk.hear([signal(5, node="gpu-02")], NOW).outcomes == {Outcome.TAKEN: 1}


def test_an_end_within_a_storm_is_taken_a_little_later() -> None:
    """Unless it happens again: a link that flaps a hundred times a second is down once."""
    desk = AlarmEngine(Rules(Following(quiet=1000)))
    desk.hear([signal(each / 1000) for each in range(int(BURST))], NOW)
    assert desk.hear([signal(2, ended=True)], NOW).changed == ()
    assert [each.cleared_at for each in desk.due(NOW + SETTLES - 1)] == []
    desk.hear([signal(3)], NOW)
    assert [each.cleared_at for each in desk.due(NOW + 6)] == [None]
    desk.hear([signal(each / 1000, code="xid.1") for each in range(int(BURST))], NOW + 7)
    desk.hear([signal(8, ended=True)], NOW + 7)
    over = [each for each in desk.due(NOW + 12) if each.cleared_at is not None]
    assert [(each.code, each.cleared_because) for each in over] == [("xid.79", "its sender ended it")]
    desk = AlarmEngine(Rules())
    desk.hear([signal(each / 1000) for each in range(int(BURST))], NOW)
    assert desk.hear([signal(2, code="xid.2", ended=True)], NOW).outcomes == {Outcome.REFUSED: 1}


def test_a_node_has_its_share_of_the_desk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kinds of faults beyond it are refused; what stands is never forgotten, and others keep their place."""
    desk = AlarmEngine(Rules(Following(quiet=100)))
    heard = desk.hear([signal(code=f"alert.{each}") for each in range(ALARMS_A_NODE + 10)], NOW)
    assert (len(desk), heard.refused) == (ALARMS_A_NODE, {"gpu-01": 10})
    assert desk.hear([signal(node="gpu-02")], NOW).outcomes == {Outcome.TAKEN: 1}
    desk.due(NOW + 100)
    monkeypatch.setattr(desks, "MOST_MEMORIES", 40)
    desk.hear([signal(200, code="xid.1")], NOW + 200)
    desk.due(NOW + 400)
    assert [len(node.memories) for node in desk._nodes.values()] == [20, 1]


def test_a_person_takes_back_what_alerts_told() -> None:
    """Without knowing their keys."""
    desk = AlarmEngine(Rules())
    desk.hear([signal(source=Source.ALERT, key="a"), signal(source=Source.ALERT, key="b")], NOW)
    (over,) = desk.hear([signal(5, source=Source.OPERATOR, ended=True)], NOW + 5).changed
    assert over.cleared_at == NOW + 5


def test_the_latest_end_counts() -> None:
    """An earlier one that arrives after it makes nothing less late."""
    desk = AlarmEngine(Rules())
    desk.hear([signal(30)], NOW + 30)
    desk.hear([signal(20, ended=True), signal(10, ended=True)], NOW + 31)
    assert desk.hear([signal(15)], NOW + 32).outcomes == {Outcome.LATE: 1}
    assert desk.hear([signal(20)], NOW + 33).outcomes == {Outcome.TAKEN: 1}


def test_alarms_that_come_and_go_without_end_stand() -> None:
    """Each time would be a row of its own for ever: beyond a node's measure it clears an hour after the last."""
    desk = AlarmEngine(Rules(Following(quiet=10 * STAYS)))
    cleared, outcomes = 0, set[Outcome]()
    for second in range(1000):
        heard = desk.hear([signal(second), signal(second + 0.5, ended=True)], NOW + second + 0.5)
        cleared += sum(each.cleared_at is not None for each in heard.changed)
        outcomes |= heard.outcomes.keys()
    assert ENDS <= cleared <= ENDS + 1000 * ENDS_PER_SECOND + 1
    assert outcomes == {Outcome.TAKEN, Outcome.STAYS}
    assert len(desk) == 1
    desk.hear([signal(node="gpu-02"), signal(1, node="gpu-02", ended=True)], NOW + 1001)
    assert len(desk) == 1
    assert [each.cleared_at for each in desk.due(NOW + 900 + STAYS)] == [None]
    assert [each.cleared_at for each in desk.due(NOW + 1000 + STAYS)] == [NOW + 1000 + STAYS]


def test_words_without_authentication_neither_raise_hide_nor_end_what_came_with_it() -> None:
    """They are alarms of their own: what is forged takes no place, no word and no end from what is believed."""

    def proven(each: Signal) -> Signal:
        return replace(each, authenticated=True)

    desk = AlarmEngine(Rules(Following(repeats=2, within=3600.0, quiet=7200.0)))
    assert raised(desk.hear([signal(0), proven(signal(0))], NOW)) == []
    assert raised(desk.hear([signal(60)], NOW + 60)) == [False]
    assert desk.hear([signal(90, ended=True), signal(95, ended=True, code="xid.48")], NOW + 95).outcomes
    assert raised(desk.hear([proven(signal(60))], NOW + 100)) == [True]
    assert raised(desk.hear([proven(signal(50, code="xid.48")), proven(signal(80, code="xid.48"))], NOW + 110)) == [
        True
    ]
    assert len(desk) == 2


def raised(heard: SignalOutcome) -> list[bool]:
    """Whether each alarm that counts now is authenticated."""
    return [each.authenticated for each in heard.changed if each.raised_at is not None and each.cleared_at is None]
