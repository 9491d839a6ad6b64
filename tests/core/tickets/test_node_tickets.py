"""One ticket a physical fault, opened and closed by what checks see."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.verdicts import NOT_SOUGHT, Finding, Remedy, Verdict
from fleet_runner.core.faults.confirmation import BEFORE_SERVICE, NEEDS_HANDS
from fleet_runner.core.lifecycle.actions import CloseTicket, OpenTicket
from fleet_runner.core.lifecycle.runs import Stored, Ticket
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.core.tickets.node_tickets import follow
from tests.making import NOW, SINCE, a_fabric, a_finding, a_node, a_ticket, a_view, stored, sweep

SWAP = a_finding(
    Remedy.RECABLE, code="cabling.swap", fault="cabling/1", message="ib2 and ib5 are swapped.", steps=("Swap them.",)
)
VERIFY = a_node(State.VERIFY)


def followed(
    *latest: Stored, tickets: tuple[Ticket, ...] = (), **values: object
) -> tuple[OpenTicket | CloseTicket, ...]:
    """What happens to tickets of a node in verify."""
    return follow(a_view(**{"node": VERIFY, "latest": latest, "tickets": tickets} | values))


def opened(*actions: OpenTicket | CloseTicket) -> list[str]:
    """The faults of the tickets that are opened or seen again."""
    return [action.fault for action in actions if isinstance(action, OpenTicket)]


def closed(*actions: OpenTicket | CloseTicket) -> list[int]:
    """The tickets that are closed."""
    return [action.ticket for action in actions if isinstance(action, CloseTicket)]


@given(st.sampled_from(list(Remedy)))
def test_only_work_for_hands_becomes_a_ticket_of_a_node_in_service(remedy: Remedy) -> None:
    """A reboot needs none; before service nothing less than a pass will do."""
    result = stored(a_finding(remedy))
    assert bool(followed(result, node=a_node(), before=(result,))) == (remedy in NEEDS_HANDS)
    assert bool(followed(result)) == (remedy in BEFORE_SERVICE)


@given(st.lists(st.sampled_from(["a", "b", "c"]), max_size=3), st.lists(st.sampled_from(["a", "b", "c"]), max_size=3))
def test_after_a_verdict_open_tickets_are_exactly_the_faults_seen(seen: list[str], before: list[str]) -> None:
    """Whatever was open before."""
    tickets = tuple(a_ticket(id=index, fault=fault) for index, fault in enumerate(sorted(set(before))))
    findings = [a_finding(Remedy.RECABLE, fault=fault) for fault in sorted(set(seen))]
    open_now = {ticket.id: ticket.fault for ticket in tickets}
    for action in followed(stored(*findings, check="cabling"), tickets=tickets):
        if isinstance(action, CloseTicket):
            del open_now[action.ticket]
        else:
            open_now[len(open_now) + 10] = action.fault
    assert set(open_now.values()) == set(seen)


def test_a_check_closes_no_ticket_about_what_it_could_not_look_for() -> None:
    """Whatever else it found; a ticket about another fault is closed."""
    wet = a_ticket(id=1, fault="gpu-01/leak.detected/Rope 1", check="sensors")
    fan = a_ticket(id=2, fault="gpu-01/fan.failed/Fan 1", check="sensors")
    slow = a_finding(Remedy.WATCH, code="fan.slow")
    mute = stored(slow, check="sensors", observed={NOT_SOUGHT: ["leak.detected", "leak.suspected"]})
    assert closed(*followed(mute, node=a_node(), tickets=(wet, fan))) == [2]
    told = stored(slow, check="sensors", observed={NOT_SOUGHT: []})
    assert closed(*followed(told, node=a_node(), tickets=(wet, fan))) == [1, 2]


def test_the_ticket_says_where_and_what() -> None:
    """And how it is closed."""
    (ticket,) = followed(stored(SWAP, check="cabling"), place="hall-1 rack A03 U12")
    assert isinstance(ticket, OpenTicket)
    assert ticket.body == (
        "gpu-01, hall-1 rack A03 U12.\nib2 and ib5 are swapped.\n1. Swap them.\n"
        "Then certify it: fleet-runner certify gpu-01. The next check closes this ticket."
    )
    assert (ticket.nodes, ticket.at) == (("gpu-01",), NOW - 10.0)
    assert ticket.title == "gpu-01: ib2 and ib5 are swapped."


def test_a_title_names_the_node_once() -> None:
    """However the finding begins."""
    (ticket,) = followed(stored(a_finding(message="gpu-01: it is dark.")))
    assert isinstance(ticket, OpenTicket)
    assert ticket.title == "gpu-01: it is dark."


def test_a_node_in_service_is_not_to_be_certified() -> None:
    """Looking again is all it takes."""
    result = stored(SWAP, check="optics", stage=Stage.CABLING)
    (ticket,) = followed(result, node=a_node(), before=(result,))
    assert isinstance(ticket, OpenTicket)
    assert ticket.body.endswith("to check now: fleet-runner run cabling --node gpu-01.")


@pytest.mark.parametrize(("state", "stage"), [(State.PROVISION, Stage.PROVISION), (State.REBOOT, Stage.REBOOT)])
def test_a_node_that_did_not_boot_is_booted_anew_before_anything_else(state: State, stage: Stage) -> None:
    result = stored(a_finding(Remedy.TRIAGE), stage=stage)
    [ticket] = followed(result, node=a_node(state))
    assert isinstance(ticket, OpenTicket)
    assert "fleet-runner retry gpu-01 boots it again" in ticket.body


@pytest.mark.parametrize("state", [State.TRIAGE, State.PRODUCTION])
def test_a_node_in_triage_is_repaired_before_it_is_certified(state: State) -> None:
    """The ticket says the command that applies."""
    (ticket,) = followed(stored(a_finding(Remedy.TRIAGE)), node=a_node(state))
    assert isinstance(ticket, OpenTicket)
    assert "fleet-runner repaired gpu-01" in ticket.body


def test_a_finding_without_nodes_is_about_the_node_that_saw_it() -> None:
    """So that its own next check can close the ticket."""
    (ticket,) = followed(stored(a_finding(Remedy.RMA, nodes=())))
    assert isinstance(ticket, OpenTicket)
    assert ticket.nodes == ("gpu-01",)


def test_unknown_closes_nothing() -> None:
    """Not seeing is not seeing that it is gone."""
    assert followed(stored(check="cabling", verdict=Verdict.UNKNOWN), tickets=(a_ticket(),)) == ()


def test_a_bmc_that_is_silent_holds_back_nothing_of_what_the_node_saw() -> None:
    """In the same run, cabling opens one ticket and closes another; that of a check of the BMC stays as it is."""
    silent = stored(check="sel", verdict=Verdict.UNKNOWN, stage=Stage.CABLING)
    seen = stored(SWAP, check="cabling_ethernet", stage=Stage.CABLING)
    fixed = a_ticket(id=4, check="cabling_ethernet", fault="cabling/2")
    lasting = a_ticket(id=5, check="sel", fault="gpu-01/sel.cpu/CPU1")
    actions = followed(silent, seen, tickets=(fixed, lasting), node=a_node(), before=(seen,))
    assert (opened(*actions), closed(*actions)) == ([SWAP.fault], [4])


def test_an_old_result_opens_and_closes_nothing() -> None:
    """It was dealt with in an earlier state, or it was what opened the ticket."""
    assert followed(stored(SWAP, check="cabling", at=SINCE - 1)) == ()
    assert followed(stored(check="cabling", at=SINCE - 1), tickets=(a_ticket(),)) == ()


def test_a_fault_seen_again_is_news_once() -> None:
    """The same result read twice adds nothing."""
    again = stored(SWAP, check="cabling")
    assert len(followed(again, tickets=(a_ticket(fault="cabling/1"),))) == 1
    assert followed(again, tickets=(a_ticket(fault="cabling/1", last_seen_at=NOW),)) == ()


def test_another_check_does_not_close_it() -> None:
    """Only the check that saw the fault can prove it gone."""
    assert followed(stored(check="xid"), tickets=(a_ticket(),)) == ()


# What a sweep of a fabric sees.


def swept(result: Stored, *tickets: Ticket, **values: object) -> tuple[OpenTicket | CloseTicket, ...]:
    """What happens to tickets after a sweep."""
    return follow(a_view(a_fabric(), latest=(result,), tickets=tickets, **values))


def by_node(**values: object) -> Ticket:
    """A ticket that a node in verify opened."""
    return a_ticket(**{"check": "cabling_infiniband", "fault": "cabling/1"} | values)


def test_a_sweeps_ticket_names_the_fabric_and_every_device() -> None:
    """And says how it is closed."""
    fault = a_finding(
        Remedy.RECABLE, fault="cabling/1", nodes=("gpu-01",), devices=("gpu-01", "leaf-1"), steps=("Go.",)
    )
    result = sweep(fault)
    (ticket,) = swept(result, before=(result,))
    assert isinstance(ticket, OpenTicket)
    assert ticket.nodes == ("infiniband.hall", "gpu-01", "leaf-1")
    assert ticket.body.endswith("to check now: fleet-runner run fabric --node infiniband.hall.")


def test_nobody_is_sent_after_one_sight() -> None:
    """Two in a row are needed; another check's sight does not count."""
    result = sweep(SWAP)
    assert swept(result) == ()
    assert swept(result, before=(sweep(SWAP, check="fabric_counters"),)) == ()
    assert swept(result, before=(sweep(a_finding(fault="cabling/2")),)) == ()
    assert opened(*swept(result, before=(sweep(SWAP),))) == ["cabling/1"]


def test_a_fault_with_an_open_ticket_is_seen_again_at_once() -> None:
    """Whoever opened it."""
    assert opened(*swept(sweep(SWAP), by_node())) == ["cabling/1"]


def test_what_a_node_opened_the_sweep_closes_and_the_other_way_round() -> None:
    """The same fault under the same key, whoever sees it."""
    assert closed(*swept(sweep(), by_node())) == [5]
    passed = stored(check="cabling_infiniband", stage=Stage.VERIFY)
    assert closed(*followed(passed, tickets=(by_node(check="fabric_cabling"),))) == [5]
    assert swept(sweep(), by_node(check="cabling_ethernet")) == ()
    assert closed(*swept(sweep(check="fabric_ethernet"), by_node(check="cabling_ethernet"))) == [5]
    assert swept(sweep(check="fabric_ethernet"), by_node()) == ()
    assert swept(sweep(), by_node(fault="gpu-01/cabling.degraded/ib0")) == ()


def test_a_suspect_capture_opens_one_ticket_and_closes_none() -> None:
    """After the second in a row, as ever."""
    whole = a_finding(Remedy.RECABLE, code="cabling.suspect", fault="cabling/suspect/x", nodes=("infiniband.hall",))
    result = sweep(SWAP, whole)
    assert swept(result, by_node(fault="cabling/9")) == ()
    assert opened(*swept(result, by_node(fault="cabling/9"), before=(result,))) == ["cabling/suspect/x"]
    assert closed(*swept(result, by_node(fault="cabling/9"), before=(result,))) == []
    mild = sweep(Finding("cabling.suspect", "x", "m", Remedy.RECORD, "cabling/suspect/x"))
    assert opened(*swept(mild, before=(mild,))) == ["cabling/suspect/x"]


def test_a_suspect_ticket_closes_when_captures_are_good_again() -> None:
    """Like any other."""
    suspected = by_node(check="fabric_cabling", fault="cabling/suspect/x", nodes=("infiniband.hall",))
    assert closed(*swept(sweep(SWAP), suspected)) == [5]


def test_devices_that_could_not_be_told_open_and_close_nothing() -> None:
    """The others do, even where the whole answer is UNKNOWN."""
    other = a_finding(Remedy.RECABLE, fault="cabling/2", nodes=("gpu-02",))
    result = sweep(SWAP, other, observed={"unsure": ["gpu-01"]}, verdict=Verdict.UNKNOWN)
    about = (by_node(fault="cabling/3"), by_node(id=6, fault="cabling/4", nodes=("gpu-03",)))
    actions = swept(result, *about, before=(result,))
    assert (opened(*actions), closed(*actions)) == (["cabling/2"], [6])


def test_a_link_that_could_not_be_told_leaves_the_rest_of_its_two_devices_as_they_are() -> None:
    """A spine that is not there yet silences no leaf."""
    at_the_leaf = a_finding(Remedy.RECABLE, fault="cabling/1", nodes=("gpu-01",), devices=("gpu-01", "leaf-1"))
    between = a_finding(Remedy.RECABLE, fault="cabling/2", nodes=(), devices=("leaf-1", "spine-1"))
    result = sweep(at_the_leaf, between, observed={"unsure": ["spine-9", ["leaf-1", "spine-1"]]})
    about = (
        by_node(fault="cabling/3", nodes=("gpu-02", "leaf-1")),
        by_node(id=6, fault="cabling/4", nodes=("infiniband.hall", "leaf-1", "spine-1")),
        by_node(id=7, fault="cabling/5", nodes=("infiniband.hall", "leaf-2", "spine-9")),
    )
    actions = swept(result, *about, before=(result,))
    assert (opened(*actions), closed(*actions)) == (["cabling/1"], [5])


def test_a_nodes_ticket_names_the_switches_too() -> None:
    """By them it is told which fabric can prove the fault gone."""
    fault = a_finding(Remedy.RECABLE, fault="cabling/1", nodes=("gpu-01",), devices=("gpu-01", "leaf-1"))
    (ticket,) = followed(stored(fault, check="cabling_infiniband"))
    assert isinstance(ticket, OpenTicket)
    assert ticket.nodes == ("gpu-01", "leaf-1")


def test_what_is_dark_hides_its_other_faults() -> None:
    """A server that is off did not heal."""
    dark = sweep(a_finding(Remedy.RECABLE, fault="cabling/dark/gpu-01", nodes=("infiniband.hall", "gpu-01")))
    about = (by_node(fault="cabling/3"), by_node(id=6, fault="cabling/4", nodes=("gpu-03",)))
    assert closed(*swept(dark, *about)) == [6]


def test_nobody_is_sent_to_an_excused_device() -> None:
    """Nor in production; before service an excuse counts for nothing."""
    result = sweep(SWAP)
    why = {"gpu-01": "gpu-01 is in triage"}
    assert swept(result, by_node(), before=(result,), excused=why) == ()
    own = stored(SWAP, stage=Stage.CABLING)
    assert followed(own, node=a_node(), before=(own,), excused=why) == ()
    assert opened(*followed(own, excused=why)) == ["cabling/1"]


@given(
    st.lists(st.sets(st.sampled_from("abcd")), min_size=2, max_size=8),
    st.lists(st.booleans(), min_size=8, max_size=8),
)
def test_a_ticket_is_open_exactly_while_its_fault_was_seen_twice_and_not_yet_gone(
    sweeps: list[set[str]], speaking: list[bool]
) -> None:
    """Sweep after sweep, the silent ones left out."""
    open_now: dict[str, Ticket] = {}
    before: Stored | None = None
    expected: set[str] = set()
    last: set[str] = set()
    for number, (seen, speaks) in enumerate(zip(sweeps, speaking, strict=False)):
        at = NOW + 100.0 * number
        verdict = (Verdict.FAIL if seen else Verdict.PASS) if speaks else Verdict.UNKNOWN
        result = sweep(*(a_finding(Remedy.RECABLE, fault=each) for each in sorted(seen)), at=at, verdict=verdict)
        for action in swept(result, *open_now.values(), before=(before,) if before and speaks else ()):
            if isinstance(action, OpenTicket):
                open_now[action.fault] = a_ticket(
                    id=ord(action.fault), fault=action.fault, check=action.check, last_seen_at=at
                )
            else:
                open_now = {key: each for key, each in open_now.items() if each.id != action.ticket}
        if speaks:
            expected = {fault for fault in seen if fault in last or fault in expected}
            last, before = seen, result
        assert set(open_now) == expected


def test_what_nobody_asks_any_more_closes_the_tickets_of_the_node_alone() -> None:
    """Of a fault between two nodes the other one may still be asked; a test that gave way was asked for."""
    unasked = stored(check="cabling", verdict=Verdict.SKIPPED, message="the profile has no parts.nvme")
    own, both = a_ticket(id=1), a_ticket(id=2, nodes=("gpu-01", "gpu-02"))
    other, newer = a_ticket(id=3, check="xid"), a_ticket(id=4, last_seen_at=NOW)
    (action,) = followed(unasked, tickets=(own, both, other, newer))
    assert action == CloseTicket(1, "cabling on gpu-01: it is no longer checked: the profile has no parts.nvme")
    gave_way = stored(check="cabling", verdict=Verdict.SKIPPED, observed={"preempted": True})
    assert followed(gave_way, tickets=(own,)) == ()
