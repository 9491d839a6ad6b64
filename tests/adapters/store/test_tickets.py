"""Tickets: one per fault, however often and by whom it is seen."""

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.actions import CloseTicket
from fleet_runner.core.errors import ConflictError
from tests.adapters.store.builders import decision, node, swap


def test_both_ends_of_a_fault_find_one_ticket(stocked: Store) -> None:
    stocked.apply(node(stocked), decision(swap("gpu-01", body="As gpu-01 sees it.")), 200.0)
    stocked.apply(node(stocked, "gpu-02"), decision(swap("gpu-02", "gpu-01", body="As gpu-02 sees it.")), 300.0)
    (ticket,) = stocked.tickets()
    assert (ticket.seen, ticket.opened_at, ticket.last_seen_at) == (2, 200.0, 300.0)
    assert (ticket.body, ticket.nodes) == ("As gpu-02 sees it.", ("gpu-01", "gpu-02"))
    assert stocked.ticket(ticket.id) == ticket
    assert [entry.sentence for entry in stocked.history("gpu-01")] == ["Ticket 1: Two cables are swapped"]


def test_a_closed_ticket_stays_closed_and_the_fault_opens_a_new_one(stocked: Store) -> None:
    stocked.apply(node(stocked), decision(swap("gpu-01", "gpu-02")), 200.0)
    stocked.apply(node(stocked, "gpu-02"), decision(CloseTicket(1, "The check passes.")), 300.0)
    stocked.apply(node(stocked), decision(CloseTicket(1, "Passes here too.")), 310.0)
    stocked.apply(node(stocked), decision(swap("gpu-01")), 400.0)
    first, second = stocked.tickets(open_only=False)
    assert (first.closed_at, first.closed_because, first.seen) == (300.0, "The check passes.", 1)
    assert (second.opened_at, second.closed_at, second.closed_because) == (400.0, None, "")
    assert stocked.tickets() == (second,)
    said = [entry.sentence for entry in stocked.history("gpu-02")]
    assert said == ["Ticket 1: Two cables are swapped", "Ticket 1 closed: The check passes."]


def test_tickets_are_found_by_node(stocked: Store) -> None:
    stocked.apply(node(stocked), decision(swap("gpu-01", fault="a"), swap("gpu-01", "gpu-02", fault="b")), 200.0)
    assert [ticket.fault for ticket in stocked.tickets(node="gpu-01")] == ["a", "b"]
    assert [ticket.fault for ticket in stocked.tickets(node="gpu-02")] == ["b"]
    assert stocked.tickets(node="gpu-03") == ()


def test_closing_a_ticket_that_never_was_is_refused(stocked: Store) -> None:
    with pytest.raises(ConflictError, match="there is no ticket 5"):
        stocked.apply(node(stocked), decision(CloseTicket(5, "?")), 200.0)
    assert stocked.ticket(5) is None


def test_faults_with_endless_keys_stay_apart(stocked: Store) -> None:
    long = "swap:" + "x" * 100_000
    stocked.apply(node(stocked), decision(swap("gpu-01", fault=long + "a"), swap("gpu-01", fault=long + "b")), 200.0)
    stocked.apply(node(stocked), decision(swap("gpu-01", fault=long + "a")), 300.0)
    assert [ticket.seen for ticket in stocked.tickets()] == [2, 1]


def test_a_ticket_that_names_nobody_is_in_its_finders_history(stocked: Store) -> None:
    stocked.apply(node(stocked), decision(swap()), 200.0)
    assert stocked.tickets()[0].nodes == ()
    assert len(stocked.history("gpu-01")) == 1
