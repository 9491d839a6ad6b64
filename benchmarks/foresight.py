"""What the analysis of drift finds of what was put into synthetic fleets, and what it sees in noise alone.

`python benchmarks/foresight.py [--nodes N] [--nights N] [--noise KIND ...]` makes fleets of N nodes with 8 GPUs each,
in racks of 4 and two sites, with 90 days of 24 numbers a day of one metric, always the same ones. All have a common
week, a site that grows warmer, racks that do as they like, one day in twenty missing, and parts that differ in their
level three times as much as in a day's noise, which is 1. *Truth* changes one series in fifty: by so many times the
noise of a day, some time ago. *Noise* changes none.
"""

import argparse
import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from fleet_runner.core.reliability.forecasts import Kind
from fleet_runner.core.reliability.parts.stay import Stay
from fleet_runner.core.reliability.trends.analyse import MetricAnalysis, look
from fleet_runner.core.reliability.trends.metrics import BY_NAME
from fleet_runner.core.reliability.trends.panel import Window
from fleet_runner.core.reliability.trends.peers import Location

Floats = NDArray[np.float32]
Random = np.random.Generator
Noise = Callable[[Random, tuple[int, int]], NDArray[np.float64]]

DAYS, GPUS, WARM_UP = 90, 8, 50
METRIC = BY_NAME["gpu_core"]._replace(least=1.0)
MARK = 85.0
TYPE = "dgxh100"
SHARE = 50
"""One series in so many is changed."""

EFFECTS: dict[Kind, tuple[float, ...]] = {
    Kind.SHIFT: (1.5, 2, 3, 5, 8), Kind.TREND: (3, 5, 8, 12), Kind.SPREAD: (2, 3, 5)
}  # fmt: skip
"""A jump, and what a drift comes to until today, in standard deviations of a day; so many times the scatter."""


def regressing(like: float) -> Noise:
    """Return noise of which each day has so much of the one before, with a standard deviation of 1."""

    def noise(random: Random, shape: tuple[int, int]) -> NDArray[np.float64]:
        new = random.normal(size=(shape[0], shape[1] + WARM_UP)) * np.sqrt(1 - like**2)
        for day in range(1, new.shape[1]):
            new[:, day] += like * new[:, day - 1]
        return new[:, WARM_UP:]

    return noise


def mixed(random: Random, shape: tuple[int, int]) -> NDArray[np.float64]:
    """Return noise of five kinds in one metric, from independent days to much alike ones."""
    pieces = [(shape[0] * at // 5, shape[0] * (at + 1) // 5) for at in range(5)]
    return np.concatenate(
        [regressing(0.2 * at)(random, (until - since, shape[1])) for at, (since, until) in enumerate(pieces)]
    )


def gusty(random: Random, shape: tuple[int, int]) -> NDArray[np.float64]:
    """Return noise with seven tenths of the day before and wild news: Student's t with 3 degrees of freedom."""
    new = random.standard_t(3, size=(shape[0], shape[1] + WARM_UP)) * np.sqrt((1 - 0.7**2) / 3)
    for day in range(1, new.shape[1]):
        new[:, day] += 0.7 * new[:, day - 1]
    return new[:, WARM_UP:]


def wandering(random: Random, shape: tuple[int, int]) -> NDArray[np.float64]:
    """Return noise of which half is new each day, and half wanders for weeks."""
    return (random.normal(size=shape) + regressing(0.95)(random, shape)) / np.sqrt(2)


NOISES: dict[str, Noise] = {
    "normal": lambda random, shape: random.normal(size=shape),
    "heavy": lambda random, shape: random.standard_t(2, size=shape),
    "regressing": regressing(0.7),
    "whole": lambda random, shape: np.round(random.normal(size=shape) + random.uniform(size=(shape[0], 1))),
    "rare": lambda random, shape: random.poisson(0.05, shape) * random.integers(1, 9, shape).astype(float),
    "mixed": mixed,
    "gusty": gusty,
    "wandering": wandering,
}
"""Normal; Student's t with 2 degrees of freedom; seven tenths of the day before; whole numbers; mostly nought, and
one day in twenty up to 8 (no week, no racks); series that differ in how much they have of the day before; seven
tenths of it with wild news; and half of it wandering for weeks."""

SEEDS = {name: 1_000 * at for at, name in enumerate(NOISES, 1)}


class Fleet(NamedTuple):
    """Who is where."""

    stays: dict[int, Stay]
    places: dict[str, Location]


class Put(NamedTuple):
    """What was done to a series; `crosses` is in how many days it will be at its mark, NaN of what never is."""

    kind: Kind
    effect: float
    crosses: float = float("nan")


def fleet(nodes: int) -> Fleet:
    """Return so many nodes with their GPUs."""
    names = [f"gpu-{at:05}" for at in range(nodes)]
    places = {name: Location(TYPE, f"site-{at % 2}", f"r{at // 8:04}") for at, name in enumerate(names)}
    every = [(name, slot) for name in names for slot in range(GPUS)]
    stays = {
        at: Stay(at, "gpu", f"S{at}", name, f"GPU 0000:{slot:02x}:00.0", f"GPU {slot}")
        for at, (name, slot) in enumerate(every)
    }
    return Fleet(stays, places)


def common(random: Random, rows: int) -> NDArray[np.float64]:
    """Return what peers have in common: a week, a site's growing warmer, and what racks do."""
    days = np.arange(DAYS)
    node = np.arange(rows) // GPUS
    week = 3 * np.sin(2 * np.pi * days / 7)
    site = np.where((node % 2 == 1)[:, None], 4 * (days > DAYS // 2), 0)
    racks = np.cumsum(random.normal(size=(node.max() // 8 + 1, 2, DAYS)) * 0.3, axis=2)
    return week + site + racks[node // 8, node % 2]


def changed(
    random: Random, values: NDArray[np.float64], level: NDArray[np.float64], spread: Floats
) -> dict[int, Put]:
    """Change one series in fifty and return what was done to which; `level` is what each is without noise."""
    what = [(kind, effect) for kind, effects in EFFECTS.items() for effect in effects]
    rows = random.choice(len(values), len(values) // SHARE, replace=False)
    put: dict[int, Put] = {}
    for at, row in enumerate(rows.tolist()):
        kind, effect = what[at % len(what)]
        ago = int(random.integers(15, 60)) if kind is Kind.SHIFT else int(random.integers(25, 60))
        crosses = float("nan")
        match kind:
            case Kind.SHIFT:
                values[row, -ago:] += effect
            case Kind.TREND:
                values[row, -ago:] += effect * np.arange(1, ago + 1) / ago
                crosses = (MARK - level[row, -7:].mean() - effect) / (effect / ago)  # the week before goes on, too
            case _:
                values[row, -ago:] += (values[row, -ago:] - level[row, -ago:]) * (effect - 1)
                spread[row, -ago:] *= effect
        put[row] = Put(kind, effect, crosses)
    return put


def made(noise: str, nodes: int, seed: int, *, truth: bool) -> tuple[Window, dict[int, Put]]:
    """Return a window of noise, changed or not, and what was done to it."""
    random = np.random.default_rng(seed)
    rows = nodes * GPUS
    base = 70 + 3 * random.normal(size=rows)
    shared = common(random, rows) if noise != "rare" else np.zeros((rows, DAYS))
    level = np.broadcast_to(base[:, None], shared.shape) + shared
    level = np.round(level) if noise in {"whole", "rare"} else level
    values = level + NOISES[noise](random, level.shape)
    spread = (0.67 * np.sqrt(random.chisquare(12, (rows, DAYS)) / 12)).astype(np.float32)
    put = changed(random, values, level, spread) if truth else {}
    values[random.random(values.shape) < 0.05] = np.nan  # noqa: PLR2004  one in twenty
    count = np.where(np.isnan(values), 0, 24).astype(np.uint32)
    days = np.arange(20_000, 20_000 + DAYS, dtype=np.int32)
    stays = np.arange(rows, dtype=np.uint32)
    return Window(METRIC.name, days, stays, count, values.astype(np.float32), spread), put


def truth(noise: str, nodes: int, peers: Fleet) -> None:
    """Print what is found of what was put in."""
    window, put = made(noise, nodes, SEEDS[noise], truth=True)
    looked = look(METRIC, window, peers.stays, peers.places, {TYPE: MARK})
    rows = {stay.serial: row for row, stay in peers.stays.items()}
    told = {rows[each.serial]: each for each in looked.found if each.serial}
    right = sum(row in put for row in told)
    named = sum(row in put and put[row].kind is each.kind for row, each in told.items())
    print(f"{noise}: {len(put)} changed, {len(looked.found)} told, {right} of them changed, {named} of the same kind;"
          f" {len(looked.together)} racks and sites together")  # fmt: skip
    every = Counter((each.kind, each.effect) for each in put.values())
    seen = Counter((put[row].kind, put[row].effect) for row in told if row in put)
    for kind, effects in EFFECTS.items():
        shares = ", ".join(f"{effect:g}: {seen[kind, effect] / every[kind, effect]:.0%}" for effect in effects)
        print(f"  {kind.value:7} {shares}")
    _crossings([(put[row].crosses, each.numbers) for row, each in told.items() if row in put])


def _crossings(told: list[tuple[float, dict[str, float | None]]]) -> None:
    """Print how often an interval holds the day on which the mark is crossed."""
    inside = [
        (numbers["crosses_soonest_days"] or 0) <= crosses <= (numbers["crosses_latest_days"] or 0)
        for crosses, numbers in told
        if numbers["crosses_in_days"] is not None
    ]
    drifts = sum(not np.isnan(crosses) for crosses, _ in told)
    print(f"  crossing told of {len(inside)} of {drifts} drifts, the true day within for {sum(inside)}")


def quiet(label: str, peers: Fleet, windows: Iterable[Window]) -> None:
    """Print what is told of windows of noise alone, one for each night."""
    found: Counter[str] = Counter()
    series, begun = 0, time.process_time()
    for window in windows:
        looked: MetricAnalysis = look(METRIC, window, peers.stays, peers.places, {TYPE: MARK})
        series += looked.judged
        found.update(looked.kinds)
    spent = time.process_time() - begun
    bound = float(stats.chi2.ppf(0.95, 2 * sum(found.values()) + 2)) / 2 / max(series, 1) * 1e6  # of a Poisson count
    print(f"{label}: {sum(found.values())} false alarms in {series:,} series-nights {dict(found)}, at most"
          f" {bound:.1f} a million; {spent:.0f} s of CPU, making them included", flush=True)  # fmt: skip


def cost(nodes: int, peers: Fleet) -> None:
    """Print what one metric of one night costs: memory is what is taken beside the window."""
    window, _ = made("normal", nodes, 7, truth=True)
    begun = time.process_time()
    look(METRIC, window, peers.stays, peers.places, {TYPE: MARK})
    spent = time.process_time() - begun
    tracemalloc.start()
    look(METRIC, window, peers.stays, peers.places, {TYPE: MARK})
    peak = tracemalloc.get_traced_memory()[1]
    arrays = sum(each.nbytes for each in (window.count, window.middle, window.spread))
    print(
        f"{nodes * GPUS:,} series of {DAYS} days: {spent:.1f} s of CPU, at most {peak / 1e6:.0f} MB"
        f" beside the window's own {arrays / 1e6:.0f}"
    )


def main(arguments: list[str]) -> int:
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=2_000)
    parser.add_argument("--nights", type=int, default=5)
    parser.add_argument("--noise", nargs="*", choices=NOISES, default=list(NOISES))
    parser.add_argument("--only", choices=("truth", "noise", "cost"))
    options = parser.parse_args(arguments)
    peers = fleet(options.nodes)
    for noise in options.noise if options.only in {None, "truth"} else ():
        truth(noise, options.nodes, peers)
    for noise in options.noise if options.only in {None, "noise"} else ():
        nights = (SEEDS[noise] + 1 + night for night in range(options.nights))
        quiet(noise, peers, (made(noise, options.nodes, seed, truth=False)[0] for seed in nights))
    if options.only in {None, "cost"}:
        cost(options.nodes, peers)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
