"""Interruptions counted: by whose doing it was, and by component, beside a published table."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from fleet_runner.core.jobs.event import Area
from fleet_runner.core.reliability.interruptions.families import LLAMA_3, Family
from fleet_runner.core.reliability.interruptions.interruption import Interruption

WHOLE = sum(each.interruptions for each in LLAMA_3)


@dataclass(frozen=True, slots=True)
class Cause:
    """A component: how many interruptions here and in Llama 3's table, and which share; None where it has no row.

    `family` is None for rows of the published table that are not told apart here.
    """

    name: str
    family: Family | None
    interruptions: int
    share: float
    published: int | None
    published_share: float | None


def areas(found: Sequence[Interruption]) -> tuple[tuple[Area, int], ...]:
    """Return how many interruptions each area had, in the order of areas; all of them."""
    counts = Counter(each.answer.area for each in found)
    return tuple((area, counts[area]) for area in Area)


def causes(found: Sequence[Interruption]) -> tuple[Cause, ...]:
    """Return every component of which there is an interruption here or there, what interrupts most here first."""
    counts = Counter(each.family for each in found)
    rows = [_cause(each, counts[each], len(found)) for each in Family]
    rows += [
        Cause(each.component, None, 0, 0.0, each.interruptions, each.interruptions / WHOLE)
        for each in LLAMA_3
        if each.family is None
    ]
    told = (each for each in rows if each.interruptions or each.published)
    return tuple(sorted(told, key=lambda row: (-row.interruptions, -(row.published or 0), row.name)))


def _cause(mine: Family, count: int, whole: int) -> Cause:
    rows = [each.interruptions for each in LLAMA_3 if each.family is mine]
    published = sum(rows) if rows else None
    share = None if published is None else published / WHOLE
    return Cause(mine.value, mine, count, count / whole if whole else 0.0, published, share)
