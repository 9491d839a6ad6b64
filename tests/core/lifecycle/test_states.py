"""What must be true of every row of the lifecycle, and of every way through it."""

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.lifecycle.states import (
    ENDED,
    FABRICS,
    MOVING,
    STAGES,
    STATES,
    TRANSITIONS,
    Condition,
    Event,
    Refusal,
    Stage,
    State,
    Transition,
    step,
)

EVENTS = st.lists(st.sampled_from(Event), max_size=60)
CONDITIONS = st.frozensets(st.sampled_from(Condition))


def walk(state: State, events: list[Event]) -> list[State]:
    """The states a node visits when events happen to it, the first one included."""
    visited = [state]
    for event in events:
        moved = step(visited[-1], event)
        if isinstance(moved, Transition):
            visited.append(moved.to)
    return visited


def reachable(start: State, *, never: State | None = None) -> set[State]:
    """Every state that some events lead to from a state, without passing `never`."""
    seen: set[State] = {start}
    ahead = [start]
    while ahead:
        here = ahead.pop()
        found = {row.to for row in TRANSITIONS.values() if row.state is here and row.to is not never} - seen
        seen |= found
        ahead += found
    return seen


@given(EVENTS)
def test_no_events_lead_to_production_without_burn_in(events: list[Event]) -> None:
    """But that a person has it adopted, with the evidence that it serves already."""
    visited = walk(State.REGISTERED, [event for event in events if event is not Event.ADOPTED])
    if State.PRODUCTION in visited:
        assert State.BURN_IN in visited[: visited.index(State.PRODUCTION)]


def test_no_way_at_all_leads_to_production_without_burn_in() -> None:
    """The same for every sequence of any length: without burn_in, a node can only be adopted into production."""
    assert State.PRODUCTION not in reachable(State.PROVISION, never=State.BURN_IN)
    assert [
        row.event for row in TRANSITIONS.values() if row.state is State.REGISTERED and row.to is State.PRODUCTION
    ] == [Event.ADOPTED]


@given(EVENTS)
def test_a_node_that_was_in_triage_passes_burn_in_again_before_production(events: list[Event]) -> None:
    visited = walk(State.TRIAGE, events)
    if State.PRODUCTION in visited:
        assert State.BURN_IN in visited[: visited.index(State.PRODUCTION)]


@given(st.sampled_from(State), st.sampled_from(Event), CONDITIONS)
def test_a_held_node_never_moves(state: State, event: Event, conditions: frozenset[Condition]) -> None:
    refused = step(state, event, conditions | {Condition.HELD})
    assert isinstance(refused, Refusal)
    assert "release" in refused.sentence


@given(st.sampled_from(State), st.sampled_from(Event), CONDITIONS)
def test_no_condition_but_held_stops_a_move(state: State, event: Event, conditions: frozenset[Condition]) -> None:
    assert step(state, event, conditions - {Condition.HELD}) == step(state, event)


@given(st.sampled_from(State), st.sampled_from(Event))
def test_a_move_is_the_row_of_its_state_and_event(state: State, event: Event) -> None:
    moved = step(state, event)
    if isinstance(moved, Transition):
        assert (moved.state, moved.event) == (state, event)
    else:
        assert (state, event) not in TRANSITIONS


@given(st.sampled_from(State), st.sampled_from(Event))
def test_a_refusal_names_what_would_apply(state: State, event: Event) -> None:
    refused = step(state, event)
    if isinstance(refused, Refusal):
        known = [row.event for row in TRANSITIONS.values() if row.state is state]
        assert all(other.value in refused.sentence for other in known)
        assert known or "nothing" in refused.sentence


def test_every_state_has_a_row_and_every_stage_too() -> None:
    assert set(STATES) == set(State)
    assert set(STAGES) == set(Stage)


def test_every_moving_state_has_a_deadline_and_an_attempt_cap() -> None:
    for state in MOVING:
        place = STATES[state]
        assert place.deadline is not None
        assert place.deadline > 0
        assert place.attempts > 0


def test_a_state_without_stages_has_neither() -> None:
    """Nothing runs there, so nothing can be late."""
    for state in set(State) - MOVING:
        assert (STATES[state].deadline, STATES[state].attempts) == (None, 0)


def test_a_moving_state_answers_every_end_of_its_stages() -> None:
    """A verdict or a deadline without a row would leave a node where it is for ever."""
    for state in MOVING:
        for event in (Event.PASSED, Event.FAILED, Event.OVERDUE):
            assert (state, event) in TRANSITIONS


def test_only_moving_states_pass_fail_or_are_overdue() -> None:
    ends = {row.state for row in TRANSITIONS.values() if row.event in (Event.PASSED, Event.FAILED, Event.OVERDUE)}
    assert ends == MOVING


def test_a_node_can_come_to_every_state_but_a_fabrics() -> None:
    assert reachable(State.REGISTERED) == set(State) - FABRICS


def test_a_fabric_can_only_be_retired() -> None:
    """It is no node: nothing leads to its state, and no event of a node's takes it anywhere."""
    rows = [row for row in TRANSITIONS.values() if FABRICS & {row.state, row.to}]
    assert [(row.state, row.event, row.to) for row in rows] == [(State.WATCHED, Event.RETIRE, State.RETIRED)]


def test_every_state_but_retired_can_be_left_by_more_than_retiring() -> None:
    for state in set(State) - ENDED - FABRICS:
        assert {row.to for row in TRANSITIONS.values() if row.state is state} - ENDED
    assert not [row for row in TRANSITIONS.values() if row.state in ENDED]
    assert frozenset({State.RETIRED}) == ENDED


def test_production_can_be_reached_again_from_every_state_but_retired() -> None:
    """No corner of the lifecycle is a trap."""
    for state in set(State) - ENDED - FABRICS:
        assert State.PRODUCTION in reachable(state)


def test_every_row_has_a_sentence_that_ends_with_a_full_stop() -> None:
    sentences = [row.sentence for row in TRANSITIONS.values()]
    sentences += [place.meaning for place in STATES.values()]
    sentences += [text for work in STAGES.values() for text in (work.meaning, work.why)]
    for sentence in sentences:
        assert sentence.endswith(".")
        assert sentence[0].isupper()


def test_the_runner_never_leaves_firmware_failed_by_itself() -> None:
    """No power action until a person understands what happened: nothing there is a stage's end or a fault's."""
    assert not STATES[State.FIRMWARE_FAILED].stages
    assert (State.FIRMWARE_FAILED, Event.REBOOT_NEEDED) not in TRANSITIONS


def test_a_stage_fits_into_the_states_that_run_it() -> None:
    for state in MOVING:
        place = STATES[state]
        assert place.deadline is not None
        assert sum(STAGES[stage].deadline for stage in place.stages) <= place.deadline


def test_the_straight_way_into_production() -> None:
    """One example to read."""
    events = [Event.START, Event.PASSED, Event.CERTIFIED, Event.PASSED, Event.PASSED, Event.PASSED]
    assert walk(State.REGISTERED, events) == [
        State.REGISTERED,
        State.PROVISION,
        State.ONBOARD,
        State.VERIFY,
        State.FIRMWARE,
        State.BURN_IN,
        State.PRODUCTION,
    ]
