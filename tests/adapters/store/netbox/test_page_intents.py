"""Requests from NetBox's pages: taken once by however many runners, with the intent in the same transaction."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.netbox.page_intents import KEPT, Refused
from fleet_runner.core.base.errors import StoreError
from fleet_runner.core.inventory.netbox.page_intents import UNKNOWN, PageIntent
from fleet_runner.core.lifecycle.runs import Intent, IntentKind
from tests.adapters.store.builders import node

URL = "https://netbox.example"
ASKED = PageIntent(7, "gpu-01", "hold", "loud", "alice in NetBox", 140.0, 12)
SWITCH = replace(ASKED, device=8, name="leaf-1")


def test_a_request_is_left_once_with_who_and_when(stocked: Store) -> None:
    """However often it is seen; another NetBox's device of the same number is another one."""
    assert stocked.take_page_intent(URL, ASKED, 150.0)
    assert not stocked.take_page_intent(URL, ASKED, 160.0)
    (intent,) = stocked.intents("gpu-01")
    assert intent == Intent(intent.id, "gpu-01", IntentKind.HOLD, "alice in NetBox", 140.0, "loud")
    said = [(entry.at, entry.by, entry.sentence) for entry in stocked.history("gpu-01")]
    assert said == [(140.0, "alice in NetBox", "alice in NetBox asks: hold (loud).")]
    assert node(stocked).wake_at == 0.0
    assert stocked.take_page_intent("https://other.example", ASKED, 150.0)


def test_a_request_of_a_clock_that_is_ahead_was_left_now(stocked: Store) -> None:
    assert stocked.take_page_intent(URL, replace(ASKED, at=9e9), 150.0)
    assert stocked.intents("gpu-01")[0].at == 150.0


def test_many_runners_take_a_request_once(stocked: Store) -> None:
    with ThreadPoolExecutor(8) as runners:
        took = list(runners.map(lambda _: stocked.take_page_intent(URL, ASKED, 150.0), range(16)))
    assert took.count(True) == 1
    assert len(stocked.intents("gpu-01")) == 1


def test_what_cannot_be_left_leaves_nothing(stocked: Store) -> None:
    """A request for a node that is not there is no request that was taken."""
    with pytest.raises(StoreError, match="gpu-99: no such node"):
        stocked.take_page_intent(URL, replace(ASKED, name="gpu-99"), 150.0)
    assert stocked.take_page_intent(URL, replace(ASKED, name="gpu-02"), 150.0)


def test_a_refusal_is_in_the_history_of_a_node(stocked: Store) -> None:
    intent = replace(ASKED, kind="wipe")
    assert stocked.take_page_intent(URL, intent, 150.0, refusal="It cannot be asked for.")
    assert not stocked.take_page_intent(URL, intent, 150.0, refusal="It cannot be asked for.")
    said = [(entry.at, entry.kind, entry.by, entry.sentence) for entry in stocked.history("gpu-01")]
    assert said == [
        (140.0, "intent", "alice in NetBox", "alice in NetBox asks: wipe (loud)."),
        (150.0, "intent", "runner", "It cannot be asked for."),
    ]
    assert stocked.intents("gpu-01") == ()
    assert stocked.refused_page_intents(URL) == ()


def test_a_refusal_of_what_is_no_node_waits_until_netbox_is_told(stocked: Store) -> None:
    """One process tells it at a time; one that died while it did is followed by another."""
    assert stocked.take_page_intent(URL, SWITCH, 150.0, refusal="No node.", here=False)
    assert stocked.refused_page_intents(URL) == (Refused(SWITCH, "No node."),)
    assert stocked.begin_refusal(URL, SWITCH, 151.0, 60.0)
    assert not stocked.begin_refusal(URL, SWITCH, 210.0, 60.0)
    assert stocked.begin_refusal(URL, SWITCH, 211.0, 60.0)
    stocked.refusal_told(URL, SWITCH, 212.0)
    assert stocked.refused_page_intents(URL) == ()
    assert not stocked.begin_refusal(URL, SWITCH, 999.0, 60.0)


def test_a_request_that_nobody_can_date_is_taken_until_its_field_was_seen_without_it(stocked: Store) -> None:
    blind = replace(ASKED, change=UNKNOWN)
    assert stocked.take_page_intent(URL, blind, 150.0)
    assert not stocked.take_page_intent(URL, replace(blind, at=145.0), 151.0)
    stocked.page_intents_gone(URL, [7], 152.0, 152.0)
    assert not stocked.take_page_intent(URL, replace(blind, at=146.0), 153.0)
    stocked.page_intents_gone(URL, [], 150.0, 153.0)  # it was taken while that look was under way
    assert not stocked.take_page_intent(URL, replace(blind, at=146.0), 153.0)
    stocked.page_intents_gone(URL, [], 154.0, 154.0)
    assert stocked.take_page_intent(URL, replace(blind, at=146.0), 155.0)
    stocked.page_intent_emptied(URL, 7, 156.0)
    assert stocked.take_page_intent(URL, replace(blind, at=147.0), 157.0)


def test_requests_are_forgotten_after_a_while_but_those_that_netbox_was_not_told_of(stocked: Store) -> None:
    stocked.take_page_intent(URL, ASKED, 150.0)
    stocked.take_page_intent(URL, SWITCH, 150.0, refusal="No node.", here=False)
    stocked.page_intents_gone(URL, [], 151.0, 151.0)
    later = 152.0 + KEPT
    stocked.take_page_intent(URL, replace(ASKED, change=99), later)
    stocked.page_intents_gone(URL, [], later + 1.0, later + 1.0)
    assert stocked.take_page_intent(URL, ASKED, later + 2.0)
    assert [each.intent for each in stocked.refused_page_intents(URL)] == [SWITCH]
