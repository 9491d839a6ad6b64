"""What is announced of a Kubernetes node: once, in few words, at a bounded pace, and nothing of others'."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.lifecycle.node_events import (
    NOTE,
    NOTICE,
    PER_CLUSTER,
    PER_NODE,
    WARNING,
    WINDOW,
    Allowance,
    NodeEvent,
    Rate,
    events,
    fresh,
    object_name,
    work_ends,
)
from fleet_runner.core.lifecycle.runs import RUNNER, Entry, Held, Node, Stored, Ticket
from fleet_runner.core.lifecycle.states import TRANSITIONS, Condition, Event, Stage, State

NODE = Node("gpu-01", "x", State.PRODUCTION, 0.0, 1)


def finding(code: str = "gpu.remap_failed", remedy: Remedy = Remedy.RMA, part: str = "GPU 1") -> Finding:
    """Return a finding whose text names another tenant's node."""
    return Finding(code, part, "as on gpu-99 of team-b", remedy, f"gpu-01/{code}/{part}", ("gpu-01",))


def stored(*findings: Finding, verdict: Verdict = Verdict.FAIL, number: int = 7, at: float = 100.0) -> Stored:
    result = Result("gpu_errors", verdict, "as on gpu-99", findings)
    return Stored(number, 1, "gpu-01", Stage.HEALTH_PASSIVE, at, result)


def ticket(found: Finding, number: int = 13, at: float = 90.0) -> Ticket:
    return Ticket(number, found.fault, "gpu_errors", "as gpu-99", "b", ("gpu-01", "gpu-99"), "RMA", at)


def moved(state: State | None, event: Event | None, number: int = 5, at: float = 50.0) -> Entry:
    return Entry(number, "gpu-01", at, "transition", "as on gpu-99", "runner", state, event, State.TRIAGE)


def test_a_move_is_told_in_the_words_of_the_table() -> None:
    out = moved(State.PRODUCTION, Event.TRIAGE_NEEDED)
    back = moved(State.REBOOT, Event.PASSED, 6, 60.0)
    first, second = events(NODE, [back, out], (), ())
    row = TRANSITIONS[State.PRODUCTION, Event.TRIAGE_NEEDED]
    assert first == NodeEvent(
        "gpu-01", "moved production triage_needed", 5, 50.0, "Warning", "Triage", "TriageNeeded", row.sentence
    )
    assert (second.type, second.reason, second.occurrence) == ("Normal", "Production", 6)


@pytest.mark.parametrize(
    "entry",
    [moved(None, Event.PASSED), moved(State.PRODUCTION, None), moved(State.RETIRED, Event.PASSED)],
)
def test_a_line_that_no_row_stands_for_is_not_told(entry: Entry) -> None:
    assert events(NODE, [entry], (), ()) == ()


def test_a_remedy_that_waits_for_work_is_told_once_for_each_time_it_is_asked_for() -> None:
    first = replace(NODE, conditions={Condition.PENDING: Held(70.9, "Xid 79 on gpu-99", "runner", "REBOOT")})
    (told,) = events(first, (), (), ())
    assert told[:6] == ("gpu-01", "pending REBOOT", 70, 70.9, "Warning", "RemedyPending")
    assert told.note == "REBOOT follows once the node's work has ended."
    nameless = replace(NODE, conditions={Condition.PENDING: Held(71.0, "x", "kim")})
    assert events(nameless, (), (), ())[0].note.startswith("a remedy follows")


def test_work_that_is_to_be_ended_is_told_a_quarter_of_an_hour_before() -> None:
    """By the runner, at its deadline; a person's remedy waits for ever, and so does each where the policy asks."""
    held = Held(1000.0, "gpu-02 has Xid 79", RUNNER, "REBOOT")
    node = replace(NODE, conditions={Condition.PENDING: held})
    (told,) = work_ends(node, 7200.0)
    assert (told.at, told.occurrence, told.reason, told.type) == (
        1000.0 + 7200.0 - NOTICE,
        1000,
        "WorkEndsSoon",
        WARNING,
    )
    assert told.note.startswith("From 1970-01-01T02:16:40Z on REBOOT waits for work no longer: its pods are evicted")
    assert "gpu-02" not in told.note
    assert fresh([told], told.at - 1) == ()
    assert fresh([told], told.at) == (told,)
    (soon,) = work_ends(node, 60.0)
    assert soon.at == 1000.0
    assert work_ends(node, None) == work_ends(NODE, 60.0) == ()
    assert work_ends(replace(node, conditions={Condition.PENDING: replace(held, by="kim")}), 60.0) == ()
    (nameless,) = work_ends(replace(node, conditions={Condition.PENDING: replace(held, detail="")}), 60.0)
    assert "on a remedy waits" in nameless.note


def test_what_is_newly_found_is_told_once_for_a_code_with_its_ticket() -> None:
    """Eight GPUs with the same fault are one event; what the result before had is none."""
    faults = [finding(part=f"GPU {number}") for number in range(3)]
    (told,) = events(NODE, (), [(stored(*faults), None)], ())
    assert told[:7] == (
        "gpu-01", "found gpu_errors gpu.remap_failed", 7, 100.0, "Warning", "GpuRemapFailed", "Check",
    )  # fmt: skip
    assert told.note == "GPU 0: a memory row could not be remapped; 2 more parts"
    before = stored(*faults[:2], number=6)
    (one,) = events(NODE, (), [(stored(*faults), before)], ())
    assert one.note == "GPU 2: a memory row could not be remapped"
    assert events(NODE, (), [(stored(*faults), stored(*faults, number=6))], ()) == ()
    _, with_number = events(NODE, (), [(stored(faults[0]), None)], [ticket(faults[0])])
    assert with_number.note == "GPU 0: a memory row could not be remapped; ticket 13"


@pytest.mark.parametrize(
    "quiet",
    [
        stored(finding(), verdict=Verdict.UNKNOWN),
        stored(verdict=Verdict.PASS),
        stored(finding(remedy=Remedy.WATCH)),
        stored(finding(remedy=Remedy.RECORD)),
    ],
)
def test_what_asks_for_nothing_is_not_told(quiet: Stored) -> None:
    assert events(NODE, (), [(quiet, None)], ()) == ()


def test_a_ticket_is_told_when_it_opens_without_its_title() -> None:
    fault = finding()
    known = stored(fault, number=6)
    (told,) = events(NODE, (), [(stored(fault), known)], [ticket(fault)])
    assert told[1:6] == ("ticket 13", 13, 90.0, "Warning", "TicketOpened")
    assert told.note == "Ticket 13 was opened: GPU 1: a memory row could not be remapped"
    (bare,) = events(NODE, (), (), [ticket(fault)])
    assert bare.note == "Ticket 13 was opened"


def test_only_what_is_news_is_told() -> None:
    every = events(NODE, [moved(State.REBOOT, Event.PASSED)], [(stored(finding()), None)], ())
    assert [each.at for each in fresh(every, 100.0)] == [50.0, 100.0]
    assert [each.at for each in fresh(every, 99.0)] == [50.0]
    assert [each.at for each in fresh(every, 50.0 + WINDOW)] == [100.0]
    assert fresh(every, 100.0 + WINDOW) == ()


def test_the_window_is_over_before_an_api_server_forgets() -> None:
    """Whatever may still be told again is then found told: the default of --event-ttl is an hour."""
    assert WINDOW < 3600


@given(st.text(max_size=3000), st.text(max_size=80))
def test_whatever_is_found_kubernetes_takes_the_event_and_no_other_node_is_named(code: str, part: str) -> None:
    fault = finding(code, part=part)
    for told in events(NODE, (), [(stored(fault), None)], [ticket(fault)]):
        assert re.fullmatch("[A-Za-z0-9]{1,128}", told.reason)
        assert told.note.isascii()
        assert len(told.note) <= NOTE
        if "gpu-99" not in code:
            assert "gpu-99" not in told.note


@pytest.mark.parametrize("there", ["gpu-01", "n" * 253, f"{'n' * 199}.x"])
def test_an_events_object_has_a_name_that_kubernetes_takes(there: str) -> None:
    name = object_name(there, "found gpu_errors é")
    assert len(name) <= 253
    assert re.fullmatch(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", name)
    assert name == object_name(there, "found gpu_errors é")
    assert len({object_name(there, "a"), object_name(there, "b"), object_name("other", "a")}) == 3


def test_a_node_and_a_cluster_are_told_at_a_bounded_pace() -> None:
    left = Allowance(Rate(2, 0.1), Rate(3, 1.0))
    assert [left.take("a", 0.0) for _ in range(3)] == [True, True, False]
    assert [left.take("b", 0.0) for _ in range(2)] == [True, False]
    assert left.take("b", 1.0)
    assert not left.take("a", 9.0)
    assert left.take("a", 10.0)
    left.forget(11.0)
    assert set(left._left) == {"", "a", "b"}
    left.forget(1000.0)
    assert set(left._left) == {""}
    assert left.take("a", 0.0)


def test_a_storm_costs_a_cluster_no_more_than_its_rate() -> None:
    left = Allowance()
    told = sum(left.take(f"n{number % 50}", second / 1.0) for second in range(60) for number in range(200))
    assert told <= PER_CLUSTER.burst + 59 * PER_CLUSTER.per_second
    lone = Allowance()
    assert sum(lone.take("n", float(second)) for second in range(3600)) <= PER_NODE.burst + 60
