"""The records of a large fabric by `ibnetdiscover`, read by columns where every line is spelled as the tool does.

A text of some other spelling, or with something to complain of, is left to who reads it line by line.
"""

import re
from functools import partial

import numpy as np

from fleet_runner.core.checks.parsers.cell_columns import (
    DIGITS,
    SHORT,
    Bytes,
    Guids,
    Nodes,
    Numbers,
    OtherwiseError,
    all_told,
    digits,
    digits_of,
    expect,
    guids,
    line_ends,
    numbers,
    places,
    told_in,
    windows,
    words,
)
from fleet_runner.core.checks.parsers.discovery import Rate
from fleet_runner.core.checks.parsers.fabric_links import FabricLinks, Face
from fleet_runner.core.checks.parsers.ibnetdiscover import KINDS, RECORD

_MOST_PORTS = 1024
_BLANKS = 3
_RATE = re.compile(r"[^\n]*[ \t](\d{1,2})x([A-Z]{1,8}\d{0,3})", re.ASCII)
_WORDS = (b"vendid=", b"devid=", b"sysimgguid=", b"switchguid=", b"caguid=", b"rtguid=")


def links(text: str) -> FabricLinks | None:
    """Return the links of a text of which every line can be read; None where it is to be read by line."""
    try:
        return _links(text)
    except (OtherwiseError, IndexError):
        return None


def _links(text: str) -> FabricLinks:
    expect(text.endswith("\n") and "\r" not in text)
    told = told_in(text)
    ends = line_ends(told)
    begins = np.concatenate((np.zeros(1, np.int64), ends[:-1] + 1))
    first = told[begins]
    rows, heads = first == ord("["), np.isin(first, [*b"SCR"])
    expect(_passed_over(told, begins[~(rows | heads)]))
    lines = zip(begins[heads].tolist(), ends[heads].tolist(), strict=True)
    found: list[tuple[str, str, str]] = RECORD.findall("\n".join(["", *(text[begin:end] for begin, end in lines)]))
    expect(rows.any() and len(found) == np.count_nonzero(heads))
    record = np.searchsorted(begins[heads], begins[rows]) - 1
    expect(record[0] >= 0)
    letters, told_digits, told_names = zip(*found, strict=True)
    nodes = Nodes(told_digits)
    letter = np.frombuffer("".join(letters).encode(), np.uint8)
    port, own, far, far_port = _rows(told, begins[rows], (letter, nodes))
    guid = np.where(own == 0, nodes.guids[record], own)
    one, other = _paired(record * _MOST_PORTS + port, far * _MOST_PORTS + far_port)
    new = np.concatenate(([True], (record[1:] != record[:-1]) | (guid[1:] != guid[:-1])))
    face = np.cumsum(new) - 1
    of_face = record[new].tolist()
    told_of = (
        map(list(map(read, words)).__getitem__, of_face)
        for read, words in ((str.strip, told_names), (KINDS.__getitem__, letters))
    )
    faces = list(map(partial(tuple.__new__, Face), zip(*told_of, digits_of(guid[new]), strict=True)))
    rates = _rates(told, ends[rows][one])
    near, near_ports, far, far_ports = (each.tolist() for each in (face[one], port[one], face[other], port[other]))
    return FabricLinks(faces, near, near_ports, far, far_ports, *rates)


def _passed_over(told: Bytes, begins: Numbers) -> bool:
    """Whether lines need not be read: blank ones, comments, and what a record says before its ports."""
    two = windows(told, 2)[begins]
    first, second = two[:, 0], two[:, 1]
    left = (first != ord("\n")) & (first != ord("#"))
    for word in _WORDS:
        mine = begins[(first == word[0]) & (second == word[1])]
        expect(all_told(told, mine, word))
        left &= (first != word[0]) | (second != word[1])
    return not left.any()


def _rows(told: Bytes, at: Numbers, nodes: tuple[Bytes, Nodes]) -> tuple[Numbers, Guids, Numbers, Numbers]:
    """Return each row's port, its own GUID, 0 for none, the record of the far end, and the port there."""
    port, at = _in_brackets(told, at)
    own = np.zeros(at.size, np.uint64)
    has = told[at] == ord("(")
    own[has] = guids(told, at[has] + 1)
    expect((told[at[has] + DIGITS + 1] == ord(")")).all() and own[has].all())
    at = at + has * (DIGITS + 2)
    for _ in range(_BLANKS):
        here = told[at]
        at = at + ((here == ord(" ")) | (here == ord("\t")))
    expect((told[at] == ord('"')).all() and (told[at + 2] == ord("-")).all())
    letters, known = nodes
    far = known.places(digits(told, at + 3))
    expect((letters[far] == told[at + 1]).all())
    at = at + 3 + DIGITS
    expect((told[at] == ord('"')).all())
    far_port, _ = _in_brackets(told, at + 1)
    return port, own, far, far_port


def _in_brackets(told: Bytes, at: Numbers) -> tuple[Numbers, Numbers]:
    """Return numbers in brackets, and where these have ended."""
    expect((told[at] == ord("[")).all())
    number, at = numbers(told, at + 1)
    expect((told[at] == ord("]")).all())
    return number, at + 1


def _paired(near: Numbers, far: Numbers) -> tuple[Numbers, Numbers]:
    """Return the rows that tell of each other, the first of each pair and the second, as `discovery.paired` does."""
    partner = places(near, far)
    rows = np.arange(near.size)
    expect((far[partner] == near).all() and (partner != rows).all())
    second = np.flatnonzero(partner < rows)
    return partner[second], second


def _rates(told: Bytes, ends: Numbers) -> tuple[list[Rate], list[int]]:
    """Return the rates at the ends of lines, and which of them each has."""
    tails, kinds = words(told, ends - SHORT)
    found = [_RATE.fullmatch(tail) for tail in tails]
    rates = [(int(each[1]), each[2]) for each in found if each]
    expect(len(rates) == len(found))
    return rates, kinds
