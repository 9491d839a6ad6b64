"""Kubernetes' own words for a node that is to be maintained: while they are true, told apart from others'."""

from dataclasses import replace
from typing import Any

import pytest

from fleet_runner.core.lifecycle.node_conditions import OUT, conditions, waits_for
from fleet_runner.core.lifecycle.node_lifecycle import (
    DRAIN_IN_PROGRESS,
    DRAINED,
    LIFECYCLE,
    MAINTENANCE_IN_PROGRESS,
    MAINTENANCE_PLANNED,
    OURS,
    is_ours,
    lifecycle,
    lifecycle_is_told,
)
from fleet_runner.core.lifecycle.runs import Held, Node
from fleet_runner.core.lifecycle.states import Condition, State

HELD = Held(60.0, "Xid 79 on gpu-99", "runner", "REBOOT")
WAITING = {Condition.PENDING: HELD, Condition.DRAINING: HELD, Condition.CORDONED: HELD}


def node(state: State = State.PRODUCTION, held: dict[Condition, Held] | None = None) -> Node:
    return Node("gpu-01", "x", state, 120.0, 1, conditions=held or {})


def told(of: Node) -> dict[str, tuple[str, str]]:
    """Return reasons and messages by their types; each is true."""
    found = lifecycle(of)
    assert {each.status for each in found} <= {"True"}
    assert {each.type for each in found} <= set(LIFECYCLE)
    assert all(each.message.startswith(OURS) for each in found)
    assert "gpu-99" not in repr(found)
    return {each.type: (each.reason, each.message.removeprefix(OURS)) for each in found}


def test_a_node_of_which_nothing_is_asked_says_nothing() -> None:
    """Then the words are everybody's."""
    assert lifecycle(node()) == ()
    assert lifecycle(node(held={Condition.CORDONED: HELD})) == ()


def test_a_pending_remedy_is_planned_and_its_drain_is_in_progress() -> None:
    assert told(node(held=WAITING)) == {
        DRAIN_IN_PROGRESS: (
            "FaultFound",
            "no new work since 1970-01-01T00:01:00Z; it waits for the word that no work runs on it",
        ),
        MAINTENANCE_PLANNED: ("FaultFound", "REBOOT is pending since 1970-01-01T00:01:00Z"),
    }


def test_what_a_person_asked_for_is_said_to_be() -> None:
    asked = replace(HELD, by="kim", detail="")
    found = told(node(held={Condition.PENDING: asked, Condition.DRAINING: asked}))
    assert {reason for reason, _ in found.values()} == {"AdminRequested"}
    assert found[MAINTENANCE_PLANNED][1].startswith("a remedy is pending")


@pytest.mark.parametrize("state", sorted(OUT))
def test_a_remedy_that_has_begun_is_maintenance_and_the_drain_is_over(state: State) -> None:
    found = told(node(state, {Condition.CORDONED: HELD, Condition.PENDING: HELD}))
    assert set(found) == {DRAINED, MAINTENANCE_IN_PROGRESS}
    assert found[DRAINED][0] == "DrainCompleted"
    assert found[MAINTENANCE_IN_PROGRESS][1].startswith("since 1970-01-01T00:02:00Z: ")
    assert set(told(node(state))) == {MAINTENANCE_IN_PROGRESS}


def test_planned_work_is_maintenance_in_any_state() -> None:
    for state in (State.PRODUCTION, State.TRIAGE):
        found = told(node(state, {Condition.MAINTENANCE: HELD}))
        assert found == {MAINTENANCE_IN_PROGRESS: ("AdminRequested", "a person does planned work on it")}


def test_what_a_remedy_waits_for_names_nobody() -> None:
    assert waits_for(node(held={Condition.IN_USE: HELD})) == "the end of its work"
    assert waits_for(node(held={Condition.IN_USE: HELD, Condition.HELD: HELD})) == "the end of a hold"
    assert waits_for(node()) == "the word that no work runs on it"


def test_ours_are_there_while_they_are_true_and_gone_after() -> None:
    want = lifecycle(node(held=WAITING))
    there: list[dict[str, Any]] = [{"type": "Ready"}, *conditions([], want, "t")]
    assert lifecycle_is_told(there, want)
    assert not lifecycle_is_told(there[:-1], want)
    assert not lifecycle_is_told(there, want[:1])
    assert not lifecycle_is_told(there, ())
    for key in ("status", "reason", "message"):
        changed = [*there[:-1], there[-1] | {key: f"{OURS}other"}]
        assert not lifecycle_is_told(changed, want)


def test_others_words_are_theirs() -> None:
    theirs = {"type": DRAINED, "status": "True", "reason": "DrainCompleted", "message": "kubectl drain"}
    assert lifecycle_is_told([theirs], ())
    assert not is_ours(theirs)
    assert not is_ours({"type": DRAINED})
    assert not is_ours({"type": "Ready", "message": f"{OURS}x"})
    assert is_ours(theirs | {"message": f"{OURS}x"})
