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
"""Errors an hour that a link of InfiniBand may count, by the longer of the rules for links."""

RATES, UNTOLD, UNTELLING = "rates", "untold", "untelling"
"""What a look at Ethernet observes of errors: rates of links, links of which nobody told, and how many these are."""

ENDS = 4
"""Words of a link in a row: device and interface, twice."""

SINGLY = 256
"""Up to so many leaves each has a cell; of more, those without an error have one together in each rail."""


class Rate(NamedTuple):
    """Errors an hour of a link, and how many its rules allow."""

    hourly: float
    allowed: float = ALLOWED

    @property
    def times(self) -> float:
        """Return how many times as many it counted as are allowed."""
        return self.hourly / self.allowed


class Cell(NamedTuple):
    """Links of a rail at a leaf: how many, the most errors an hour, how many counted any, how many are bad.

    `leaf` is "" and `leaves` counts where several leaves without an error share a cell. Of `unknown` links the look
    cannot tell: they may have errors. `times` is the most errors as a multiple of what is allowed there.
    """

    leaf: str
    links: int
    rate: float = 0.0
    counted: int = 0
    bad: int = 0
    leaves: int = 1
    unknown: int = 0
    times: float = 0.0

    @property
    def level(self) -> int:
        """Return how hot it is: 0 nothing, 1 within what is allowed, 2 beyond it, 3 ten times as much."""
        if self.bad or self.times > 1.0:
            return 3 if self.times > 10.0 else 2  # noqa: PLR2004  as the docstring says
        return 1 if self.counted else 0


NOTHING = Rate(0.0)

Row = tuple[int, tuple[Cell, ...]]
"""A rail (MIXED between switches) and its cells by leaf."""


def rates(observed: Mapping[str, Any]) -> dict[Link, Rate] | None:
    """Return errors an hour of the links that counted any, as a look wrote them; None where it compared nothing.

    A look at InfiniBand writes what was counted in a time that is the same for all; one at Ethernet rates, since each
    switch has a time of its own, with what a link's speed allows.
    """
    try:
        if RATES in observed:
            return {
                _link(ends): Rate(float(hourly), float(allowed))
                for *ends, hourly, allowed in observed[RATES]
                if 0.0 < hourly < math.inf and 0.0 < allowed < math.inf
            }
        hours = float(observed["seconds"]) / HOUR
        if not 0.0 < hours < math.inf:
            return None
        return {_link(ends): Rate(float(count) / hours) for *ends, count in observed["counted"]}
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def untold(observed: Mapping[str, Any], links: Collection[Link]) -> frozenset[Link]:
    """Return the links of whose errors a look at Ethernet says that nobody told; all, where it did not name them."""
    rows, many = observed.get(UNTOLD), observed.get(UNTELLING)
    if not isinstance(rows, list) or not isinstance(many, int):
        return frozenset()
    if many > len(rows):
        return frozenset(links)
    return frozenset(_link(row) for row in rows if isinstance(row, list) and len(row) == ENDS)


def _link(ends: Sequence[Any]) -> Link:
    return link(Port(*ends[:2]), Port(*ends[2:]))


def sizes(it: Layers) -> dict[tuple[int, str], int]:
    """Count the links of each rail at each leaf: it takes long in a large fabric, and is the same for each look."""
    leaves = frozenset(it.leaves)
    return dict(
        Counter((it.rail(joined), end.device) for joined in it.links for end in joined if end.device in leaves)
    )


def heat(
    it: Layers,
    links: Mapping[tuple[int, str], int],
    counted: Mapping[Link, Rate],
    bad: Collection[Link],
    unknown: Collection[Link],
) -> tuple[Row, ...]:
    """Return the matrix by rail, of links as `sizes` counts them; those between switches come last."""
    cells = {(rail, leaf): Cell(leaf, count) for (rail, leaf), count in links.items()}
    for joined in {*counted, *bad}:
        for key in {(it.rail(joined), end.device) for end in joined} & cells.keys():
            rate, cell = counted.get(joined, NOTHING), cells[key]
            cells[key] = cell._replace(
                rate=max(cell.rate, rate.hourly),
                counted=cell.counted + (rate.hourly > 0),
                bad=cell.bad + (joined in bad),
                times=max(cell.times, rate.times),
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
