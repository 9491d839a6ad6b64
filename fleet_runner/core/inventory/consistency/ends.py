"""What a cable with several terminations at an end connects."""

from collections.abc import Sequence
from itertools import product
from typing import TypeVar

T = TypeVar("T")


def paired(a: Sequence[T], b: Sequence[T]) -> list[tuple[T, T]]:
    """Return the pairs that a cable connects: end by end, or one to each of several (a breakout); else none."""
    if len(a) == len(b):
        return list(zip(a, b, strict=True))
    return list(product(a, b)) if len(a) == 1 or len(b) == 1 else []
