"""What a fabric's links counted, as a matrix of rails and leaves: in each cell the link with most errors an hour."""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.picture_layout import natural
from fleet_runner.core.cabling.quality import HOUR, LONG_SECONDS, LONG_SYMBOLS
from fleet_runner.core.cabling.topology.layers import MIXED, Layers

ALLOWED = LONG_SYMBOLS / LONG_SECONDS * HOUR
"""Errors an hour that a link may count, by the longer of the rules for links."""

SINGLY = 256
"""Up to so many leaves each has a cell; of more, those without an error have one together in each rail."""


class Cell(NamedTuple):
    """Links of a rail at a leaf: how many, the most errors an hour, how many counted any, how many are bad.

    `leaf` is "" and `leaves` counts where several leaves without an error share a cell. Of `unknown` links the look
    cannot tell: they may have errors.
    """

    leaf: str
    links: int
    rate: float = 0.0
    counted: int = 0
    bad: int = 0
    leaves: int = 1
    unknown: int = 0

    @property
    def level(self) -> int:
        """Return how hot it is: 0 nothing, 1 within what is allowed, 2 beyond it, 3 ten times as much."""
        if self.bad or self.rate > ALLOWED:
            return 3 if self.rate > 10 * ALLOWED else 2
        return 1 if self.counted else 0


Row = tuple[int, tuple[Cell, ...]]
"""A rail (MIXED between switches) and its cells by leaf."""


def rates(observed: Mapping[str, Any]) -> dict[Link, float] | None:
    """Return errors an hour of the links that counted any, as a look wrote them; None where it compared nothing."""
    try:
        hours = float(observed["seconds"]) / HOUR
        if not 0.0 < hours < math.inf:
            return None
        rows = [(link(Port(*ends[:2]), Port(*ends[2:])), float(count)) for *ends, count in observed["counted"]]
        return {joined: count / hours for joined, count in rows}
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def sizes(it: Layers) -> dict[tuple[int, str], int]:
    """Count the links of each rail at each leaf: it takes long in a large fabric, and is the same for each look."""
    leaves = frozenset(it.leaves)
    return dict(
        Counter((it.rail(joined), end.device) for joined in it.links for end in joined if end.device in leaves)
    )


def heat(
    it: Layers,
    links: Mapping[tuple[int, str], int],
    counted: Mapping[Link, float],
    bad: Collection[Link],
    unknown: Collection[Link],
) -> tuple[Row, ...]:
    """Return the matrix by rail, of links as `sizes` counts them; those between switches come last."""
    cells = {(rail, leaf): Cell(leaf, count) for (rail, leaf), count in links.items()}
    for joined in {*counted, *bad}:
        for key in {(it.rail(joined), end.device) for end in joined} & cells.keys():
            rate, cell = counted.get(joined, 0.0), cells[key]
            cells[key] = cell._replace(
                rate=max(cell.rate, rate), counted=cell.counted + (rate > 0), bad=cell.bad + (joined in bad)
            )
    for joined in unknown:
        for key in {(it.rail(joined), end.device) for end in joined} & cells.keys():
            cells[key] = cells[key]._replace(unknown=cells[key].unknown + (joined not in counted))
    rows: dict[int, list[Cell]] = {}
    for (rail, _), cell in sorted(cells.items(), key=lambda pair: natural(pair[0][1])):
        rows.setdefault(rail, []).append(cell)
    ordered = sorted(rows.items(), key=lambda row: (row[0] == MIXED, row[0]))
    return tuple((rail, tuple(row) if len(it.leaves) <= SINGLY else _gathered(row)) for rail, row in ordered)


def _gathered(row: Sequence[Cell]) -> tuple[Cell, ...]:
    """Put cells without an error together, behind the others, and those that may have one."""
    hot = [cell for cell in row if cell.level]
    dark = [cell for cell in row if not cell.level and cell.unknown]
    cold = [cell for cell in row if not cell.level and not cell.unknown]
    return (*hot, *(_one(group) for group in (dark, cold) if group))


def _one(cells: Sequence[Cell]) -> Cell:
    links, unknown = sum(cell.links for cell in cells), sum(cell.unknown for cell in cells)
    return Cell("", links, leaves=len(cells), unknown=unknown)
