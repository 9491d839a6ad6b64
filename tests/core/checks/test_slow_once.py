"""A test that was only slow counts in service when a second round in a row was slow, too."""

from dataclasses import replace
from typing import Any

import pytest

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.lifecycle.actions import OpenRun, OpenTicket, SetCondition
from fleet_runner.core.lifecycle.decisions import decide
from fleet_runner.core.lifecycle.runs import Outcome, Stored
from fleet_runner.core.lifecycle.states import Condition, Stage, State
from fleet_runner.core.lifecycle.view import Timing, View
from tests.making import NOW, SINCE, a_finding, a_node, a_run, a_ticket, a_view, paced, stored, usage

TIMING = Timing(active=paced(3600), confirm=600)
SWEPT = (a_run(Stage.HEALTH_PASSIVE), a_run(Stage.CABLING, id=8))
IDLE = usage(in_use=False)


def found(code: str = "gemm.slow", **values: Any) -> Stored:
    """What a test of GPU 3 found."""
    key = f"gpu-01/{code}/GPU 3"
    finding = a_finding(Remedy.TRIAGE, code=code, fault=key, message="GPU 3 is slow.")
    return stored(finding, **{"check": code.partition(".")[0], "stage": Stage.HEALTH_ACTIVE} | values)


def view(answer: Stored, *before: Stored, **values: Any) -> View:
    """A node whose tests found that."""
    failed = a_run(Stage.HEALTH_ACTIVE, Outcome.FAILED, id=9)
    given = {"tested": True, "latest": (answer, IDLE), "before": before, "runs": (*SWEPT, failed)}
    return a_view(**given | values)


def follows(seen: View, now: float = NOW) -> set[str]:
    """What follows: a ticket, what is pending, or a stage."""
    told = {action.remedy for action in decide(seen, TIMING, now).actions if isinstance(action, OpenTicket)}
    actions = decide(seen, TIMING, now).actions
    told |= {f"pending {each.held.detail}" for each in actions
             if isinstance(each, SetCondition) and each.condition is Condition.PENDING}  # fmt: skip
    return told | {action.stage.value for action in actions if isinstance(action, OpenRun)}


SENT = {"TRIAGE", "pending TRIAGE"}


def test_a_node_that_was_slow_once_is_tested_again_soon_and_sent_nowhere() -> None:
    seen = view(found())
    decision = decide(seen, TIMING, NOW)
    assert (follows(seen), decision.waiting) == (set(), "gemm: as seen; seen once, the next round confirms it or not")
    assert decision.wake_at <= NOW + 590.0
    fresh = replace(seen, latest=(found(), replace(IDLE, at=NOW + 580.0)))
    swept = replace(fresh, runs=(replace(SWEPT[0], ended_at=NOW + 580.0), *fresh.runs[1:]))
    assert follows(swept, NOW + 589.0) == set()
    assert follows(swept, NOW + 590.0) == {"health_active"}


def test_the_second_round_in_a_row_counts() -> None:
    assert follows(view(found(), found(at=SINCE + 1.0, id=2))) == SENT


def test_another_fault_or_another_stay_is_no_second_round() -> None:
    elsewhere = replace(found().result.findings[0], fault="gpu-01/gemm.slow/GPU 4")
    for before in (found(at=SINCE - 1.0), stored(elsewhere, check="gemm"), stored(check="gemm")):
        assert follows(view(found(), before)) == set()


def test_an_open_ticket_is_the_first_sight() -> None:
    known = a_ticket(fault="gpu-01/gemm.slow/GPU 3", check="gemm", last_seen_at=NOW)
    assert follows(view(found(), tickets=(known,))) == {"pending TRIAGE"}


@pytest.mark.parametrize("answer", [found("gemm.wrong"), found("dcgm.pcie"), found("xid.slow"), found("nobody.slow")])
def test_wrong_results_and_errors_count_at_once(answer: Stored) -> None:
    assert follows(view(answer)) == SENT


def test_what_is_wrong_counts_beside_what_is_slow() -> None:
    wrong, slow = (found(code).result.findings[0] for code in ("gemm.wrong", "gemm.slow"))
    seen = view(stored(slow, wrong, check="gemm", stage=Stage.HEALTH_ACTIVE))
    opened = [each.fault for each in decide(seen, TIMING, NOW).actions if isinstance(each, OpenTicket)]
    assert (follows(seen), opened) == (SENT, [wrong.fault])


@pytest.mark.parametrize("state", [State.BURN_IN, State.TRIAGE])
def test_without_a_tenant_one_round_counts(state: State) -> None:
    answer = found(stage=Stage.BURN_IN)
    seen = a_view(a_node(state), latest=(answer,), runs=(a_run(Stage.BURN_IN, Outcome.FAILED),))
    assert "TRIAGE" in follows(seen)


@pytest.mark.parametrize("name", sorted(name for name, check in CHECKS.items() if check.measures))
def test_every_pass_mark_that_sends_a_node_away_needs_two_rounds(name: str) -> None:
    """Of a check that measures, each kind of fault about slowness; what is wrong never waits."""
    codes = {code.code: code.twice for code in CHECKS[name].codes if Remedy.TRIAGE in code.remedies}
    wrong = ("wrong", "error", "faulty", "died", "missing", "unsteady", "corrupt", "disagreement")
    assert all(twice != code.endswith(wrong) for code, twice in codes.items()), codes
