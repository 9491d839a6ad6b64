"""When so much is wrong at once that it is the capture or the design, and not the fabric."""

SHARE = 0.005
"""The share of designed links that may be faulty at once (UFM PDR's isolation cap, with `FEWEST`)."""

FEWEST = 10
"""Faults that are never too many."""


def limit(designed: int, share: float = SHARE) -> float:
    """Return how many faults there may be in a design of so many links."""
    return max(FEWEST, share * designed)


def doubt_of_all(*, faults: int, matched: int, designed: int, unknown: int, share: float = SHARE) -> str:
    """Return why no fault should be believed, in a sentence; "" if they may be.

    `matched` counts the designed links that are there, `unknown` the seen ones that the design does not know.
    """
    if unknown > matched:
        return (
            f"{unknown} links that are seen are not in the design, {matched} are; expected most of them: this is"
            " another fabric's capture, or another's design."
        )
    if faults > limit(designed, share):
        return (
            f"{faults} faults at once in {designed} designed links, expected {limit(designed, share):.0f} at most:"
            " the capture is not whole, or the design is not what was built."
        )
    return ""
