"""How long it took from a fault to its detection, until the node was out of service, and until it served again."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median

from fleet_runner.core.reliability.interruptions.interruption import Interruption
from fleet_runner.core.reliability.report.stories import Exclusion, Story

DAY = 86_400.0

NINETY = 0.9


@dataclass(frozen=True, slots=True)
class Took:
    """How long something took, in seconds: the median, and what nine of ten took at most; known of how many."""

    name: str
    known: int
    all: int
    median: float | None
    ninetieth: float | None


def looked_for(found: Sequence[Interruption]) -> tuple[tuple[Interruption, float, float], ...]:
    """Return the interruptions whose fault can have been detected: of a node, and at a known time.

    With each from when to when it is looked for: it may have begun earlier than it is told, by its blur, and what is
    found a day after the job's end is another fault.
    """
    return tuple((each, _earliest(each), each.ended + DAY) for each in found if _is_placed(each))


def repair_times(
    found: Sequence[Interruption], detected: Mapping[Interruption, float | None], stories: Mapping[str, Story]
) -> tuple[Took, ...]:
    """Return the three times; `detected` is when each of `looked_for` was known first, `stories` are by node."""
    placed = [each for each in found if _is_placed(each)]
    outs = {each: _exclusion(each, stories.get(each.answer.node)) for each in placed}

    def seen(each: Interruption) -> float | None:
        return _after(each.fault_at, detected.get(each))

    def left(each: Interruption) -> float | None:
        out = outs[each]
        return None if out is None else _after(each.fault_at, out.begins)

    def back(each: Interruption) -> float | None:
        out = outs[each]
        return None if out is None else _after(out.begins, out.ends)

    taken_out = [each for each in placed if outs[each] is not None]
    return (
        _took("from fault to detection", placed, seen),
        _took("from fault to out of service", placed, left),
        _took("from out of service to production", taken_out, back),
    )


def _took(name: str, found: Sequence[Interruption], take: Callable[[Interruption], float | None]) -> Took:
    rows = sorted(seconds for each in found if (seconds := take(each)) is not None)
    if not rows:
        return Took(name, 0, len(found), None, None)
    return Took(name, len(rows), len(found), median(rows), rows[ceil(NINETY * len(rows)) - 1])


def _after(begins: float | None, ends: float | None) -> float | None:
    """Return how long it took; what is timed more roughly than it was quick took no time."""
    return None if begins is None or ends is None else max(0.0, ends - begins)


def _exclusion(each: Interruption, story: Story | None) -> Exclusion | None:
    """Return how the node left production for it: from the fault on, or until a day after the job's end."""
    outs = () if story is None else story.exclusions
    mine = (out for out in outs if _earliest(each) <= out.begins < each.ended + DAY)
    return next(mine, None)


def _is_placed(each: Interruption) -> bool:
    return each.is_infrastructure and bool(each.answer.node) and each.fault_at is not None


def _earliest(each: Interruption) -> float:
    return (each.answer.fault_at or 0.0) - each.answer.blur
