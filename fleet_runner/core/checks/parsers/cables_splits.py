"""Split cables in a table: one plug at one end and several at the other, in one row or in several.

A row may name a third end and more ("Device C", "Host 2"). In several rows the same port is told again, and each says
that its cable is split ("1x2", "4x100G", "breakout", "Y-cable"); a port that is used twice in others is an error.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain

from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.cabling.links import Port
from fleet_runner.core.checks.parsers import cables_titles
from fleet_runner.core.checks.parsers.cables_ranges import Filled, spread, told_split
from fleet_runner.core.checks.parsers.cables_sheet import Row
from fleet_runner.core.checks.parsers.cables_titles import plain

_NUMBER = re.compile(r"[0-9]+")

_Pair = tuple[int, int]
"""The columns of a device and its port."""


def apart(
    rows: Sequence[Filled], ends: Sequence[int], titles: Sequence[str], name: str
) -> tuple[list[Filled], dict[int, str]]:
    """Return rows with one cable each, and of those that are of one split cable which it is, by their place."""
    said = frozenset(number for number, row in rows if told_split(row, ends, titles))
    bare = [plain(title) for title in titles]
    pairs = {split: _stem_first(bare, ends, split=split) for split in (False, True)} if titles else {}
    cables: list[Filled] = []
    several: dict[int, list[_Pair]] = {}
    for number, row in rows:
        found = pairs.get(number in said, [])
        filled = found if len(found) <= _TWO else _filled(row, found, f"{name}:{number}")
        if len(filled) > _TWO:
            several[number] = filled
            _refuse_unsure([row[device] for device, _ in filled], f"{name}:{number}")
        moved = len(filled) == _TWO and {*chain(*filled)} != {*ends}
        cables.append((number, _joined(row, ends, filled, found) if moved else row))
    told, split = spread(cables, ends, name, said, {number: [*chain(*filled)] for number, filled in several.items()})
    whole: list[Filled] = []
    splits: dict[int, str] = {}
    for at, (number, row) in enumerate(told):
        stem, *branches = several.get(number, [(ends[0], ends[1]), (ends[2], ends[3])])
        if at in split or number in several:
            splits |= {len(whole) + place: f"{name}:{number}" for place in range(len(branches))}
        whole += [
            (number, _joined(row, ends, (stem, branch), ()) if number in several else row) for branch in branches
        ]
    return whole, splits


_TWO = 2
"""Ends of a cable that is not split."""


def _stem_first(titles: Sequence[str], ends: Sequence[int], *, split: bool) -> list[_Pair]:
    """Return all ends in the order of their columns, first the one that the others join.

    Of a series that is the one whose title has no mark ("Switch" beside "Host 1" and "Host 2"), else its first.
    """
    both = [(ends[0], ends[1]), (ends[2], ends[3])]
    series = [*both, *cables_titles.others(titles, ends, split=False)]
    stems = [pair for pair in series if not cables_titles.marked(titles[pair[0]])]
    pairs = sorted([*both, *cables_titles.others(titles, ends, split=split)])
    stem = stems[0] if len(stems) == 1 else min(series)
    return [stem, *(pair for pair in pairs if pair != stem)]


def _filled(row: Sequence[str], pairs: Sequence[_Pair], where: str) -> list[_Pair]:
    """Return the ends that a row has, of three and more; SourceError for one that is not whole."""
    cells = {pair: [row[at] for at in pair if at < len(row) and row[at]] for pair in pairs}
    found = [pair for pair in pairs if cells[pair]]
    if len(found) < _TWO or found[0] != pairs[0] or any(len(cells[pair]) < len(pair) for pair in found):
        raise SourceError(
            f"{where}: found {','.join(row)!r:.160}, expected a device and a port at each end of a cable, and the"
            " shared port first; write a row for each cable"
        )
    return found


def _refuse_unsure(devices: Iterable[str], where: str) -> None:
    """SourceError where the first device is like some of the others by its name, and not like all of them."""
    found = [*devices]
    first, *others = (_NUMBER.sub("0", device) for device in found)
    if first in others and len(set(others)) > 1:
        raise SourceError(
            f"{where}: found {', '.join(found)!r:.160} at the ends of one cable, expected first the device whose port"
            " the others share; write it first, or a row for each cable"
        )


def _joined(row: Sequence[str], ends: Sequence[int], pair: Sequence[_Pair], cleared: Iterable[_Pair]) -> list[str]:
    """Return a row with the cells of two ends where those of a cable are read, and nothing in those `cleared`."""
    cable = ["" if any(at in each for each in cleared) else cell for at, cell in enumerate(row)]
    cable += [""] * (max(ends) + 1 - len(cable))
    for column, source in zip(ends, chain(*pair), strict=True):
        cable[column] = row[source]
    return cable


def marked(
    rows: Sequence[Row], cells: Iterable[Filled], ends: Sequence[int], titles: Sequence[str], splits: dict[int, str]
) -> list[Row]:
    """Return the cables, those of one split cable with what they share."""
    found = [row._replace(breakout=splits[at]) if at in splits else row for at, row in enumerate(rows)]
    told = [at for at, (_, row) in enumerate(cells) if told_split(row, ends, titles)]
    by_port: dict[Port, list[int]] = defaultdict(list)
    for at in told:
        for port in rows[at].link:
            by_port[port].append(at)
    for port, places in by_port.items():
        if len({rows[at].link for at in places}) > 1:
            for at in places:
                found[at] = found[at]._replace(breakout=f"{port}")
    return found
