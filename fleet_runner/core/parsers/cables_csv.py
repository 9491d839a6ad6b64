"""Designed cables as people keep them in CSV: device, port, device, port, with or without a header.

NVIDIA's NDT shape (StartDevice,StartPort,EndDevice,EndPort,LinkType) is one of them: its columns are found by name,
in any order, among others. Its header looks like a comment ("#StartDevice" or "#Fields:StartDevice" is its first
title), a port may repeat its device, and only links of the type Data are cables of the fabric.
"""

import csv
import re
from collections.abc import Iterable
from typing import NamedTuple

from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.errors import SourceError

COLUMNS = ("device", "port", "device", "port")

_HEADERS: tuple[tuple[str, str, str, str], ...] = (
    ("startdevice", "startport", "enddevice", "endport"),
    ("devicea", "porta", "deviceb", "portb"),
    ("devicea", "interfacea", "deviceb", "interfaceb"),
    ("adevice", "aport", "bdevice", "bport"),
    ("adevice", "ainterface", "bdevice", "binterface"),
    ("sourcedevice", "sourceport", "destinationdevice", "destinationport"),
    ("sideadevice", "sideaname", "sidebdevice", "sidebname"),
)
"""Titles without case, spaces and underscores; the last is how NetBox takes cables in."""

_WORDS = frozenset({"device", "port", "interface", "node", "host", "switch"})
_CARRIER = re.compile(r"(trunk|panel|cage|bundle)(?:[ab]|\d{1,2})?", re.ASCII)
_LINK_TYPE = "linktype"
_DATA = {"", "data"}


class Row(NamedTuple):
    """A designed cable, the line (counted from 1) that says so, and what it shares with others ("trunk T-12")."""

    line: int
    link: Link
    carriers: tuple[str, ...] = ()


class _Columns(NamedTuple):
    """Where the cells are that are read: both ends', the carriers' with their kinds, and the type of link."""

    ends: tuple[int, ...] = (0, 1, 2, 3)
    carriers: tuple[tuple[str, int], ...] = ()
    link_type: int | None = None


def parse(text: str, name: str) -> tuple[Row, ...]:
    """Return every cable; SourceError names the file, the line, what was found and what was expected."""
    rows = [(number, cells) for number, row in _rows(text, name) if any(cells := [cell.strip() for cell in row])]
    header = next((at for at, (_, row) in enumerate(rows) if not _comment(row) or _columns(row)), len(rows))
    if header == len(rows):
        raise SourceError(f"{name}: it is empty; expected lines of {', '.join(COLUMNS)}")
    found = _columns(rows[header][1])
    body = [(number, row) for number, row in rows[header + (found is not None) :] if not _comment(row)]
    if not body:
        raise SourceError(f"{name}: it has a header and no cable; expected lines of {', '.join(COLUMNS)}")
    columns = found or _Columns()
    cables = [(number, row) for number, row in body if _cell(row, columns.link_type).lower() in _DATA]
    if not cables:
        raise SourceError(
            f"{name}: no cable's LinkType is Data, as a cable of the fabric has it; is this the right file?"
        )
    return _checked([_pick(row, columns, f"{name}:{number}", number) for number, row in cables], name)


def _rows(text: str, name: str) -> Iterable[tuple[int, list[str]]]:
    reader = csv.reader(text.lstrip("\ufeff").splitlines(), strict=True)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise SourceError(f"{name}:{reader.line_num}: {error}; expected comma-separated values") from error


def _comment(row: list[str]) -> bool:
    return row[0].startswith("#")


def _columns(first: list[str]) -> _Columns | None:
    """Return where the columns are if the first row is a header."""
    titles = [_title(cell) for cell in first]
    carriers = tuple((kind[1], at) for at, title in enumerate(titles) if (kind := _CARRIER.fullmatch(title)))
    for names in _HEADERS:
        if all(name in titles for name in names):
            link_type = titles.index(_LINK_TYPE) if _LINK_TYPE in titles else None
            return _Columns(tuple(titles.index(name) for name in names), carriers, link_type)
    heading = [title.removesuffix("a").removesuffix("b") in _WORDS for title in titles[:4]]
    return _Columns(carriers=carriers) if len(heading) == len(COLUMNS) and all(heading) else None


def _title(cell: str) -> str:
    bare = re.sub(r"[ _-]", "", cell.lower())
    return bare.removeprefix("#").removeprefix("fields:")


def _cell(row: list[str], column: int | None) -> str:
    return row[column] if column is not None and column < len(row) else ""


def _pick(row: list[str], columns: _Columns, where: str, line: int) -> Row:
    a, a_port, b, b_port = cells = [_cell(row, column) for column in columns.ends]
    if not all(cells):
        raise SourceError(f"{where}: found {','.join(row)!r}, expected {', '.join(COLUMNS)}: a cable has two ends")
    carriers = tuple(f"{kind} {cell}" for kind, at in columns.carriers if (cell := _cell(row, at)))
    return Row(line, link(Port(a, _own(a, a_port)), Port(b, _own(b, b_port))), carriers)


def _own(device: str, port: str) -> str:
    """NDT writes an adapter's port as "gpu-01 ibp11s0f0"."""
    return port.removeprefix(f"{device} ").strip() or port


def _checked(picked: list[Row], name: str) -> tuple[Row, ...]:
    """Refuse a port that two cables use; the same cable written twice, from both ends, is one."""
    used: dict[Port, Row] = {}
    rows: dict[Link, Row] = {}
    for row in picked:
        for port in row.link:
            before = used.setdefault(port, row)
            if before.link != row.link or row.link.a == row.link.b:
                raise SourceError(
                    f"{name}:{row.line}: {port} is used twice, first in line {before.line}; expected one cable a port"
                )
        rows.setdefault(row.link, row)
    return tuple(rows.values())
