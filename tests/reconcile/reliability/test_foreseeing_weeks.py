"""Nights of a fleet whose GPUs are tested once a week, and of which one multiplies slower and slower."""

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import insert

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.schema.trends import panels, stays
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.reliability.forecasts import Kind
from fleet_runner.core.reliability.trends import packing
from fleet_runner.core.reliability.trends.panel import Panel
from fleet_runner.reconcile.reliability.nightly import run
from fleet_runner.settings import Settings

DAY, NODES, GPUS, WEEKS = 86_400, 10, 8, 56
LAST = 20_775
"""A Wednesday; the night is that of Thursday."""

NOW = (LAST + 1) * DAY + 9_000.0
SLOW, SINCE, A_WEEK = 19, 25, -2.1
"""The row of the GPU, how many weeks ago it began, and by how many TFLOP/s a week it is slower."""

METRIC, DAILY, MARK = "multiplies_fp16", "gpu_core", 640


def name(row: int) -> str:
    """Name a row's node."""
    return f"gpu-{row // GPUS:02d}"


def newest_test(row: int) -> int:
    """Return the day of a row's newest test: each node has a weekday of its own."""
    return LAST - row // GPUS % 7


def kept(store: Store, slope: float, days: range = range(0)) -> float:
    """Keep a year of tests, and on some days temperatures; return how fast the one GPU was before."""
    chance = np.random.default_rng(8)
    rows = np.arange(NODES * GPUS)
    speeds = 720 + chance.normal(0, 8, (len(rows), 1)) + chance.normal(0, 1.5, (len(rows), WEEKS))
    before = float(speeds[SLOW, :-SINCE].mean())
    speeds[SLOW, -SINCE:] += slope * np.arange(1, SINCE + 1)
    newest = np.array([newest_test(row) for row in rows])
    given: list[dict[str, object]] = []
    for day in range(LAST - 7 * WEEKS, LAST + 1):
        ago = newest - day
        mine = rows[(ago >= 0) & (ago % 7 == 0) & (ago < 7 * WEEKS)]
        if len(mine):
            given.append(panel(METRIC, day, mine, speeds[mine, WEEKS - 1 - ago[mine] // 7]))
    given += [panel(DAILY, day, rows, 60 + chance.normal(0, 0.6, len(rows))) for day in days]
    with store._database.write() as connection:
        connection.execute(insert(panels), given)
    return before


def panel(
    metric: str, day: int, rows: np.ndarray[tuple[int, ...], np.dtype[np.int64]], told: np.ndarray[tuple[int, ...]]
) -> dict[str, object]:
    """Return a day as it is kept, of which each part told one number; stays are counted from one."""
    ids, ones = (rows + 1).astype(np.uint32), np.ones(len(rows), np.uint32)
    numbers = Panel(metric, day, ids, ones, told.astype(np.float32), np.zeros(len(rows), np.float32))
    return {"metric": metric, "day": day, "rows": len(rows), "body": packing.encode(numbers)}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A source of truth that is away, and a profile with the mark that the test is held against."""
    (tmp_path / "site").mkdir()
    profile = tmp_path / "inventory" / "group_vars" / "device_type_hgx_h100.yml"
    profile.parent.mkdir(parents=True)
    profile.write_text(f"fleet_profile:\n  active:\n    gemm:\n      fp16_tflops_min: {MARK}\n")
    inventory = tmp_path / "inventory" / "fleet.yml"
    return Settings(state_dir=tmp_path, source=str(tmp_path / "site"), inventory=inventory, policy_file=None)


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    """A store that knows ten nodes with their GPUs."""
    with Store.create(settings.store_url) as opened:
        devices = [Device(name(row), "hgx-h100", "gpu-server", "hall-1") for row in range(0, NODES * GPUS, GPUS)]
        opened.register(devices, NOW - 400 * DAY)
        given = [
            {"id": row + 1, "kind": "gpu", "serial": f"S-{row}", "node": name(row), "component": f"GPU {row % GPUS}",
             "slot": f"GPU {row % GPUS}", "first_at": NOW - 400 * DAY, "last_at": NOW - DAY}
            for row in range(NODES * GPUS)
        ]  # fmt: skip
        with opened._database.write() as connection:
            connection.execute(insert(stays), given)
        yield opened


def look(store: Store, settings: Settings, now: float = NOW) -> dict[str, dict[str, object]]:
    """Look once; return what it came to by metric, whatever else could not be done."""
    try:
        run(settings, store, lambda: None, lambda _: None, now)
    except FleetError as error:
        assert "drift" not in str(error)  # noqa: PT017  only the source of truth is away
    drift = store.analysis("drift")
    assert drift is not None
    return {each["metric"]: each for each in drift.body["metrics"]}


def test_a_gpu_that_grows_slower_from_week_to_week_is_told_with_its_date(store: Store, settings: Settings) -> None:
    """What the other GPUs do is noise; what is told daily is looked at in days; the next night says the same."""
    before = kept(store, A_WEEK, range(LAST - 89, LAST + 1))
    metrics = look(store, settings)
    assert (metrics[METRIC]["weekly"], metrics[METRIC]["judged"]) == ({"hgx-h100": 80}, 80)
    assert (metrics[DAILY]["weekly"], metrics[DAILY]["judged"]) == ({}, 80)
    (one,) = store.foresights()
    numbers = one.what.numbers
    assert (one.what.kind, one.what.serial, one.what.metric) == (Kind.TREND, f"S-{SLOW}", METRIC)
    began = date.fromordinal(719_163 + newest_test(SLOW) - 7 * (SINCE - 1))
    assert abs(date.fromisoformat(numbers["since_day"]) - began) < timedelta(weeks=3)
    assert numbers["slope_low_per_day"] < A_WEEK / 7 < numbers["slope_high_per_day"]
    truth = (before + A_WEEK * SINCE - MARK) / -(A_WEEK / 7) - (LAST - newest_test(SLOW))
    assert numbers["crosses_in_days"] == pytest.approx(truth, abs=10)
    assert numbers["crosses_soonest_days"] < truth < numbers["crosses_latest_days"]
    look(store, settings, NOW + DAY)
    (same,) = store.foresights()
    assert (same.id, same.what.numbers["since_day"]) == (one.id, numbers["since_day"])


def test_a_year_of_weekly_noise_says_nothing(store: Store, settings: Settings) -> None:
    """And every GPU could be judged."""
    kept(store, 0.0)
    assert look(store, settings)[METRIC]["judged"] == 80
    assert store.foresights() == ()
