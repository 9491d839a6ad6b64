"""Designed cables in rows of cells, of a CSV or a spreadsheet: device, port, device, port, with or without titles.

Columns are found by their titles, in any order, among others: NVIDIA's NDT, what NetBox takes in and what its list of
cables gives out, and what people call the two ends of a cable. Without titles the first four columns are read. Only
links of NDT's type Data are cables of the fabric, and no cable of power or of a console is.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.checks.parsers.cables_sheet import Row, Sheet

COLUMNS = ("device", "port", "device", "port")

PREFACE = 20
"""Rows that may stand above the titles: what the sheet is called, who wrote it."""

_HEADERS: tuple[tuple[str, str, str, str], ...] = (
    ("startdevice", "startport", "enddevice", "endport"),
    ("devicea", "porta", "deviceb", "portb"),
    ("devicea", "interfacea", "deviceb", "interfaceb"),
    ("adevice", "aport", "bdevice", "bport"),
    ("adevice", "ainterface", "bdevice", "binterface"),
    ("sourcedevice", "sourceport", "destinationdevice", "destinationport"),
    ("sideadevice", "sideaname", "sidebdevice", "sidebname"),
    ("devicea", "terminationa", "deviceb", "terminationb"),
    ("sidea", "terminationa", "sideb", "terminationb"),
)
"""Titles without case, spaces and marks. The last three are NetBox's: how it takes cables in, and its list of cables,
since version 3.3 and before."""

_ENDS = (
    ("a", "b"),
    ("a", "z"),
    *product(("sidea",), ("sideb", "sidez")),
    *product(("aside",), ("bside", "zside")),
    *product(("enda",), ("endb", "endz")),
    *product(("aend",), ("bend", "zend")),
    ("start", "end"),
    *product(("source", "src"), ("destination", "dest", "dst", "target")),
    ("from", "to"),
    ("local", "remote"),
    ("near", "far"),
    ("nearend", "farend"),
)
"""What people call the two ends of a cable, in a title before or after one of the words below."""

_DEVICES = ("device", "devicename", "node", "nodename", "host", "hostname", "server", "switch", "system")
_PORTS = ("port", "portname", "interface", "interfacename", "ifname", "portnumber", "adapter", "hca", "nic")

_WORDS = frozenset({"device", "port", "interface", "node", "host", "switch"})
_LIKE_TITLES = 2
"""Cells with one of the words, at least, of a first row that is a header."""

_ROLE = re.compile(r"(a|b|start|end|source|destination|sidea|sideb)(?:device)?role|(?:device)?role(a|b)", re.ASCII)
_FIRST = frozenset({"a", "start", "source", "sidea"})
_CARRIER = re.compile(r"(trunk|panel|cage|bundle)(?:[ab]|\d{1,2})?", re.ASCII)
_LINK_TYPE = "linktype"
_DATA = {"", "data"}

_TYPES = frozenset({"type", "cabletype", "sideatype", "sidebtype"})
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

_STATUS = "status"
_LATER = frozenset({"planned", "decommissioning"})
"""NetBox's states of a cable that may be there or not."""

_SPOILT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[ T].*)?|#(?:REF!|N/A|NAME\?|VALUE!|DIV/0!|NUM!|NULL!)", re.ASCII)
"""What a spreadsheet makes of a port that it takes for a date ("1/7"), and of a formula that it cannot compute."""

_SEVERAL = re.compile(r"\s*[,\n]\s*")

Line = tuple[int, Sequence[str]]
"""The number of a row, counted from 1, and its cells."""


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
    if at is None:
        start = next(number for number, (_, row) in enumerate(rows) if not _comment(row))
        columns = _untitled(rows[start][1])
        if columns is None:
            _refuse_header(rows[start:], name)
        return _sheet(rows[start + (columns is not None) :], columns or _Columns(), name)
    return _sheet(rows[at + 1 :], _columns(rows[at][1]) or _Columns(), name)


def titled(lines: Iterable[Line]) -> bool:
    """Whether titles near the top of a table name both ends of cables, and a row follows them."""
    rows = _filled(lines)
    at = _titles(rows)
    return at is not None and at + 1 < len(rows)


def _filled(lines: Iterable[Line]) -> list[tuple[int, list[str]]]:
    return [(number, cells) for number, row in lines if any(cells := [cell.strip() for cell in row])]


def _titles(rows: Sequence[tuple[int, list[str]]]) -> int | None:
    """Return which row has titles that name both ends; None if none near the top has."""
    return next((at for at, (_, row) in enumerate(rows[:PREFACE]) if _columns(row)), None)


def _sheet(rows: Iterable[tuple[int, list[str]]], columns: _Columns, name: str) -> Sheet:
    body = [(number, row) for number, row in rows if not _comment(row)]
    if not body:
        raise SourceError(f"{name}: it has a header and no cable; expected lines of {', '.join(COLUMNS)}")
    data = [(number, row) for number, row in body if _cell(row, columns.link_type).lower() in _DATA]
    if not data:
        raise SourceError(
            f"{name}: no cable's LinkType is Data, as a cable of the fabric has it; is this the right file?"
        )
    cables = [(number, row) for number, row in data if _link(row, columns)]
    if not cables:
        raise SourceError(f"{name}: all of its cables are of power or of consoles; is this the right file?")
    return Sheet(
        name, tuple(each for number, row in cables for each in _pick(row, columns, f"{name}:{number}", number))
    )


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


def _refuse_header(rows: Sequence[tuple[int, list[str]]], name: str) -> None:
    """A header that was taken for a cable would have every other line read by position."""
    (number, first), *others = rows
    titles = {_title(cell) for cell in first}
    if {"terminationa", "terminationb"} <= titles or {"terminationaid", "terminationbid"} <= titles:
        raise SourceError(
            f"{name}:{number}: found NetBox's cables without their devices; show the columns Device A, Termination A,"
            " Device B and Termination B in its list of cables, and export the current view"
        )
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


def _comment(row: list[str]) -> bool:
    return row[0].startswith("#")


def _columns(first: list[str]) -> _Columns | None:
    """Return where the columns are if the row is a header that names both ends."""
    titles = [_title(cell) for cell in first]
    ends = _ends(titles)
    if ends is None:
        return None
    return _Columns(
        ends,
        _carriers(titles),
        titles.index(_LINK_TYPE) if _LINK_TYPE in titles else None,
        tuple((int(end not in _FIRST), at) for at, title in enumerate(titles) if (end := _role(title))),
        tuple(at for at, title in enumerate(titles) if title in _TYPES),
        (_first(titles, "sideatype"), _first(titles, "sidebtype")),
        titles.index(_STATUS) if _STATUS in titles else None,
        several="termination" in titles[ends[1]],
    )


def _first(titles: Sequence[str], title: str) -> int | None:
    return titles.index(title) if title in titles else None


def _untitled(first: list[str]) -> _Columns | None:
    """Return the first four columns if their titles say device, port, device, port."""
    titles = [_title(cell) for cell in first]
    heading = [title.removesuffix("a").removesuffix("b") in _WORDS for title in titles[:4]]
    return _Columns(carriers=_carriers(titles)) if len(heading) == len(COLUMNS) and all(heading) else None


def _ends(titles: list[str]) -> tuple[int, ...] | None:
    for names in _HEADERS:
        if all(name in titles for name in names):
            return tuple(titles.index(name) for name in names)
    for pair in _ENDS:
        found = [_at(titles, end, words) for end in pair for words in (_DEVICES, _PORTS)]
        ends = tuple(at for at in found if at is not None)
        if len(ends) == len(COLUMNS):
            return ends
    return None


def _at(titles: list[str], end: str, words: Iterable[str]) -> int | None:
    """Return the column whose title is what an end is called, and one of the words."""
    wanted = (title for word in words for title in (f"{end}{word}", f"{word}{end}"))
    return next((titles.index(title) for title in wanted if title in titles), None)


def _carriers(titles: Iterable[str]) -> tuple[tuple[str, int], ...]:
    return tuple((kind[1], at) for at, title in enumerate(titles) if (kind := _CARRIER.fullmatch(title)))


def _role(title: str) -> str:
    """Return whose role a column has; "" if it has none."""
    found = _ROLE.fullmatch(title)
    return found[1] or found[2] if found else ""


def _title(cell: str) -> str:
    bare = re.sub(r"[\s_./-]", "", cell.lower())
    return bare.removeprefix("#").removeprefix("fields:")


def _cell(row: list[str], column: int | None) -> str:
    return row[column] if column is not None and column < len(row) else ""


def _pick(row: list[str], columns: _Columns, where: str, line: int) -> list[Row]:
    a, a_port, b, b_port = cells = [_cell(row, column) for column in columns.ends]
    if not all(cells):
        raise SourceError(f"{where}: found {','.join(row)!r}, expected {', '.join(COLUMNS)}: a cable has two ends")
    if spoilt := next((cell for cell in cells if _SPOILT.fullmatch(cell)), ""):
        raise SourceError(
            f"{where}: found {spoilt:.40}, expected a device or a port: a spreadsheet made this of what was typed (of"
            " 1/7 a date); format the column as text, type it again"
        )
    carriers = tuple(f"{kind} {cell}" for kind, at in columns.carriers if (cell := _cell(row, at)))
    roles = tuple((cells[2 * end], role) for end, at in columns.roles if (role := _cell(row, at)))
    planned = _cell(row, columns.status).lower() in _LATER
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
    plain = Row(line, link(Port(a, a_port), Port(b, b_port)), carriers, roles, planned, ethernet, listed=True)
    lanes = _breakout(cells)
    if lanes:
        return [plain._replace(link=each, breakout=where) for each in lanes]
    links = _bundle(cells, where)
    bundle = where if len(links) > 1 else ""
    return [plain._replace(link=each, bundle=bundle) for each in links]


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
