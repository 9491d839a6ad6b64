"""The last door: whatever is decided of a node, its modes let through what they allow and no more."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.budgets.modes import ACTING, OF_REMEDIES, OF_STATES, READING, Kind, Mode, Modes
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.needs import EVENTS
from fleet_runner.core.faults.rules.rules import DEFAULT
from fleet_runner.core.lifecycle.actions import Answer, BeginAttempt, Move, OpenRun, OpenTicket, SetCondition
from fleet_runner.core.lifecycle.decisions import decide
from fleet_runner.core.lifecycle.runs import IntentKind, Outcome
from fleet_runner.core.lifecycle.states import MOVING, SERVING, Condition, Stage, State
from fleet_runner.core.lifecycle.view import Timing
from tests.core.firmware.bmc_model import a_flash
from tests.making import NOW, a_finding, a_node, a_run, a_view, an_intent, conditions, held, stored, usage

TIMING = Timing()
ADVISING = Modes(dict.fromkeys(Kind, Mode.ADVISE))
CLOSED = Modes(dict.fromkeys(Kind, Mode.ACT), closed="the store is another fleet's; fleet-runner db accept")
CAREFUL = [Modes(), ADVISING, CLOSED]
PENDING = {
    Condition.PENDING: held(by="runner", detail="REBOOT"),
    Condition.CORDONED: held(by="runner"),
    Condition.DRAINING: held(by="runner", detail="f"),
}


@given(
    st.sampled_from(list(State)),
    st.sampled_from(CAREFUL),
    st.lists(st.sampled_from(list(Remedy)), max_size=3),
    st.lists(st.sampled_from(list(IntentKind)), max_size=2),
    st.sets(st.sampled_from(list(Condition))),
    st.one_of(st.none(), st.sampled_from(list(Outcome))),
    st.booleans(),
    st.floats(0, 1e6),
)
def test_where_automation_may_not_act_nothing_is_done_to_a_node(  # noqa: PLR0917  all that a view may hold
    state: State,
    modes: Modes,
    remedies: list[Remedy],
    intents: list[IntentKind],
    holding: set[Condition],
    outcome: Outcome | None,
    in_use: bool,
    later: float,
) -> None:
    """Whatever was seen, requested or left half done: no stage that acts, no drain, and no node leaves service."""
    node = a_node(state, conditions=conditions(*holding, detail="REBOOT", by="runner"))
    view = a_view(
        node,
        modes=modes,
        latest=(
            *(stored(a_finding(each, fault=f"f{nth}")) for nth, each in enumerate(remedies)),
            usage(in_use=in_use),
        ),
        intents=tuple(an_intent(each, id=nth, detail="firmware") for nth, each in enumerate(intents)),
        runs=tuple(a_run(stage, outcome) for stage in Stage) if outcome is not None else (),
        tested=True,
        drained=True,
    )
    actions = decide(view, TIMING, NOW + later).actions
    stages = {each.stage for each in actions if isinstance(each, OpenRun)}
    assert stages <= READING | ({Stage.RESUME} if not modes.closed else set())
    assert not any(isinstance(each, BeginAttempt) for each in actions)
    assert not any(isinstance(each, SetCondition) and each.condition is Condition.DRAINING for each in actions)
    moved = [each.transition for each in actions if isinstance(each, Move)]
    assert all(each.to is State.RETIRED for each in moved if each.state in SERVING)
    assert all(each.to is not State.PROVISION for each in moved)
    if modes.highest is Mode.OBSERVE:
        assert not any(isinstance(each, OpenTicket) for each in actions)


@pytest.mark.parametrize("state", sorted(MOVING & OF_STATES.keys()))
def test_a_node_that_is_worked_on_waits_without_a_deadline(state: State) -> None:
    """However long that is: when it may go on, its time begins then."""
    view = a_view(a_node(state), modes=Modes())
    decision = decide(view, TIMING, NOW + 1e9)
    assert decision.actions == ()
    assert decision.waiting.startswith(
        f"observing: {OF_STATES[state]} would continue; fleet-runner mode act --node gpu-01"
    )
    late = a_run(stage_of(state), Outcome.UNKNOWN, ended_at=NOW + 1e6)
    again = decide(replace(view, modes=replace(ACTING, since=NOW + 1e6), runs=(late,)), TIMING, NOW + 1e6 + 1)
    assert not any(isinstance(each, Move) for each in again.actions)


def stage_of(state: State) -> Stage:
    """The first stage of a state."""
    return Stage(state.value)


@pytest.mark.parametrize("remedy", sorted(EVENTS))
@pytest.mark.parametrize(("modes", "word"), [(Modes(), "observing"), (ADVISING, "advising")])
def test_what_would_be_done_is_said(remedy: Remedy, modes: Modes, word: str) -> None:
    view = a_view(modes=modes, latest=(stored(a_finding(remedy)), usage(in_use=False)))
    decision = decide(view, TIMING, NOW)
    assert decision.waiting.startswith(f"{word}: would ")
    assert Condition.ADVISED in {each.condition for each in decision.actions if isinstance(each, SetCondition)}
    assert any(isinstance(each, OpenTicket) for each in decision.actions) == (
        modes is ADVISING
        and any(isinstance(each, OpenTicket) for each in decide(replace(view, modes=ACTING), TIMING, NOW).actions)
    )


def test_a_mode_of_one_kind_says_nothing_of_another() -> None:
    only_reset = Modes({Kind.RESET: Mode.ACT})
    reset = decide(a_view(modes=only_reset, latest=(stored(a_finding(Remedy.RESET)),)), TIMING, NOW)
    reboot = decide(a_view(modes=only_reset, latest=(stored(a_finding(Remedy.REBOOT)),)), TIMING, NOW)
    assert Condition.PENDING in {each.condition for each in reset.actions if isinstance(each, SetCondition)}
    assert Condition.PENDING not in {each.condition for each in reboot.actions if isinstance(each, SetCondition)}


def test_a_remedy_that_was_pending_is_dropped_when_its_mode_is_lowered() -> None:
    """And the node stays in service."""
    view = a_view(a_node(conditions=PENDING), modes=Modes(), latest=(stored(a_finding()), usage(in_use=False)))
    sentences = {each.sentence for each in decide(view, TIMING, NOW).actions if hasattr(each, "sentence")}
    assert sentences == {"Its mode says to observe only; the node stays in service."}


def test_what_a_person_asked_for_before_waits_when_its_mode_is_lowered() -> None:
    theirs = {name: replace(each, by="ann") for name, each in PENDING.items()}
    decision = decide(a_view(a_node(conditions=theirs), modes=Modes(), latest=(usage(in_use=False),)), TIMING, NOW)
    assert [each.stage for each in decision.actions if isinstance(each, OpenRun)] == [Stage.HEALTH_PASSIVE]
    assert decision.waiting.startswith("observing: reboot would continue")


@pytest.mark.parametrize(
    ("intent", "state", "kind"),
    [
        (IntentKind.REBOOT, State.PRODUCTION, Kind.REBOOT),
        (IntentKind.TRIAGE, State.PRODUCTION, Kind.TRIAGE),
        (IntentKind.FIRMWARE, State.PRODUCTION, Kind.FIRMWARE),
        (IntentKind.PROVISION, State.REGISTERED, Kind.PROVISION),
        (IntentKind.RETRY, State.TRIAGE, Kind.PROVISION),
        (IntentKind.RUN, State.FIRMWARE, Kind.FIRMWARE),
    ],
)
def test_a_request_that_acts_is_refused_with_the_command_that_raises_the_mode(
    intent: IntentKind, state: State, kind: Kind
) -> None:
    view = a_view(a_node(state), modes=Modes(), intents=(an_intent(intent, detail="firmware"),))
    (answer,) = decide(view, TIMING, NOW).actions
    raised = f"fleet-runner mode act --node gpu-01 --for {kind} --reason …"
    why = f"Its mode is observe for {kind}: {raised}, then ask again."
    assert answer == Answer(9, accepted=False, sentence=why)
    (closed,) = decide(replace(view, modes=CLOSED), TIMING, NOW).actions
    assert closed == Answer(9, accepted=False, sentence=f"Nothing is done: {CLOSED.closed}.")


def test_a_flash_under_way_is_looked_at_whatever_the_mode() -> None:
    """It must not be forgotten; a stranger's store is not asked."""
    view = a_view(a_node(State.FIRMWARE), modes=Modes(), flash=a_flash())
    (run,) = decide(view, TIMING, NOW).actions
    assert isinstance(run, OpenRun)
    assert run.stage is Stage.FIRMWARE
    closed = decide(replace(view, modes=CLOSED), TIMING, NOW)
    assert (closed.actions, closed.waiting) == ((), f"observing: {CLOSED.closed}")


def test_what_fleet_runner_took_is_given_back_unless_the_store_may_be_a_strangers() -> None:
    looked = (a_run(Stage.HEALTH_PASSIVE), a_run(Stage.CABLING, id=8))
    view = a_view(modes=Modes(), runs=looked, drained=True, scheduled=True)
    (run,) = decide(view, TIMING, NOW).actions
    assert isinstance(run, OpenRun)
    assert run.stage is Stage.RESUME
    assert decide(replace(view, modes=CLOSED), TIMING, NOW).actions == ()


def test_what_the_door_holds_back_is_looked_at_again_later() -> None:
    """Tests that a person began in triage, of a node whose tests may not go on."""
    looked = a_run(Stage.HEALTH_ACTIVE, Outcome.WORKING)
    view = a_view(a_node(State.TRIAGE), modes=Modes(), runs=(a_run(Stage.COLLECT), looked))
    decision = decide(view, TIMING, NOW + 60)
    assert decision.actions == ()
    assert decision.waiting.startswith("observing: tests would continue")
    assert decision.wake_at == NOW + 360.0


def test_a_policy_that_observes_says_so_itself() -> None:
    view = a_view(rules=replace(DEFAULT, observe=True), latest=(stored(a_finding()),))
    assert decide(view, TIMING, NOW).waiting.startswith("observing: would REBOOT")


def test_every_remedy_that_moves_a_node_has_a_kind() -> None:
    assert set(EVENTS) | {Remedy.REFLASH} == set(OF_REMEDIES)
