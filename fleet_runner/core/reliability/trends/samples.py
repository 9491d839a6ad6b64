"""Numbers out of what checks observed, by metric and part; what is no number, or none that can be, is counted."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from fleet_runner.core.checks.parsers.json_text import LARGEST
from fleet_runner.core.reliability.trends.metrics import UNITS, Metric, component

LONGEST = 120
"""Characters that a part's name may have: a longer one is nobody's."""

MOST = 1_000
"""Parts that one result may tell of: a server has fewer of each kind."""

STAR, SUM = "*", "+"

Words = tuple[str, ...]


class MetricPath(NamedTuple):
    """A metric by its place in the list, where it lies below its part, and what its unit allows."""

    number: int
    rest: Words
    low: float
    high: float


class Group(NamedTuple):
    """Metrics that lie beneath the same parts: they are gone through once. Without parts they are the node's own."""

    part: str
    before: Words
    has_parts: bool
    wanted: tuple[MetricPath, ...]


Readers = Mapping[str, tuple[Group, ...]]
"""By check."""


class Sample(NamedTuple):
    """What a result tells of one part: its kind and name, and numbers by their metrics' places in the list."""

    part: str
    component: str
    numbers: list[tuple[int, float]]


def readers(metrics: Sequence[Metric]) -> dict[str, tuple[Group, ...]]:
    """Return how to read metrics, by the check that observes them."""
    found: dict[str, dict[tuple[str, Words, bool], list[MetricPath]]] = {}
    for number, metric in enumerate(metrics):
        words = tuple(metric.observed.split("."))
        at = words.index(STAR) if STAR in words else None
        before, rest = ((), words) if at is None else (words[:at], words[at + 1 :])
        key = (metric.part, before, at is not None)
        found.setdefault(metric.check, {}).setdefault(key, []).append(MetricPath(number, rest, *UNITS[metric.unit]))
    return {
        check: tuple(Group(*key, tuple(wanted)) for key, wanted in groups.items()) for check, groups in found.items()
    }


def read(groups: Sequence[Group], observed: Mapping[str, Any], left_out: dict[str, int]) -> Iterator[Sample]:
    """Yield the numbers of a result; count in `left_out` what was there and is not believed."""
    for group in groups:
        for name, entry in _parts(group, observed, left_out):
            numbers = [(each.number, value) for each in group.wanted
                       if (value := _believed(_value(entry, each.rest), each, left_out)) is not None]  # fmt: skip
            if numbers:
                yield Sample(group.part, name, numbers)


def _believed(value: Any, wanted: MetricPath, left_out: dict[str, int]) -> float | None:
    if type(value) is float or type(value) is int:
        if wanted.low <= value <= wanted.high:
            return value
        _count(left_out, "absurd")
    elif value is not None:
        _count(left_out, "garbage")
    return None


def believable(name: object) -> bool:
    """Whether something can be the name or the serial number of a part."""
    return isinstance(name, str) and len(name) <= LONGEST and name.isprintable()


def _parts(group: Group, observed: Mapping[str, Any], left_out: dict[str, int]) -> Iterator[tuple[str, Any]]:
    if not group.has_parts:
        yield "", observed
        return
    found = _value(observed, group.before)
    if not isinstance(found, dict) or len(found) > MOST:
        if found is not None:
            _count(left_out, "garbage")
        return
    for key, entry in found.items():
        if believable(key):
            yield component(group.part, key), entry
        else:
            _count(left_out, "garbage")


def _value(entry: Any, words: Words) -> Any:
    """Return what lies at some words below; None where there is nothing. What was stored is made of plain dicts."""
    for at, word in enumerate(words):
        if not isinstance(entry, dict):
            return None
        if word == SUM:
            return _added(entry, words[at + 1 :])
        entry = entry.get(word)
    return entry


def _added(entry: Mapping[str, Any], rest: Words) -> Any:
    """Return the sum of what lies below each; what is no number, or none to add, is returned as it is, to be counted.

    JSON has whole numbers that no float can hold: added to one, they would raise.
    """
    told = [value for each in entry.values() if (value := _value(each, rest)) is not None]
    strange = [value for value in told if not _is_added(value)]
    return strange[0] if strange else sum(told) if told else None


def _is_added(value: Any) -> bool:
    return (type(value) is float or type(value) is int) and -LARGEST <= value <= LARGEST


def _count(left_out: dict[str, int], why: str) -> None:
    left_out[why] = left_out.get(why, 0) + 1
