"""Ranks of a job, as a sentence names them."""

from collections.abc import Collection

SHOWN = 8
"""Ranks, or runs of neighbours, that a sentence names."""


def named(ranks: Collection[int]) -> str:
    """Return "rank 3", or "ranks 0 to 3, 7": neighbours as one."""
    spans: list[list[int]] = []
    for rank in sorted(ranks):
        if spans and rank == spans[-1][1] + 1:
            spans[-1][1] = rank
        else:
            spans.append([rank, rank])
    told = [f"{first}" if first == last else f"{first} to {last}" for first, last in spans[:SHOWN]]
    more = f" and {len(spans) - SHOWN} more" if len(spans) > SHOWN else ""
    return f"{'rank' if len(ranks) == 1 else 'ranks'} {', '.join(told)}{more}"
