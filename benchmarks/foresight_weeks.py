"""What drift finds in tests that come once a week, and what it sees in noise alone.

`python benchmarks/foresight_weeks.py [--nodes N] [--nights N] [--weeks N ...]` makes fleets of N nodes with 8 GPUs
each, always the same ones. Each node is tested on a weekday of its own, one time in five a day late, and one time in
ten not at all. Noise is that of `benchmarks/foresight.py` from week to week, with a standard deviation of 1, on
parts that differ three times as much; sites change and racks wander. *Truth* changes one series in fifty.
"""

import argparse
import sys
from collections import Counter
from typing import NamedTuple

import numpy as np
from foresight import GPUS, MARK, METRIC, NOISES, TYPE, Fleet, fleet, quiet
from numpy.typing import NDArray

from fleet_runner.core.reliability.forecasts import Kind
from fleet_runner.core.reliability.trends import weeks
from fleet_runner.core.reliability.trends.analyse import look
from fleet_runner.core.reliability.trends.panel import WEEK, Panel, Window

UNTIL = 20_780
SHARE = 50
"""One series in so many is changed."""

EFFECTS: dict[Kind, tuple[float, ...]] = {Kind.SHIFT: (2, 3, 5, 8), Kind.TREND: (3, 5, 8, 12)}
"""A jump, and what a drift comes to until today, in standard deviations of a test."""

AGO: dict[Kind, tuple[int, int]] = {Kind.SHIFT: (8, 15), Kind.TREND: (18, 24)}
"""Weeks ago that it began."""

LATE, MISSED = 0.2, 0.1
SEEDS = {"normal": 1_000_000, "regressing": 2_000_000, "heavy": 3_000_000, "wandering": 4_000_000}


class Put(NamedTuple):
    """What was done to a series, on which day it began, and in how many days it will be at its mark."""

    kind: Kind
    effect: float
    since: int
    crosses: float


def made(noise: str, nodes: int, seed: int, count: int, *, truth: bool) -> tuple[Window, dict[int, Put]]:
    """Return so many weeks of tests as a night has them, changed or not, and what was done to them."""
    random = np.random.default_rng(seed)
    rows = nodes * GPUS
    node = np.arange(rows) // GPUS
    racks = np.cumsum(random.normal(size=(nodes // 8 + 1, 2, count)) * 0.3, axis=2)
    site = np.where((node % 2 == 1)[:, None], 4 * (np.arange(count) > count // 2), 0)
    level = (70 + 3 * random.normal(size=rows))[:, None] + racks[node // 8, node % 2] + site
    values = level + NOISES[noise](random, level.shape)
    late = random.random((nodes, count)) < LATE
    day = UNTIL - WEEK * np.arange(count)[::-1] - random.integers(0, WEEK, (nodes, 1)) + late
    put = changed(random, values, level, day) if truth else {}
    day[(random.random(day.shape) < MISSED) | (day > UNTIL)] = 0
    panels = (panel(each, values, day) for each in range(UNTIL - WEEK * count, UNTIL + 1))
    return weeks.over(METRIC.name, UNTIL, (each for each in panels if len(each.stays)), np.arange(rows)), put


def changed(
    random: np.random.Generator, values: NDArray[np.float64], level: NDArray[np.float64], day: NDArray[np.int64]
) -> dict[int, Put]:
    """Change one series in fifty and return what was done to which; `level` is what each is without noise."""
    what = [(kind, effect) for kind, effects in EFFECTS.items() for effect in effects]
    put: dict[int, Put] = {}
    for at, row in enumerate(random.choice(len(values), len(values) // SHARE, replace=False).tolist()):
        kind, effect = what[at % len(what)]
        ago = int(random.integers(*AGO[kind]))
        steady = np.ones(ago) if kind is Kind.SHIFT else np.arange(1, ago + 1) / ago
        values[row, -ago:] += effect * steady
        slope = effect / ago / WEEK
        crosses = (MARK - level[row, -7:].mean() - effect) / slope - (UNTIL - day[row // GPUS, -1])
        put[row] = Put(kind, effect, int(day[row // GPUS, -ago]), crosses if kind is Kind.TREND else float("nan"))
    return put


def panel(day: int, values: NDArray[np.float64], days: NDArray[np.int64]) -> Panel:
    """Return what was told on a day."""
    nodes, column = np.nonzero(days == day)
    stays = (nodes[:, None] * GPUS + np.arange(GPUS)).ravel()
    told = values[stays, np.repeat(column, GPUS)].astype(np.float32)
    ids = stays.astype(np.uint32)
    return Panel(METRIC.name, day, ids, np.ones(len(ids), np.uint32), told, np.zeros(len(ids), np.float32))


def truth(noise: str, nodes: int, peers: Fleet, count: int) -> None:
    """Print what is found of what was put in."""
    window, put = made(noise, nodes, SEEDS[noise], count, truth=True)
    looked = look(METRIC, window, peers.stays, peers.places, {TYPE: MARK})
    rows = {stay.serial: row for row, stay in peers.stays.items()}
    told = {rows[each.serial]: each for each in looked.found if each.serial}
    right = {row: each for row, each in told.items() if row in put}
    print(f"{noise}, {count} weeks: {len(put)} changed, {len(looked.found)} told, {len(right)} of them changed")
    every = Counter((each.kind, each.effect) for each in put.values())
    seen = Counter((put[row].kind, put[row].effect) for row in right)
    for kind, effects in EFFECTS.items():
        shares = ", ".join(f"{effect:g}: {seen[kind, effect] / every[kind, effect]:.0%}" for effect in effects)
        print(f"  {kind.value:7} {shares}")
    jumps = [(np.datetime64(each.numbers["since_day"]) - np.datetime64(0, "D")).astype(int) - put[row].since
             for row, each in right.items() if put[row].kind is each.kind is Kind.SHIFT]  # fmt: skip
    near = sum(-WEEK < each <= 0 for each in jumps)
    print(f"  jumps that are told in the week of their first test: {near} of {len(jumps)}")
    ahead = [(put[row].crosses, each.numbers) for row, each in right.items() if put[row].kind is Kind.TREND]
    known = [(days, numbers) for days, numbers in ahead if numbers["crosses_in_days"] is not None]
    inside = sum(n["crosses_soonest_days"] <= days <= n["crosses_latest_days"] for days, n in known)
    print(f"  crossing told of {len(known)} of {len(ahead)} drifts, the true day within for {inside}", flush=True)


def main(arguments: list[str]) -> int:
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1_000)
    parser.add_argument("--nights", type=int, default=15)
    parser.add_argument("--weeks", nargs="*", type=int, default=[26, 40, 57])
    parser.add_argument("--noise", nargs="*", choices=SEEDS, default=list(SEEDS))
    parser.add_argument("--only", choices=("truth", "noise"))
    options = parser.parse_args(arguments)
    peers = fleet(options.nodes)
    for noise in options.noise:
        for count in options.weeks:
            if options.only in {None, "truth"}:
                truth(noise, options.nodes, peers, count)
            if options.only in {None, "noise"}:
                nights = (SEEDS[noise] + 1_000 * count + night for night in range(options.nights))
                windows = (made(noise, options.nodes, seed, count, truth=False)[0] for seed in nights)
                quiet(f"{noise}, {count} weeks", peers, windows)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
