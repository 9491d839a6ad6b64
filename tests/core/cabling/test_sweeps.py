"""What a fabric needs: sweeps on a schedule, a second look where it matters, and words about both."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling.sweeps import told
from fleet_runner.core.checks.verdicts import Remedy, Verdict
from fleet_runner.core.inventory.records import Termination
from fleet_runner.core.lifecycle.actions import Decision, OpenRun
from fleet_runner.core.lifecycle.decisions import decide
from fleet_runner.core.lifecycle.runs import IntentKind, Outcome, Run, Stored
from fleet_runner.core.lifecycle.states import Condition, Stage, State
from fleet_runner.core.lifecycle.view import Timing, View
from fleet_runner.core.schedules.sweep import SweepHistory
from tests.making import NOW, a_fabric, a_finding, a_run, a_view, an_intent, conditions, paced, sweep

TIMING = Timing(retry=60, cabling=paced(14_400), confirm=600)
HERE = (Termination("gpu-01", "ib0"),)
SWAP = a_finding(Remedy.RECABLE, code="cabling.swap", fault="cabling/1")
NUMBERS = {"designed": 1538, "matched": 1536}


def swept(outcome: Outcome = Outcome.PASSED, **values: object) -> Run:
    """A sweep that ended 10 seconds ago."""
    return a_run(Stage.FABRIC, outcome, **{"node": "infiniband.hall"} | values)


def seen(*latest: Stored, runs: tuple[Run, ...] = (swept(),), **values: object) -> View:
    """A fabric that can be read and was swept."""
    return a_view(a_fabric(), latest=latest, runs=runs, **{"observers": HERE} | values)


def at(moment: float) -> str:
    """A moment as people read it here."""
    return datetime.fromtimestamp(moment, UTC).strftime("%H:%M UTC")


def starts(decision: Decision) -> bool:
    """Whether a sweep starts."""
    return [action.stage for action in decision.actions if isinstance(action, OpenRun)] == [Stage.FABRIC]


def due(view: View, timing: Timing = TIMING) -> float:
    """The seconds after the last sweep's end at which the next one starts, to the second."""
    decision = decide(view, timing, NOW)
    assert not starts(decision)
    now = decision.wake_at
    while not starts(decide(view, timing, now)):
        assert decide(view, timing, now).wake_at > now
        now = decide(view, timing, now).wake_at
    assert not starts(decide(view, timing, now - 1.0))
    return now - (NOW - 10.0)


def test_a_new_fabric_is_swept_at_once_and_then_on_schedule() -> None:
    """Through whatever can read it."""
    assert starts(decide(seen(runs=()), TIMING, NOW))
    assert due(seen(sweep(observed=NUMBERS))) == 14_400


def test_a_fault_seen_once_is_looked_at_again_soon() -> None:
    """Not once it is confirmed, and never later than the schedule says."""
    failed = swept(Outcome.FAILED)
    assert due(seen(sweep(SWAP), runs=(failed,))) == 600
    assert due(seen(sweep(SWAP), runs=(failed,), before=(sweep(SWAP),))) == 14_400
    assert due(seen(sweep(SWAP), runs=(failed,)), Timing(cabling=paced(60), confirm=600)) == 60
    why = decide(seen(sweep(SWAP), runs=(failed,)), TIMING, NOW + 600).actions[0]
    assert isinstance(why, OpenRun)
    assert why.reason == "1 fault(s) were seen once; are they still there?"


@given(st.integers(1, 40))
def test_a_sweep_without_a_verdict_is_tried_again_ever_later(tries: int) -> None:
    """At last as often as any other."""
    silent = tuple(swept(Outcome.UNKNOWN, id=100 + number) for number in range(tries))
    view = seen(sweep(verdict=Verdict.UNKNOWN, run=99 + tries), runs=(swept(), *silent), before=(sweep(),))
    assert due(seen(runs=silent)) == due(view)
    assert due(view) == min(60.0 * 2 ** (tries - 1), 14_400)
    assert "UNKNOWN: fabric unknown" not in decide(view, TIMING, NOW).waiting
    assert "UNKNOWN: unknown" in decide(view, TIMING, NOW).waiting


@pytest.mark.parametrize("outcome", [Outcome.LOST, Outcome.CANCELLED, Outcome.UNKNOWN])
def test_whatever_became_of_a_sweep_it_is_tried_again(outcome: Outcome) -> None:
    """Its own words say why."""
    view = seen(runs=(swept(outcome, detail="unreachable: no route"),))
    assert due(view) == 60
    assert decide(view, TIMING, NOW).waiting == (f"UNKNOWN: unreachable: no route; next sweep at {at(NOW + 50)}")


def test_the_cabling_alone_says_whether_a_sweep_brought_a_verdict() -> None:
    """Counters that cannot be read are no reason to read the whole fabric again and again."""
    quiet = sweep(check="fabric_counters", verdict=Verdict.UNKNOWN)
    assert due(seen(sweep(observed=NUMBERS), quiet, runs=(swept(Outcome.UNKNOWN),))) == 14_400
    silent = sweep(verdict=Verdict.UNKNOWN)
    sick = sweep(SWAP, check="fabric_counters")
    assert due(seen(silent, sick, runs=(swept(Outcome.FAILED, id=6), swept(Outcome.FAILED)))) == 120
    unsure = sweep(verdict=Verdict.UNKNOWN, observed={"unsure": ["gpu-07"], **NUMBERS})
    assert due(seen(unsure, runs=(swept(Outcome.UNKNOWN),))) == 14_400
    assert (
        "1,536 of 1,538 links as designed, 1 device(s) or link(s) that cannot be judged"
        in decide(seen(unsure), TIMING, NOW).waiting
    )


def test_it_says_how_the_last_sweep_went_and_when_the_next_one_is() -> None:
    """In one sentence."""
    other = a_finding(Remedy.RECABLE, fault="cabling/2")
    away = a_finding(Remedy.RECABLE, fault="cabling/3", nodes=("gpu-03", "gpu-04", "gpu-05"))
    why = {name: f"{name} is in triage" for name in away.nodes}
    good = seen(sweep(observed={"designed": 8, "matched": 8}))
    assert decide(good, TIMING, NOW).waiting == f"8 of 8 links as designed; next sweep at {at(NOW + 14_390)}"
    wrong = sweep(SWAP, other, a_finding(Remedy.RECORD), observed=NUMBERS)
    view = seen(wrong, sweep(SWAP, check="fabric_counters"), before=(sweep(SWAP),))
    assert decide(view, TIMING, NOW).waiting == (
        "1,536 of 1,538 links as designed, 2 faults, 1 unconfirmed, 1 fault of fabric_counters, 1 unconfirmed; "
        f"next sweep at {at(NOW + 590)}"
    )
    view = seen(sweep(SWAP, away, observed=NUMBERS), before=(sweep(SWAP, away),), excused=why)
    assert decide(view, TIMING, NOW).waiting.startswith(
        "1,536 of 1,538 links as designed, 2 faults, 1 excused (gpu-03 is in triage, gpu-04 is in triage and 1 more);"
    )
    deaf = sweep(observed={"designed": 8, "matched": 8, "unread": ["leaf-1", "leaf-2"]})
    assert decide(seen(deaf), TIMING, NOW).waiting.startswith(
        "8 of 8 links as designed, 2 switches not read (leaf-1,"
    )
    deaf = sweep(observed={"designed": 8, "matched": 8, "unread": ["leaf-1"]})
    assert ", 1 switch not read (leaf-1); next" in decide(seen(deaf), TIMING, NOW).waiting
    late = decide(good, Timing(cabling=paced(200_000)), NOW).waiting
    assert late.endswith(datetime.fromtimestamp(NOW + 199_990, UTC).strftime("next sweep at %Y-%m-%d %H:%M UTC"))
    assert decide(seen(sweep(message="No numbers.")), TIMING, NOW).waiting.startswith("No numbers; next sweep")


def test_it_tells_why_the_next_sweep_is_when_it_is() -> None:
    """By the schedule, or sooner where something must be confirmed."""
    view = seen(sweep(observed=NUMBERS))
    assert told(view, TIMING, NOW) == ("1,536 of 1,538 links as designed", NOW + 14_390, "scheduled sweep")
    _, when, why = told(seen(sweep(SWAP)), TIMING, NOW)
    assert (when, why) == (NOW + 590, "1 fault(s) were seen once; are they still there?")
    assert told(seen(runs=()), TIMING, NOW) == ("it was not swept yet", 0.0, "first sweep of the fabric")


def test_a_suspect_capture_says_so() -> None:
    """Instead of counting what it cannot know."""
    whole = a_finding(
        Remedy.RECABLE, code="cabling.suspect", fault="cabling/suspect/x", message="400 faults at once."
    )
    assert decide(seen(sweep(whole, observed=NUMBERS)), TIMING, NOW).waiting.startswith(
        "400 faults at once; next sweep"
    )


def test_without_an_observer_nothing_runs_and_it_says_so() -> None:
    """Nor when a person asks."""
    decision = decide(seen(sweep(observed=NUMBERS), observers=()), TIMING, NOW + 1e6)
    assert not starts(decision)
    assert decision.waiting.startswith("No node that is up has a port in this fabric, so nothing can read it;")
    assert decision.waiting.endswith("last sweep: 1,536 of 1,538 links as designed")
    assert decision.wake_at == NOW + 1e6 + 300
    assert "it was not swept yet" in decide(seen(runs=(), observers=()), TIMING, NOW).waiting
    intent = an_intent(IntentKind.RUN, node="infiniband.hall", detail="fabric")
    (answer,) = decide(seen(observers=(), intents=(intent,)), TIMING, NOW).actions
    assert "nothing can read it" in str(answer)


def test_a_fabric_that_left_the_source_of_truth_rests() -> None:
    """It says why."""
    decision = decide(seen(status=None), TIMING, NOW + 1e6)
    assert decision.actions == ()
    assert decision.waiting == "the source of truth does not know it any more; it is not swept"


def test_a_held_fabric_is_not_swept_by_itself_and_can_be_by_a_person() -> None:
    """Reading moves nothing."""
    fabric = a_fabric(conditions=conditions(Condition.HELD))
    assert not starts(decide(a_view(fabric, observers=HERE), TIMING, NOW))
    intent = an_intent(IntentKind.RUN, node="infiniband.hall", detail="fabric")
    assert starts(
        Decision(decide(a_view(fabric, observers=HERE, intents=(intent,)), TIMING, NOW).actions[:1], "", NOW)
    )


@pytest.mark.parametrize(
    ("intent", "detail", "accepted"),
    [
        (IntentKind.HOLD, "", True),
        (IntentKind.RETIRE, "", True),
        (IntentKind.RUN, "fabric", True),
        (IntentKind.RUN, "verify", False),
        (IntentKind.CERTIFY, "", False),
        (IntentKind.REBOOT, "", False),
        (IntentKind.TRIAGE, "", False),
        (IntentKind.CANCEL, "", False),
        (IntentKind.RELEASE, "", False),
    ],
)
def test_a_fabric_takes_the_requests_that_make_sense_for_it(intent: IntentKind, detail: str, accepted: bool) -> None:
    """The others are refused with what is possible."""
    view = seen(intents=(an_intent(intent, node="infiniband.hall", detail=detail),))
    *_, said = decide(view, TIMING, NOW).actions
    assert getattr(said, "accepted") is accepted  # noqa: B009  every action may stand there
    node = a_view(intents=(an_intent(IntentKind.RUN, detail="fabric"),))
    assert "cannot be run on a node in production" in str(decide(node, TIMING, NOW).actions)


def test_an_open_sweep_is_left_to_run() -> None:
    """Like any other run."""
    decision = decide(seen(run=a_run(Stage.FABRIC, None)), TIMING, NOW)
    assert (decision.actions, decision.waiting) == ((), "fabric runs")
    assert seen().node.state is State.WATCHED


def test_a_fabric_whose_sweeps_are_paused_says_so_and_waits() -> None:
    """No sweep is due, not even one that would confirm a fault."""
    stopped = Timing(cabling=replace(paced(60), standing=SweepHistory(paused="paused by kim: cables are moved")))
    for view in (seen(runs=()), seen(sweep(SWAP), runs=(swept(Outcome.FAILED),))):
        decision = decide(view, stopped, NOW + 100_000)
        assert not starts(decision)
        assert "the schedule of sweeps is paused by kim: cables are moved" in decision.waiting
