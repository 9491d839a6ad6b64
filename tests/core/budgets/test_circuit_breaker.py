"""Too many nodes want out of service at once: then none leaves."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.budgets import circuit_breaker
from fleet_runner.core.budgets.breaker import Breaker, refusal
from fleet_runner.core.budgets.circuit_breaker import (
    Disruption,
    Want,
    asked,
    judged,
    lets,
    trips,
    trying,
    wanted,
)
from fleet_runner.core.budgets.circuit_breaker_limits import DEFAULT, Limits
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.rules.rule import Rule
from fleet_runner.core.faults.rules.rules import Rules
from fleet_runner.core.lifecycle.actions import Move, OpenRun
from fleet_runner.core.lifecycle.pending import pend
from fleet_runner.core.lifecycle.states import TRANSITIONS, Condition, Event, Stage, State
from tests.making import NOW, a_finding, a_node, a_view, an_alarm, conditions, held, stored

OPEN = Breaker(NOW, "6 of 40 nodes had xid.79", 1800.0)
TRIED = replace(OPEN, trial="gpu-01", tried_at=NOW + 1800)
CLUSTERS = "NodeRemediation fleet/gpu-01 (1a2b3c4d)"
OUT = Move(TRANSITIONS[State.PRODUCTION, Event.REBOOT_NEEDED], "runner")


def wants(count: int, *codes: str) -> list[Want]:
    """So many nodes that want out for the same reason."""
    return [Want(f"gpu-{at:02}", NOW, codes) for at in range(count)]


@pytest.mark.parametrize(
    ("count", "codes", "serving", "told"),
    [
        (5, ("xid.79",), 8, ""),  # a tiny fleet has none: so few nodes prove nothing
        (6, ("xid.79",), 8, "6 of 8 nodes were about to leave service within 60 min, more than 5"),
        (10, ("xid.79",), 200, ""),
        (11, ("xid.79",), 200, "11 of 200 nodes had xid.79 within 60 min, more than 10"),
        (11, (), 200, ""),
        (21, (), 200, "21 of 200 nodes were about to leave service within 60 min, more than 20"),
    ],
)
def test_it_opens_above_a_share_of_the_fleet(count: int, codes: tuple[str, ...], serving: int, told: str) -> None:
    """Of nodes for any reason, or half as many with the same code; and names some of them."""
    found = trips(wants(count, *codes), serving, Limits())
    assert found.startswith(told)
    assert bool(found) is bool(told)
    assert not found or "gpu-00, gpu-01, gpu-02, gpu-03, gpu-04 and" in found


@given(st.integers(0, 40), st.integers(0, 400))
def test_more_nodes_never_close_it(count: int, serving: int) -> None:
    """Whatever opens it opens it with one more."""
    assert not trips(wants(count), serving, DEFAULT) or trips(wants(count + 1), serving, DEFAULT)


def test_few_wants_are_named_in_full() -> None:
    """Nothing is counted that is named."""
    assert trips(wants(2), 2, Limits(least=1)).endswith("more than 1: gpu-00, gpu-01")


def test_what_automation_asks_is_seen_and_what_people_ask_is_not() -> None:
    """A cordon, a drain and a move, each in the runner's or a rollout's name; and a return asks nobody."""
    view = a_view()
    assert asked(view, pend(Remedy.REBOOT, held(by="runner"))) == Disruption(anew=True, may_try=True)
    assert asked(view, pend(Remedy.TRIAGE, held(by="runner"))) == Disruption(anew=True, may_try=False)
    assert asked(view, pend(Remedy.REBOOT, held(by="ann"))) is None
    assert asked(view, (OpenRun(Stage.HEALTH_PASSIVE, "scheduled"),)) is None
    for by, remedy, found in [
        ("runner", "REBOOT", Disruption(anew=False, may_try=True)),
        ("rollout 3", "REFLASH", Disruption(anew=False, may_try=False)),
        ("ann", "REBOOT", None),
        (CLUSTERS, "REBOOT", Disruption(anew=False, may_try=True)),
    ]:
        pending = a_view(a_node(conditions=conditions(Condition.PENDING, by=by, detail=remedy)))
        assert asked(pending, (OUT,)) == found
        assert asked(pending, (OpenRun(Stage.DRAIN, "it waits"),)) == found
        assert asked(pending, ()) is None
    pending = a_view(a_node(conditions=conditions(Condition.PENDING, by="runner", detail="RESET")))
    assert asked(pending, pend(Remedy.REBOOT, held(by="runner"))) == Disruption(anew=False, may_try=True)
    assert not circuit_breaker.leaves([Move(TRANSITIONS[State.PRODUCTION, Event.RETIRE], "ann")])
    back = Move(TRANSITIONS[State.REBOOT, Event.PASSED], "runner")
    assert asked(a_view(a_node(State.REBOOT)), (back,)) is None


def test_what_a_cluster_asks_waits_for_an_open_breaker_and_opens_none() -> None:
    """And it costs a cordon, as what the runner asks: a thousand requests cordon no thousand nodes."""
    theirs = pend(Remedy.REBOOT, held(by=CLUSTERS))
    assert asked(a_view(), theirs) == Disruption(anew=False, may_try=True)
    assert circuit_breaker.cordons(a_view(), theirs)
    assert not circuit_breaker.cordons(a_view(), pend(Remedy.REBOOT, held(by="ann")))


def test_a_cordon_costs_unless_a_fault_has_ended_the_work_anyway() -> None:
    """A fault that is waived has not; what was pending before costs nothing anew."""
    rules = Rules(rules=(Rule(("xid.119",), at_once=True),))
    ours = pend(Remedy.RESET, held(by="runner"))
    view = a_view(alarms=(an_alarm(),))
    assert circuit_breaker.cordons(view, ours)
    assert not circuit_breaker.cordons(view, pend(Remedy.RESET, held(by="ann")))
    assert not circuit_breaker.cordons(replace(view, rules=rules), ours)
    waived = a_node(conditions=conditions(Condition.WAIVED, detail=an_alarm().fault))
    assert circuit_breaker.cordons(replace(view, rules=rules, node=waived), ours)
    pending = a_node(conditions=conditions(Condition.PENDING, by="runner", detail="RESET"))
    assert not circuit_breaker.cordons(replace(view, node=pending), ours)


def test_a_want_knows_the_codes_that_call_for_it() -> None:
    """Of findings and alarms; what is only recorded calls for nothing."""
    view = a_view(
        latest=(stored(a_finding(), a_finding(Remedy.RECORD, code="gpu.warm", fault="w")),), alarms=(an_alarm(),)
    )
    assert wanted(view, NOW) == Want("gpu-01", NOW, ("gpu.lost", "xid.119"))


def test_open_lets_nobody_through_and_half_open_one() -> None:
    """Whose remedy can show whether it helps; until it is known, nobody else."""
    assert not lets(OPEN, "gpu-01", NOW + 1799, may_try=True)
    assert not lets(OPEN, "gpu-01", NOW + 1800, may_try=False)
    assert lets(OPEN, "gpu-01", NOW + 1800, may_try=True)
    assert trying(OPEN, "gpu-01", NOW + 1800) == TRIED
    assert trying(TRIED, "gpu-01", NOW + 1900) == TRIED
    assert lets(TRIED, "gpu-01", NOW + 1900, may_try=False)
    assert not lets(TRIED, "gpu-02", NOW + 9e9, may_try=True)


def test_it_is_over_once_nobody_could_be_tried_and_few_want_out() -> None:
    """A window after one might have been; not while so many want out that it would open again."""
    late = OPEN.half_open_at + DEFAULT.within
    assert circuit_breaker.is_over(OPEN, wants(1), 40, DEFAULT, late)
    assert not circuit_breaker.is_over(OPEN, wants(1), 40, DEFAULT, late - 1)
    assert not circuit_breaker.is_over(OPEN, wants(12), 40, DEFAULT, late)
    assert not circuit_breaker.is_over(TRIED, [], 40, DEFAULT, late)


def test_a_refusal_says_what_ends_it() -> None:
    """When one is tried, or which one is."""
    assert "open since 1970-01-12 13:46 UTC, one node is tried from 1970-01-12 14:16 UTC on: 6 of 40" in refusal(OPEN)
    assert refusal(TRIED).endswith("half open since 1970-01-12 13:46 UTC: gpu-01 is tried first")


def test_a_trial_that_helps_closes_it() -> None:
    """It serves again, since it was tried."""
    assert judged(OPEN, None, NOW, DEFAULT) == OPEN
    assert judged(TRIED, a_node(State.PRODUCTION, since=NOW + 4000), NOW + 4000, DEFAULT) is None
    assert judged(TRIED, a_node(State.REBOOT, since=NOW + 1900), NOW + 1900, DEFAULT) == TRIED


def test_a_trial_that_does_not_help_opens_it_for_longer() -> None:
    """Twice as long each time, up to a limit, and the first reason is kept."""
    known: Breaker | None = TRIED
    pauses = []
    for _ in range(8):
        assert known is not None
        known = judged(known, a_node(State.TRIAGE), NOW + 5000, DEFAULT)
        assert known is not None
        pauses.append(known.pause)
        assert known.because == (
            "the trial on gpu-01 did not help, it is in triage; it opened because 6 of 40 nodes had xid.79"
        )
        assert not known.trial
        known = trying(known, "gpu-01", NOW)
    assert pauses == [3600, 7200, 14400, 28800, 57600, 86400, 86400, 86400]


def test_a_trial_that_never_leaves_gives_its_place_to_another() -> None:
    """It waits for its tenant's work, or left the fleet: the breaker does not wait for ever."""
    waits = a_node(State.PRODUCTION, since=NOW - 100)
    assert judged(TRIED, waits, NOW + 1801, DEFAULT) == TRIED
    assert judged(TRIED, waits, NOW + 3601, DEFAULT) == OPEN
    assert judged(TRIED, a_node(State.RETIRED), NOW + 1801, DEFAULT) == OPEN
    assert judged(TRIED, None, NOW + 1801, DEFAULT) == OPEN
