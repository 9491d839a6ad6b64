"""Kubernetes' own words for a node that is to be maintained: while they are true, told apart from others'."""

from dataclasses import replace
from typing import Any

import pytest

from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.lifecycle.node_conditions import OUT, conditions, waits_for
from fleet_runner.core.lifecycle.node_lifecycle import (
    DRAIN_IN_PROGRESS,
    DRAINED,
    LIFECYCLE,
    MAINTENANCE_IN_PROGRESS,
    MAINTENANCE_PLANNED,
    OURS,
    is_ours,
    left_to_us,
    lifecycle,
    lifecycle_is_told,
)
from fleet_runner.core.lifecycle.runs import Held, Node, Stored
from fleet_runner.core.lifecycle.states import Condition, State
from tests.making import stored

HELD = Held(60.0, "Xid 79 on gpu-99", "runner", "REBOOT")
WAITING = {Condition.PENDING: HELD, Condition.DRAINING: HELD, Condition.CORDONED: HELD}


def node(state: State = State.PRODUCTION, held: dict[Condition, Held] | None = None) -> Node:
    return Node("gpu-01", "x", state, 120.0, 1, conditions=held or {})


def asked(**observed: Any) -> tuple[Stored, ...]:
    """Return what the scheduler said of a drained node, with work unless told otherwise."""
    return (stored(check="scheduler", observed={"in_use": True, "ours": True, **observed}, id=6),)


DRAINED_IT = asked()
EMPTY = asked(in_use=False)


def told(of: Node, latest: tuple[Stored, ...] = DRAINED_IT) -> dict[str, tuple[str, str]]:
    """Return reasons and messages by their types; each is true."""
    found = lifecycle(of, latest)
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
    found = told(node(state, {Condition.CORDONED: HELD, Condition.PENDING: HELD}), EMPTY)
    assert set(found) == {DRAINED, MAINTENANCE_IN_PROGRESS}
    assert found[DRAINED][0] == "DrainCompleted"
    assert found[MAINTENANCE_IN_PROGRESS][1].startswith("since 1970-01-01T00:02:00Z: ")
    assert set(told(node(state), EMPTY)) == {MAINTENANCE_IN_PROGRESS}
    for latest in ((), DRAINED_IT, (stored(check="scheduler", verdict=Verdict.UNKNOWN),)):
        assert set(told(node(state, {Condition.CORDONED: HELD}), latest)) == {MAINTENANCE_IN_PROGRESS}
    assert set(told(node(state, {Condition.CORDONED: HELD, Condition.DRAINING: HELD}), EMPTY)) >= {DRAIN_IN_PROGRESS}


def test_a_drain_that_the_cluster_does_not_show_is_not_in_progress() -> None:
    """Somebody else has the node, the API server was away, or its last answer is from before."""
    old = (replace(DRAINED_IT[0], at=HELD.since),)
    for latest in ((), asked(ours=False), old, (stored(check="scheduler", verdict=Verdict.UNKNOWN),)):
        assert set(told(node(held=WAITING), latest)) == {MAINTENANCE_PLANNED}


def test_planned_work_is_maintenance_in_any_state() -> None:
    for state in (State.PRODUCTION, State.TRIAGE):
        found = told(node(state, {Condition.MAINTENANCE: HELD}))
        assert found == {MAINTENANCE_IN_PROGRESS: ("AdminRequested", "a person does planned work on it")}


def test_what_a_remedy_waits_for_names_nobody() -> None:
    assert waits_for(node(held={Condition.IN_USE: HELD})) == "the end of its work"
    assert waits_for(node(held={Condition.IN_USE: HELD, Condition.HELD: HELD})) == "the end of a hold"
    assert waits_for(node()) == "the word that no work runs on it"
    busy = node(held={Condition.IN_USE: HELD})
    assert waits_for(busy, asked(owner="Karpenter (taint x)")[0]) == "Karpenter (taint x) to give it back"
    never = asked(never=["pod team-b/train"])
    assert waits_for(busy, never[0]) == "pods that are never to be interrupted"
    assert (
        "it waits for pods that are never to be interrupted" in told(node(held=WAITING), never)[DRAIN_IN_PROGRESS][1]
    )


def test_ours_are_there_while_they_are_true_and_gone_after() -> None:
    want = lifecycle(node(held=WAITING), DRAINED_IT)
    there: list[dict[str, Any]] = [{"type": "Ready"}, *conditions([], want, "t")]
    assert lifecycle_is_told(there, want)
    assert not lifecycle_is_told(there[:-1], want)
    assert not lifecycle_is_told(there, want[:1])
    assert not lifecycle_is_told(there, ())
    for key in ("status", "reason", "message"):
        changed = [*there[:-1], there[-1] | {key: f"{OURS}other"}]
        assert not lifecycle_is_told(changed, want)


def test_one_of_others_keeps_none_of_ours_back() -> None:
    """It is left out, and ours of another type are there, change and go."""
    theirs: dict[str, Any] = {"type": DRAIN_IN_PROGRESS, "status": "True", "message": "kubectl drain"}
    want = lifecycle(node(held=WAITING), DRAINED_IT)
    assert [each.type for each in left_to_us([theirs, {"type": "Ready"}], want)] == [MAINTENANCE_PLANNED]
    assert left_to_us(conditions([], want, "t"), want) == want
    both = [theirs, *conditions([], left_to_us([theirs], want), "t")]
    assert lifecycle_is_told(both, want)
    assert not lifecycle_is_told([theirs], want)
    assert not lifecycle_is_told(both, ())


def test_others_words_are_theirs() -> None:
    theirs = {"type": DRAINED, "status": "True", "reason": "DrainCompleted", "message": "kubectl drain"}
    assert lifecycle_is_told([theirs], ())
    assert not is_ours(theirs)
    assert not is_ours({"type": DRAINED})
    assert not is_ours({"type": "Ready", "message": f"{OURS}x"})
    assert is_ours(theirs | {"message": f"{OURS}x"})
