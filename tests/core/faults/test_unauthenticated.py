"""Alarms without authentication: the node is asked first, and nothing but its own answer is acted on."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.budgets.circuit_breaker import wanted
from fleet_runner.core.checks.verdicts import Remedy, Verdict
from fleet_runner.core.faults.alarm_clearing import Answer, answer, cleared
from fleet_runner.core.faults.needs import calls, faults, needed
from fleet_runner.core.faults.rules.built_in import BUILT_IN
from fleet_runner.core.faults.rules.rule import Rule
from fleet_runner.core.faults.rules.rules import Rules
from fleet_runner.core.faults.signals.alarm import UNPROVEN, Alarm
from fleet_runner.core.faults.signals.signal import Source
from fleet_runner.core.faults.unauthenticated import ASKS, LEAST, ask_at, told, unanswered
from fleet_runner.core.lifecycle.actions import (
    BeginAttempt,
    ClearAlarm,
    Decision,
    Move,
    OpenRun,
    OpenTicket,
    SetCondition,
)
from fleet_runner.core.lifecycle.decisions import decide
from fleet_runner.core.lifecycle.production import watch
from fleet_runner.core.lifecycle.runs import Node, Outcome, Stored
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.core.lifecycle.view import Timing, View
from fleet_runner.core.schedules.sweep import SweepHistory
from fleet_runner.core.tickets.alarm_tickets import told as tickets
from tests.core.living import KINDS, SERVING, TIMING, Life, is_kept, moved, tried
from tests.making import NOW, SINCE, a_finding, a_node, a_run, a_view, an_alarm, paced, stored

AT_ONCE = Rules((*BUILT_IN, Rule(("*",), remedy=Remedy.POWER_CYCLE, at_once=True)))
PATIENT = Timing(passive=paced(3600), cabling=paced(14_400))
LINE = an_alarm(authenticated=False)
"""What a syslog datagram raised 10 seconds ago."""

SWEPT = a_run(Stage.HEALTH_PASSIVE, opened_at=NOW - 60, ended_at=NOW - 50)
CABLED = a_run(Stage.CABLING, id=8)

alarms = st.builds(
    an_alarm,
    code=st.sampled_from([*KINDS, "alert.X", "redfish.Power.PowerSupplyFailed", "kernel.oops"]),
    remedy=st.sampled_from(Remedy),
    at_once=st.booleans(),
    raised_at=st.none() | st.just(NOW - 10),
    last_at=st.sampled_from([SINCE - 5, NOW - 10, NOW]),
    source=st.sampled_from(Source),
    authenticated=st.just(False),  # noqa: FBT003  a strategy's value
)


def looked(*answers: Stored, **more: object) -> View:
    """A node that was asked, five seconds after it was last told of, and answered this."""
    asked = a_run(Stage.HEALTH_PASSIVE, **{"opened_at": NOW - 5, "ended_at": NOW - 1, "reason": ASKS} | more)
    return a_view(alarms=(LINE,), runs=(CABLED, asked), latest=answers)


@given(st.lists(alarms, max_size=5), st.sampled_from([Rules(), AT_ONCE]))
def test_whatever_is_told_without_authentication_nothing_is_needed(told: list[Alarm], rules: Rules) -> None:
    """No remedy, nothing that the breaker counts, no fault and no ticket: also by rules that act at once."""
    view = a_view(alarms=tuple(told), rules=rules, runs=(SWEPT, CABLED))
    assert needed(view, NOW) is None
    assert (calls(view), faults(view), wanted(view, NOW).codes, tickets(view)) == ((), frozenset(), (), ())


@given(st.lists(alarms, max_size=5), st.sampled_from(State), st.sampled_from([Rules(), AT_ONCE]))
def test_a_decision_is_the_same_with_and_without_it_but_for_a_look(
    told: list[Alarm], state: State, rules: Rules
) -> None:
    """In every state: it moves nothing, sets nothing and tries nothing; at most it opens a passive check."""
    view = a_view(a_node(state), rules=rules, runs=(SWEPT, CABLED))
    before = decide(view, PATIENT, NOW).actions
    after = decide(replace(view, alarms=tuple(told)), PATIENT, NOW).actions
    more = [each for each in after if each not in before]
    assert all(isinstance(each, OpenRun | ClearAlarm) for each in more), more
    assert all(each.stage is Stage.HEALTH_PASSIVE for each in more if isinstance(each, OpenRun))
    assert not any(isinstance(each, Move | SetCondition | BeginAttempt | OpenTicket) for each in more)


def test_the_node_is_asked_at_once_by_a_passive_check() -> None:
    """Though its sweep is due much later; what counts does so only since the node came to its state."""
    view = a_view(alarms=(LINE,), runs=(SWEPT, CABLED))
    decision = watch(view, PATIENT, NOW)
    assert decision.actions == (OpenRun(Stage.HEALTH_PASSIVE, ASKS),)
    assert told(view) == f"alarm xid.119 of GPU 3: {UNPROVEN}"
    for quiet in (an_alarm(), replace(LINE, raised_at=None), replace(LINE, last_at=SINCE - 9, heard_at=SINCE - 9)):
        silent = replace(view, alarms=(quiet,))
        assert (unanswered(silent), ask_at(silent, PATIENT), told(silent)) == ((), math.inf, "")
        assert OpenRun(Stage.HEALTH_PASSIVE, ASKS) not in watch(silent, PATIENT, NOW).actions


def test_while_passive_checks_are_switched_off_nobody_is_asked() -> None:
    """Who paused them wanted no look."""
    paced_at = replace(PATIENT.passive, standing=SweepHistory(paused="paused by ann"))
    off = replace(PATIENT, passive=paced_at)
    assert watch(a_view(alarms=(LINE,), runs=(SWEPT, CABLED)), off, NOW).actions == ()


def test_a_look_that_was_under_way_answers_nothing_and_a_second_one_comes_no_sooner_than_to_confirm() -> None:
    """So a flood of datagrams has a node looked at a few times an hour."""
    early = looked(opened_at=NOW - 11)
    assert answer(early, LINE) is Answer.NOT_ASKED
    assert ask_at(early, PATIENT) == NOW - 1 + PATIENT.confirm
    decision = watch(early, PATIENT, NOW)
    assert decision.actions == ()
    assert decision.wake_at == NOW - 1 + PATIENT.confirm
    assert decision.waiting == told(early) == f"alarm xid.119 of GPU 3: {UNPROVEN}"
    assert ask_at(looked(opened_at=NOW - 11, reason="scheduled health_passive"), PATIENT) == 0.0


def test_what_its_check_does_not_see_is_cleared_as_not_confirmed() -> None:
    """Whether that passed, or has seen something else; and where nobody there looks for it at all."""
    other = a_finding(Remedy.WATCH, code="xid.48", fault="gpu-01/xid.48/GPU 3")
    for view in (looked(stored(other)), looked(), looked(stored(a_finding(), check="gpus"), outcome=Outcome.FAILED)):
        assert answer(view, LINE) is Answer.NO
        assert [each.because for each in cleared(view, NOW)] == [
            "it was told without authentication, and the node, asked since, does not confirm it"
        ]
    assert cleared(replace(looked(), alarms=(an_alarm(),)), NOW) == ()
    assert cleared(replace(looked(), alarms=(replace(LINE, raised_at=None),)), NOW) == ()


def test_what_no_check_looks_for_has_nobody_asked_and_stands_until_its_sender_is_silent() -> None:
    """Others' conditions last for days: a look each time that they are heard would find nothing, without end."""
    theirs = replace(LINE, source=Source.CLUSTER, code="alert.kubernetes.KernelDeadlock", component="")
    for view in (a_view(alarms=(theirs,), runs=(SWEPT, CABLED)), replace(looked(), alarms=(theirs,))):
        assert (unanswered(view), ask_at(view, PATIENT), told(view), cleared(view, NOW)) == ((), math.inf, "", ())
        assert watch(view, PATIENT, NOW).actions == ()
        assert cleared(view, NOW + 10 * 86_400.0)


def test_what_its_check_sees_is_acted_on_for_that_finding_alone() -> None:
    """The finding asks for a remedy, as it would without the alarm; the alarm stands until a look passes."""
    seen = a_finding(Remedy.RESET, code="xid.119", fault=LINE.fault)
    view = looked(stored(seen), outcome=Outcome.FAILED)
    assert (answer(view, LINE), cleared(view, NOW), told(view)) == (Answer.YES, (), "")
    need = needed(view, NOW)
    assert need is not None
    assert (need.remedy, need.results) == (Remedy.RESET, (3,))
    assert need == needed(replace(view, alarms=()), NOW)


@pytest.mark.parametrize(
    ("answers", "more"),
    [
        ((stored(verdict=Verdict.UNKNOWN),), {"outcome": Outcome.UNKNOWN, "detail": "ssh: no route"}),
        ((), {"outcome": Outcome.LOST, "detail": "ssh: no route"}),
        ((stored(verdict=Verdict.UNKNOWN),), {"outcome": Outcome.FAILED, "detail": "ssh: no route"}),
    ],
)
def test_a_dead_node_does_not_answer_and_nothing_is_done_by_itself(
    answers: tuple[Stored, ...], more: dict[str, object]
) -> None:
    """UNKNOWN is not FAIL: the alarm stands, the sentence says so, and it is asked again; beside its BMC, too."""
    view = looked(*answers, **more)
    assert answer(view, LINE) is Answer.NONE
    assert (cleared(view, NOW), needed(view, NOW)) == ((), None)
    assert told(view) == (
        "UNKNOWN: alarm xid.119 of GPU 3 was told without authentication, and the node did not answer when it was"
        " asked (ssh: no route); nothing is done by itself: look at it, or ask for a remedy"
    )
    assert watch(view, PATIENT, NOW).wake_at == NOW - 1 + PATIENT.confirm
    assert opened(watch(view, PATIENT, NOW + PATIENT.confirm)) == [Stage.HEALTH_PASSIVE]


def opened(decision: Decision) -> list[Stage]:
    """The stages that start."""
    return [each.stage for each in decision.actions if isinstance(each, OpenRun)]


def test_several_are_told_of_in_one_sentence() -> None:
    """One without a component, too; and one whose run says nothing of why it failed."""
    two = (replace(LINE, component="", code="kernel.oops", fault="gpu-01/kernel.oops/"), LINE)
    view = a_view(alarms=two, runs=(CABLED,))
    assert told(view) == f"alarm kernel.oops and 1 more: {UNPROVEN}"
    assert ask_at(view, PATIENT) == 0.0
    assert "(lost)" in told(looked(outcome=Outcome.LOST))


story = st.lists(
    st.tuples(st.sampled_from(["forged", "wait", "blind", "seeing"]), st.sampled_from(list(KINDS))), max_size=12
)


@given(story)
def test_a_healthy_node_lives_through_any_forgery(said: list[tuple[str, str]]) -> None:
    """Whatever is forged, and whether it answers or not: it serves, takes work, and no remedy is tried."""
    life = Life(Node("gpu-01", "t", SERVING, NOW, 1), NOW)
    for kind, code in said:
        if kind == "forged":
            life.signal(code, proven=False)
        life.blind = kind == "blind" if kind in {"blind", "seeing"} else life.blind
        life.live(20.0 if kind == "forged" else 2000.0)
        assert not is_kept(life.node)
    assert (moved(life), tried(life), life.node.state) == ([], [], SERVING)


def test_a_node_that_confirms_what_was_told_gets_its_remedy() -> None:
    """Its GPU fell off the bus: the check reads its kernel log, and the node is power-cycled for that finding."""
    life = Life(Node("gpu-01", "t", SERVING, NOW, 1), NOW)
    life.live(100.0)
    life.faults.add("xid.79")
    life.signal("xid.79", proven=False)
    life.live(60.0)
    assert [action.remedy for _, action in tried(life)] == [Remedy.POWER_CYCLE]
    assert life.faults == set()


def test_forged_words_have_a_node_looked_at_a_few_times_an_hour() -> None:
    """One datagram every ten seconds, for an hour, beside the sweeps that there would be anyway."""
    life, quiet = (Life(Node("gpu-01", "t", SERVING, NOW, 1), NOW) for _ in range(2))
    for _ in range(360):
        life.signal("xid.79", proven=False)
        life.live(10.0)
    quiet.live(3600.0)
    assert looks(quiet) <= looks(life) <= looks(quiet) + 3600 / TIMING.confirm + 4


def looks(life: Life) -> int:
    """How many passive checks were run."""
    return sum(run.stage is Stage.HEALTH_PASSIVE for run in life.runs)


def test_settings_that_confirm_at_once_have_no_node_looked_at_without_end() -> None:
    """A minute lies between two looks that forged words ask for."""
    hasty = replace(PATIENT, confirm=0.0)
    assert ask_at(looked(opened_at=NOW - 11), hasty) == NOW - 1 + LEAST
