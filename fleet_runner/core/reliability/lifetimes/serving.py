"""How much nodes serve: availability, time from one exclusion to the next, time out, and what it cost by cause."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fleet_runner.core.base.plural import counted
from fleet_runner.core.lifecycle.states import Event
from fleet_runner.core.reliability.lifetimes import rates, survival
from fleet_runner.core.reliability.lifetimes.cohorts import within
from fleet_runner.core.reliability.lifetimes.rates import Between, Rate
from fleet_runner.core.reliability.lifetimes.saying import DAY, ENOUGH, amount, days, percent, too_short
from fleet_runner.core.reliability.report.figures import Found, cause
from fleet_runner.core.reliability.report.rows import Span
from fleet_runner.core.reliability.report.stories import Exclusion, Story, out, production

HOUR = 3600.0

PLANNED = frozenset({Event.FIRMWARE_NEEDED, Event.WIPE, Event.RETIRE})
"""Ways out of production that wait until a node is idle: they cost time, but interrupt nobody's work."""

MOST_CAUSES = 40

EARLY = 30 * DAY
"""Seconds of service that are called the first."""


@dataclass(frozen=True, slots=True)
class Away:
    """An exclusion as far as it lies in the span: its node, cause, seconds, whether it ended, and was not planned."""

    node: str
    cause: str
    seconds: float
    ended: bool
    begun: bool
    planned: bool


def aways(found: Found, span: Span, now: float) -> list[Away]:
    """Return the exclusions of a span; `begun` and `ended` are told of those that did so in it."""
    return [
        Away(
            each.step.node, cause(found, each), out(each, span, now), each.ends is not None and span.holds(each.ends),
            span.holds(each.begins), each.step.event in PLANNED,
        )
        for story in found.stories for each in story.exclusions
        if span.holds(each.begins) or out(each, span, now)
    ]  # fmt: skip


def service(found: Found, span: Span, gpus: Mapping[str, int], now: float) -> dict[str, Any]:
    """Tell how much nodes served in a span; `gpus` is how many each has."""
    served = {story.node: production(story, span, now) for story in found.stories}
    gone = aways(found, span, now)
    lost: dict[str, float] = dict.fromkeys(served, 0.0)
    for each in gone:
        lost[each.node] += each.seconds
    nodes = [node for node in served if served[node] or lost[node]]
    whole = [served[node] + lost[node] for node in nodes]
    up = rates.share([served[node] for node in nodes], whole)
    often = often_out([each for each in gone if each.begun], served)
    back = rates.per_end([each.seconds / HOUR for each in gone], [each.ended for each in gone])
    lasts = survival.sample((0.0, each.seconds / HOUR, each.ended) for each in gone if each.begun)
    drawn = survival.curve(lasts)
    return {
        "nodes": len(nodes),
        "gpus": sum(gpus.get(node, 0) for node in nodes),
        "production_days": sum(served.values()) / DAY,
        "out_days": sum(lost.values()) / DAY,
        "exclusions": sum(each.begun for each in gone),
        **spread("availability", up),
        **spread("mtbf_days", often.between if often and often.events and often.time >= ENOUGH else None),
        **spread("mttr_hours", back),
        **spread("median_hours", None if drawn is None else drawn.half()),
        "lost_gpu_hours": sum(each.seconds / HOUR * gpus.get(each.node, 0) for each in gone),
        "sentence": _sentence(len(nodes), up, often, back),
        "causes": _causes(gone, gpus, sum(lost.values())),
    }


def often_out(gone: Iterable[Away], served: Mapping[str, float]) -> Rate | None:
    """Return how often nodes are taken out, in a day of production."""
    counts: dict[str, int] = dict.fromkeys(served, 0)
    for each in gone:
        counts[each.node] += 1
    watched = [node for node in served if served[node]]
    return rates.rate([counts[node] for node in watched], [served[node] / DAY for node in watched])


def interruptions(found: Found, span: Span, now: float) -> dict[str, Any]:
    """Tell how often a node drops out of production unasked: what `jobs.expect` works with."""
    served = {story.node: production(story, span, now) for story in found.stories}
    often = often_out([each for each in aways(found, span, now) if each.begun and not each.planned], served)
    if often is None:
        return {"interruptions": 0, "node_days": 0.0, **spread("rate_per_node_day", None), "dispersion": None,
                "sentence": "Not enough data on interruptions: no node was in production."}  # fmt: skip
    if often.time < ENOUGH:
        few = f"No rate of interruptions is given: {too_short(often.time)}."
        return {"interruptions": often.events, "node_days": often.time, **spread("rate_per_node_day", None),
                "dispersion": None, "sentence": few}  # fmt: skip
    between = often.between
    if often.events:
        said = f"A node drops out of production unasked about every {days(between.value)} ({within(between, days)})."
    else:
        said = f"No node dropped out of production unasked in {amount(often.time)} node days."
        said += f" There is less than one such exclusion in {days(between.low or 0.0)} of a node (95 % sure)."
    return {
        "interruptions": often.events, "node_days": often.time, **spread("rate_per_node_day", often.each),
        "dispersion": often.dispersion, "sentence": said,
    }  # fmt: skip


def early(stories: Sequence[Story], span: Span, now: float) -> dict[str, Any]:
    """Hold the first days of production after a bring-up against all later ones: is there infant mortality left?"""
    young, old = (_aged(stories, span, now, first=first) for first in (True, False))
    keys = {"days": EARLY / DAY}
    if young is None or old is None:
        said = "Not enough data on the first days of production: no node came up, or none has served for longer."
        empty = ("early_interruptions", "early_node_days", "later_interruptions", "later_node_days")
        return keys | dict.fromkeys(empty) | spread("ratio", None) | {"sentence": said}
    counts = {"early_interruptions": young.events, "early_node_days": young.time, "later_interruptions": old.events,
              "later_node_days": old.time}  # fmt: skip
    more = rates.ratio(young, old)
    first = f"the first {EARLY / DAY:g} d of production"
    if more is None:
        said = f"Not enough data on {first}: {counted(young.events, 'exclusion')} then, and {old.events} later."
    else:
        said = f"In {first} nodes drop out {amount(more.value)} times as often as later ({within(more, amount)})."
    return keys | counts | spread("ratio", more) | {"sentence": said}


def _aged(stories: Sequence[Story], span: Span, now: float, *, first: bool) -> Rate | None:
    """Return how often nodes drop out early, or later, after their bring-up; those without one tell neither."""
    counts, watched = list[int](), list[float]()
    for story in stories:
        if not story.bring_ups:
            continue
        turn = story.bring_ups[0].at + EARLY
        mine = Span(max(span.since, story.bring_ups[0].at), min(span.until, turn))
        mine = mine if first else Span(max(span.since, turn), span.until)
        if mine.seconds > 0 and (seconds := production(story, mine, now)):
            counts.append(sum(mine.holds(each.begins) and _unasked(each) for each in story.exclusions))
            watched.append(seconds / DAY)
    return rates.rate(counts, watched)


def _unasked(each: Exclusion) -> bool:
    return each.step.event not in PLANNED


def _sentence(nodes: int, up: Between | None, often: Rate | None, back: Between | None) -> str:
    if up is None or often is None:
        return "Not enough data on service: no node was in production."
    said = f"{counted(nodes, 'node was', 'nodes were')} in production for {percent(up.value)} of the time"
    said += f" ({within(up, percent)})" if up.low is not None else ""
    if not often.events:
        return f"{said}; none was taken out."
    if often.time < ENOUGH:
        return f"{said}; how often one is out is not given: {too_short(often.time)}."
    said += f"; each was out about every {days(often.between.value)} ({within(often.between, days)})"
    if back is None:
        return f"{said}; not enough came back to say how long for."
    return f"{said}, for {amount(back.value)} h on average ({within(back, amount)} h)."


def _causes(gone: Iterable[Away], gpus: Mapping[str, int], whole: float) -> list[dict[str, Any]]:
    """Tell what each cause took, the greatest first."""
    by_cause: dict[str, list[Away]] = defaultdict(list)
    for each in gone:
        by_cause[each.cause].append(each)
    rows = [_cause(why, mine, gpus, whole) for why, mine in by_cause.items()]
    return sorted(rows, key=lambda row: (-row["gpu_hours"], -row["node_hours"], row["cause"]))[:MOST_CAUSES]


def _cause(why: str, mine: Sequence[Away], gpus: Mapping[str, int], whole: float) -> dict[str, Any]:
    hours = [each.seconds / HOUR for each in mine]
    gpu_hours = sum(each.seconds / HOUR * gpus.get(each.node, 0) for each in mine)
    back = rates.per_end(hours, [each.ended for each in mine])
    nodes = len({each.node for each in mine})
    part = sum(hours) * HOUR / whole if whole else 0.0
    said = (
        f"{why}: {counted(len(mine), 'time', 'times')} on {counted(nodes, 'node', 'nodes')}, {amount(gpu_hours)} GPU"
    )
    said += f" hours, {percent(part)} of all node time lost"
    said += (
        f"; {amount(back.value)} h each ({within(back, amount)} h)." if back else "; too few to say how long each."
    )
    return {
        "cause": why, "exclusions": len(mine), "nodes": nodes, "node_hours": float(np.sum(hours)),
        "gpu_hours": gpu_hours, "share": part, **spread("mttr_hours", back), "sentence": said,
    }  # fmt: skip


def spread(name: str, between: Between | None) -> dict[str, float | None]:
    """Return a number and its interval as three numbers of JSON."""
    ends = (None, None, None) if between is None else (between.value, between.low, between.high)
    return dict(zip((name, f"{name}_low", f"{name}_high"), ends, strict=True))
