"""Designed cables as people keep them in CSV: device, port, device, port, with or without a header.

NVIDIA's NDT shape (StartDevice,StartPort,EndDevice,EndPort,LinkType) is one of them: its columns are found by name,
in any order, among others. Its header looks like a comment ("#StartDevice" or "#Fields:StartDevice" is its first
title), a port may repeat its device, and only links of the type Data are cables of the fabric.

Adapters that are written as devices, as fabrics call them ("gpu-01 HCA-1" with its port 1), are interfaces of their
node. Cells may stand between semicolons or tabs as well.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.cabling.links import Link, Port, link

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
_LIKE_TITLES = 2
"""Cells with one of the words, at least, of a first row that is a header."""

_ADAPTER = re.compile(r"(\S.*) ([A-Za-z][A-Za-z_-]*[0-9][\w.-]*)", re.ASCII)
_ADAPTER_PORTS = frozenset({"1", "2"})
_SURELY_ADAPTER = re.compile(r"HCA-[0-9]+|mlx[0-9]+_[0-9]+", re.ASCII)
_ROLE = re.compile(r"(a|b|start|end|source|destination|sidea|sideb)(?:device)?role|(?:device)?role(a|b)", re.ASCII)
_FIRST = frozenset({"a", "start", "source", "sidea"})
_CARRIER = re.compile(r"(trunk|panel|cage|bundle)(?:[ab]|\d{1,2})?", re.ASCII)
_LINK_TYPE = "linktype"
_DATA = {"", "data"}


class Row(NamedTuple):
    """A designed cable, the line (counted from 1) that says so, and what it shares with others ("trunk T-12").

    `roles` are those of its devices, as far as there are columns for them.
    """

    line: int
    link: Link
    carriers: tuple[str, ...] = ()
    roles: tuple[tuple[str, str], ...] = ()


class _Columns(NamedTuple):
    """Where the cells are that are read: both ends', the carriers' with their kinds, the type of link, the roles'.

    A role is one of the first end (0) or of the second (1).
    """

    ends: tuple[int, ...] = (0, 1, 2, 3)
    carriers: tuple[tuple[str, int], ...] = ()
    link_type: int | None = None
    roles: tuple[tuple[int, int], ...] = ()


def parse(text: str, name: str) -> tuple[Row, ...]:
    """Return every cable; SourceError names the file, the line, what was found and what was expected."""
    rows = [(number, cells) for number, row in _rows(text, name) if any(cells := [cell.strip() for cell in row])]
    header = next((at for at, (_, row) in enumerate(rows) if not _comment(row) or _columns(row)), len(rows))
    if header == len(rows):
        raise SourceError(f"{name}: it is empty; expected lines of {', '.join(COLUMNS)}")
    found = _columns(rows[header][1])
    if found is None:
        _refuse_header(rows[header:], name)
    body = [(number, row) for number, row in rows[header + (found is not None) :] if not _comment(row)]
    if not body:
        raise SourceError(f"{name}: it has a header and no cable; expected lines of {', '.join(COLUMNS)}")
    columns = found or _Columns()
    cables = [(number, row) for number, row in body if _cell(row, columns.link_type).lower() in _DATA]
    if not cables:
        raise SourceError(
            f"{name}: no cable's LinkType is Data, as a cable of the fabric has it; is this the right file?"
        )
    return _checked(_nodes([_pick(row, columns, f"{name}:{number}", number) for number, row in cables]), name)


def _refuse_header(rows: list[tuple[int, list[str]]], name: str) -> None:
    """A header that was taken for a cable would have every other line read by position."""
    (number, first), *others = rows
    cells = [cell for cell in first if cell]
    like = sum(any(word in _title(cell) for word in _WORDS) for cell in cells)
    below = {cell for _, row in others for cell in row}
    if like < _LIKE_TITLES or below.intersection(cells) or any(map(str.isdigit, "".join(cells))):
        return
    understood = "; ".join(", ".join(names) for names in (COLUMNS, *_HEADERS))
    raise SourceError(
        f"{name}:{number}: found the column names {','.join(first)!r:.120}, expected one of these sets among them:"
        f" {understood}"
    )


def _rows(text: str, name: str) -> Iterable[tuple[int, list[str]]]:
    if "\0" in text:
        raise SourceError(f"{name}: it holds NUL characters; expected UTF-8, or UTF-16 with its byte order mark")
    lines = text.lstrip("\ufeff").splitlines()
    reader = csv.reader(lines, strict=True, delimiter=_delimiter(lines))
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise SourceError(f"{name}:{reader.line_num}: {error}; expected comma-separated values") from error


def _delimiter(lines: Iterable[str]) -> str:
    """Return what stands between the cells of the first row: a comma, unless it has too few for a cable."""
    first = next((line for line in lines if line.strip(" ,;\t") and not line.startswith("# ")), "")
    return max(",;\t", key=lambda mark: min(first.count(mark), len(COLUMNS) - 1))


def _comment(row: list[str]) -> bool:
    return row[0].startswith("#")


def _columns(first: list[str]) -> _Columns | None:
    """Return where the columns are if the first row is a header."""
    titles = [_title(cell) for cell in first]
    carriers = tuple((kind[1], at) for at, title in enumerate(titles) if (kind := _CARRIER.fullmatch(title)))
    for names in _HEADERS:
        if all(name in titles for name in names):
            link_type = titles.index(_LINK_TYPE) if _LINK_TYPE in titles else None
            roles = tuple((int(end not in _FIRST), at) for at, title in enumerate(titles) if (end := _role(title)))
            return _Columns(tuple(titles.index(name) for name in names), carriers, link_type, roles)
    heading = [title.removesuffix("a").removesuffix("b") in _WORDS for title in titles[:4]]
    return _Columns(carriers=carriers) if len(heading) == len(COLUMNS) and all(heading) else None


def _role(title: str) -> str:
    """Return whose role a column has; "" if it has none."""
    found = _ROLE.fullmatch(title)
    return found[1] or found[2] if found else ""


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
    roles = tuple((cells[2 * end], role) for end, at in columns.roles if (role := _cell(row, at)))
    return Row(line, link(Port(a, _own(a, a_port)), Port(b, _own(b, b_port))), carriers, roles)


def _nodes(picked: list[Row]) -> list[Row]:
    """Make adapters that are written as devices interfaces of their nodes: "gpu-01 HCA-1" port 1 is gpu-01 HCA-1.

    They are adapters if that is how adapters are called, or if a node occurs with several; and have no third port.
    """
    ports: dict[str, set[str]] = {}
    for port in (port for row in picked for port in row.link):
        ports.setdefault(port.device, set()).add(port.interface)
    parts = {
        device: (found[1], found[2])
        for device, mine in ports.items()
        if mine <= _ADAPTER_PORTS and (found := _ADAPTER.fullmatch(device))
    }
    count = Counter(node for node, _ in parts.values())
    adapters = {
        device: part for device, part in parts.items() if count[part[0]] > 1 or _SURELY_ADAPTER.match(part[1])
    }

    def interface(port: Port) -> Port:
        node, adapter = adapters.get(port.device, ("", ""))
        if not node:
            return port
        return Port(node, adapter if port.interface == "1" else f"{adapter}/{port.interface}")

    return (
        [
            row._replace(
                link=link(*map(interface, row.link)),
                roles=tuple((adapters.get(device, (device,))[0], role) for device, role in row.roles),
            )
            for row in picked
        ]
        if adapters
        else picked
    )


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
