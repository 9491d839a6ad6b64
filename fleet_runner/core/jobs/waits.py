"""Ranks that waited in vain in a collective: who held them up, and where their programs went different ways."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from fleet_runner.core.checks.pasted.collectives import UNEVEN, WHOLE

WATCHDOG = re.compile(
    r"\[Rank (?P<rank>\d{1,6})\] Watchdog caught collective operation timeout: "
    r"WorkNCCL\(SeqNum=(?P<number>\d{1,18}), OpType=(?P<operation>\w{1,40})"
    r"(?:, NumelIn=(?P<given>\d{1,18}), NumelOut=(?P<taken>\d{1,18}))?[^\n]{0,200}?"
    r"ran for (?P<waited>\d{1,15}) milliseconds",
    re.ASCII,
)
GROUP = re.compile(
    r"\[PG (?:ID )?(?P<group>\d{1,9})[^\n\]]{0,60} Rank (?P<rank>\d{1,6})\] Exception [^\n]{0,80}"
    r"at work: (?P<number>\d{1,18})",
    re.ASCII,
)
"""The line after it, which names the process group."""


class Wait(NamedTuple):
    """A rank that waited in vain: since when (epoch seconds, None where nobody tells), in which collective.

    `size` is how many elements it gave and took, `group` its process group; "" where they are not told.
    """

    rank: int
    number: int
    operation: str
    since: float | None
    size: str = ""
    group: str = ""


def behind(waits: Mapping[int, Wait]) -> Iterator[tuple[int, str]]:
    """Yield ranks that others waited for, each with a sentence: in an earlier collective, or in none at all.

    Each process group counts for itself. Who is missing is known only of one that all ranks are in.
    """
    groups: dict[str, dict[int, Wait]] = defaultdict(dict)
    for rank, each in waits.items():
        groups[each.group][rank] = each
    for group, mine in groups.items():
        times = Counter(each.number for each in mine.values())
        most = max(times, key=lambda number: (times[number], number))
        operation = next(each.operation for each in mine.values() if each.number == most)
        late = [each for each in mine.values() if each.number < most]
        for each in late:
            yield each.rank, f"it was in {each.operation} {each.number}, the others in {operation} {most}"
        silent = set(range(max(mine))) - set(waits) if group in WHOLE else set[int]()
        if not late and 0 < len(silent) < len(mine):
            for rank in sorted(silent):
                yield rank, f"it never joined {operation} {most}"


def apart(waits: Iterable[Wait]) -> Iterator[tuple[int, str]]:
    """Yield numbers of collectives that ranks of one process group called differently, each with a sentence."""
    numbers: dict[tuple[int, str], list[Wait]] = defaultdict(list)
    for each in waits:
        numbers[each.number, each.group].append(each)
    for (number, _), mine in sorted(numbers.items()):
        operations, sizes = {each.operation for each in mine}, {each.size for each in mine}
        if len(operations) > 1:
            yield number, f"ranks called different collectives as number {number}: {', '.join(sorted(operations))}"
        elif len(sizes) > 1 and not operations & UNEVEN:
            yield (
                number,
                f"ranks gave different sizes to {mine[0].operation} {number}: {'; '.join(sorted(sizes))}",
            )
