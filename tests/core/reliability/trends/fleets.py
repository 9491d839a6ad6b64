"""Small synthetic fleets: numbers of GPUs over 90 days, seeded, with whatever a test puts into them."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fleet_runner.core.reliability.parts.stay import Stay
from fleet_runner.core.reliability.trends.analyse import Given, MetricAnalysis, look
from fleet_runner.core.reliability.trends.metrics import BY_NAME, Metric
from fleet_runner.core.reliability.trends.panel import Window
from fleet_runner.core.reliability.trends.peers import Location

DAYS, GPUS, FIRST = 90, 8, 20_000
METRIC: Metric = BY_NAME["gpu_core"]._replace(least=1.0)
MARK = 85.0

Numbers = NDArray[np.float64]


def noise(nodes: int, seed: int = 1, days: int = DAYS) -> Numbers:
    """Return GPUs at about 60 degrees, a row each: some warmer and some colder, with a noise of 1 from day to day."""
    random = np.random.default_rng(seed)
    rows = nodes * GPUS
    return 60 + 3 * random.normal(size=(rows, 1)) + random.normal(size=(rows, days))


def window(values: Numbers, metric: Metric = METRIC) -> Window:
    """Return a window of numbers that were told 24 times a day, and scattered as a day's do."""
    count = np.where(np.isnan(values), 0, 24).astype(np.uint32)
    days = np.arange(FIRST, FIRST + values.shape[1], dtype=np.int32)
    spread = np.where(np.isnan(values), np.nan, 0.67).astype(np.float32)
    return Window(
        metric.name, days, np.arange(len(values), dtype=np.uint32), count, values.astype(np.float32), spread
    )


def places(nodes: int) -> dict[str, Location]:
    """Return where each node is: four to a rack, and every rack in one site."""
    return {f"gpu-{at:02}": Location("dgxh100", "hall-a", f"r{at // 4}") for at in range(nodes)}


def stays(rows: int) -> dict[int, Stay]:
    """Return the stay of each row, eight to a node."""
    return {
        at: Stay(at, "gpu", f"S{at}", f"gpu-{at // GPUS:02}", f"GPU 0000:{at % GPUS:02x}:00.0", f"GPU {at % GPUS}")
        for at in range(rows)
    }


def given(values: Numbers, metric: Metric = METRIC, mark: float = MARK) -> Given:
    """Return what the analysis takes."""
    nodes = -(-len(values) // GPUS)
    return Given(metric, window(values, metric), stays(len(values)), places(nodes), {"dgxh100": mark})


def looked(values: Numbers, metric: Metric = METRIC, mark: float = MARK) -> MetricAnalysis:
    """Return what one metric comes to."""
    return looked_at(given(values, metric, mark))


def looked_at(what: Given) -> MetricAnalysis:
    """Return what it comes to."""
    return look(what.metric, what.window, what.stays, what.places, what.marks)


def scattering(values: Numbers, row: int, times: float, days: int) -> Given:
    """Return numbers of which one row scatters so many times as much of late, within each day."""
    what = given(values)
    spread = what.window.spread.copy()
    spread[row, -days:] *= times
    return replace(what, window=replace(what.window, spread=spread))
