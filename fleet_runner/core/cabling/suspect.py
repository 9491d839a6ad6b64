"""When so much is wrong at once that it is the capture or the design, and not the fabric."""

from collections.abc import Sequence
from dataclasses import dataclass

from fleet_runner.core.cabling.links import Link

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
"""The share of designed links that may be at ports of which nobody knows the number, before no fault is told."""


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
            f"{it.unknown} links that are seen are not in the design, {it.matched} are; expected most of them: the"
            " capture is another fabric's, or the design is."
        )
    if it.absent > max(FEWEST, it.matched):
        return (
            f"{it.absent} of {it.designed} designed links are not in place, {it.matched} are; expected most of them:"
            " the capture is not whole, or the design is not what was built."
        )
    if it.faults > limit(it.designed, share):
        return (
            f"{it.faults} faults at once in {it.designed} designed links, expected {limit(it.designed, share):.0f} at"
            " most: the capture is not whole, or the design is not what was built."
        )
    if it.touches > touches_limit(it.designed, share):
        return (
            f"{it.touches} plugs to move in {it.designed} designed links, expected"
            f" {touches_limit(it.designed, share):.0f} at most: the capture is not whole, or the design is not what"
            " was built."
        )
    return ""


def hardly_mapped(unmapped: int, designed: int) -> bool:
    """Whether so few designed links can be compared that those that can say nothing of the others."""
    return unmapped > UNMAPPED_SHARE * designed


def unmapped_words(unmapped: Sequence[Link], designed: int) -> str:
    """Return why no fault is told where so few can be compared."""
    first = next(iter(unmapped))
    return (
        f"{len(unmapped)} of {designed} designed links cannot be compared, for nothing tells which port of the fabric"
        f" is theirs, the first {first.a} to {first.b}: so no fault is told; declare the ports with --names."
    )
