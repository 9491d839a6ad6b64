"""What signals tell becomes a ticket where a person must act: one a fault, whoever else sees it."""

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.rules.built_in import BUILT_IN
from fleet_runner.core.faults.rules.rule import Rule
from fleet_runner.core.faults.rules.rules import Rules
from fleet_runner.core.inventory.records import Management
from fleet_runner.core.lifecycle.actions import CloseTicket, OpenTicket
from fleet_runner.core.lifecycle.decisions import decide
from fleet_runner.core.lifecycle.view import Timing
from fleet_runner.core.tickets.alarm_tickets import SIGNALS, told
from tests.making import NOW, SINCE, a_node, a_ticket, a_view, an_alarm

BAD = an_alarm(code="xid.31", remedy=Remedy.TRIAGE, message="GPU 3: Xid 31.", count=2)


def test_what_needs_hands_becomes_a_ticket() -> None:
    """With who told it, how often, and what to do then; the check that looks for it may close it."""
    (opened,) = told(a_view(alarms=(BAD,)))
    assert isinstance(opened, OpenTicket)
    assert (opened.fault, opened.check, opened.remedy, opened.at) == (BAD.fault, "xid", "TRIAGE", NOW - 10)
    assert opened.title == "gpu-01: GPU 3: Xid 31."
    where, what, who, after = opened.body.splitlines()
    assert (where, what) == ("gpu-01, hall rack A U1.", BAD.message)
    assert who == "Reported by kernel, 2 times so far (xid.31)."
    assert after.startswith("When it is repaired: ")


def test_what_a_remedy_or_nobody_follows_needs_no_ticket() -> None:
    """Too few signals, those of an earlier state, and those that the open ticket knows: none either."""
    for alarm in (an_alarm(), an_alarm(raised_at=None), an_alarm(code="xid.31", last_at=SINCE - 1)):
        assert told(a_view(alarms=(alarm,))) == ()
    known = a_ticket(fault=BAD.fault, check="xid", last_seen_at=NOW)
    assert told(a_view(alarms=(BAD,), tickets=(known,))) == ()


def test_of_a_customers_node_people_are_told_what_the_runner_would_have_done() -> None:
    """But of nothing that is only watched."""
    node = a_node(management=Management.CUSTOMER)
    (opened,) = told(a_view(node, alarms=(an_alarm(), an_alarm(code="alert.Hot", fault="f"))))
    assert isinstance(opened, OpenTicket)
    assert opened.fault == an_alarm().fault
    assert opened.body.splitlines()[2] == "Reported by kernel, 1 time so far (xid.119)."


def test_a_ticket_that_no_check_can_close_closes_with_its_alarm() -> None:
    """Whatever ended that."""
    rules = Rules((*BUILT_IN, Rule(("alert.Hot",), remedy=Remedy.TRIAGE)))
    hot = an_alarm(code="alert.Hot", fault="f", remedy=Remedy.WATCH)
    (opened,) = told(a_view(alarms=(hot,), rules=rules))
    assert isinstance(opened, OpenTicket)
    assert opened.check == SIGNALS
    open_one = a_ticket(fault="f", check=SIGNALS, last_seen_at=NOW)
    assert told(a_view(alarms=(hot,), tickets=(open_one,), rules=rules)) == ()
    assert told(a_view(tickets=(open_one,))) == (CloseTicket(5, "its alarm is over"),)


def test_the_ticket_is_opened_before_the_node_leaves_service() -> None:
    """Afterwards its signals are of an earlier state."""
    decision = decide(a_view(alarms=(BAD,)), Timing(), NOW)
    assert isinstance(decision.actions[0], OpenTicket)
