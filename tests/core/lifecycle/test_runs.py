"""People's requests and the lifecycle's events speak of the same things."""

from fleet_runner.core.lifecycle.runs import INTENT_EVENTS, IntentKind
from fleet_runner.core.lifecycle.states import STATES, TRANSITIONS, Event

BY_THE_RUNNER = {
    Event.PASSED,
    Event.FAILED,
    Event.OVERDUE,
    Event.RESET_NEEDED,
    Event.REBOOT_NEEDED,
    Event.TRIAGE_NEEDED,
    Event.FIRMWARE_NEEDED,
}


def test_every_event_is_the_runners_or_a_persons_request() -> None:
    assert set(INTENT_EVENTS.values()) == set(Event) - BY_THE_RUNNER


def test_every_request_that_is_an_event_moves_a_node_somewhere() -> None:
    moving = {row.event for row in TRANSITIONS.values()}
    assert set(INTENT_EVENTS.values()) <= moving


def test_holding_and_releasing_are_no_events() -> None:
    """They are conditions: a node stays where it is."""
    assert not {IntentKind.HOLD, IntentKind.RELEASE} & set(INTENT_EVENTS)
    assert len(STATES) == len({place.meaning for place in STATES.values()})
