"""What a node in a moving state needs next."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.lifecycle.actions import Decision, Move, OpenRun
from fleet_runner.core.lifecycle.runs import Outcome, Run
from fleet_runner.core.lifecycle.stages import advance, progress
from fleet_runner.core.lifecycle.states import MOVING, STATES, Event, Stage, State
from fleet_runner.core.lifecycle.view import Timing
from tests.making import NOW, SINCE, a_node, a_run, a_view, stored

TIMING = Timing(retry=60, working=300)


def event(decision: Decision) -> Event | None:
    """The event of the decision's move, if it has one."""
    return next((action.transition.event for action in decision.actions if isinstance(action, Move)), None)


def opens(decision: Decision) -> Stage | None:
    """The stage that the decision starts, if any."""
    return next((action.stage for action in decision.actions if isinstance(action, OpenRun)), None)


moving = st.sampled_from(sorted(MOVING))
pasts = st.lists(st.tuples(st.integers(0, 1), st.sampled_from(list(Outcome))), max_size=8)


@given(moving, pasts, st.floats(0, 400_000))
def test_no_outcome_but_passed_passes_and_no_outcome_but_failed_fails(
    state: State, past: list[tuple[int, Outcome]], later: float
) -> None:
    """Whatever came before, and however late it is; a stage begins when the one before it has ended."""
    stages = STATES[state].stages
    in_order = sorted(past, key=lambda each: each[0] % len(stages))
    runs = tuple(
        a_run(stages[index % len(stages)], outcome, id=number, opened_at=at, ended_at=at + 1.0)
        for number, (index, outcome) in enumerate(in_order)
        for at in (NOW - 100.0 + 10.0 * number,)
    )
    found = event(advance(a_view(a_node(state), runs=runs), TIMING, NOW + later))
    newest = {run.stage: run.outcome for run in runs}
    assert (found is Event.PASSED) == (set(newest) == set(stages) and set(newest.values()) == {Outcome.PASSED})
    if found is Event.FAILED:
        assert Outcome.FAILED in newest.values()


@given(moving, st.integers(0, 60))
def test_tries_without_a_verdict_end(state: State, tries: int) -> None:
    """No node is retried for ever: the cap, or the deadline, hands it to a person."""
    stage = STATES[state].stages[0]
    runs = tuple(a_run(stage, Outcome.UNKNOWN, id=number) for number in range(tries))
    decision = advance(a_view(a_node(state), runs=runs), TIMING, NOW + 900.0)
    assert (event(decision) is Event.OVERDUE) == (tries >= STATES[state].attempts)


@given(moving, pasts)
def test_patience_always_ends(state: State, past: list[tuple[int, Outcome]]) -> None:
    """A decision that does nothing names what it waits for and when it looks again."""
    stages = STATES[state].stages
    runs = tuple(
        a_run(stages[index % len(stages)], outcome, id=number) for number, (index, outcome) in enumerate(past)
    )
    decision = advance(a_view(a_node(state), runs=runs), TIMING, NOW)
    if not decision.actions:
        assert decision.waiting
        assert NOW < decision.wake_at < NOW + 1000


def test_a_state_begins_with_its_first_stage() -> None:
    """With the stage's meaning as the reason."""
    decision = advance(a_view(a_node(State.VERIFY)), TIMING, NOW)
    assert decision.actions == (OpenRun(Stage.VERIFY, "Compare parts, power and cabling with the design."),)


def test_a_reboot_is_verified_before_the_node_serves_again() -> None:
    """Two stages, in order; a stage that passed is not run again."""
    rebooted = a_run(Stage.REBOOT)
    assert opens(advance(a_view(a_node(State.REBOOT), runs=(rebooted,)), TIMING, NOW)) is Stage.VERIFY
    both = (rebooted, a_run(Stage.VERIFY, id=8, opened_at=NOW - 10.0))
    assert event(advance(a_view(a_node(State.REBOOT), runs=both), TIMING, NOW)) is Event.PASSED


def test_a_verification_from_before_the_reboot_says_nothing() -> None:
    """Neither its fault nor its pass: only what was seen after the reboot counts."""
    for outcome in (Outcome.FAILED, Outcome.PASSED):
        early = a_run(Stage.VERIFY, outcome, opened_at=NOW - 90.0, ended_at=NOW - 60.0)
        view = a_view(a_node(State.REBOOT), runs=(early, a_run(Stage.REBOOT, id=8)))
        assert opens(advance(view, TIMING, NOW)) is Stage.VERIFY


def test_a_play_by_hand_decides_no_state() -> None:
    """Somebody looked; the runner runs the stage all the same."""
    looked = (a_run(Stage.VERIFY, Outcome.PASSED, fence=0), a_run(Stage.VERIFY, Outcome.UNKNOWN, fence=0, id=9))
    assert opens(advance(a_view(a_node(State.VERIFY), runs=looked * 9), TIMING, NOW)) is Stage.VERIFY


def test_a_pass_is_explained_by_the_stages_own_run() -> None:
    """Not by whatever ran last."""
    runs = (a_run(Stage.BURN_IN), a_run(Stage.CABLING, Outcome.FAILED, id=8))
    (action,) = advance(a_view(a_node(State.BURN_IN), runs=runs), TIMING, NOW).actions
    assert isinstance(action, Move)
    assert action.run == 7


def test_a_failure_carries_its_detail_and_results() -> None:
    """So that history and explain can show them."""
    failed = a_run(Stage.VERIFY, Outcome.FAILED, detail="parts_gpu: expected 8, observed 7")
    (action,) = advance(a_view(a_node(State.VERIFY), runs=(failed,), latest=(stored(),)), TIMING, NOW).actions
    assert isinstance(action, Move)
    assert (action.because, action.results, action.run) == ("parts_gpu: expected 8, observed 7", (3,), 7)


def test_a_lost_firmware_run_is_looked_into() -> None:
    """The next one finds the flash that is written down, and asks its BMC; nothing is flashed twice for it."""
    view = a_view(a_node(State.FIRMWARE), runs=(a_run(Stage.FIRMWARE, Outcome.LOST),))
    assert opens(advance(view, TIMING, NOW + 60)) is Stage.FIRMWARE


def test_a_lost_run_that_only_read_is_tried_again() -> None:
    """After a pause."""
    lost = a_run(Stage.VERIFY, Outcome.LOST)
    view = a_view(a_node(State.VERIFY), runs=(lost,))
    assert (
        advance(view, TIMING, NOW).waiting == "not the node: verify lost; it counts as no try, and is repeated soon"
    )
    assert opens(advance(view, TIMING, NOW + 60)) is Stage.VERIFY


@pytest.mark.parametrize(("tries", "pause"), [(1, 60), (2, 120), (4, 480), (10, 900)])
def test_the_pause_doubles_up_to_a_limit(tries: int, pause: float) -> None:
    """A node that does not answer is not hammered."""
    runs = tuple(a_run(Stage.BURN_IN, Outcome.UNKNOWN, id=number) for number in range(tries))
    view = a_view(a_node(State.BURN_IN), runs=runs)
    assert opens(advance(view, TIMING, NOW - 10 + pause)) is Stage.BURN_IN
    assert opens(advance(view, TIMING, NOW - 10.1 + pause)) is None


def test_work_that_goes_on_is_looked_at_again_and_is_no_try() -> None:
    """Its own words are what people read meanwhile."""
    runs = tuple(a_run(Stage.BURN_IN, Outcome.WORKING, id=number, detail="3 of 48 h") for number in range(50))
    view = a_view(a_node(State.BURN_IN), runs=runs)
    assert advance(view, TIMING, NOW).waiting == "3 of 48 h"
    assert opens(advance(view, TIMING, NOW + 290)) is Stage.BURN_IN


def test_a_cancelled_run_is_no_try() -> None:
    """A person cancelled it; the stage comes again after a pause."""
    view = a_view(a_node(State.VERIFY), runs=(a_run(Stage.VERIFY, Outcome.CANCELLED),))
    assert opens(advance(view, TIMING, NOW + 49)) is None
    assert opens(advance(view, TIMING, NOW + 50)) is Stage.VERIFY


def test_the_deadline_hands_the_node_to_a_person() -> None:
    """Even if tries are left."""
    late = SINCE + 7200
    runs = (
        *visits(late, Stage.VERIFY),
        a_run(Stage.VERIFY, Outcome.WORKING, opened_at=late - 400, ended_at=late - 300),
    )
    assert event(advance(a_view(a_node(State.VERIFY), runs=runs), TIMING, late)) is Event.OVERDUE


def test_time_spent_held_does_not_count_towards_the_deadline() -> None:
    """A released node gets its tries."""
    view = a_view(a_node(State.VERIFY), runs=(a_run(Stage.VERIFY, Outcome.WORKING),), released_at=NOW + 7000)
    assert event(advance(view, TIMING, SINCE + 7200)) is None


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({}, "verify runs"),
        ({"done": 2, "total": 5, "task": "GPUs are counted"}, "verify runs, 2 of 5 tasks, GPUs are counted"),
    ],
)
def test_progress_says_what_is_known(values: dict[str, object], sentence: str) -> None:
    """And no more."""
    run = a_run(Stage.VERIFY, None, **values)
    assert progress(run, None) == sentence
    assert progress(run, 12.3) == f"{sentence}, usually 12 s"


def test_firmware_under_way_is_looked_at_again_soon() -> None:
    """A flash has its own pause; other work has another."""
    for stage, pause in ((Stage.FIRMWARE, 15.0), (Stage.BURN_IN, 300.0)):
        state = State.FIRMWARE if stage is Stage.FIRMWARE else State.BURN_IN
        runs = (a_run(stage, Outcome.WORKING),)
        decision = advance(a_view(a_node(state), runs=runs), TIMING, NOW)
        assert decision.wake_at == NOW - 10 + pause


def test_time_spent_waiting_for_a_slot_or_paused_does_not_count_towards_the_deadline() -> None:
    """Which is counted from the first run of the stay, or from the end of the pause."""
    late = SINCE + 7 * 3600.0
    view = a_view(a_node(State.FIRMWARE), runs=visits(late))
    assert event(advance(view, TIMING, late)) is Event.OVERDUE
    for values in ({"began_at": late - 60.0}, {"waited_until": late}):
        assert opens(advance(replace(view, **values), TIMING, late)) is Stage.FIRMWARE


def visits(until: float, stage: Stage = Stage.FIRMWARE, **values: object) -> tuple[Run, ...]:
    """Visits to a node every half hour, up to a moment."""
    opened = range(int(SINCE), int(until), 1800)
    values = {"detail": "BIOS 1 → 2: The BMC is at it: task Update at 40 %", **values}
    return tuple(
        a_run(stage, Outcome.WORKING, id=number, opened_at=float(at), ended_at=at + 60.0, **values)
        for number, at in enumerate(opened)
    )


def test_a_task_that_runs_for_ever_ends_with_the_deadline_and_what_was_last_said_of_it() -> None:
    """Whoever reads that the firmware failed reads at what it stood."""
    late = SINCE + 6 * 3600.0
    (move,) = advance(a_view(a_node(State.FIRMWARE), runs=visits(late)), TIMING, late).actions
    assert isinstance(move, Move)
    assert move.transition.to is State.FIRMWARE_FAILED
    assert move.because.endswith("the last one: BIOS 1 → 2: The BMC is at it: task Update at 40 %.")


def test_a_clock_that_is_set_forward_between_two_visits_makes_no_firmware_overdue() -> None:
    """Nor does a runner that was away: what nobody looked at for more than an hour counts for one."""
    view = a_view(a_node(State.FIRMWARE), runs=visits(SINCE + 1800.0))
    far = SINCE + 30 * 24 * 3600.0
    assert opens(advance(view, TIMING, far)) is Stage.FIRMWARE
    later = tuple(
        replace(run, id=run.id + 100, opened_at=run.opened_at + far - SINCE, ended_at=far + 60.0)
        for run in visits(SINCE + 5 * 3600.0)
    )
    runs = (*view.runs, *later)
    assert opens(advance(replace(view, runs=runs), TIMING, far + 5 * 3600.0 - 60.0)) is Stage.FIRMWARE
    assert event(advance(replace(view, runs=runs), TIMING, far + 5 * 3600.0 + 60.0)) is Event.OVERDUE


@pytest.mark.parametrize(
    ("outcome", "pause"), [(Outcome.WORKING, TIMING.working), (Outcome.UNKNOWN, TIMING.retry)], ids=str
)
@pytest.mark.parametrize("state", [State.BURN_IN, State.VERIFY])
def test_what_nobody_looked_at_is_looked_at_once_more_before_it_is_overdue(
    state: State, outcome: Outcome, pause: float
) -> None:
    """The runner was away, its queue paused, or so full that its turn came late: all may be well meanwhile."""
    (stage, *_), late = STATES[state].stages, SINCE + (STATES[state].deadline or 0.0) + 1
    before, opened = visits(late, stage), late - 2 * pause - 60
    view = a_view(
        a_node(state), runs=(*before, a_run(stage, outcome, opened_at=opened, ended_at=late - 2 * pause - 1))
    )
    assert opens(advance(view, TIMING, late)) is stage
    seen = a_run(stage, outcome, opened_at=opened, ended_at=late - 2 * pause + 1)
    assert event(advance(replace(view, runs=(*before, seen)), TIMING, late)) is Event.OVERDUE


def test_one_look_after_the_deadline_is_enough_however_late_every_look_comes() -> None:
    """With a tick every quarter of an hour, or a line that is always long, each of them is late."""
    runs, now, overdue = tuple[Run, ...](), SINCE, SINCE + (STATES[State.VERIFY].deadline or 0.0)
    while opens(advance(a_view(a_node(State.VERIFY), runs=runs), TIMING, now)) and len(runs) < 99:
        runs = (*runs, a_run(Stage.VERIFY, Outcome.WORKING, id=len(runs), opened_at=now, ended_at=now + 60.0))
        now += 900.0
    assert event(advance(a_view(a_node(State.VERIFY), runs=runs), TIMING, now)) is Event.OVERDUE
    assert [run.opened_at >= overdue for run in runs[-2:]] == [False, True]


def test_what_nobody_looked_at_has_no_more_tries_than_others() -> None:
    """They are used up: a person looks."""
    late = SINCE + (STATES[State.BURN_IN].deadline or 0.0) + 1
    unseen = a_run(Stage.BURN_IN, Outcome.WORKING, ended_at=late - 601)
    view = a_view(a_node(State.BURN_IN), runs=(unseen,))
    tried = tuple(
        a_run(Stage.BURN_IN, Outcome.UNKNOWN, id=number) for number in range(STATES[State.BURN_IN].attempts)
    )
    assert event(advance(replace(view, runs=(*tried, unseen)), TIMING, late)) is Event.OVERDUE


OURS = [
    (Outcome.LOST, "The supervisor is gone, and left no result."),
    (Outcome.SKIPPED, "gpu_burn: the profile has no burn_in.tests"),
    (Outcome.CANCELLED, "the play could not run (exit status 4)"),
    (Outcome.UNKNOWN, "not the node: Power: redfish_power: another driver is at its firmware"),
    (Outcome.UNKNOWN, "the play ended without a result for this node"),
    (Outcome.UNKNOWN, "no check gave an answer"),
]
"""How runs end for what is ours: nothing was learnt of the node, nor did it fail to answer."""


@given(moving, st.lists(st.sampled_from(OURS), min_size=1, max_size=40), st.floats(1.0, 1e8), st.booleans())
def test_what_failed_of_ours_condemns_no_node_however_often_and_long(
    state: State, ends: list[tuple[Outcome, str]], apart: float, first: bool
) -> None:
    """Whatever the clock says meanwhile; the stage comes again, and the sentence does not blame the node."""
    stage = STATES[state].stages[0]
    at = [SINCE + apart * number for number in range(len(ends))]
    runs = tuple(
        a_run(stage, outcome, id=number, opened_at=at[number], ended_at=at[number] + 30.0, detail=detail)
        for number, (outcome, detail) in enumerate(ends)
    )
    if first:  # the node has had a try of its own before
        runs = (a_run(stage, Outcome.UNKNOWN, id=99, opened_at=SINCE, ended_at=SINCE, detail="hung"), *runs)
    view, now = a_view(a_node(state), runs=runs), at[-1] + 30.0
    begun = now
    while opens(waits := advance(view, TIMING, now)) is None:
        assert waits.actions == ()
        assert waits.waiting.startswith("not the node: ") or runs[-1].outcome is Outcome.CANCELLED
        assert now < waits.wake_at <= begun + 900.0
        now = waits.wake_at
    assert opens(waits) is stage


def test_after_what_failed_of_ours_the_deadline_needs_a_look_at_the_node() -> None:
    late = SINCE + (STATES[State.VERIFY].deadline or 0.0) + 1
    ours = a_run(Stage.VERIFY, Outcome.LOST, opened_at=late - 70, ended_at=late - 60)
    view = a_view(a_node(State.VERIFY), runs=(*visits(late, Stage.VERIFY), ours))
    assert opens(advance(view, TIMING, late)) is Stage.VERIFY
    hung = a_run(Stage.VERIFY, Outcome.UNKNOWN, opened_at=late, ended_at=late + 5, detail="nvidia-smi hung")
    (moved,) = advance(replace(view, runs=(*view.runs, hung)), TIMING, late + 5).actions
    assert isinstance(moved, Move)
    assert moved.because == "1 of 5 tries gave no verdict; the last one: nvidia-smi hung."


def test_a_reset_without_a_verdict_is_a_persons_and_no_reboot() -> None:
    """Somebody holds a GPU: a reboot would end what does."""
    held = tuple(a_run(Stage.RESET, Outcome.UNKNOWN, id=number, detail="python3 holds GPU 3") for number in range(3))
    (moved,) = advance(a_view(a_node(State.RESET), runs=held), TIMING, NOW).actions
    assert isinstance(moved, Move)
    assert moved.transition.to is State.TRIAGE
    assert "python3 holds GPU 3" in moved.because
