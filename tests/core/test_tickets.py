"""One ticket a physical fault, opened and closed by what checks see."""

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.actions import CloseTicket, OpenTicket
from fleet_runner.core.tickets import NEEDS_HANDS, follow
from fleet_runner.core.verdicts import Remedy, Verdict
from tests.making import NOW, SINCE, a_finding, a_ticket, stored

SWAP = a_finding(
    Remedy.RECABLE, code="cabling.swap", fault="cable-1", message="ib2 and ib5 are swapped.", steps=("Swap them.",)
)


@given(st.sampled_from(list(Remedy)))
def test_only_work_for_hands_becomes_a_ticket(remedy: Remedy) -> None:
    """A reboot needs none."""
    actions = follow([stored(a_finding(remedy))], [], since=SINCE, place="hall")
    assert bool(actions) == (remedy in NEEDS_HANDS)


@given(st.lists(st.sampled_from(["a", "b", "c"]), max_size=3), st.lists(st.sampled_from(["a", "b", "c"]), max_size=3))
def test_after_a_verdict_open_tickets_are_exactly_the_faults_seen(seen: list[str], opened: list[str]) -> None:
    """Whatever was open before."""
    tickets = [a_ticket(id=index, fault=fault) for index, fault in enumerate(sorted(set(opened)))]
    findings = [a_finding(Remedy.RECABLE, fault=fault) for fault in sorted(set(seen))]
    result = stored(*findings, check="cabling")
    open_now = {ticket.id: ticket.fault for ticket in tickets}
    for action in follow([result], tickets, since=SINCE, place="hall"):
        if isinstance(action, CloseTicket):
            del open_now[action.ticket]
        else:
            open_now[len(open_now) + 10] = action.fault
    assert set(open_now.values()) == set(seen)


def test_the_ticket_says_where_and_what() -> None:
    """And how it is closed."""
    (ticket,) = follow([stored(SWAP, check="cabling")], [], since=SINCE, place="hall-1 rack A03 U12")
    assert isinstance(ticket, OpenTicket)
    assert ticket.body == (
        "gpu-01, hall-1 rack A03 U12.\nib2 and ib5 are swapped.\n1. Swap them.\n"
        "Then certify it: fleet-runner certify gpu-01. The next check closes this ticket."
    )
    assert ticket.nodes == ("gpu-01",)
    assert ticket.title == "gpu-01: ib2 and ib5 are swapped."


def test_a_node_in_triage_is_repaired_before_it_is_certified() -> None:
    """The ticket says the command that applies."""
    (ticket,) = follow([stored(a_finding(Remedy.TRIAGE))], [], since=SINCE, place="hall")
    assert isinstance(ticket, OpenTicket)
    assert "fleet-runner repaired gpu-01" in ticket.body


def test_a_finding_without_nodes_is_about_the_node_that_saw_it() -> None:
    """So that its own next check can close the ticket."""
    (ticket,) = follow([stored(a_finding(Remedy.RMA, nodes=()))], [], since=SINCE, place="hall")
    assert isinstance(ticket, OpenTicket)
    assert ticket.nodes == ("gpu-01",)


def test_unknown_closes_nothing() -> None:
    """Not seeing is not seeing that it is gone."""
    unsure = stored(check="cabling", verdict=Verdict.UNKNOWN)
    assert follow([unsure], [a_ticket()], since=SINCE, place="hall") == ()


def test_an_old_result_opens_and_closes_nothing() -> None:
    """It was dealt with in an earlier state, or it was what opened the ticket."""
    assert follow([stored(SWAP, check="cabling", at=SINCE - 1)], [], since=SINCE, place="hall") == ()
    passed = stored(check="cabling", at=SINCE - 1)
    assert follow([passed], [a_ticket()], since=SINCE, place="hall") == ()


def test_a_fault_seen_again_is_news_once() -> None:
    """The same result read twice adds nothing."""
    again = stored(SWAP, check="cabling")
    assert len(follow([again], [a_ticket()], since=SINCE, place="hall")) == 1
    assert follow([again], [a_ticket(last_seen_at=NOW)], since=SINCE, place="hall") == ()


def test_another_check_does_not_close_it() -> None:
    """Only the check that saw the fault can prove it gone."""
    assert follow([stored(check="xid")], [a_ticket()], since=SINCE, place="hall") == ()
