"""Whom to blame for slow pairs: the fewest parts that explain them all."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TypeVar

Part = TypeVar("Part", int, str)

Key = frozenset[Part]
"""A pair of parts, or one that was measured by itself."""


def culprits(bad: Mapping[Key[Part], float]) -> Iterator[tuple[Key[Part], tuple[Key[Part], ...]]]:
    """Yield the parts that explain all slow pairs, the worst first, with their pairs.

    A part that is in most of what is left is taken, as often as it takes. A pair with no other to blame is both its
    parts, and a part that was measured by itself is itself.
    """
    left = set(bad)
    while left:
        counts = Counter(part for key in left for part in key)
        worst = min(counts, key=lambda part: (-counts[part], part))
        mine = tuple(sorted((key for key in left if worst in key), key=sorted))
        yield (mine[0] if len(mine) == 1 else frozenset({worst})), mine
        left -= set(mine)
