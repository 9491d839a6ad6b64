"""An answer of Prometheus to `query_range` or `query`, saved as a file: a series for each node, rank or GPU."""

import json
import re
from math import isfinite
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.jobs.rank_times import SECONDS, Measure, Moment, RankTimes, Whose

NODES = ("node", "nodename", "Hostname", "hostname", "host", "instance")
"""Labels that name a node, the plainest first; an `instance` has a port behind it."""

RANKS = ("rank", "global_rank")
PARTS = ("gpu", "device", "UUID", "pod", "local_rank")

_LOW = re.compile(r"per_sec|throughput|tokens|tflops|flops|clock|bandwidth|\btps\b", re.IGNORECASE)
"""Words in the name of a metric of which less is worse; of all others more is."""

_STEP = re.compile(r"(?:step|iter(?:ation)?|batch)_(?:time|duration|seconds|milliseconds|ms)", re.IGNORECASE)
_SHORT = re.compile(r"_(?:ms|milliseconds)\b", re.IGNORECASE)

MATRIX, VECTOR = "matrix", "vector"


def take(text: str, times: RankTimes, otherwise: str) -> None:
    """Add the series of an answer; EvidenceError for one that has none.

    `otherwise` names the metric where the answer does not, because it was computed.
    """
    for entry in _entries(text):
        labels = entry.get("metric")
        if not isinstance(labels, dict):
            raise EvidenceError("a series has no labels, expected those that Prometheus writes as `metric`")
        measure = _measure(str(labels.get("__name__") or otherwise))
        scale = 1e-3 if _SHORT.search(measure.name) and measure.unit == SECONDS else 1.0
        whose = _whose(labels)
        for at, value in _values(entry):
            times.add(measure, whose, value * scale, Moment(at))


def _entries(text: str) -> list[dict[str, Any]]:
    try:
        told = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise EvidenceError(f"it is no whole JSON ({error}); save the answer of Prometheus again") from error
    data = told.get("data") if isinstance(told, dict) else None
    kind = data.get("resultType") if isinstance(data, dict) else None
    found = data.get("result") if isinstance(data, dict) else None
    if kind not in {MATRIX, VECTOR} or not isinstance(found, list):
        raise EvidenceError(f"it is an answer of Prometheus of type {kind}, expected a matrix (query_range)")
    entries = [each for each in found if isinstance(each, dict)]
    if not entries:
        raise EvidenceError("it is an answer of Prometheus without any series; look at the query and its time")
    return entries


def _measure(name: str) -> Measure:
    is_low = _LOW.search(name) is not None
    return Measure(name, "" if is_low else SECONDS, _STEP.search(name) is not None, is_low)


def _whose(labels: dict[str, Any]) -> Whose:
    node = next((str(labels[each]) for each in NODES if labels.get(each)), "")
    rank = next((str(labels[each]) for each in RANKS if labels.get(each)), "")
    part = next((str(labels[each]) for each in PARTS if labels.get(each)), "")
    number = int(rank) if rank.isascii() and rank.isdigit() and len(rank) < 7 else None  # noqa: PLR2004  as elsewhere
    return Whose(number, re.sub(r":\d{1,5}$", "", node), part)


def _values(entry: dict[str, Any]) -> list[tuple[float, float]]:
    """Return the moments and numbers of a series; NaN, which Prometheus writes where there was nothing, is none."""
    pairs = entry.get("values", [entry.get("value")])
    found: list[tuple[float, float]] = []
    for pair in pairs if isinstance(pairs, list) else ():
        try:
            at, value = float(pair[0]), float(pair[1])
        except (TypeError, ValueError, IndexError, KeyError):
            continue
        if isfinite(at) and isfinite(value):
            found.append((at, value))
    return found
