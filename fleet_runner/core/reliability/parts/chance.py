"""How likely chance alone is, and which of many suspicions are told when each may be chance."""

import math
from collections.abc import Sequence

FALSE = 0.1
"""Of those that are told, at most this share is chance, on average over nights."""


def at_least(number: int, expected: float) -> float:
    """Return how likely a Poisson count with a mean is `number` or more; exact in the far tail, too."""
    if number <= 0:
        return 1.0
    if expected <= 0:
        return 0.0
    if number <= expected:  # then the tail is long, and the head short
        terms = (math.exp(each * math.log(expected) - expected - math.lgamma(each + 1)) for each in range(number))
        return max(0.0, 1.0 - math.fsum(terms))
    term = math.exp(number * math.log(expected) - expected - math.lgamma(number + 1))
    whole, at = 0.0, number
    while term > whole * 1e-15:
        whole += term
        at += 1
        term *= expected / at
    return min(1.0, whole)


def told(chances: Sequence[float], share: float = FALSE) -> tuple[bool, ...]:
    """Return which of some suspicions stand: Benjamini and Hochberg's procedure (J. R. Stat. Soc. B 57, 1995)."""
    order = sorted(chances)
    mark = max((each for at, each in enumerate(order, start=1) if each <= share * at / len(order)), default=-1.0)
    return tuple(each <= mark for each in chances)
