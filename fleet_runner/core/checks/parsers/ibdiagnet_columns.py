"""The sections of a large `ibdiagnet2.db_csv`, read by columns where all of its rows are spelled as the tool does.

A text of some other spelling, or with something to complain of, is left to who reads it row by row.
"""

import re
from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fleet_runner.core.checks.parsers.cell_columns import (
    Bytes,
    Cells,
    Guids,
    Nodes,
    Numbers,
    OtherwiseError,
    Table,
    digits_of,
    expect,
    guids,
    line_ends,
    places,
    told_in,
)
from fleet_runner.core.checks.parsers.discovery import FabricPort, Rate
from fleet_runner.core.checks.parsers.fabric_links import FabricLinks, Face
from fleet_runner.core.checks.parsers.ibdiagnet import KINDS, LINKS, NODES, PORTS, SPEEDS, STATES, UP, WIDTHS

_MOST_PORTS = 1024
_PORT_DIGITS = 3
_WIDTH_DIGITS = 2
_SPEED_DIGITS = 5
_SPEEDS_END = 10**_SPEED_DIGITS
_FEWEST_CELLS = 5
"""Of a node's row: a shorter one may be a switch's heading in another form of capture."""

_MARK = re.compile(r"(START|END)_([A-Z]\w{0,60})[ \t]*$", re.MULTILINE | re.ASCII)
_GUID = r"0x([0-9a-fA-F]{16})"


class Sections(NamedTuple):
    """The links, the ports that are up and stand in none, and what the text holds beside the rows of these."""

    links: FabricLinks
    unanswered: tuple[FabricPort, ...]
    rest: str


class _Section(NamedTuple):
    """A section's columns by title, how many there are, and where its rows are in the text."""

    columns: dict[str, int]
    width: int
    begin: int
    end: int


class _Nodes(NamedTuple):
    names: list[str]
    kinds: list[str]
    by_guid: Nodes


class _Ports(NamedTuple):
    """Of each port: its node, by its place, and number as one; its GUID, its rate as one number; whether it is up."""

    ends: Numbers
    guids: Guids
    rates: Numbers
    up: NDArray[np.bool]


def sections(text: str) -> Sections | None:
    """Return what the sections of a text tell that is spelled throughout as the tool does; None for another."""
    try:
        return _sections(text)
    except (OtherwiseError, IndexError):
        return None


def _sections(text: str) -> Sections:
    expect(text.endswith("\n") and "\r" not in text)
    told = told_in(text)
    ends = line_ends(told)
    marks = _marks(text, told, ends)
    parts = [_section(text, marks, name) for name in ("NODES", "PORTS", "LINKS")]
    expect(all(text.find('"', part.begin, part.end) < 0 for part in parts[1:]))
    nodes = _nodes(text, parts[0])
    ports = _ports(_table(told, ends, parts[1]), parts[1], nodes.by_guid)
    near, far = (places(ports.ends, each) for each in _links(_table(told, ends, parts[2]), parts[2], nodes.by_guid))
    linked = np.bincount(np.concatenate((near, far)), minlength=ports.ends.size)
    expect(linked.max() == 1)
    alone = np.flatnonzero(ports.up & (linked == 0) & (ports.ends % _MOST_PORTS > 0))
    order = sorted(parts, key=lambda part: part.begin)
    between = zip([0, *(part.end for part in order)], [*(part.begin for part in order), len(text)], strict=True)
    rest = "".join(text[begin:end] for begin, end in between)
    return Sections(_told(nodes, ports, near, far), _unanswered(nodes, ports, alone), rest)


def _marks(text: str, told: Bytes, ends: Numbers) -> list[tuple[str, str, int, int]]:
    """Return where sections begin and end: START or END, the name, where the mark begins and where it has ended."""
    begins = np.concatenate((np.zeros(1, np.int64), ends[:-1] + 1))
    begins = begins[(told[begins] == ord("S")) | (told[begins] == ord("E"))]
    found = [each for begin in begins.tolist() if (each := _MARK.match(text, begin))]
    return [(each[1], each[2], each.start() - 1, each.end()) for each in found]


def _section(text: str, marks: list[tuple[str, str, int, int]], name: str) -> _Section:
    at = [place for place, mark in enumerate(marks) if mark[:2] == ("START", name)]
    expect(len(at) == 1 and len(marks) > at[0] + 1)
    _, _, _, begin = marks[at[0]]
    kind, ended, end, _ = marks[at[0] + 1]
    expect(kind == "END" and ended == name)
    begin = text.index("\n", begin) + 1
    titles_end = text.index("\n", begin)
    titles = text[begin:titles_end].split(",")
    expect(titles_end < end)
    return _Section(
        {title.strip().lower(): at for at, title in enumerate(titles)}, len(titles), titles_end + 1, end + 1
    )


def _columns(section: _Section, titles: Iterable[str]) -> list[int]:
    """Return where some columns are; the first one of them all is one of these, so that each row's begin is read."""
    expect(all(title in section.columns for title in titles))
    found = [section.columns[title] for title in titles]
    expect(0 in found)
    return found


def _nodes(text: str, section: _Section) -> _Nodes:
    """A node's description is its row's first cell, and the one quoted cell."""
    _, kind, guid = _columns(section, NODES)
    told = {kind: r"([^,\"\n]*)", guid: _GUID}
    expect(section.columns[NODES[0]] == 0 and section.width >= _FEWEST_CELLS)
    cells = ",".join(told.get(at, r"[^,\"\n]*") for at in range(1, section.width))
    pattern = re.compile(rf"^\"([^\"\n]*)\",{cells}(?:,[^\"\n]*)?\n", re.MULTILINE | re.ASCII)
    body = text[section.begin : section.end]
    found: list[tuple[str, str, str]] = pattern.findall(body)
    expect(bool(found) and len(found) == body.count("\n"))
    names, *others = zip(*found, strict=True)
    kinds, digits = others if kind < guid else others[::-1]
    known = {each: KINDS.get(each.strip(), "") for each in set(kinds)}
    return _Nodes(list(map(str.strip, names)), list(map(known.__getitem__, kinds)), Nodes(digits))


def _ports(table: Table, section: _Section, known: Nodes) -> _Ports:
    blocks = [
        (
            *_own(node, own, known),
            port.numbers(_PORT_DIGITS),
            width.numbers(_WIDTH_DIGITS),
            speed.numbers(_SPEED_DIGITS),
            (state.ends - state.begins == 1) & (state.told[state.begins] == ord(UP)),
        )
        for node, port, own, width, speed, state in table.blocks(_columns(section, (*PORTS, *STATES)))
    ]
    expect(bool(blocks))
    node, own, port, width, speed, up = (np.concatenate(each) for each in zip(*blocks, strict=True))
    return _Ports(node * _MOST_PORTS + port, own, width * _SPEEDS_END + speed, up)


def _own(node: Cells, port: Cells, known: Nodes) -> tuple[Numbers, Guids]:
    """Return the node of each port, by its place, and the port's GUID: a switch's port has its node's."""
    digits = node.digits()
    places = known.places(digits)
    guid = known.guids[places]
    first, last = (port.digits() != digits).T
    other = first | last
    guid[other] = guids(port.told, port.begins[other] + 2)
    return places, guid


def _links(table: Table, section: _Section, known: Nodes) -> tuple[Numbers, Numbers]:
    """Return both ends of each link, as `_Ports` has them."""
    blocks = [
        tuple(
            known.places(node.digits()) * _MOST_PORTS + port.numbers(_PORT_DIGITS)
            for node, port in (ends[:2], ends[2:])
        )
        for ends in table.blocks(_columns(section, LINKS))
    ]
    expect(bool(blocks))
    near, far = (np.concatenate(each) for each in zip(*blocks, strict=True))
    return near, far


def _table(told: Bytes, ends: Numbers, section: _Section) -> Table:
    first, last = np.searchsorted(ends, (section.begin, section.end))
    return Table(told, section.begin, ends[first:last], section.width)


def _told(nodes: _Nodes, ports: _Ports, near: Numbers, far: Numbers) -> FabricLinks:
    """Return the links between ports, each by its place; a face is what ports with one GUID have in common."""
    ends = np.concatenate((near, far))
    node, number = np.divmod(ports.ends[ends], _MOST_PORTS)
    known, first, face = np.unique(ports.guids[ends], return_index=True, return_inverse=True)
    of_face = node[first]
    expect((of_face[face] == node).all())
    told_of = (map(told.__getitem__, of_face.tolist()) for told in (nodes.names, nodes.kinds))
    faces = list(map(partial(tuple.__new__, Face), zip(*told_of, digits_of(known), strict=True)))
    count = near.size
    rates, kinds = np.unique(ports.rates[near], return_inverse=True)
    return FabricLinks(
        faces,
        face[:count].tolist(),
        number[:count].tolist(),
        face[count:].tolist(),
        number[count:].tolist(),
        [_rate(*divmod(rate, _SPEEDS_END)) for rate in rates.tolist()],
        kinds.tolist(),
    )


def _rate(width: int, speed: int) -> Rate:
    return WIDTHS.get(str(width), 0), SPEEDS.get(str(speed), "")


def _unanswered(nodes: _Nodes, ports: _Ports, alone: Numbers) -> tuple[FabricPort, ...]:
    ends = zip(ports.ends[alone].tolist(), digits_of(ports.guids[alone]), strict=True)
    told = ((*divmod(end, _MOST_PORTS), guid) for end, guid in ends)
    return tuple(FabricPort(nodes.names[at], number, nodes.kinds[at], guid) for at, number, guid in told)
