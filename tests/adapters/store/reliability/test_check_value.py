"""What the worth of checks is judged from: where nodes were, what looks took, and looks spread over a span."""

import json
from typing import Any

import pytest
from sqlalchemy import insert

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.reliability import check_value
from fleet_runner.adapters.store.reliability.check_value import chosen
from fleet_runner.adapters.store.schema.remedies import attempts
from fleet_runner.core.checks.evidence import ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.lifecycle.actions import Move
from fleet_runner.core.lifecycle.spool import Evidence, Judged, Line
from fleet_runner.core.lifecycle.states import TRANSITIONS, Event, Stage, State
from fleet_runner.core.reliability.check_value.limits import LIMITS
from fleet_runner.core.reliability.check_value.past import DAY, Moved, Remedied
from tests.adapters.store.builders import START, decision, node, swap

DISK = next(limit for limit in LIMITS if limit.key == "disk_health.celsius_max")


def answer(check: str, at: float, verdict: Verdict = Verdict.PASS, **observed: Any) -> Judged:
    """Return what a check answered of gpu-01."""
    return Judged("gpu-01", at, Result(check, verdict, "x", observed=observed))


def job(state: str, elapsed: float, at: float, check: str = "gemm") -> tuple[Line, ...]:
    """Return what a test answered, and its job's state."""
    text = json.dumps({"state": state, "rc": 0, "elapsed": elapsed, "seconds": 60, "output": ""})
    found = Evidence("gpu-01", at, f"{check}_job", Reading(f"{check}_job", ReadEnd.OK, text).hash, text)
    return found, Judged("gpu-01", at, Result(check, Verdict.PASS, "x", evidence=(found.hash,)))


def told(store: Store, stage: Stage, *lines: Line, now: float) -> None:
    """Store answers of gpu-01."""
    store.record_by_hand(stage, "ada", lines, now)


def test_what_happened_to_nodes_is_told_of_a_span(stocked: Store) -> None:
    stocked.apply(node(stocked), decision(START, swap("gpu-01")), 200.0)
    row = {"node": "gpu-01", "remedy": "REBOOT", "faults": ["swap:a|b"], "by": "runner", "because": ""}
    with stocked._database.write() as connection:
        connection.execute(insert(attempts), [{**row, "at": 300.0, "ended_at": 400.0, "helped": False}])
    past = stocked.past_of_checks(150.0, 1_000.0)
    assert past.here == {"gpu-01": State.PROVISION, "gpu-02": State.REGISTERED, "gpu-03": State.REGISTERED}
    assert past.moves == (Moved("gpu-01", 200.0, State.REGISTERED, State.PROVISION),)
    assert past.remedied == (Remedied("gpu-01", ("swap:a|b",), 300.0, helped=False),)
    assert past.tickets == {"swap:a|b"}
    later = stocked.past_of_checks(500.0, 1_000.0)
    assert (later.moves, later.remedied, later.tickets) == ((), (), frozenset())


def test_a_test_takes_as_long_as_its_jobs_did_and_a_look_its_share_of_a_sweep(stocked: Store) -> None:
    """Of a job that did not end it is not known; what nobody asked is no look, and bring-up no schedule."""
    for at, took in enumerate((100.0, 300.0, 110.0)):
        told(stocked, Stage.HEALTH_ACTIVE, *job("ended", took, 1_000.0 + at), now=2_000.0)
    told(stocked, Stage.HEALTH_ACTIVE, *job("lost", 9.0, 1_100.0), now=2_000.0)
    told(stocked, Stage.BURN_IN, *job("ended", 9_000.0, 1_200.0, "training"), now=2_000.0)
    sweep = [answer("gpu_errors", 1_300.0), answer("xid", 1_310.0), answer("optics", 1_310.0, Verdict.SKIPPED)]
    told(stocked, Stage.HEALTH_PASSIVE, *sweep, now=1_312.0)
    costs = {cost.check: cost for cost in stocked.past_of_checks(0.0, 2 * DAY).costs}
    assert costs.keys() == {"gemm", "gpu_errors", "xid"}
    assert (costs["gemm"].seconds_a_look, costs["gemm"].looks_a_day) == (110.0, 2.0)
    assert costs["xid"].seconds_a_look == costs["gpu_errors"].seconds_a_look
    assert costs["xid"].seconds_a_look == pytest.approx(12.0 / 2)


def test_how_often_a_check_looks_is_told_from_its_newest_looks(
    stocked: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_value, "NEWEST", 4)
    for hour in range(48):
        told(stocked, Stage.HEALTH_PASSIVE, answer("xid", hour * 3_600.0), now=hour * 3_600.0)
    (cost,) = stocked.past_of_checks(0.0, 2 * DAY).costs
    assert cost.looks_a_day == pytest.approx(24.0)
    assert stocked.past_of_checks(3 * DAY, 4 * DAY).costs == ()


def test_a_test_without_a_job_that_ended_takes_nobody_knows_how_long(stocked: Store) -> None:
    told(stocked, Stage.HEALTH_ACTIVE, answer("gemm", 1_000.0), now=2_000.0)
    (cost,) = stocked.past_of_checks(0.0, DAY).costs
    assert cost.seconds_a_look is None


def hot(store: Store, days: int, a_day: int) -> None:
    """Have gpu-01 tell its disks' warmth so often, a degree more each day, beside other checks."""
    for step in range(days * a_day):
        at = step * DAY / a_day
        lines = [answer("xid", at), answer("disk_health", at, celsius={"a": 30.0, "b": 40.0 + at // DAY})]
        told(store, Stage.HEALTH_PASSIVE, *lines, now=at)


def test_looks_are_all_there_where_there_are_few(stocked: Store) -> None:
    hot(stocked, 10, 2)
    looks = stocked.limit_looks([DISK], ["gpu-01", "gpu-02"], 2 * DAY, 8 * DAY)[DISK]
    assert [look.worst for look in looks] == [42, 42, 43, 43, 44, 44, 45, 45, 46, 46, 47, 47]
    assert {look.node for look in looks} == {"gpu-01"}
    assert stocked.limit_looks([DISK], ["gpu-01"], 20 * DAY, 30 * DAY) == {DISK: []}


def test_of_many_looks_some_are_taken_evenly_over_the_span(stocked: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_value, "LOOKS", 10)
    monkeypatch.setattr(check_value, "ROUND", 2)
    hot(stocked, 10, 8)
    looks = stocked.limit_looks([DISK], ["gpu-01"], 0.0, 10 * DAY)[DISK]
    assert [look.worst for look in looks] == [40.0 + day for day in range(10)]


def test_what_said_nothing_is_no_look(stocked: Store) -> None:
    lines = [answer("disk_health", 10.0, Verdict.UNKNOWN, celsius={"a": 90.0}), answer("disk_health", 11.0)]
    told(stocked, Stage.HEALTH_PASSIVE, *lines, now=12.0)
    assert stocked.limit_looks([DISK], ["gpu-01"], 0.0, 100.0) == {DISK: []}


def test_nodes_that_turned_bad_are_told_with_when(stocked: Store) -> None:
    bad = Move(TRANSITIONS[State.PROVISION, Event.FAILED], "runner")
    for at, move in enumerate((START, bad)):
        stocked.apply(node(stocked), decision(move), 200.0 + at)
    assert stocked.turned_bad(0.0) == {"gpu-01": [201.0]}
    assert stocked.turned_bad(202.0) == {}


def test_nodes_that_turned_bad_are_looked_at_first_and_others_evenly() -> None:
    names = [f"gpu-{at:04}" for at in range(1_000)]
    picked = chosen(names, ["gpu-0999", "gone"])
    assert picked[0] == "gpu-0999"
    assert len(picked) == len({*picked}) <= check_value.NODES
    assert len(picked) > check_value.NODES / 2
    assert picked[1:4] == ("gpu-0000", "gpu-0006", "gpu-0012")
    assert len(chosen(names, names)) <= check_value.NODES
    assert chosen(["b", "a"], []) == ("a", "b")
    assert chosen([], ["a"]) == ()
