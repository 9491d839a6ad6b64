"""Split cables in a table: one plug at one end and several at the other, in one row or in several.

A row may name a third end and more ("Device C", "Host 2"). In several rows the same port is told again, and each says
that its cable is split ("1x2", "4x100G", "breakout", "Y-cable"); a port that is used twice in others is an error.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.cabling.links import Port
from fleet_runner.core.checks.parsers import cables_titles
from fleet_runner.core.checks.parsers.cables_ranges import Filled, spread, told_split
from fleet_runner.core.checks.parsers.cables_sheet import Row
from fleet_runner.core.checks.parsers.cables_titles import plain


def apart(
    rows: Sequence[Filled], ends: Sequence[int], titles: Sequence[str], name: str
) -> tuple[list[Filled], dict[int, str]]:
    """Return rows with one cable each, and of those that are of one split cable which it is, by their place."""
    others = cables_titles.others([plain(title) for title in titles], ends)
    whole: list[Filled] = []
    splits: dict[int, str] = {}
    told, split = spread(rows, ends, name)
    if not others:
        return told, split
    for at, (number, row) in enumerate(told):
        far = [pair for pair in others if any(column < len(row) and row[column] for column in pair)]
        if not far:
            if at in split:
                splits[len(whole)] = split[at]
            whole.append((number, row))
            continue
        stem, *branches = _stem(titles, ends, far)
        if at in split or any(column >= len(row) or not row[column] for pair in far for column in pair):
            raise SourceError(
                f"{name}:{number}: found a third end of a cable that is not whole, expected a device and a port at"
                " each end; write a row for each cable"
            )
        for branch in branches:
            cable = [*row]
            for column, source in zip(ends, (*stem, *branch), strict=True):
                cable[column] = row[source]
            splits[len(whole)] = f"{name}:{number}"
            whole.append((number, cable))
    return whole, splits


_Pair = tuple[int, int]


def _stem(titles: Sequence[str], ends: Sequence[int], far: Iterable[_Pair]) -> list[_Pair]:
    """Return all ends in the order of their columns, first the one that the others join: its title has no number."""
    pairs = sorted([(ends[0], ends[1]), (ends[2], ends[3]), *far])
    bare = [pair for pair in pairs if not re.search(r"[0-9)]$", titles[pair[0]].strip())]
    first = bare[0] if len(bare) == 1 else pairs[0]
    return [first, *(pair for pair in pairs if pair != first)]


def marked(rows: Sequence[Row], cells: Iterable[Filled], ends: Sequence[int], splits: dict[int, str]) -> list[Row]:
    """Return the cables, those of one split cable with what they share."""
    found = [row._replace(breakout=splits[at]) if at in splits else row for at, row in enumerate(rows)]
    told = [at for at, (_, row) in enumerate(cells) if told_split(row, ends)]
    by_port: dict[Port, list[int]] = defaultdict(list)
    for at in told:
        for port in rows[at].link:
            by_port[port].append(at)
    for port, places in by_port.items():
        if len({rows[at].link for at in places}) > 1:
            for at in places:
                found[at] = found[at]._replace(breakout=f"{port}")
    return found
