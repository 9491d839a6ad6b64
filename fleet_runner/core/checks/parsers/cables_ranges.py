"""Rows that tell several cables at once: ranges and lists of ports ("swp1-4", "1..4", "1, 2") and of devices.

"node-01..04", "node-[01-04]", "swp1-swp4" and "1 to 4" are ranges wherever they stand. "1-4" is one only as a port,
and only where no other port of the table shows that a dash stands between a cage and its half ("1-1", "2-1").
A row is spread out where both ends tell as many; any other is refused, for nobody could say which is joined to which.
"""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

from fleet_runner.core.base.errors import SourceError

MOST = 1024
"""Cables that a row may tell."""

LANES = frozenset({2, 4, 8})
"""Far ends that a cable with one plug at its other end may have."""

_CAGE_LANES = 4
"""Lanes that a cage has at most: in "1-6" no half of a cage is meant."""

_DIGITS = re.compile(r"[0-9]+")
_MARKS = (*",;\n[{\u2026\u2013\u2014", "..", " & ", " and ", " to ", " thru ", " through ", " bis ")
_AFTER = re.compile(r"[0-9] ?-")


def _hints(text: str) -> bool:
    """Whether a text may hold a range or a list: next to no other is looked at closely."""
    return any(mark in text for mark in _MARKS) or _AFTER.search(text) is not None


_LIST = re.compile(r"\s*(?:[,;\n]|\s&\s|\sand\s)\s*")
_BRACKETS = re.compile(r"([^\[\]{}]*)[\[{]([0-9][0-9.,\s-]*)[\]}]([^\[\]{}]*)", re.ASCII)
_DOTS = re.compile(
    r"(.*?)([0-9]{1,6})\s*(?:\.\.\.?|\u2026|\s(?:to|thru|through|bis)\s)\s*(.*?)([0-9]{1,6})", re.DOTALL
)
_TWICE = re.compile(r"(.*?[A-Za-z].*?)([0-9]{1,6})\s*[\u2013\u2014-]\s*(\1)([0-9]{1,6})", re.ASCII | re.DOTALL)
_DASH = re.compile(
    r"((?:(?!.*[0-9]-[0-9]+-[0-9]).*[^0-9])?)([0-9]{1,6})\s*[\u2013\u2014-]\s*([0-9]{1,6})", re.ASCII | re.DOTALL
)
_SLASHES = re.compile(
    r"(.*?(?:[0-9]{1,4}/){1,3})([0-9]{1,6})\s*[\u2013\u2014-]\s*((?:[0-9]{1,4}/){1,3})([0-9]{1,6})",
    re.ASCII | re.DOTALL,
)
_PART = re.compile(r"\s*([0-9]{1,6})(?:\s*(?:-|\.\.)\s*([0-9]{1,6}))?\s*", re.ASCII)
_MORE = re.compile(r"[0-9]+(?:(?:-|\.\.)[0-9]+)?", re.ASCII)
_HEAD = re.compile(r"(.*?)[0-9]+", re.ASCII | re.DOTALL)
_SPLIT = re.compile(
    r"1 ?(?:x|->|to|-to-) ?[248]|[248] ?x ?[1-9][0-9]{1,2} ?(?:g|gb|gbe|gbps)?"
    r"|.*\b(?:break-?out|splitter|split|y[ -]?cable|octopus|fan-?out)\b.*|.*\b(?:1x[248]|1to[248])\b.*",
    re.ASCII | re.DOTALL,
)
"""What a cell says of a cable that is split."""
_RATIO = re.compile(r"^1 ?[:/-] ?[248]$|\b1:[248]\b", re.ASCII)
_OF_CABLES = re.compile(r"typ|tipo|类型|cable|kabel|break|split|(?<!p)lane")
"""Columns whose title makes that of a ratio such as "1/2", which elsewhere is a page or a rack."""

_LETTERS = re.compile(r"[A-Za-z]{2}")
_TWO = 2
"""In "1-2" at both ends a cage and its half may be meant: a range of more counts on from one, which no half does."""
_SPELL = "write a row for each cable"

_Kinds = Mapping[str, bool]
"""The ports, by what stands before "1-4", of which that is a range; whether that is sure."""

Filled = tuple[int, list[str]]
"""The number of a row, counted from 1, and its cells."""


class Spread(NamedTuple):
    """The rows with one cable each, and of those that are ends of one split cable which it is, by their place."""

    rows: list[Filled]
    splits: dict[int, str]


def spread(
    rows: Sequence[Filled], ends: Sequence[int], name: str, split: Container[int], more: Mapping[int, Sequence[int]]
) -> Spread:
    """Return one row for each cable; SourceError names a row whose ends do not tell as many.

    `ends` are the columns of device, port, device and port; `split` has the numbers of rows that say that their cable
    is split, `more` those with three ends and more, each with the columns of all. These may tell one cable only.
    """
    if not _hints("\t".join(chain.from_iterable(map(itemgetter(1), rows)))):
        return Spread([*rows], {})
    kinds = _kinds(rows, ends, name, more)
    found: list[Filled] = []
    splits: dict[int, str] = {}
    for number, row in rows:
        if not any(map(_hints, row)):
            found.append((number, row))
            continue
        cells = _cells(row, more.get(number, ends))
        where = f"{name}:{number}"
        told = [_ports(cell, kinds) if at % 2 else _several(cell) for at, cell in enumerate(cells)]
        if [] in told:
            raise SourceError(
                f"{where}: found {cells[told.index([])]!r:.60}, expected a range that counts up, of at most {MOST};"
                f" {_SPELL}"
            )
        if number in more:
            _refuse_several(cells, kinds, where)
        if number in more or max(map(len, told)) <= 1:
            found.append((number, row))
            continue
        sides = [_side(told[at], told[at + 1], cells[at : at + 2], where) for at in (0, 2)]
        lanes = _paired(sides, cells, kinds, where, may_split=number in split)
        for near, far in zip(*lanes, strict=True):
            if min(map(len, sides)) < len(lanes[0]):
                splits[len(found)] = where
            cable = [*row, *[""] * (max(ends) + 1 - len(row))]
            for at, cell in zip(ends, (*near, *far), strict=True):
                cable[at] = cell
            found.append((number, cable))
    return Spread(found, splits)


def told_split(row: Sequence[str], ends: Sequence[int], titles: Sequence[str]) -> bool:
    """Whether a cell beside the ends says that the cable is split."""
    return len(row) > len(ends) and any(
        _says_split(cell, titles[at] if at < len(titles) else "") for at, cell in enumerate(row) if at not in ends
    )


@lru_cache(maxsize=4096)
def _says_split(cell: str, title: str) -> bool:
    told = cell.strip().lower()
    return _SPLIT.fullmatch(told) is not None or (
        _RATIO.search(told) is not None and _OF_CABLES.search(title.lower()) is not None
    )


_End = tuple[str, str]


def _side(devices: list[str], ports: list[str], cells: Sequence[str], where: str) -> list[_End]:
    """Return the ports at one end: several of one device, one of several devices, or as many of both."""
    count = max(len(devices), len(ports))
    if not {len(devices), len(ports)} <= {1, count}:
        raise SourceError(
            f"{where}: found {len(devices)} devices in {cells[0]!r:.60} and {len(ports)} ports in {cells[1]!r:.60},"
            f" expected as many, or one of either; {_SPELL}"
        )
    several = [each * count if len(each) == 1 else each for each in (devices, ports)]
    return list(zip(*several, strict=True))


def _paired(
    sides: list[list[_End]], cells: Sequence[str], kinds: _Kinds, where: str, *, may_split: bool
) -> list[list[_End]]:
    """Return as many ends at both sides; a port may be split, if the row says so or the others are listed devices."""
    counts = [*map(len, sides)]
    dashed = [_told_by_dash(cells[at : at + 2], kinds) for at in (0, 2)]
    unsure = False in dashed and max(counts) <= _TWO and not all(map(_LETTERS.match, cells[1::2]))
    if unsure and None in dashed and min(counts) == 1:  # the half of a cage, to a port
        return [[(cells[0], cells[1])], [(cells[2], cells[3])]]
    if counts[0] == counts[1] and not (unsure and dashed == [False, False]):
        return sides
    most = max(counts)
    listed = dashed == [None, None] and not any(map(_range, cells))
    if (
        min(counts) == 1
        and most in LANES
        and listed
        and (may_split or len({device for side in sides for device, _ in side}) > most)
    ):
        return [each * most if len(each) == 1 else each for each in sides]
    a, b = (f"{' '.join(cells[at : at + 2])!r:.80}" for at in (0, 2))
    raise SourceError(
        f"{where}: found {counts[0]} of {a} and {counts[1]} of {b}, expected as many ports at both ends, told so that"
        f" no other reading is left; {_SPELL}, or 1..4 for a range, and 1/4 where a dash parts a cage from its half"
    )


def _told_by_dash(cells: Sequence[str], kinds: _Kinds) -> bool | None:
    """Return whether a range of ports told by a dash is surely one; None where an end tells none."""
    device, port = cells
    found = _DASH.fullmatch(port)
    if found is None or len(_several(device)) > 1 or len(_several(port)) > 1:
        return None
    return kinds.get(_kind(found[1]))


def _range(cell: str) -> bool:
    return not _LIST.search(cell) and len(_several(cell)) > 1


def _ports(cell: str, kinds: _Kinds) -> list[str]:
    return [name for each in _several(cell, kinds) for name in _counted(each, kinds)]


def _counted(cell: str, kinds: _Kinds) -> list[str]:
    found = _DASH.fullmatch(cell)
    return _between(found[1], found[2], found[3]) if found and _kind(found[1]) in kinds else [cell]


def _refuse_several(cells: Sequence[str], kinds: _Kinds, where: str) -> None:
    """SourceError says which of three ends and more tells several, but for what may be the half of a cage."""
    for device, port in zip(cells[::2], cells[1::2], strict=True):
        ports = _ports(port, kinds)
        half = _told_by_dash((device, port), kinds) is False and len(ports) <= _TWO and not _LETTERS.match(port)
        if len(_several(device)) > 1 or (len(ports) > 1 and not half):
            raise SourceError(
                f"{where}: found several in {f'{device} {port}'!r:.80}, one of {len(cells) // 2} ends of a cable,"
                f" expected one port at each; {_SPELL}"
            )


def _several(cell: str, kinds: _Kinds = {}) -> list[str]:  # noqa: B006  nothing is put there
    """Return the names that a cell tells, one or several; none where a range can be nothing else and counts down."""
    if found := _BRACKETS.fullmatch(cell):
        before, inside, after = found.groups()
        pieces = [_PART.fullmatch(each) for each in inside.split(",")]
        counted = _joined([_between("", each[1], each[2] or each[1]) for each in pieces if each])
        return [f"{before}{number}{after}" for number in counted] if all(pieces) else [cell]
    parts = [each for each in _LIST.split(cell) if each]
    if len(parts) > 1:
        told = [parts[0], *(f"{_head(parts[0], each, kinds)}{each}" for each in parts[1:])]
        names = all(_DIGITS.search(each) and " " not in each for each in told)
        alike = len({_kind(each) for each in told if _DASH.fullmatch(each) is None}) <= 1
        return _joined([*map(_several, told)]) if names or alike else [cell]
    for form in (_DOTS, _TWICE, _SLASHES):
        found = form.fullmatch(cell)
        if found and (found[3] == found[1] or (form is not _TWICE and found[1].endswith(found[3]))):
            return _between(found[1], found[2], found[4]) or ([] if form is _DOTS else [cell])
    return [cell]


def _joined(lists: Sequence[list[str]]) -> list[str]:
    """Return the names of all lists; none where one has none."""
    return [*chain.from_iterable(lists)] if all(lists) else []


def _head(first: str, part: str, kinds: _Kinds) -> str:
    """Return what stands before a part of a list, by its first: "swp" of "swp1", and of "swp1-1" before "1-2"."""
    dash = _DASH.fullmatch(first)
    ranges = dash is not None and _kind(dash[1]) in kinds
    head = dash if ranges or "-" in part else None
    head = head or _DOTS.fullmatch(first) or _HEAD.fullmatch(first)
    return head[1] if head and _MORE.fullmatch(part) else ""


def _between(head: str, first: str, last: str) -> list[str]:
    """Return the names from the first number to the last; none where these do not count up."""
    if not int(first) <= int(last) < int(first) + MOST:
        return []
    return [f"{head}{number:0{len(first)}}" for number in range(int(first), int(last) + 1)]


def _kind(name: str) -> str:
    return _DIGITS.sub("0", name)


def _kinds(rows: Iterable[Filled], ends: Sequence[int], name: str, more: Mapping[int, Sequence[int]]) -> _Kinds:
    """Return the ports of which "1-4" is a range: each counts up, and no port of a device is in two of them.

    It is sure where a range ends at a number that no half of a cage has. Where it is, and none is surely a name, two
    that overlap are an error: SourceError names the second. Told from both its ends, a range is one.
    """
    found: dict[str, bool] = {}
    names: set[str] = set()
    overlaps: dict[str, str] = {}
    seen: set[tuple[str, ...]] = set()
    taken: set[tuple[str, str, int]] = set()
    for number, row in rows:
        cells = _cells(row, more.get(number, ends))
        for device, port, *far in (cells[at:] + cells[:at] for at in range(0, len(cells), 2)):
            for dash in map(_DASH.fullmatch, _LIST.split(port) if _hints(port) else ()):
                if dash is None or (device, *dash.groups()) in seen:
                    continue
                seen.add((device, *dash.groups()))
                kind, first, last = _kind(dash[1]), int(dash[2]), int(dash[3])
                mine = {(device, dash[1], each) for each in range(first, min(last, first + MOST) + 1)}
                several = any(len(_several(each)) > 1 for each in far[::2]) or any(map(_hints, far[1::2]))
                if not first < last < first + MOST or (taken & mine and not several):
                    names.add(kind)
                elif taken & mine:
                    overlaps.setdefault(kind, f"{name}:{number}: found {port!r:.60} of {device!r:.60}")
                taken |= mine
                found[kind] = found.get(kind, False) or last > _CAGE_LANES
    if told := next((told for kind, told in overlaps.items() if found[kind] and kind not in names), ""):
        raise SourceError(
            f"{told}, which overlaps with another range of it, expected each port once; correct it, or write 1/4"
            " where a dash parts a cage from its half"
        )
    return {kind: sure for kind, sure in found.items() if kind not in names and kind not in overlaps}


def _cells(row: Sequence[str], columns: Iterable[int]) -> list[str]:
    return [row[at] if at < len(row) else "" for at in columns]
