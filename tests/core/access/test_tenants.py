"""What a tenant reads: every state and every way between two has its sentence, in their words."""

from dataclasses import replace

import pytest

from fleet_runner.core.access.tenants import (
    CAME,
    PLANNED,
    SAID,
    UNDER,
    WAYS,
    TenantEvent,
    availability,
    cell,
    happened,
    standing,
)
from fleet_runner.core.lifecycle.runs import Entry, Held, Node
from fleet_runner.core.lifecycle.states import TRANSITIONS, Condition, State
from fleet_runner.core.schedules.retention import DAY

NODE = Node("n1", "h100", State.PRODUCTION, 100.0, 1)
OURS = (
    "triage", "burn-in", "burn in", "rma", "bmc", "firmware", "certif", "cordon", "drain", "onboard", "provision",
    "stage", "playbook", "remedy", "nccl", "xid", "deadline", "verdict",
)  # fmt: skip
"""Words of ours, which say nothing to a tenant."""


def move(at: float, state: State, to: State) -> Entry:
    """Return a transition whose own sentence names a neighbour."""
    event = next(row.event for row in TRANSITIONS.values() if (row.state, row.to) == (state, to))
    return Entry(1, "n1", at, "transition", "GPU 3 of neighbour-7 fell off the bus", "alice", state, event, to)


def held(condition: Condition, detail: str = "") -> Node:
    """Return a node in production with a condition."""
    return replace(NODE, conditions={condition: Held(300.0, "neighbour-7 burns", "alice", detail)})


def test_every_state_and_every_way_is_told_in_plain_words() -> None:
    assert set(SAID) == set(CAME) == set(State)
    assert set(WAYS) <= set(TRANSITIONS)
    words = [*CAME.values(), *WAYS.values(), *PLANNED.values(), *(text for said in SAID.values() for text in said)]
    words += [text for _, *said in UNDER for text in said]
    assert not [(word, text) for text in words for word in OURS if word in text.casefold()]


@pytest.mark.parametrize("state", State)
def test_a_state_is_told(state: State) -> None:
    found = standing(replace(NODE, state=state), ())
    assert (found.word, found.now[0], found.next) == SAID[state]
    assert found.kind == {State.PRODUCTION: "serving", State.RETIRED: "ended", State.WATCHED: "ended"}.get(
        state, "out"
    )


def test_out_of_service_counts_from_when_it_left_and_a_remedy_has_an_end() -> None:
    moves = [move(50.0, State.PRODUCTION, State.RESET), move(100.0, State.RESET, State.REBOOT)]
    found = standing(replace(NODE, state=State.REBOOT), moves)
    assert (found.since, found.back_by) == (50.0, 100.0 + 2 * 3600.0)
    triaged = standing(replace(NODE, state=State.TRIAGE), [*moves, move(200.0, State.REBOOT, State.TRIAGE)])
    assert (triaged.since, triaged.back_by) == (50.0, None)
    waiting = replace(NODE, state=State.REBOOT, conditions={Condition.HELD: Held(1.0, "", "alice")})
    assert standing(waiting, moves).back_by is None
    assert "nothing is changed" in " ".join(standing(waiting, moves).now)


@pytest.mark.parametrize(
    ("node", "word", "said"),
    [
        (held(Condition.PENDING, "REBOOT"), "serving, work is planned", "it is restarted"),
        (held(Condition.PENDING, "something else"), "serving, work is planned", "it is repaired"),
        (held(Condition.MAINTENANCE), "serving, planned work", "Planned work"),
        (held(Condition.HELD), "serving, being inspected", "Our staff inspect it"),
        (held(Condition.DRAINING), "serving, no new work", "no new work"),
        (held(Condition.CORDONED), "serving, no new work", "no new work"),
        (held(Condition.IN_USE), "serving", "we watch it"),
    ],
)
def test_a_condition_is_told_without_its_reason(node: Node, word: str, said: str) -> None:
    found = standing(node, ())
    assert found.word == word
    assert said in f"{' '.join(found.now)} {found.next}"
    assert found.since == (100.0 if word == "serving" else 300.0)
    assert "neighbour" not in repr(found)


def test_what_happened_is_told_newest_first_by_the_table_alone() -> None:
    moves = [
        move(1.0, State.PRODUCTION, State.REBOOT),
        move(2.0, State.REBOOT, State.PRODUCTION),
        replace(move(3.0, State.PRODUCTION, State.TRIAGE), event=None),
        Entry(4, "n1", 4.0, "run", "neighbour-7", "alice"),
    ]
    assert happened(moves) == (
        TenantEvent(3.0, CAME[State.TRIAGE]),
        TenantEvent(2.0, "The restart cleared the fault, its checks passed, and it served again."),
        TenantEvent(1.0, CAME[State.REBOOT]),
    )


@pytest.mark.parametrize(
    ("state", "moves", "first", "expected"),
    [
        (State.PRODUCTION, [], -DAY, 1.0),
        (State.PRODUCTION, [], None, 1.0),
        (State.TRIAGE, [], -DAY, 0.0),
        (State.BURN_IN, [], None, None),
        (State.TRIAGE, [move(7 * DAY, State.PRODUCTION, State.TRIAGE)], -DAY, 0.7),
        (
            State.PRODUCTION,
            [move(2 * DAY, State.PRODUCTION, State.REBOOT), move(3 * DAY, State.REBOOT, State.PRODUCTION)],
            -DAY,
            0.9,
        ),
        # It came into service for the first time on the fifth day, and is counted from there.
        (
            State.TRIAGE,
            [move(5 * DAY, State.BURN_IN, State.PRODUCTION), move(9 * DAY, State.PRODUCTION, State.TRIAGE)],
            5 * DAY,
            0.8,
        ),
        (State.PRODUCTION, [move(10 * DAY, State.BURN_IN, State.PRODUCTION)], 10 * DAY, 1.0),
    ],
)
def test_availability_is_the_share_in_production(
    state: State, moves: list[Entry], first: float | None, expected: float | None
) -> None:
    found = availability(replace(NODE, state=state), moves, first, 0.0, 10 * DAY)
    assert found == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\tx", "\rx", " =1", "\n=1"])
def test_no_cell_is_worked_out(text: str) -> None:
    assert cell(text) == f"'{text}"


def test_other_cells_stay_as_they_are() -> None:
    assert cell("gpu-1 a=b") == "gpu-1 a=b"
