"""Tickets: one per fault, however often and by whom it is seen."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.lifecycle.actions import CloseTicket, OpenTicket
from tests.adapters.store.builders import UrlMaker, decision, device, node, swap
from tests.examples import UNHURRIED

SHARED = settings(suppress_health_check=UNHURRIED, deadline=None, max_examples=10)


def test_both_ends_of_a_fault_find_one_ticket(stocked: Store) -> None:
    stocked.apply(node(stocked), decision(swap("gpu-01", body="As gpu-01 sees it.")), 200.0)
    stocked.apply(node(stocked, "gpu-02"), decision(swap("gpu-02", "gpu-01", body="As gpu-02 sees it.")), 300.0)
    (ticket,) = stocked.tickets()
    assert (ticket.seen, ticket.opened_at, ticket.last_seen_at) == (2, 200.0, 300.0)
    assert (ticket.body, ticket.nodes) == ("As gpu-02 sees it.", ("gpu-01", "gpu-02"))
    assert [entry.sentence for entry in stocked.history("gpu-01")] == ["Ticket 1: Two cables are swapped"]


def test_a_closed_ticket_is_opened_again_when_its_fault_returns(stocked: Store) -> None:
    stocked.apply(node(stocked), decision(swap("gpu-01", "gpu-02")), 200.0)
    stocked.apply(node(stocked, "gpu-02"), decision(CloseTicket(1, "The check passes.")), 300.0)
    stocked.apply(node(stocked), decision(CloseTicket(1, "Passes here too.")), 310.0)
    (closed,) = stocked.tickets(open_only=False)
    assert (closed.closed_at, closed.closed_because, closed.seen) == (300.0, "The check passes.", 1)
    stocked.apply(node(stocked), decision(swap("gpu-01", "gpu-03", body="Anew.")), 400.0)
    (ticket,) = stocked.tickets()
    assert (ticket.id, ticket.closed_at, ticket.closed_because, ticket.seen) == (1, None, "", 2)
    assert (ticket.opened_at, ticket.last_seen_at, ticket.body) == (200.0, 400.0, "Anew.")
    assert ticket.nodes == ("gpu-01", "gpu-02", "gpu-03")
    said = [entry.sentence for entry in stocked.history("gpu-01")]
    assert said == [
        "Ticket 1: Two cables are swapped",
        "Ticket 1 closed: The check passes.",
        "Ticket 1 reopened: Two cables are swapped",
    ]
    assert [entry.sentence for entry in stocked.history("gpu-03")] == ["Ticket 1 reopened: Two cables are swapped"]


def test_an_older_sight_does_not_open_what_a_newer_look_closed(stocked: Store) -> None:
    stocked.apply(node(stocked), decision(replace(swap("gpu-01"), at=190.0)), 200.0)
    stocked.apply(node(stocked, "gpu-02"), decision(CloseTicket(1, "The check passes.")), 300.0)
    stocked.apply(node(stocked), decision(replace(swap("gpu-01"), at=290.0)), 400.0)
    assert stocked.tickets() == ()
    stocked.apply(node(stocked), decision(replace(swap("gpu-01"), at=390.0)), 400.0)
    assert [ticket.id for ticket in stocked.tickets()] == [1]


def test_an_open_ticket_follows_the_newest_sight(stocked: Store) -> None:
    stocked.apply(node(stocked), decision(swap("gpu-01")), 200.0)
    now = OpenTicket("swap:a|b", "other", "One cable is gone", "Join them.", ("gpu-01",), "RMA")
    stocked.apply(node(stocked), decision(now), 300.0)
    (ticket,) = stocked.tickets()
    assert (ticket.title, ticket.body, ticket.remedy) == ("One cable is gone", "Join them.", "RMA")
    assert (ticket.check, ticket.opened_at, ticket.last_seen_at) == ("cabling_infiniband", 200.0, 300.0)


@SHARED
@given(st.lists(st.tuples(st.booleans(), st.sampled_from(["a", "b"])), max_size=12))
def test_a_fault_has_one_ticket_whatever_happens(urls: UrlMaker, story: list[tuple[bool, str]]) -> None:
    """Seen and gone in any order: its number never changes, and it is open after a sight, closed after a pass."""
    with Store.open(urls()) as store:
        store.register([device("gpu-01")], 1.0)
        for at, (seen, fault) in enumerate(story, start=2):
            known = {ticket.fault: ticket for ticket in store.tickets(open_only=False)}
            if seen:
                store.apply(node(store), decision(swap("gpu-01", fault=fault)), float(at))
            elif fault in known:
                store.apply(node(store), decision(CloseTicket(known[fault].id, "gone")), float(at))
        last = dict[str, bool]()
        for seen, fault in story:
            if seen or fault in last:
                last[fault] = seen
        assert {ticket.fault for ticket in store.tickets(open_only=False)} == set(last)
        assert {ticket.fault for ticket in store.tickets()} == {fault for fault, seen in last.items() if seen}
        assert len(store.tickets(open_only=False)) == len(last)


def test_tickets_are_found_by_node(stocked: Store) -> None:
    stocked.apply(node(stocked), decision(swap("gpu-01", fault="a"), swap("gpu-01", "gpu-02", fault="b")), 200.0)
    assert [ticket.fault for ticket in stocked.tickets(node="gpu-01")] == ["a", "b"]
    assert [ticket.fault for ticket in stocked.tickets(node="gpu-02")] == ["b"]
    assert stocked.tickets(node="gpu-03") == ()


def test_closing_a_ticket_that_never_was_is_refused(stocked: Store) -> None:
    with pytest.raises(ConflictError, match="there is no ticket 5"):
        stocked.apply(node(stocked), decision(CloseTicket(5, "?")), 200.0)
    assert stocked.tickets(open_only=False) == ()


def test_faults_with_endless_keys_stay_apart(stocked: Store) -> None:
    long = "swap:" + "x" * 100_000
    stocked.apply(node(stocked), decision(swap("gpu-01", fault=long + "a"), swap("gpu-01", fault=long + "b")), 200.0)
    stocked.apply(node(stocked), decision(swap("gpu-01", fault=long + "a")), 300.0)
    assert [ticket.seen for ticket in stocked.tickets()] == [2, 1]


def test_a_ticket_that_names_nobody_is_in_its_finders_history(stocked: Store) -> None:
    stocked.apply(node(stocked), decision(swap()), 200.0)
    assert stocked.tickets()[0].nodes == ()
    assert len(stocked.history("gpu-01")) == 1
