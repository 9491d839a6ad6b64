"""Designed cables as people keep them in CSV: device, port, device, port, with or without a header.

NVIDIA's NDT shape (StartDevice,StartPort,EndDevice,EndPort,LinkType) is one of them: its columns are found by name.
"""

import csv
from collections.abc import Iterable
from typing import NamedTuple

from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.errors import SourceError

COLUMNS = ("device", "port", "device", "port")

_HEADERS: tuple[tuple[str, str, str, str], ...] = (
    ("startdevice", "startport", "enddevice", "endport"),
    ("device_a", "port_a", "device_b", "port_b"),
    ("device_a", "interface_a", "device_b", "interface_b"),
    ("a_device", "a_port", "b_device", "b_port"),
    ("a_device", "a_interface", "b_device", "b_interface"),
    ("source_device", "source_port", "destination_device", "destination_port"),
)
_WORDS = frozenset({"device", "port", "interface", "node", "host", "switch"})


class Row(NamedTuple):
    """A designed cable and the line (counted from 1) that says so."""

    line: int
    link: Link


def parse(text: str, name: str) -> tuple[Row, ...]:
    """Return every cable; SourceError names the file, the line, what was found and what was expected."""
    rows = [(number, [cell.strip() for cell in row]) for number, row in _rows(text, name) if any(map(str.strip, row))]
    if not rows:
        raise SourceError(f"{name}: it is empty; expected lines of {', '.join(COLUMNS)}")
    columns = _columns(rows[0][1])
    body = rows if columns is None else rows[1:]
    if not body:
        raise SourceError(f"{name}: it has a header and no cable; expected lines of {', '.join(COLUMNS)}")
    picked = [(number, _pick(row, columns or (0, 1, 2, 3), f"{name}:{number}")) for number, row in body]
    return _checked(picked, name)


def _rows(text: str, name: str) -> Iterable[tuple[int, list[str]]]:
    reader = csv.reader(text.lstrip("\ufeff").splitlines(), strict=True)
    try:
        for row in reader:
            if not (row and row[0].lstrip().startswith("#")):
                yield reader.line_num, row
    except csv.Error as error:
        raise SourceError(f"{name}:{reader.line_num}: {error}; expected comma-separated values") from error


def _columns(first: list[str]) -> tuple[int, int, int, int] | None:
    """Return where the columns are if the first row is a header."""
    titles = [cell.lower().replace(" ", "_") for cell in first]
    for names in _HEADERS:
        if all(name in titles for name in names):
            a, b, c, d = (titles.index(name) for name in names)
            return a, b, c, d
    heading = [title.removesuffix("_a").removesuffix("_b") in _WORDS for title in titles[:4]]
    return (0, 1, 2, 3) if len(heading) == len(COLUMNS) and all(heading) else None


def _pick(row: list[str], columns: tuple[int, int, int, int], where: str) -> Link:
    cells = [row[column] if column < len(row) else "" for column in columns]
    if not all(cells):
        raise SourceError(f"{where}: found {','.join(row)!r}, expected {', '.join(COLUMNS)}: a cable has two ends")
    a, a_port, b, b_port = cells
    return link(Port(a, a_port), Port(b, b_port))


def _checked(picked: list[tuple[int, Link]], name: str) -> tuple[Row, ...]:
    """Refuse a port that two cables use; the same cable written twice, from both ends, is one."""
    used: dict[Port, tuple[int, Link]] = {}
    rows: dict[Link, Row] = {}
    for line, cable in picked:
        for port in cable:
            before, other = used.setdefault(port, (line, cable))
            if other != cable or cable.a == cable.b:
                raise SourceError(
                    f"{name}:{line}: {port} is used twice, first in line {before}; expected one cable a port"
                )
        rows.setdefault(cable, Row(line, cable))
    return tuple(rows.values())
