"""When so much is wrong at once that it is the capture or the design, and not the fabric."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from fleet_runner.core.cabling.links import Link
from fleet_runner.core.cabling.misnamed import Mismatch, Sort

SHARE = 0.005
"""The share of designed links that may be faulty at once (UFM PDR's isolation cap, with `FEWEST`)."""

FEWEST = 10
"""Faults that are never too many."""


TOUCHES_SHARE = 0.1
"""The share of designed links of which plugs may sit elsewhere, with `FEWEST_TOUCHES`: shuffled cables are few
faults, however many they are."""

FEWEST_TOUCHES = 64
"""Plugs that are never too many: a leaf's bundle that was plugged in one port too far."""

UNMAPPED_SHARE = 0.4
"""The share of designed links that names may keep from being compared, before no fault is told."""


def limit(designed: int, share: float = SHARE) -> float:
    """Return how many faults there may be in a design of so many links."""
    return max(FEWEST, share * designed)


def touches_limit(designed: int, share: float = SHARE) -> float:
    """Return how many plugs may sit elsewhere in a design of so many links; `share` is that of the faults."""
    return max(FEWEST_TOUCHES, TOUCHES_SHARE * designed, share * designed)


@dataclass(frozen=True, slots=True)
class Counts:
    """How many links and faults there are.

    `matched` counts the designed links that are there, `absent` those that certainly are not, `unknown` the seen ones
    that the design does not know; of exchanged devices each is a fault. `touches` are what it takes to put single
    cables right, those of a device outside the design not counted.
    """

    designed: int
    matched: int
    absent: int
    unknown: int
    faults: int
    touches: int = 0


def doubt_of_all(it: Counts, share: float = SHARE) -> str:
    """Return why no fault should be believed, in a sentence; "" if they may be."""
    if it.unknown > it.matched:
        return (
            f"{it.unknown} observed links are not in the design, {it.matched} are; expected most of them: the"
            " capture is another fabric's, or the design is."
        )
    if it.absent > max(FEWEST, it.matched):
        return (
            f"{it.absent} of {it.designed} designed links are not in place, {it.matched} are; expected most of them:"
            " the capture is incomplete, or the design is not what was built."
        )
    if it.faults > limit(it.designed, share):
        return (
            f"{it.faults} faults at once in {it.designed} designed links, expected {limit(it.designed, share):.0f} at"
            " most: the capture is incomplete, or the design is not what was built."
        )
    if it.touches > touches_limit(it.designed, share):
        return (
            f"{it.touches} plugs to move in {it.designed} designed links, expected"
            f" {touches_limit(it.designed, share):.0f} at most: the capture is incomplete, or the design is not what"
            " was built."
        )
    return ""


def hardly_named(differing: int, touched: int) -> bool:
    """Whether names keep so many designed links from being compared that the others say nothing.

    `touched` are those that end at a device that is seen.
    """
    return differing > UNMAPPED_SHARE * touched


def misnamed_words(matched: int, touched: int, differing: Sequence[Mismatch]) -> str:
    """Return why no fault is told where names differ: the commonest sort, with an example, and what to do."""
    sorts = Counter(each.sort for each in differing)
    sort = max(sorts, key=lambda one: sorts[one])
    first = next(each for each in differing if each.sort is sort)
    capture = f", the capture {first.seen!r}" if first.seen else ""
    another = "; or it is another fabric's" if sort is Sort.DEVICES else ""
    return (
        f"{matched:,} of {touched:,} designed links could be matched; the likely reason is the names of {sort}: the"
        f" design says {first.written!r}{capture}{another}. So no fault is reported; fleet-runner cabling names,"
        " with the same --expected and --observed, proposes names to give to --names."
    )


def hardly_mapped(unmapped: int, designed: int) -> bool:
    """Whether so few designed links can be compared that those that can say nothing of the others."""
    return unmapped > UNMAPPED_SHARE * designed


def unmapped_words(unmapped: Sequence[Link], designed: int) -> str:
    """Return why no fault is told where so few can be compared."""
    first = next(iter(unmapped))
    return (
        f"{len(unmapped)} of {designed} designed links cannot be compared: it is not known which ports of the"
        f" fabric are theirs, the first {first.a} to {first.b}. So no fault is reported; declare them with --names."
    )
