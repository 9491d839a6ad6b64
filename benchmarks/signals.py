"""How many signals a second one core takes, from what was pushed to changed alarms.

`python benchmarks/signals.py [SIGNALS] [--rounds N]` takes the CPU time of one core, the median of the rounds, of

- *desk*: rules, known again, counted, alarms (`core.faults.signals.alarm_engine`), the signals made before;
- *lines*: reading pushed lines of kernel logs to signals (`core.faults.signals.kernel`), then the desk.

Each for three mixes: *repeats* (10,000 nodes tell the same faults again and again), *new* (every signal is another
fault of another node), *storm* (one node tells 99 of 100). Pushes hold 100 signals or lines each, whose times and
arrivals are made up. The floor beside *lines* is to split the same text and look for one word in each line.
"""

import argparse
import gc
import os
import sys
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import TypeVar

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.rules.effect import Following
from fleet_runner.core.faults.rules.rules import DEFAULT
from fleet_runner.core.faults.signals import kernel
from fleet_runner.core.faults.signals.alarm_engine import AlarmEngine
from fleet_runner.core.faults.signals.kernel import Line
from fleet_runner.core.faults.signals.signal import Signal, Source

BEGUN = 1_700_000_000.0
NODES = 10_000
PUSH = 100
BETWEEN = 0.01
"""Seconds from one push to the next, by the clock that the desk is given: 10,000 signals a second."""

XIDS = (31, 79, 48, 63, 94, 119)
GPUS = tuple(f"0000:{bus:02x}:00.0" for bus in (0x1B, 0x43, 0x52, 0x61, 0x9D, 0xC3, 0xD1, 0xDF))

Kind = TypeVar("Kind")

Spec = tuple[str, int, str, float]
"""Of one signal: its node, its Xid, its GPU, and when it happened."""


def repeats(number: int) -> Spec:
    """Return what 10,000 faults tell in turn, each time later."""
    node = number * 7919 % NODES
    return f"gpu-{node:05}", XIDS[node % len(XIDS)], GPUS[node % 8], BEGUN + number * BETWEEN / PUSH


def new(number: int) -> Spec:
    """Return another fault of another node each time: every GPU of 10,000 nodes, and every code."""
    node, fault = number % NODES, number // NODES
    return f"gpu-{node:05}", 200 + fault // 8, GPUS[fault % 8], BEGUN + number * BETWEEN / PUSH


def storm(number: int) -> Spec:
    """Return what one node tells all the time, and now and then another."""
    if number % 100:
        return "gpu-66666", XIDS[number % len(XIDS)], GPUS[number % 8], BEGUN + number * BETWEEN / PUSH
    return repeats(number // 100)


MIXES: dict[str, Callable[[int], Spec]] = {"repeats": repeats, "new": new, "storm": storm}


def following(_node: str, code: str) -> Following:
    """Return what the built-in rules say."""
    return DEFAULT.of("hgx-h100", code)


def signal_of(spec: Spec) -> Signal:
    """Return a signal as a reader makes it."""
    node, code, gpu, at = spec
    words = f"GPU {gpu}: Xid {code}, logged once"
    return Signal(node, f"xid.{code}", f"GPU {gpu}", at, Source.KERNEL, words, Remedy.WATCH)


def line_of(spec: Spec) -> Line:
    """Return a line as syslog or JSON lines give it; its words differ from line to line."""
    node, code, gpu, at = spec
    words = f"NVRM: Xid (PCI:{gpu[:-2]}): {code}, pid={int(at * 1000) % 99_999}, name=python3, Ch 00000008, details"
    return Line(node, words, at, f"{at:.6f}")


def pushes(every: list[Kind]) -> Iterator[tuple[float, list[Kind]]]:
    """Yield what arrives together, and when."""
    for index in range(0, len(every), PUSH):
        yield BEGUN + (index // PUSH + 1) * BETWEEN, every[index : index + PUSH]


def desk_seconds(signals: list[Signal]) -> tuple[float, int, int]:
    """Return the CPU seconds of hearing all signals, how many changed alarms were given back, and how many stand."""
    desk, changed = AlarmEngine(following), 0
    begun = time.process_time()
    for now, mine in pushes(signals):
        changed += len(desk.hear(mine, now).changed)
        if desk.next_at <= now:
            changed += len(desk.due(now))
    return time.process_time() - begun, changed, len(desk)


def line_seconds(lines: list[Line]) -> float:
    """Return the CPU seconds of reading all lines, and of hearing what they tell."""
    desk = AlarmEngine(following)
    begun = time.process_time()
    for now, mine in pushes(lines):
        desk.hear(kernel.read(mine, now), now)
    return time.process_time() - begun


def floor_seconds(lines: list[Line]) -> float:
    """Return the CPU seconds of splitting the same text and looking for one word in each line."""
    text = "\n".join(line.text for line in lines)
    begun = time.process_time()
    sum("NVRM" in line for line in text.split("\n"))
    return time.process_time() - begun


def part_one(number: int, rounds: int) -> None:
    """Print a line a mix."""
    for name, spec in MIXES.items():
        specs = [spec(each) for each in range(number)]
        signals, lines = [signal_of(each) for each in specs], [line_of(each) for each in specs]
        gc.collect()
        heard = [desk_seconds(signals) for _ in range(rounds)]
        desk, read = median(each[0] for each in heard), median(line_seconds(lines) for _ in range(rounds))
        floor = max(median(floor_seconds(lines) for _ in range(rounds)), 1e-6)
        _, changed, standing = heard[0]
        print(
            f"{name:8} desk {number / desk:9,.0f} signals/s (measured), {changed:,} stored, {standing:,} stand;\n"
            f"{'':8} lines {number / read:8,.0f} signals/s (measured), {read / floor:,.0f} times splitting them"
        )


def main(arguments: list[str]) -> int:
    """Print what one core does."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("signals", type=int, nargs="?", default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(arguments)
    print(f"{options.signals:,} signals, median of {options.rounds} rounds; load {os.getloadavg()[0]:.1f}")
    part_one(options.signals, options.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
