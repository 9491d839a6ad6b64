"""One cause is told once: what changes in several metrics of one part, or of one node, at the same time.

A GPU that cools badly is warmer, and nearer to its limit. The metric that stands for all is the one that did until
now, or else the first in the list of metrics, so that it is the same each night; its sentence names the others.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date

from fleet_runner.core.reliability.forecasts import Foresight, Kind
from fleet_runner.core.reliability.trends.alike import SAME_TIME
from fleet_runner.core.reliability.trends.drift_words import short, with_unit
from fleet_runner.core.reliability.trends.metrics import Metric


def once(
    found: Sequence[Foresight], metrics: Mapping[str, Metric], stood: Iterable[Foresight] = ()
) -> tuple[Foresight, ...]:
    """Return what was found, without what another one stands for; `metrics` are by name, in their order.

    A level and a drift may have one cause, for their beginnings look alike; scatter is another thing.
    """
    before = frozenset(each.key for each in stood)
    places = {name: at for at, name in enumerate(metrics)}
    of_part: dict[tuple[str, str, str, bool], list[Foresight]] = defaultdict(list)
    for each in sorted(found, key=lambda each: (each.key not in before, places[each.metric], each.key)):
        of_part[each.node, each.component, each.serial, each.kind is Kind.SPREAD].append(each)
    return tuple(each for mine in of_part.values() for each in _once(mine, metrics))


def _once(mine: Sequence[Foresight], metrics: Mapping[str, Metric]) -> list[Foresight]:
    """Return the first of each time, with the sentences of the others of that time behind its own."""
    firsts: list[tuple[Foresight, list[Foresight]]] = []
    for each in mine:
        others = next((others for first, others in firsts if _related(first, each, metrics)), None)
        if others is None:
            firsts.append((each, []))
        else:
            others.append(each)
    return [_with(first, others, metrics) for first, others in firsts]


def _related(one: Foresight, other: Foresight, metrics: Mapping[str, Metric]) -> bool:
    """Whether both are of the same kind of part, and began together, as far as the one in longer steps can say."""
    since, then = (date.fromisoformat(each.numbers["since_day"]) for each in (one, other))
    near = SAME_TIME * max(one.numbers["step_days"], other.numbers["step_days"])
    return metrics[one.metric].part == metrics[other.metric].part and abs((since - then).days) <= near


def _with(first: Foresight, others: Sequence[Foresight], metrics: Mapping[str, Metric]) -> Foresight:
    """Name the others in the sentence of the first."""
    if not others:
        return first
    names = "; ".join(_named(each, metrics[each.metric]) for each in others)
    numbers = dict(first.numbers) | {"also": [each.metric for each in others]}
    return replace(first, sentence=f"{first.sentence}; at the same time {names}", numbers=numbers)


def _named(each: Foresight, metric: Metric) -> str:
    """Say what another metric did."""
    before, now = short(each.numbers["before"]), with_unit(short(each.numbers["now"]), metric)
    did = f"scatters by {now} instead of {before}" if each.kind is Kind.SPREAD else f"went from {before} to {now}"
    return f"{metric.name} ({metric.meaning}) {did}"
