"""Designed cables in rows of cells, of a CSV or a spreadsheet: device, port, device, port, with or without titles.

Columns are found by their titles (`cables_titles`), in any order; without titles the first four columns are read.
Only links of NDT's type Data are cables of the fabric, and no cable of power or of a console is.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.checks.parsers import cables_splits, cables_titles
from fleet_runner.core.checks.parsers.cables_fused import EXPECTED, parted
from fleet_runner.core.checks.parsers.cables_sheet import Row, Sheet
from fleet_runner.core.checks.parsers.cables_titles import plain

COLUMNS = ("device", "port", "device", "port")

PREFACE = 20
"""Rows that may stand above the titles: what the sheet is called, who wrote it."""

_WORDS = frozenset({"device", "port", "interface", "node", "host", "switch"})
_DIGIT = re.compile(r"[0-9]")
_LIKE_TITLES = 2
"""Cells with one of the words, at least, of a first row that is a header."""

_ROLE = re.compile(r"(a|b|start|end|source|destination|sidea|sideb)(?:device)?role|(?:device)?role(a|b)", re.ASCII)
_FIRST = frozenset({"a", "start", "source", "sidea"})
_CARRIER = re.compile(r"(trunk|panel|cage|bundle)(?:[ab]|\d{1,2})?", re.ASCII)
_LINK_TYPE = "linktype"
_DATA = {"", "data"}

_NO_LINKS = frozenset({"power", "powerport", "poweroutlet", "powerfeed", "consoleport", "consoleserverport"})
"""What NetBox calls cables, and ports at their ends, that join nothing of a network."""

_PANELS = {"frontport": "front", "rearport": "rear"}
"""What NetBox calls ports of patch panels, and which side of one they are."""

_NO_NETWORK = re.compile(r"(?:psu|power|outlet|inlet|console)(?![a-z]).*", re.ASCII | re.DOTALL)
"""Ports, by their names, that join nothing of a network either."""

_NOTHING = frozenset({"", "—"})

_TWISTED_PAIR = re.compile(r"cat ?[3-8][a-z]?", re.ASCII)
_NO_INFINIBAND = re.compile(
    r"(?:eth|en[opsx]\w*[0-9]|mgmt|management|bmc|ipmi|idrac|ilo\b|serial|aux\b|usb|(?:ps|con|tty)[ _-]?[0-9]).*",
    re.ASCII | re.DOTALL,
)
"""Ports in NetBox's list, which has every cable of a site: of Ethernet, management and consoles."""

_SPOILT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[ T].*)?|#(?:REF!|N/A|NAME\?|VALUE!|DIV/0!|NUM!|NULL!)", re.ASCII)
"""What a spreadsheet makes of a port that it takes for a date ("1/7"), and of a formula that it cannot compute."""

_SUM = re.compile(r"(?:grand |sub)?(?:total|sum|summe|gesamt|count|anzahl|totale?)\b.{0,40}", re.IGNORECASE)
_RULE = re.compile(r":?-+:?")
"""What stands below the titles of a table in Markdown."""

_SEVERAL = re.compile(r"\s*[,\n]\s*")

Line = tuple[int, Sequence[str]]
"""The number of a row, counted from 1, and its cells."""


Filled = tuple[int, list[str]]
"""The same of a row that holds anything, its cells without blanks around them."""


class _Columns(NamedTuple):
    """Where the cells are that are read: both ends', the carriers' with their kinds, the type of link, the roles'.

    A role is one of the first end (0) or of the second (1); `sides` has the types of what both end at. `several`:
    NetBox's list has all devices and ports of an end in one cell each.
    """

    ends: tuple[int, ...] = (0, 1, 2, 3)
    carriers: tuple[tuple[str, int], ...] = ()
    link_type: int | None = None
    roles: tuple[tuple[int, int], ...] = ()
    types: tuple[int, ...] = ()
    sides: tuple[int | None, int | None] = (None, None)
    status: int | None = None
    several: bool = False


def read(lines: Iterable[Line], name: str) -> Sheet:
    """Return the cables of a table; SourceError names the file, the line, what was found and what was expected."""
    rows = _filled(lines)
    if all(_comment(row) and not _columns(row) for _, row in rows):
        raise SourceError(f"{name}: it is empty; expected lines of {', '.join(COLUMNS)}")
    at = _titles(rows)
    if at is not None:
        return _sheet(rows[at + 1 :], _columns(rows[at][1]) or _Columns(), name, rows[at][1])
    if ends := _fused(rows, name):
        return _sheet(ends, _Columns(), name)
    start = next(number for number, (_, row) in enumerate(rows) if not _comment(row))
    columns = _untitled(rows[start][1])
    if columns is None:
        _refuse_header(rows[start:], name)
    return _sheet(rows[start + (columns is not None) :], columns or _Columns(), name)


def titled(lines: Iterable[Line]) -> bool:
    """Whether titles near the top of a table name both ends of cables, and a row follows them."""
    rows = _filled(lines)
    at = _titles(rows)
    return at is not None and at + 1 < len(rows)


def _filled(lines: Iterable[Line]) -> list[Filled]:
    rows = [(number, cells) for number, row in lines if any(cells := [cell.strip() for cell in row])]
    return [(number, row) for number, row in rows if not all(_RULE.fullmatch(cell) for cell in row if cell)]


def _titles(rows: Sequence[Filled]) -> int | None:
    """Return which row has titles that name both ends; None if none near the top has."""
    return next((at for at, (_, row) in enumerate(rows[:PREFACE]) if _columns(row)), None)


def _fused(rows: Sequence[Filled], name: str) -> list[Filled]:
    """Return the cables of a table that has a device with its port in one cell; none if no titles say so."""
    pairs = (cables_titles.fused(list(map(plain, row))) for _, row in rows[:PREFACE])
    at, pair = next(((at, pair) for at, pair in enumerate(pairs) if pair), (0, None))
    if pair is None:
        return []
    body = [(number, [_cell(row, end) for end in pair]) for number, row in rows[at + 1 :] if not _comment(row)]
    body = [(number, ends) for number, ends in body if any(ends)]
    found = parted([end for _, ends in body for end in ends])
    if body and found is None:
        (number, ends), *_ = body
        raise SourceError(f"{name}:{number}: found {ends[0][:60]!r} to {ends[1][:60]!r}, {EXPECTED}")
    told = found or []
    return [(number, [*near, *far]) for (number, _), near, far in zip(body, told[::2], told[1::2], strict=True)]


def _sheet(rows: Iterable[Filled], columns: _Columns, name: str, titles: Sequence[str] = ()) -> Sheet:
    """Return the cables of rows; of a table with titles, rows that are no cable are left out, and said."""
    body = [(number, row) for number, row in rows if not _comment(row) and row != titles]
    skipped = _headings(body, columns) if titles else {}
    body = [(number, row) for number, row in body if number not in skipped]
    if not body:
        raise SourceError(f"{name}: it has a header and no cable; expected lines of {', '.join(COLUMNS)}")
    data = [(number, row) for number, row in body if _cell(row, columns.link_type).lower() in _DATA]
    if not data:
        raise SourceError(
            f"{name}: no cable's LinkType is Data, as a cable of the fabric has it; is this the right file?"
        )
    cables = [(number, [*row]) for number, row in data if _link(row, columns)]
    if not cables:
        raise SourceError(f"{name}: all of its cables are of power or of consoles; is this the right file?")
    if columns.several:
        listed = tuple(each for number, row in cables for each in _pick(row, columns, f"{name}:{number}", number))
        return Sheet(name, listed, tuple(skipped.items()))
    cables, splits = cables_splits.apart(cables, columns.ends, titles, name)
    told = [each for number, row in cables for each in _pick(row, columns, f"{name}:{number}", number)]
    marked = cables_splits.marked(told, cables, columns.ends, titles, splits)
    return Sheet(name, tuple(marked), tuple(skipped.items()))


def _headings(rows: Sequence[Filled], columns: _Columns) -> dict[int, str]:
    """Return the rows that are no cable: none of its ends is there, one cell is a heading, or they are a sum.

    A name of a device is no heading: its cable was begun. Nor is what stands last, which may be cut.
    """
    found: dict[int, str] = {}
    named = Counter(cell for _, row in rows for cell in {_cell(row, at) for at in columns.ends})
    for number, row in rows:
        ends = [_cell(row, at) for at in columns.ends]
        cells = [cell for cell in row if cell]
        heading = len(cells) == 1 and " " in cells[0] and named[cells[0]] <= 1 and number < rows[-1][0]
        if not any(ends) or heading or (not all(ends) and _SUM.fullmatch(cells[0])):
            found[number] = ", ".join(cells)
    return found


def _link(row: list[str], columns: _Columns) -> bool:
    """Whether a cable may join devices in a network; in NetBox's list some end at none, at a circuit or nowhere."""
    a, a_port, b, b_port = (_cell(row, column) for column in columns.ends)
    if columns.several and {a, b} & _NOTHING:
        return False
    if _NO_LINKS.intersection(_kinds(row, columns)):
        return False
    return not any(_NO_NETWORK.fullmatch(port.lower()) for port in (a_port, b_port))


def _kinds(row: list[str], columns: _Columns) -> list[str]:
    return [_cell(row, at).lower().removeprefix("dcim.") for at in columns.types]


def _refuse_header(rows: Sequence[Filled], name: str) -> None:
    """A header that was taken for a cable would have every other line read by position."""
    (number, first), *others = rows
    titles = {plain(cell) for cell in first}
    if {"terminationa", "terminationb"} <= titles or {"terminationaid", "terminationbid"} <= titles:
        raise SourceError(
            f"{name}:{number}: found NetBox's cables without their devices; show the columns Device A, Termination A,"
            " Device B and Termination B in its list of cables, and export the current view"
        )
    cells = [cell for cell in first if cell]
    ends = sum(bool(cables_titles.end_kind(plain(cell))) for cell in cells)
    like = sum(any(word in plain(cell) for word in _WORDS) for cell in cells)
    below = {cell for _, row in others for cell in row}
    counted = len(others) > 1 and all(_DIGIT.search("".join(row)) for _, row in others)
    if ends <= len(COLUMNS) and (
        (like < _LIKE_TITLES and not counted) or below.intersection(cells) or any(map(str.isdigit, "".join(cells)))
    ):
        return
    raise SourceError(
        f"{name}:{number}: found the column names {','.join(first)!r:.120}, expected four that name a device and a"
        " port at both ends, such as Source Device, Source Port, Destination Device, Destination Port, or Device A,"
        " Port A, Device B, Port B; rename the columns"
    )


def _comment(row: list[str]) -> bool:
    return row[0].startswith("#")


def _columns(first: list[str]) -> _Columns | None:
    """Return where the columns are if the row is a header that names both ends."""
    titles = [plain(cell) for cell in first]
    ends = cables_titles.ends(titles)
    if ends is None:
        return None
    return _Columns(
        ends.columns,
        _carriers(titles),
        titles.index(_LINK_TYPE) if _LINK_TYPE in titles else None,
        tuple((int(end not in _FIRST), at) for at, title in enumerate(titles) if (end := _role(title))),
        tuple(at for at, title in enumerate(titles) if title in cables_titles.TYPES),
        (_first(titles, "sideatype"), _first(titles, "sidebtype")),
        next((at for at, title in enumerate(titles) if title in cables_titles.STATUS), None),
        several=ends.listed,
    )


def _first(titles: Sequence[str], title: str) -> int | None:
    return titles.index(title) if title in titles else None


def _untitled(first: list[str]) -> _Columns | None:
    """Return the first four columns if their titles say device, port, device, port."""
    titles = [plain(cell) for cell in first]
    heading = [title.removesuffix("a").removesuffix("b") in _WORDS for title in titles[:4]]
    return _Columns(carriers=_carriers(titles)) if len(heading) == len(COLUMNS) and all(heading) else None


def _carriers(titles: Iterable[str]) -> tuple[tuple[str, int], ...]:
    return tuple((kind[1], at) for at, title in enumerate(titles) if (kind := _CARRIER.fullmatch(title)))


def _role(title: str) -> str:
    """Return whose role a column has; "" if it has none."""
    found = _ROLE.fullmatch(title)
    return found[1] or found[2] if found else ""


def _cell(row: list[str], column: int | None) -> str:
    return row[column] if column is not None and column < len(row) else ""


def _pick(row: list[str], columns: _Columns, where: str, line: int) -> list[Row]:
    a, a_port, b, b_port = cells = [_cell(row, column) for column in columns.ends]
    if not all(cells):
        above = any(port and not device for device, port in zip(cells[::2], cells[1::2], strict=True))
        merged = "; if the device above is meant, write it here too" if above else ""
        raise SourceError(
            f"{where}: found {','.join(row)!r:.160}, expected {', '.join(COLUMNS)}: a cable has two ends{merged}"
        )
    if spoilt := next((cell for cell in cells if _SPOILT.fullmatch(cell)), ""):
        raise SourceError(
            f"{where}: found {spoilt:.40}, expected a device or a port: a spreadsheet made this of what was typed (of"
            " 1/7 a date); format the column as text, type it again"
        )
    carriers = tuple(f"{kind} {cell}" for kind, at in columns.carriers if (cell := _cell(row, at)))
    roles = tuple((cells[2 * end], role) for end, at in columns.roles if (role := _cell(row, at)))
    planned = plain(_cell(row, columns.status)) in cables_titles.LATER
    ethernet = any(_TWISTED_PAIR.fullmatch(kind) for kind in _kinds(row, columns))
    if not columns.several:
        sides = [_PANELS.get(_cell(row, at).lower().removeprefix("dcim."), "") for at in columns.sides]
        near, far = (
            Port(device, f"{port} ({side})" if side else _own(device, port))
            for device, port, side in zip(cells[::2], cells[1::2], sides, strict=True)
        )
        panels = tuple(device for device, side in zip(cells[::2], sides, strict=True) if side)
        return [Row(line, link(near, far), carriers, roles, planned, ethernet, panels=panels)]
    ethernet = ethernet or any(_NO_INFINIBAND.fullmatch(port.lower()) for port in (a_port, b_port))
    listed = Row(line, link(Port(a, a_port), Port(b, b_port)), carriers, roles, planned, ethernet, listed=True)
    lanes = _breakout(cells)
    if lanes:
        return [listed._replace(link=each, breakout=where) for each in lanes]
    links = _bundle(cells, where)
    bundle = where if len(links) > 1 else ""
    return [listed._replace(link=each, bundle=bundle) for each in links]


def _breakout(cells: Sequence[str]) -> list[Link]:
    """Return the links of a cable with one port at one end and several at the other; nothing of any other."""
    a, a_port, b, b_port = cells
    one, several = sorted((_ports(a, a_port), _ports(b, b_port)), key=len)
    single = min(len(_SEVERAL.split(ports)) for ports in (a_port, b_port)) == 1
    if not single or len(one) != 1 or len(several) < 2 or one[0].device in {port.device for port in several}:  # noqa: PLR2004  one is no breakout
        return []
    return [link(one[0], far) for far in several]


def _bundle(cells: list[str], where: str) -> list[Link]:
    """Return the links of a cable with as many ports at each end, those of one end all on one device.

    NetBox's list names ports in no order. So they are paired by their names, and any other way is as right.
    """
    a, a_port, b, b_port = cells
    near, far = _ports(a, a_port), _ports(b, b_port)
    devices = [{port.device for port in side} for side in (near, far)]
    if not near or len(near) != len(far) or min(map(len, devices)) > 1 or set.intersection(*devices):
        raise SourceError(
            f"{where}: found {a_port!r:.60} of {a!r:.60} at one end and {b_port!r:.60} of {b!r:.60} at the other,"
            " expected as many ports at both, at one of them all of one device: NetBox's list does not say which are"
            " joined; write a row for each pair of ports"
        )
    return [link(*pair) for pair in zip(near, far, strict=True)]


def _ports(devices: str, ports: str) -> list[Port]:
    """Return what stands at one end, by name; nothing where it is not said which port is which device's."""
    hosts, names = _SEVERAL.split(devices), _SEVERAL.split(ports)
    if len(hosts) == 1:
        hosts *= len(names)
    elif len(hosts) != len(names) or (len(set(names)) > 1 and len(set(hosts)) == len(hosts)):
        return []  # only where NetBox names a device twice does each port stand beside its own
    found = {Port(*each) for each in zip(hosts, names, strict=True)}
    return sorted(found, key=lambda port: (len(port.device), port.device, len(port.interface), port.interface))


def _own(device: str, port: str) -> str:
    """NDT writes an adapter's port as "gpu-01 ibp11s0f0"."""
    return port.removeprefix(f"{device} ").strip() or port
