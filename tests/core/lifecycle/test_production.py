"""What a serving node needs."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.verdicts import NOT_SOUGHT, Remedy, Verdict
from fleet_runner.core.inventory.records import Management
from fleet_runner.core.lifecycle.actions import Action, ClearCondition, Decision, Move, OpenRun, SetCondition
from fleet_runner.core.lifecycle.production import watch
from fleet_runner.core.lifecycle.runs import Outcome, Stored
from fleet_runner.core.lifecycle.states import Condition, Event, Stage
from fleet_runner.core.lifecycle.view import Timing, View
from fleet_runner.core.schedules.sweep import SweepHistory
from tests.making import (
    NOW,
    SINCE,
    a_finding,
    a_node,
    a_run,
    a_view,
    an_attempt,
    conditions,
    held,
    paced,
    stored,
    usage,
)

TIMING = Timing(drain=60, passive=paced(300), cabling=paced(14_400), drain_deadline=500)
SWEPT = (a_run(Stage.HEALTH_PASSIVE), a_run(Stage.CABLING, id=8))
PENDING = {Condition.PENDING: held("GPU 3 fell off the bus.", "runner", detail="REBOOT")}
XID = stored(a_finding())


def sets(decision: Decision) -> set[Condition]:
    """The conditions that begin to hold."""
    return {action.condition for action in decision.actions if isinstance(action, SetCondition)}


def clears(decision: Decision) -> set[Condition]:
    """The conditions that end."""
    return {action.condition for action in decision.actions if isinstance(action, ClearCondition)}


def moved(decision: Decision) -> Event | None:
    """The event that moves the node, if any."""
    return next((action.transition.event for action in decision.actions if isinstance(action, Move)), None)


def opens(decision: Decision) -> Stage | None:
    """The stage that starts, if any."""
    return next((action.stage for action in decision.actions if isinstance(action, OpenRun)), None)


def pending(**values: object) -> View:
    """A cordoned node whose reboot waits."""
    node = a_node(conditions=PENDING | conditions(Condition.CORDONED, Condition.DRAINING))
    return a_view(node, **{"latest": (XID,)} | values)


remedies = st.lists(st.sampled_from(list(Remedy)), max_size=4)
usages = st.none() | st.booleans()


@given(remedies, usages, st.sampled_from(list(Verdict)), st.booleans())
def test_a_node_whose_work_is_not_known_to_have_ended_is_never_taken(
    found: list[Remedy], used: bool | None, verdict: Verdict, waits: bool
) -> None:
    """Pending means pending."""
    latest: tuple[Stored, ...] = tuple(stored(a_finding(remedy), id=10 + i) for i, remedy in enumerate(found))
    latest += () if used is None else (usage(in_use=used, verdict=verdict),)
    node = a_node(conditions=PENDING if waits else {})
    decision = watch(a_view(node, latest=latest, runs=SWEPT), TIMING, NOW)
    if moved(decision):
        assert waits
        assert used is False
        assert verdict is Verdict.PASS


@given(remedies)
def test_a_customers_node_is_never_acted_on(found: list[Remedy]) -> None:
    """Its faults are recorded and ticketed."""
    node = a_node(management=Management.CUSTOMER)
    latest = tuple(stored(a_finding(remedy), id=10 + i) for i, remedy in enumerate(found))
    assert watch(a_view(node, latest=latest, runs=SWEPT), TIMING, NOW).actions == ()


def test_a_fault_cordons_and_waits() -> None:
    """The reason and the results go with it."""
    decision = watch(a_view(latest=(XID,), runs=SWEPT), TIMING, NOW)
    assert sets(decision) == {Condition.PENDING, Condition.CORDONED, Condition.DRAINING}
    first = decision.actions[0]
    assert isinstance(first, SetCondition)
    assert (first.held.detail, first.held.reason, first.results) == ("REBOOT", "GPU 3 fell off the bus.", (3,))


def test_the_fourth_reboot_of_a_day_is_triage_instead() -> None:
    """No remediation loop without a cap, whatever the faults were."""
    tried = tuple(an_attempt(Remedy.REBOOT, faults=(f"gpu-01/f/{number}",)) for number in range(3))
    first = watch(a_view(latest=(XID,), runs=SWEPT, attempts=tried), TIMING, NOW).actions[0]
    assert isinstance(first, SetCondition)
    assert first.held.detail == "TRIAGE"
    assert first.held.reason == (
        "GPU 3 fell off the bus. REBOOT was tried 3 of at most 3 times in 24 h: a person decides."
    )


def test_a_worse_fault_changes_what_is_pending() -> None:
    """But only what the runner itself had decided."""
    worse = stored(a_finding(Remedy.RMA), id=11)
    assert sets(watch(pending(latest=(worse,)), TIMING, NOW)) >= {Condition.PENDING}
    node = a_node(conditions={Condition.PENDING: held(detail="REBOOT")})
    assert not sets(watch(a_view(node, latest=(worse,)), TIMING, NOW))


def test_the_same_fault_seen_again_changes_nothing() -> None:
    """The first look asks whether the node is idle."""
    decision = watch(pending(), TIMING, NOW)
    assert decision.actions == (OpenRun(Stage.DRAIN, "REBOOT waits for the node to be idle"),)


def test_a_fault_that_heals_ends_its_own_remedy() -> None:
    """No sticky alarms; the node stays in service."""
    decision = watch(pending(latest=(stored(),)), TIMING, NOW)
    assert clears(decision) == {Condition.PENDING, Condition.DRAINING, Condition.CORDONED}


def test_an_idle_node_is_taken_and_stays_cordoned() -> None:
    """Until it serves again."""
    decision = watch(pending(latest=(XID, usage(in_use=False))), TIMING, NOW)
    assert moved(decision) is Event.REBOOT_NEEDED
    assert clears(decision) == {Condition.PENDING, Condition.DRAINING}


def test_a_busy_node_is_asked_again_and_again() -> None:
    """Not more often than the settings say; past the deadline a person is called."""
    busy = (XID, usage(in_use=True))
    asked = (a_run(Stage.DRAIN, Outcome.PASSED), *SWEPT)
    decision = watch(pending(latest=busy, runs=asked), TIMING, NOW)
    assert sets(decision) == {Condition.IN_USE}
    assert decision.waiting == "REBOOT pending, its work has not ended: GPU 3 fell off the bus."
    assert decision.wake_at == NOW + 50
    assert opens(watch(pending(latest=busy, runs=asked), TIMING, NOW + 50)) is Stage.DRAIN
    late = (a_run(Stage.DRAIN, Outcome.PASSED, ended_at=SINCE + 500),)
    assert "a person decides" in watch(pending(latest=busy, runs=(*late, *SWEPT)), TIMING, SINCE + 501).waiting


def test_an_answer_about_usage_grows_old() -> None:
    """A hold or the budget kept the remedy waiting: work may have begun since the node was seen idle."""
    idle = (XID, usage(in_use=False))
    assert moved(watch(pending(latest=idle), TIMING, NOW + 100)) is Event.REBOOT_NEEDED
    late = watch(pending(latest=idle), TIMING, NOW + 200)
    assert (moved(late), opens(late)) == (None, Stage.DRAIN)


def test_the_node_is_still_watched_while_a_remedy_waits() -> None:
    """A harder fault, or one that has gone, is seen."""
    asked = (a_run(Stage.DRAIN, Outcome.PASSED),)
    decision = watch(pending(latest=(XID, usage(in_use=True)), runs=asked), TIMING, NOW)
    assert opens(decision) is Stage.HEALTH_PASSIVE
    assert decision.waiting.startswith("REBOOT pending")


def test_a_check_without_an_answer_heals_nothing() -> None:
    """What it does not see may still be there: no uncordoning, and a waived fault stays waived."""
    unsure = stored(verdict=Verdict.UNKNOWN, check="parts_gpu")
    assert not clears(watch(pending(latest=(unsure,), runs=SWEPT), TIMING, NOW))
    assert waived(unsure) == ()


def against(fault: str, **values: object) -> View:
    """An idle, drained node whose reboot waits for a fault that nothing tells of any more."""
    draining = {Condition.DRAINING: held(by="runner", detail=fault)}
    node = a_node(conditions=PENDING | conditions(Condition.CORDONED) | draining)
    return a_view(node, **{"runs": (a_run(Stage.DRAIN), *SWEPT), "latest": (usage(in_use=False),)} | values)


def test_no_remedy_is_carried_out_for_a_fault_that_may_have_gone() -> None:
    """A check that looks for it has no answer: the remedy waits, and says so."""
    unsure = stored(verdict=Verdict.UNKNOWN)
    for fault in ("gpu-01/xid.79/GPU 3", ""):
        kept = watch(against(fault, latest=(usage(in_use=False), unsure)), TIMING, NOW)
        assert kept.actions == ()
        assert kept.waiting.startswith("REBOOT pending, whether its fault is still there is unknown: ")


def test_a_check_that_could_not_look_for_the_fault_heals_nothing_whatever_else_it_saw() -> None:
    """A leak detector that is mute, while a fan is slow."""
    fault, blind = "gpu-01/leak.detected/Rope 1", {NOT_SOUGHT: ["leak.detected"]}
    slow = stored(a_finding(Remedy.WATCH, code="fan.slow"), check="sensors", observed=blind)
    latest = (usage(in_use=False), slow)
    assert watch(against(fault, latest=latest), TIMING, NOW).actions == ()
    assert clears(watch(against("gpu-01/fan.failed/Fan 1", latest=latest), TIMING, NOW)) >= {Condition.PENDING}
    odd = replace(slow, result=replace(slow.result, observed={NOT_SOUGHT: "leak.detected"}))
    assert clears(watch(against(fault, latest=(usage(in_use=False), odd)), TIMING, NOW)) >= {Condition.PENDING}


def test_only_a_check_that_looks_for_the_fault_keeps_its_remedy_waiting() -> None:
    """Not another, nor one that had no answer before the fault was seen."""
    other = stored(verdict=Verdict.UNKNOWN, check="ib_write")
    old = stored(verdict=Verdict.UNKNOWN, at=SINCE - 1)
    for fault, unsure in (("gpu-01/xid.79/GPU 3", other), ("gpu-01/xid.79/GPU 3", old), ("", old)):
        decision = watch(against(fault, latest=(usage(in_use=False), unsure)), TIMING, NOW)
        assert moved(decision) is None
        assert clears(decision) == {Condition.PENDING, Condition.DRAINING, Condition.CORDONED}


def test_what_is_pending_knows_every_fault_that_asks_for_it() -> None:
    """One that joins is added; one that has gone since is not forgotten, and changes nothing."""
    joined = watch(against("gpu-01/xid.79/GPU 3", latest=(XID,)), TIMING, NOW)
    draining = joined.actions[-1]
    assert isinstance(draining, SetCondition)
    assert draining.held.detail == "gpu-01/gpu.lost/GPU 3\ngpu-01/xid.79/GPU 3"
    assert draining.held.since == SINCE
    assert not sets(watch(against(draining.held.detail, latest=(XID,)), TIMING, NOW))


def test_a_node_that_becomes_its_customers_is_given_back() -> None:
    """Whatever has no answer, and though it is idle."""
    node = replace(pending().node, management=Management.CUSTOMER)
    unsure = stored(verdict=Verdict.UNKNOWN)
    decision = watch(a_view(node, latest=(XID, unsure, usage(in_use=False)), runs=SWEPT), TIMING, NOW)
    assert moved(decision) is None
    assert clears(decision) == {Condition.PENDING, Condition.DRAINING, Condition.CORDONED}


def test_a_node_that_nobody_reaches_says_so() -> None:
    """Its old passes say nothing about now."""
    lost = (a_run(Stage.HEALTH_PASSIVE, Outcome.UNKNOWN, detail="unreachable: no route"), SWEPT[1])
    assert watch(a_view(runs=lost), TIMING, NOW).waiting == "UNKNOWN: health_passive: unreachable: no route"


def test_a_node_that_left_the_source_of_truth_is_left_alone() -> None:
    """And says so; neither is it cordoned for a fault, nor drained or moved for what was pending."""
    for view in (
        a_view(status=None),
        a_view(status=None, latest=(XID,)),
        pending(status=None),
        pending(status=None, latest=(XID, usage(in_use=False))),
    ):
        decision = watch(view, TIMING, NOW)
        assert decision.actions == ()
        assert "is no longer in the source of truth" in decision.waiting


def test_a_node_that_does_not_answer_stays_pending() -> None:
    """Whether it is idle is unknown: nothing is done to it."""
    decision = watch(pending(runs=(a_run(Stage.DRAIN, Outcome.UNKNOWN), *SWEPT)), TIMING, NOW)
    assert decision.waiting.startswith("REBOOT pending, whether work runs on it is unknown")


def test_an_old_answer_about_usage_does_not_count() -> None:
    """It was idle before the remedy was decided; that says nothing about now."""
    stale = usage(in_use=False, at=SINCE - 1)
    assert opens(watch(pending(latest=(XID, stale)), TIMING, NOW)) is Stage.DRAIN


def test_work_that_comes_and_goes_is_noted() -> None:
    """From what the usage check sees."""
    view = a_view(latest=(usage(in_use=True),), runs=SWEPT)
    assert sets(watch(view, TIMING, NOW)) == {Condition.IN_USE}
    used = a_node(conditions=conditions(Condition.IN_USE))
    assert clears(watch(a_view(used, latest=(usage(in_use=False),), runs=SWEPT), TIMING, NOW)) == {Condition.IN_USE}
    assert not watch(a_view(used, latest=(usage(in_use=True),), runs=SWEPT), TIMING, NOW).actions


def test_maintenance_keeps_the_schedules_and_acts_on_nothing() -> None:
    """Findings are kept."""
    node = a_node(conditions=conditions(Condition.MAINTENANCE))
    assert not watch(a_view(node, latest=(XID,), runs=SWEPT), TIMING, NOW).actions
    assert opens(watch(a_view(node, latest=(XID,)), TIMING, NOW)) is Stage.HEALTH_PASSIVE


def test_schedules_are_kept() -> None:
    """The sweep first, then the cabling; then it says when it looks again."""
    assert opens(watch(a_view(), TIMING, NOW)) is Stage.HEALTH_PASSIVE
    assert opens(watch(a_view(runs=SWEPT[:1]), TIMING, NOW)) is Stage.CABLING
    assert watch(a_view(runs=SWEPT), TIMING, NOW).wake_at == NOW + 290


def test_cabling_that_was_seen_wrong_once_is_looked_at_again_soon() -> None:
    """Only by the stage that saw it, and only until it is confirmed."""
    loose = stored(a_finding(Remedy.RECABLE), check="optics", stage=Stage.CABLING)
    once = watch(a_view(latest=(loose,), runs=SWEPT), Timing(passive=paced(9_000)), NOW)
    assert (once.actions, once.wake_at) == ((), NOW + 590)
    again = watch(a_view(latest=(loose,), runs=SWEPT), Timing(passive=paced(9_000)), NOW + 590)
    assert again.actions == (OpenRun(Stage.CABLING, "a fault was seen once, this look confirms it or not"),)
    twice = watch(a_view(latest=(loose,), before=(loose,), runs=SWEPT), Timing(passive=paced(9_000)), NOW)
    assert twice.wake_at == NOW + 3600


def test_a_check_without_a_verdict_shows_and_moves_nothing() -> None:
    """UNKNOWN is not FAIL."""
    unsure = stored(a_finding(), verdict=Verdict.UNKNOWN, message="nvidia-smi hung")
    swept = (a_run(Stage.HEALTH_PASSIVE, Outcome.UNKNOWN, detail="xid: nvidia-smi hung"), SWEPT[1])
    decision = watch(a_view(latest=(unsure,), runs=swept), TIMING, NOW)
    assert decision.actions == ()
    assert decision.waiting == "UNKNOWN: health_passive: xid: nvidia-smi hung"


def waived(*latest: Stored) -> tuple[Action, ...]:
    """What follows on a node whose operator waived the Xid."""
    node = a_node(conditions={Condition.WAIVED: held(detail="gpu-01/gpu.lost/GPU 3")})
    return watch(a_view(node, latest=latest, runs=SWEPT), TIMING, NOW).actions


def test_a_waived_fault_leads_to_nothing_until_it_has_gone() -> None:
    """A cancelled move is cancelled; another fault still counts."""
    assert waived(XID) == ()
    other = stored(a_finding(fault="gpu-01/xid.48/GPU 5"), id=12)
    assert {type(action) for action in waived(XID, other)} == {SetCondition}
    (cleared,) = waived(stored())
    assert isinstance(cleared, ClearCondition)
    assert cleared.condition is Condition.WAIVED


def test_each_fault_is_waived_only_as_long_as_it_lasts() -> None:
    """One that has gone counts again when it comes back, though another one stays; what nobody looks for is gone."""
    unsure = stored(verdict=Verdict.UNKNOWN, check="ib_write")
    both = {Condition.WAIVED: held(detail="gpu-01/alert.x/\ngpu-01/gpu.lost/GPU 3\ngpu-01/xid.48/GPU 5")}
    view = a_view(a_node(conditions=both), latest=(XID, unsure), runs=SWEPT)
    (left,) = watch(view, TIMING, NOW).actions
    assert isinstance(left, SetCondition)
    assert left.held == replace(both[Condition.WAIVED], detail="gpu-01/gpu.lost/GPU 3")


def rolled(*latest: Stored, **values: str) -> View:
    """A node whose firmware a rollout wants updated."""
    holding = conditions(Condition.PENDING, Condition.CORDONED, Condition.DRAINING, by="rollout 3", detail="REFLASH")
    return a_view(a_node(conditions=holding), latest=latest, runs=SWEPT, **values)


def test_drift_alone_takes_no_node_out_of_service() -> None:
    """A person or a rollout asks for the update; then it goes the way of any remedy."""
    drift = stored(a_finding(Remedy.REFLASH), check="firmware_pins")
    assert watch(a_view(latest=(drift,), runs=SWEPT), TIMING, NOW).actions == ()
    decision = watch(rolled(drift, usage(in_use=False)), TIMING, NOW)
    assert moved(decision) is Event.FIRMWARE_NEEDED
    assert clears(decision) == {Condition.PENDING, Condition.DRAINING}


def test_what_a_rollout_asks_gives_way_to_a_fault() -> None:
    """What a person or a cluster asks does not; and a fault that healed is not what the update waited for."""
    decision = watch(rolled(XID), TIMING, NOW)
    first = decision.actions[0]
    assert isinstance(first, SetCondition)
    assert first.held.detail == "REBOOT"
    for by in ("ann", "NodeRemediation fleet/gpu-01 (1a2b3c4d)"):
        asked = a_node(conditions={Condition.PENDING: held(detail="RESET", by=by)})
        assert not sets(watch(a_view(asked, latest=(XID,), runs=SWEPT), TIMING, NOW))
    assert opens(watch(rolled(stored()), TIMING, NOW)) is Stage.DRAIN


def test_a_node_that_a_rollout_asks_no_more_serves_on() -> None:
    """Also in maintenance, and though it is idle."""
    off = "rollout 3 is stopped by ann: because"
    decision = watch(rolled(usage(in_use=False), called_off=off), TIMING, NOW)
    assert moved(decision) is None
    assert clears(decision) == {Condition.PENDING, Condition.DRAINING, Condition.CORDONED}
    first = decision.actions[0]
    assert isinstance(first, ClearCondition)
    assert first.sentence == f"{off}; the node stays in service."
    assert watch(a_view(runs=SWEPT, called_off=off), TIMING, NOW).actions == ()


def test_an_answer_about_usage_holds_for_a_minute_at_least() -> None:
    """However often a drain asks: on a busy runner each answer would be too old before it is looked at."""
    idle = pending(latest=(XID, usage(in_use=False)))  # 10 seconds old
    often = replace(TIMING, drain=2)
    assert moved(watch(idle, often, NOW + 49)) is Event.REBOOT_NEEDED
    assert moved(watch(idle, often, NOW + 50)) is None


def test_tests_of_ours_end_before_anything_but_a_reboot() -> None:
    """Nothing is flashed, and no hand called, while they load the node; also where they use no GPU."""
    tested = usage(in_use=False)
    tested = replace(tested, result=replace(tested.result, observed={"in_use": False, "ours": 0}))
    asked = (a_run(Stage.DRAIN, Outcome.PASSED), *SWEPT)
    for remedy, event in (("REFLASH", None), ("TRIAGE", None), ("REBOOT", Event.REBOOT_NEEDED)):
        node = a_node(conditions={Condition.PENDING: held("why", detail=remedy)})
        decision = watch(a_view(node, latest=(tested,), runs=asked), TIMING, NOW)
        assert moved(decision) is event
        assert event or decision.waiting == f"{remedy} pending, our own tests have not ended: why"


def test_a_node_whose_sweeps_are_paused_is_left_alone() -> None:
    """Never swept before, or seen wrong once: nothing begins, and it is looked at again within the hour."""
    paused = SweepHistory(paused="paused by kim: the network is down")
    timing = replace(
        TIMING, passive=replace(paced(300), standing=paused), cabling=replace(paced(300), standing=paused)
    )
    loose = stored(a_finding(Remedy.RECABLE), check="optics", stage=Stage.CABLING)
    for view in (a_view(), a_view(latest=(loose,), runs=SWEPT)):
        decision = watch(view, timing, NOW + 900_000)
        assert opens(decision) is None
        assert decision.wake_at == NOW + 900_000 + 3600
