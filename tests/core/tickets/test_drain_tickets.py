"""Tickets of drains that come to no end by themselves."""

from dataclasses import replace
from typing import Any

import pytest

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.rules.rules import AtDeadline, Rules
from fleet_runner.core.lifecycle.actions import CloseTicket, OpenTicket
from fleet_runner.core.lifecycle.decisions import decide
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.states import Condition, Stage, State
from fleet_runner.core.lifecycle.view import Timing, View
from tests.making import NOW, SINCE, a_node, a_run, a_ticket, a_view, an_alarm, conditions, held, paced, stored, usage

TIMING = Timing(drain=60, passive=paced(300), cabling=paced(14_400), drain_deadline=50)
SWEPT = (a_run(Stage.HEALTH_PASSIVE), a_run(Stage.CABLING, id=8))


def waiting(by: str = "runner", **values: Any) -> View:
    """A busy node whose reset waits since 100 seconds."""
    pending = {Condition.PENDING: held("GPU 3: Xid 119.", by, detail="RESET")}
    node = a_node(conditions=pending | conditions(Condition.CORDONED, Condition.DRAINING, Condition.IN_USE))
    given = {"alarms": (an_alarm(),), "latest": (usage(in_use=True),), "runs": (a_run(Stage.DRAIN), *SWEPT)}
    return a_view(node, **given | values)


def tickets(view: View, timing: Timing = TIMING, now: float = NOW) -> list[OpenTicket | CloseTicket]:
    """What follows for tickets."""
    found = decide(view, timing, now).actions
    return [action for action in found if isinstance(action, OpenTicket | CloseTicket)]


def test_a_drain_over_its_deadline_is_a_persons() -> None:
    """Told once, with what to do, as of when it came to that; also of what a person asked for."""
    (told,) = tickets(waiting())
    assert isinstance(told, OpenTicket)
    assert (told.fault, told.nodes, told.remedy) == ("gpu-01/drain/overdue", ("gpu-01",), Remedy.TRIAGE.value)
    assert told.at == SINCE + 50
    assert "fleet-runner cancel gpu-01 --reason" in told.body
    assert "GPU 3: Xid 119." in told.body
    assert tickets(waiting(tickets=(a_ticket(fault=told.fault, check="drain"),))) == []
    assert tickets(waiting("ann", rules=Rules(at_deadline=AtDeadline.ACT)))


def test_a_drain_that_may_still_end_by_itself_is_nobodys() -> None:
    """Before its deadline, or where the policy says to act then."""
    assert tickets(waiting(), replace(TIMING, drain_deadline=100)) == []
    assert tickets(waiting(rules=Rules(at_deadline=AtDeadline.ACT))) == []


@pytest.mark.parametrize(
    ("observed", "title", "step"),
    [
        (
            {"owner": "NVSentinel, which has given up: drain-failed (label x)"},
            "it is left to NVSentinel, which has given up: drain-failed (label x)",
            "2. See what became of it there: once that mark is off gpu-01, the RESET follows.",
        ),
        (
            {"never": ["pod ml/train"]},
            "pod ml/train is never to be interrupted",
            (
                "2. Ask the owner of pod ml/train to end it, or delete it: "
                "once all such work has gone, the RESET follows."
            ),
        ),
    ],
)
def test_a_drain_that_waits_past_its_deadline_whatever_the_policy_says_is_a_persons(
    observed: dict[str, Any], title: str, step: str
) -> None:
    """Nothing ends it by itself, so somebody is told whom to ask."""
    said = stored(check="scheduler", observed={"in_use": True, **observed}, id=6)
    for rules in (Rules(), Rules(at_deadline=AtDeadline.ACT)):
        (told,) = tickets(waiting(rules=rules, latest=(usage(in_use=True), said)))
        assert isinstance(told, OpenTicket)
        assert told.title == f"gpu-01: its drain is over its deadline: RESET waits, {title}"
        assert step in told.body.splitlines()


def test_the_ticket_is_closed_when_nothing_is_pending_any_more() -> None:
    """Cancelled, healed, or carried out: in whatever state the node is then."""
    known = a_ticket(fault="gpu-01/drain/overdue", check="drain")
    over = CloseTicket(known.id, "no drain of the node is stuck any more")
    other = a_ticket(id=6)
    assert tickets(a_view(runs=SWEPT, tickets=(known, other))) == [over]
    left = replace(waiting().node, state=State.REBOOT)
    assert tickets(a_view(left, tickets=(known, other))) == [over]


def test_a_node_that_serves_but_gets_no_work_is_told_of() -> None:
    """Once its drain could not be undone three times in a row; until a try passes."""
    failed = [
        a_run(Stage.RESUME, Outcome.UNKNOWN, id=number, ended_at=NOW - 20 + number, detail="refused")
        for number in range(10, 13)
    ]
    assert tickets(a_view(drained=True, runs=(*SWEPT, *failed[:2]))) == []
    passed = a_run(Stage.RESUME, id=11)
    assert tickets(a_view(drained=True, runs=(*SWEPT, failed[0], passed, *failed[1:]))) == []
    (told,) = tickets(a_view(drained=True, runs=(*SWEPT, *failed)))
    assert isinstance(told, OpenTicket)
    assert (told.fault, told.at) == ("gpu-01/drain/undone", NOW - 8)
    assert "3 tries to undo its drain; the last one: refused." in told.body
    known = a_ticket(fault=told.fault, check="drain")
    assert tickets(a_view(drained=True, runs=(*SWEPT, *failed), tickets=(known,))) == []
    assert [type(each) for each in tickets(a_view(runs=(*SWEPT, *failed), tickets=(known,)))] == [CloseTicket]
