"""Designed cables as files say them, one sheet or several: of all together one design is made.

Adapters that are written as devices, as fabrics call them ("gpu-01 HCA-1" with its port 1), are interfaces of their
node.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.cabling.links import Link, Port, link

_ADAPTER = re.compile(r"(\S.*) ([A-Za-z][A-Za-z_-]*[0-9][\w.-]*)", re.ASCII)
_ADAPTER_PORTS = frozenset({"1", "2"})
THREE = 3
"""Names in a row that tell how a list goes on."""

_SURELY_ADAPTER = re.compile(r"HCA-[0-9]+|mlx[0-9]+_[0-9]+", re.ASCII)


class Row(NamedTuple):
    """A designed cable, the line (counted from 1) that says so, and what it shares with others ("trunk T-12").

    `roles` are those of its devices, as far as there are columns for them. A `planned` cable may be there or not, and
    of InfiniBand is what is not `ethernet` for sure. Rows of one `bundle` are one cable of several ports at each end:
    which of them are joined is not said. Those of one `breakout` share the port at its one end. `panels` are patch
    panels among its devices. What is `listed` is NetBox's own list, in which a port has one cable, and two where it
    is a front and a rear port of one name. A `cut` one stands at the end of a text that may have been cut within it:
    a device or a port of it may have a longer name.
    """

    line: int
    link: Link
    carriers: tuple[str, ...] = ()
    roles: tuple[tuple[str, str], ...] = ()
    planned: bool = False
    ethernet: bool = False
    bundle: str = ""
    breakout: str = ""
    panels: tuple[str, ...] = ()
    listed: bool = False
    cut: bool = False


class Sheet(NamedTuple):
    """What one file, or one sheet of a workbook, says, by the name that errors give it.

    `skipped` are the lines among its cables that are none: a heading, a sum, a number without a cable.
    """

    name: str
    rows: tuple[Row, ...]
    skipped: tuple[tuple[int, str], ...] = ()


def ended(sheet: Sheet, text: str) -> Sheet:
    """Return what a text says; its last cable may be `cut` if it ends in a name, and its last line has no end.

    A name that counts on from the two lines before it ("swp1", "swp2", "swp3") is whole, as some editors write it.
    """
    if not text or text[-1] in "\r\n":
        return sheet
    lines = text.splitlines()
    last = re.split(r"[,;\t ]", lines[-1])[-1]
    if _counts_on([re.split(r"[,;\t ]", line)[-1] for line in lines[-3:]]):
        return sheet

    def cut(row: Row) -> bool:
        words = [word for port in row.link for word in port]
        ends = any(last in word or last.endswith(word) for word in words)  # "P12" is port 12 of a topology
        return bool(last) and row.line == len(lines) and ends

    return sheet._replace(rows=tuple(row._replace(cut=True) if cut(row) else row for row in sheet.rows))


def _counts_on(names: Sequence[str]) -> bool:
    """Return whether three names differ in a number at their end, which grows by one from each to the next."""
    found = [re.fullmatch(r"(.*?)(\d{1,6})", name, re.ASCII) for name in names]
    told = [(each[1], int(each[2])) for each in found if each is not None]
    return len(told) == THREE and all(after == (before, number + 1) for (before, number), after in pairwise(told))


def whole(sheets: Iterable[Sheet]) -> tuple[Row, ...]:
    """Return every cable of one design, whatever it is written in; SourceError for a port with two cables."""
    return _checked(_paneled(_nodes(_spelled(sheets))))


_Named = tuple[str, Row]
"""A row with the name of its sheet."""


def _spelled(sheets: Iterable[Sheet]) -> list[_Named]:
    """Return all rows; a device that a sheet spells in other letters than those before it is theirs."""
    found: list[_Named] = []
    known: dict[str, str] = {}
    for name, rows, _ in sheets:
        devices = {port.device for row in rows for port in row.link}
        other = {each: known[each.casefold()] for each in devices if known.get(each.casefold(), each) != each}
        other = {each: spelled for each, spelled in other.items() if spelled not in devices}
        found += [(name, _renamed(row, other) if other else row) for row in rows]
        for device in sorted(devices - other.keys()):
            known.setdefault(device.casefold(), device)
    return found


def _renamed(row: Row, names: dict[str, str]) -> Row:
    a, b = (port._replace(device=names.get(port.device, port.device)) for port in row.link)
    return row._replace(
        link=link(a, b),
        roles=tuple((names.get(device, device), role) for device, role in row.roles),
        panels=tuple(names.get(device, device) for device in row.panels),
    )


def _nodes(picked: list[_Named]) -> list[_Named]:
    """Make adapters that are written as devices interfaces of their nodes: "gpu-01 HCA-1" port 1 is gpu-01 HCA-1.

    They are adapters if that is how adapters are called, or if a node occurs with several; and have no third port.
    """
    ports: dict[str, set[str]] = {}
    for port in (port for _, row in picked for port in row.link):
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
    if not adapters:
        return picked

    def interface(port: Port) -> Port:
        node, adapter = adapters.get(port.device, ("", ""))
        if not node:
            return port
        return Port(node, adapter if port.interface == "1" else f"{adapter}/{port.interface}")

    return [
        (
            name,
            row._replace(
                link=link(*map(interface, row.link)),
                roles=tuple((adapters.get(device, (device,))[0], role) for device, role in row.roles),
            ),
        )
        for name, row in picked
    ]


def _paneled(picked: list[_Named]) -> list[_Named]:
    """Tell the two sides of patch panels apart whose front and rear ports have one name in NetBox's list."""
    ends: dict[Port, list[Link]] = {}
    for row in (row for _, row in picked if row.listed and not row.breakout):
        for port in row.link:
            if row.link not in (mine := ends.setdefault(port, [])):
                mine.append(row.link)
    rears = {(port, links[1]) for port, links in ends.items() if len(links) == 2}  # noqa: PLR2004  front and rear
    panels = {port.device for port, _ in rears}
    if not panels:
        return picked

    def told(row: Row) -> Row:
        a, b = (
            port._replace(interface=f"{port.interface} (other side)") if (port, row.link) in rears else port
            for port in row.link
        )
        here = {port.device for port in row.link} & panels
        return row._replace(link=link(a, b), panels=tuple(sorted({*row.panels, *here})))

    return [(name, told(row)) for name, row in picked]


def _checked(picked: list[_Named]) -> tuple[Row, ...]:
    """Refuse a port that two cables use; the same cable written twice, from both ends or in two files, is one."""
    used: dict[Port, _Named] = {}
    rows: dict[Link, Row] = {}
    for name, row in picked:
        for port in row.link:
            sheet, before = used.setdefault(port, (name, row))
            lane = bool(row.breakout) and row.breakout == before.breakout
            if (before.link != row.link and not lane) or row.link.a == row.link.b:
                first = f"line {before.line}" if sheet == name else f"{sheet}:{before.line}"
                why = "; the file ends there without the end of its line: was it cut short?" if row.cut else ""
                raise SourceError(
                    f"{name}:{row.line}: {port} is used twice, first in {first}; expected one cable a port{why}"
                )
        before = rows.setdefault(row.link, row)
        if before is not row:
            told = (*before.roles, *row.roles)
            rows[row.link] = before._replace(
                roles=told, planned=before.planned and row.planned, cut=before.cut and row.cut
            )
    return tuple(rows.values())
