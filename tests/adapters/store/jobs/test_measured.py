"""What sweeps measured of a job's nodes in its time, on both databases."""

from typing import Any

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.jobs import measured
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.jobs.node_measures import CLOCKS, WORK
from fleet_runner.core.lifecycle.spool import Judged
from fleet_runner.core.lifecycle.states import Stage

BEGAN, ENDED = 10_000.0, 20_000.0


def clocks(sm: int) -> dict[str, Any]:
    return {"gpus": {"0000:52:00.0": {"mhz": {"sm": sm}, "reasons": []}}}


def swept(
    store: Store, at: float, check: str = CLOCKS, verdict: Verdict = Verdict.PASS, node: str = "gpu-01"
) -> None:
    """Store an answer; the clock is the hour of it."""
    result = Result(check, verdict, "x", (), clocks(int(at)))
    store.record_by_hand(Stage.HEALTH_PASSIVE, "ada", [Judged(node, at, result)], at)


def test_what_was_measured_in_its_time_is_read_the_newest_first(stocked: Store) -> None:
    """Of its own nodes, by checks that measure anything, and not what nobody asked."""
    for at in (9_000.0, 12_000.0, 15_000.0, 21_000.0):
        swept(stocked, at)
    swept(stocked, 13_000.0, "xid")
    swept(stocked, 14_000.0, verdict=Verdict.SKIPPED)
    swept(stocked, 16_000.0, node="gpu-02")
    found, types = stocked.measured_of_job(["gpu-01", "elsewhere"], BEGAN, ENDED)
    assert types == {"gpu-01": "hgx"}
    assert [(each.node, each.check, each.at) for each in found] == [
        ("gpu-01", CLOCKS, 15_000.0),
        ("gpu-01", CLOCKS, 12_000.0),
    ]
    assert found[0].numbers["GPU clocks"] == {"0000:52:00.0": 15_000.0}
    assert found[0].numbers[WORK] == {"0000:52:00.0": 1.0}


def test_only_the_newest_looks_are_read(stocked: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the job ran."""
    monkeypatch.setattr(measured, "_NEWEST", measured._NEWEST.limit(2))
    for at in range(11_000, 19_000, 1_000):
        swept(stocked, float(at))
    found, _ = stocked.measured_of_job(["gpu-01"], BEGAN, ENDED)
    assert [each.at for each in found] == [18_000.0, 17_000.0]
