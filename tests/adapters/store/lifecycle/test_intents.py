"""Requests: left at any time, answered once."""

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import ConflictError, StoreError
from fleet_runner.core.lifecycle.actions import Answer
from fleet_runner.core.lifecycle.runs import Intent, IntentKind
from tests.adapters.store.builders import decision, node


def test_a_request_waits_until_it_is_answered(stocked: Store) -> None:
    first = stocked.leave_intent("gpu-01", IntentKind.RUN, "ada", reason="New optics", detail="cabling", now=150.0)
    second = stocked.leave_intent("gpu-01", IntentKind.HOLD, "grace", now=160.0)
    assert stocked.intents("gpu-01") == (
        Intent(first, "gpu-01", IntentKind.RUN, "ada", 150.0, "New optics", "cabling"),
        Intent(second, "gpu-01", IntentKind.HOLD, "grace", 160.0),
    )
    assert stocked.intents("gpu-02") == ()
    stocked.apply(node(stocked), decision(Answer(first, accepted=False, sentence="It is held.")), 200.0)
    assert [intent.id for intent in stocked.intents("gpu-01")] == [second]
    said = [(entry.by, entry.sentence) for entry in stocked.history("gpu-01")]
    assert said == [
        ("ada", "ada asks: run cabling (New optics)."),
        ("grace", "grace asks: hold."),
        ("runner", "It is held."),
    ]


def test_a_request_wakes_the_node_and_outdates_a_decision_that_did_not_know_it(stocked: Store) -> None:
    """Else a decision made meanwhile would put the node to sleep on top of the request."""
    old = node(stocked)
    stocked.apply(old, decision(wake_at=9_999.0), 100.0)
    seen = node(stocked)
    stocked.leave_intent("gpu-01", IntentKind.RELEASE, "ada", now=150.0)
    assert node(stocked).wake_at == 0.0
    with pytest.raises(ConflictError):
        stocked.apply(seen, decision(wake_at=9_999.0), 160.0)


def test_a_request_is_answered_only_once(stocked: Store) -> None:
    intent = stocked.leave_intent("gpu-01", IntentKind.CERTIFY, "ada", now=150.0)
    stocked.apply(node(stocked), decision(Answer(intent, accepted=True, sentence="Done.")), 200.0)
    with pytest.raises(ConflictError, match=f"intent {intent} is not waiting for an answer"):
        stocked.apply(node(stocked), decision(Answer(intent, accepted=True, sentence="Done.")), 210.0)


def test_a_request_is_not_answered_by_another_node(stocked: Store) -> None:
    intent = stocked.leave_intent("gpu-01", IntentKind.CERTIFY, "ada", now=150.0)
    with pytest.raises(ConflictError):
        stocked.apply(node(stocked, "gpu-02"), decision(Answer(intent, accepted=True, sentence="Done.")), 200.0)


def test_a_request_about_nobody_is_refused(stocked: Store) -> None:
    with pytest.raises(StoreError, match=r"node gpu-99: no such node; `fleet-runner status` lists them"):
        stocked.leave_intent("gpu-99", IntentKind.RETIRE, "ada", now=150.0)
