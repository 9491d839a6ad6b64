"""What sweeps measured of a job's nodes in its time, and which node differs from the job's others.

What a GPU draws, and how warm it is, names nobody: a rank that waits draws less. It is told of a node that is
named by something else. Clocks count only where a GPU has work.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import fmean, median
from typing import Any, NamedTuple

from fleet_runner.core.base.plural import counted
from fleet_runner.core.checks.parsers.json_text import number
from fleet_runner.core.jobs.outliers import FEWEST, Floor, odd

SLOWED = frozenset({"hw_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown", "sw_thermal_slowdown"})
"""Reasons for lower clocks that no load explains."""

IDLE = "gpu_idle"

CLOCKS = "gpu_clocks"


Parts = Mapping[str, float]
"""A number of each part of a node."""


class Measured(NamedTuple):
    """What a check measured on a node at a moment (epoch seconds): the numbers of its parts, by measure."""

    node: str
    check: str
    at: float
    numbers: Mapping[str, Parts]


class NodeMeasure(NamedTuple):
    """A number that nodes of one type share: where it is, how several looks become one, and what is too far off.

    `looks` is how many a part needs. `words` are a clause for a value, and the value with its unit. `alone` says
    that it names a node by itself, `is_of_load` that only GPUs count that had work at all looks.
    """

    name: str
    check: str
    read: Callable[[Mapping[str, Any]], Parts]
    over: Callable[[Sequence[float]], float]
    looks: int
    floor: Floor
    words: tuple[str, str]
    alone: bool = True
    is_of_load: bool = False


def _gpus(*path: str) -> Callable[[Mapping[str, Any]], Parts]:
    """Return who reads a number of each GPU at some words below it, of GPUs that have work."""

    def reading(observed: Mapping[str, Any]) -> Parts:
        return _numbers({pci: _below(gpu, path) for pci, gpu in _dict(observed.get("gpus")).items()
                         if IDLE not in _list(_dict(gpu).get("reasons"))})  # fmt: skip

    return reading


def _flat(name: str) -> Callable[[Mapping[str, Any]], Parts]:
    return lambda observed: _numbers(_dict(observed.get(name)))


def _slowed(observed: Mapping[str, Any]) -> Parts:
    """Return 1 of a GPU that heat or its power supply slows at a look, 0 of the others."""
    told = {pci: _dict(gpu).get("reasons") for pci, gpu in _dict(observed.get("gpus")).items()}
    return {
        pci: float(bool(SLOWED & set(map(str, reasons))))
        for pci, reasons in told.items()
        if isinstance(reasons, list)
    }


def _rates(observed: Mapping[str, Any]) -> Parts:
    """Return the Gb/s of each port by "ACTIVE 400 Gb/sec (4X NDR)", 0 of one that is not up."""
    found: dict[str, float] = {}
    for port, told in _dict(observed.get("ports")).items():
        state, _, rate = str(told).partition(" ")
        gbps = rate.partition(" ")[0]
        if state != "ACTIVE":
            found[port] = 0.0
        elif gbps.replace(".", "", 1).isdigit():
            found[port] = float(gbps)
    return found


def _grown(values: Sequence[float]) -> float:
    return max(0.0, values[-1] - values[0])


_LOWER = Floor(0.0, 0.5, is_low=True)
"""One less is too few."""

MEASURES: tuple[NodeMeasure, ...] = (
    NodeMeasure("GPU clocks", CLOCKS, _gpus("mhz", "sm"), median, 2, Floor(0.10, 60, is_low=True),
                ("is at {}", "{:,.0f} MHz")),
    NodeMeasure("memory clocks", CLOCKS, _gpus("mhz", "mem"), median, 2, Floor(0.05, 60, is_low=True),
                ("has its memory at {}", "{:,.0f} MHz")),
    NodeMeasure("throttling", CLOCKS, _slowed, fmean, 2, Floor(0.0, 0.5),
                ("is slowed by heat or power in {} of the looks", "{:.0%}")),
    NodeMeasure("power limits", "gpu_power", _gpus("limit_watts"), median, 1, Floor(0.05, 10, is_low=True),
                ("is limited to {}", "{:,.0f} W")),
    NodeMeasure("PCIe lanes", "gpu_pcie", _gpus("width"), median, 1, _LOWER, ("has {} PCIe lanes", "{:.0f}")),
    NodeMeasure("PCIe generations", "gpu_pcie", _gpus("generation"), max, 2, _LOWER,
                ("runs at PCIe generation {}", "{:.0f}"), is_of_load=True),
    NodeMeasure("NVLinks", "nvlink", _flat("links"), median, 1, _LOWER, ("has {} NVLinks up", "{:.0f}")),
    NodeMeasure("link rates", "ib_ports", _rates, median, 1, Floor(0.01, 1, is_low=True),
                ("is at {}", "{:,.0f} Gb/s")),
    NodeMeasure("margin to the limit", "gpu_thermals", _flat("margin_celsius"), median, 2,
                Floor(0.0, 10, is_low=True), ("is {} from its limit", "{:.0f} °C"), alone=False),
    NodeMeasure("power", "gpu_power", _gpus("watts"), median, 2, Floor(0.15, 50, is_low=True),
                ("draws {}", "{:,.0f} W"), alone=False, is_of_load=True),
    NodeMeasure("PCIe replays", "gpu_pcie", _gpus("replays"), _grown, 2, Floor(0.0, 100),
                ("sent {} PCIe packets again", "{:,.0f}"), alone=False),
    NodeMeasure("uncorrectable errors", "gpu_errors", _gpus("uncorrectable"), _grown, 2, Floor(0.0, 1),
                ("counted {} new uncorrectable memory errors", "{:,.0f}"), alone=False),
)  # fmt: skip
"""Floors: a tenth of the clock is more than GPUs of one kind differ by under a power limit; the rest is ours, too."""

WORK = "work"
"""Beside the measures: 1 of a GPU that has work at a look, 0 of one that has none."""

CHECKS = tuple(sorted({each.check for each in MEASURES}))


@dataclass(frozen=True, slots=True)
class OddNode:
    """A node that differs from the others of its type by one measure: its worst part's value, and the others' median.

    `parts` is how many parts on other nodes there are; `since` from when on all looks show it (epoch seconds), None
    where all looks do.
    """

    node: str
    part: str
    measure: NodeMeasure
    own: float
    others: float
    parts: int
    since: float | None = None

    @property
    def name(self) -> str:
        """Return what the part is called: "GPU 0000:52:00.0"."""
        return f"{'port' if self.measure.check == 'ib_ports' else 'GPU'} {self.part}"

    @property
    def sentence(self) -> str:
        """Say what its part is or does, beside the others."""
        clause, unit = self.measure.words
        since = "" if self.since is None else f", since {datetime.fromtimestamp(self.since, UTC):%Y-%m-%d %H:%M} UTC"
        own, others = unit.format(self.own), unit.format(self.others)
        return f"{clause.format(own)} beside {others} on {counted(self.parts, 'other')}{since}"


@dataclass(frozen=True, slots=True)
class NodesCompared:
    """What came of it: by which measures nodes were compared, how many, and which differ."""

    measures: tuple[str, ...] = ()
    nodes: int = 0
    odd: tuple[OddNode, ...] = ()


def measured(node: str, check: str, at: float, observed: Mapping[str, Any]) -> Measured:
    """Return the numbers in what a check observed; what is none is left out."""
    numbers = {each.name: each.read(observed) for each in MEASURES if each.check == check}
    if check == CLOCKS:
        gpus = _dict(observed.get("gpus"))
        numbers[WORK] = {pci: float(IDLE not in _list(_dict(gpu).get("reasons"))) for pci, gpu in gpus.items()}
    return Measured(node, check, at, numbers)


def compare(measured: Iterable[Measured], types: Mapping[str, str]) -> NodesCompared:
    """Return the nodes that differ from the others of their type, by the names of nodes and their device types."""
    looks: dict[str, dict[str, list[Measured]]] = {}
    for each in sorted(measured, key=lambda each: each.at):
        if each.node in types:
            looks.setdefault(each.check, {}).setdefault(each.node, []).append(each)
    loaded = _loaded(looks.get(CLOCKS, {}))
    names: list[str] = []
    found: list[OddNode] = []
    seen: set[str] = set()
    for measure in MEASURES:
        mine = looks.get(measure.check, {})
        for kind in sorted({types[node] for node in mine}):
            parts = {node: _parts(measure, told) for node, told in mine.items() if types[node] == kind}
            if measure.is_of_load:
                parts = {node: {part: told[part] for part in told.keys() & loaded.get(node, set())}
                         for node, told in parts.items()}  # fmt: skip
            values = {node: part for node, part in parts.items() if part}
            if len(values) >= FEWEST:
                names.append(measure.name)
                seen |= values.keys()
                found += _odd(measure, values, mine)
    return NodesCompared(tuple(dict.fromkeys(names)), len(seen), tuple(found))


def _loaded(looks: Mapping[str, Sequence[Measured]]) -> dict[str, set[str]]:
    """Return the GPUs of each node that had work whenever somebody looked."""
    found: dict[str, set[str]] = {}
    for node, told in looks.items():
        work = [look.numbers[WORK] for look in told]
        idle = {pci for each in work for pci, has_work in each.items() if not has_work}
        found[node] = {pci for each in work for pci in each} - idle
    return found


def _parts(measure: NodeMeasure, looks: Sequence[Measured]) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for look in looks:
        for part, value in look.numbers[measure.name].items():
            values.setdefault(part, []).append(value)
    return {part: measure.over(told) for part, told in values.items() if len(told) >= measure.looks}


def _odd(
    measure: NodeMeasure, values: Mapping[str, Mapping[str, float]], looks: Mapping[str, Sequence[Measured]]
) -> Iterable[OddNode]:
    pick = min if measure.floor.is_low else max
    worst = {node: pick(parts, key=lambda part: parts[part]) for node, parts in values.items()}
    found = odd({node: values[node][part] for node, part in worst.items()}, measure.floor)
    for node in found.names if found is not None else ():
        others = [each for name, parts in values.items() if name != node for each in parts.values()]
        own = values[node][worst[node]]
        since = _since(measure, looks[node], worst[node], (own + median(others)) / 2)
        yield OddNode(node, worst[node], measure, own, median(others), len(others), since)


def _since(measure: NodeMeasure, looks: Sequence[Measured], part: str, between: float) -> float | None:
    """Return from which look on a part has a bad value; None where no look shows a good one, or it grows."""
    told = [(look.at, value) for look in looks if (value := look.numbers[measure.name].get(part)) is not None]
    bad = [value < between if measure.floor.is_low else value > between for _, value in told]
    good = [place for place, each in enumerate(bad) if not each]
    if measure.over is _grown or not good or good[-1] + 1 == len(told):
        return None
    return told[good[-1] + 1][0]


def _numbers(told: Mapping[str, Any]) -> dict[str, float]:
    return {part: value for part, each in told.items() if (value := number(each)) is not None}


def _below(entry: Any, path: Sequence[str]) -> Any:
    for word in path:
        entry = _dict(entry).get(word)
    return entry


def _dict(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()
