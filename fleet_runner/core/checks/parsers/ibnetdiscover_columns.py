"""The records of a large fabric by `ibnetdiscover`, read by columns where every line is spelled as the tool does.

A text of some other spelling, or with something to complain of, is left to who reads it line by line.
"""

import re

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from fleet_runner.core.checks.parsers.discovery import Rate
from fleet_runner.core.checks.parsers.fabric_links import FabricLinks, Face
from fleet_runner.core.checks.parsers.ibnetdiscover import KINDS, RECORD

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.int64]

DIGITS = 16
"""Of a GUID, as the tool writes it."""

_MOST_PORTS = 1024
_PADDING = b"\0" * 64
_TAIL = 8
_BLANKS = 3
_RATE = re.compile(r"[^\n]*[ \t](\d{1,2})x([A-Z]{1,8}\d{0,3})", re.ASCII)
_WORDS = (b"vendid=", b"devid=", b"sysimgguid=", b"switchguid=", b"caguid=", b"rtguid=")

_HEX = np.full(256, 255, np.uint8)
_HEX[[*b"0123456789"]] = range(10)
_HEX[[*b"abcdef"]] = _HEX[[*b"ABCDEF"]] = range(10, 16)


class _OtherwiseError(Exception):
    """A text that is not spelled as the tool does."""


def links(text: str) -> FabricLinks | None:
    """Return the links of a text of which every line can be read; None where it is to be read by line."""
    try:
        return _links(text)
    except _OtherwiseError:
        return None


def _links(text: str) -> FabricLinks:
    _expect(text.isascii() and text.endswith("\n") and "\r" not in text)
    told = np.frombuffer(text.encode("ascii") + _PADDING, np.uint8)
    ends = np.flatnonzero(told == ord("\n"))
    begins = np.concatenate((np.zeros(1, np.int64), ends[:-1] + 1))
    first = told[begins]
    rows, heads = first == ord("["), np.isin(first, [*b"SCR"])
    _expect(_passed_over(told, begins[~(rows | heads)]))
    found: list[tuple[str, str, str]] = RECORD.findall("\n" + text)
    _expect(rows.any() and len(found) == np.count_nonzero(heads))
    record = np.searchsorted(begins[heads], begins[rows]) - 1
    _expect(record[0] >= 0)
    node = np.array([int(digits, 16) for _, digits, _ in found], np.uint64)
    letter = np.frombuffer("".join(each for each, _, _ in found).encode(), np.uint8)
    port, own, far, far_port = _rows(told, begins[rows], (letter, node))
    guid = np.where(own == 0, node[record], own)
    one, other = _paired(record * _MOST_PORTS + port, far * _MOST_PORTS + far_port)
    new = np.concatenate(([True], (record[1:] != record[:-1]) | (guid[1:] != guid[:-1])))
    face = np.cumsum(new) - 1
    kinds, described = [KINDS[each] for each, _, _ in found], [name.strip() for _, _, name in found]
    told_of = zip(record[new].tolist(), guid[new].tolist(), strict=True)
    faces = [Face(described[at], kinds[at], f"{digits:016x}") for at, digits in told_of]
    rates = _rates(told, ends[rows][one])
    near, near_ports, far, far_ports = (each.tolist() for each in (face[one], port[one], face[other], port[other]))
    return FabricLinks(faces, near, near_ports, far, far_ports, rates)


def _expect(fits: bool | np.bool) -> None:  # noqa: FBT001  what a condition says
    if not fits:
        raise _OtherwiseError


def _passed_over(told: Bytes, begins: Numbers) -> bool:
    """Whether lines need not be read: blank ones, comments, and what a record says before its ports."""
    left = begins[~np.isin(told[begins], [*b"\n#"])]
    for word in _WORDS:
        left = left[(sliding_window_view(told, len(word))[left] != np.frombuffer(word, np.uint8)).any(axis=1)]
    return not left.size


def _rows(
    told: Bytes, at: Numbers, nodes: tuple[NDArray[np.uint8], NDArray[np.uint64]]
) -> tuple[Numbers, NDArray[np.uint64], Numbers, Numbers]:
    """Return each row's port, its own GUID, 0 for none, the record of the far end, and the port there."""
    port, at = _number(told, at + 1)
    own = np.zeros(at.size, np.uint64)
    has = told[at] == ord("(")
    own[has] = _guid(told, at[has] + 1)
    _expect((told[at[has] + DIGITS + 1] == ord(")")).all() and own[has].all())
    at = at + has * (DIGITS + 2)
    for _ in range(_BLANKS):
        at = at + np.isin(told[at], [*b" \t"])
    _expect((told[at] == ord('"')).all() and (told[at + 2] == ord("-")).all())
    letters, nodes_by_guid = nodes
    order = np.argsort(nodes_by_guid)
    ordered = nodes_by_guid[order]
    _expect((ordered[1:] != ordered[:-1]).all())
    guid = _guid(told, at + 3)
    far = order[np.minimum(np.searchsorted(ordered, guid), order.size - 1)]
    _expect((nodes_by_guid[far] == guid).all() and (letters[far] == told[at + 1]).all())
    at = at + 3 + DIGITS
    _expect((told[at] == ord('"')).all() and (told[at + 1] == ord("[")).all())
    far_port, _ = _number(told, at + 2)
    return port, own, far, far_port


def _number(told: Bytes, at: Numbers) -> tuple[Numbers, Numbers]:
    """Return numbers of up to three digits, and where their bracket has ended."""
    number = np.zeros(at.size, np.int64)
    for digits in range(3):
        digit = told[at] - ord("0")  # what is no digit wraps around
        more = digit < 10  # noqa: PLR2004  a digit
        _expect(digits > 0 or bool(more.all()))
        number = np.where(more, number * 10 + digit, number)
        at = at + more
    _expect((told[at] == ord("]")).all())
    return number, at + 1


def _guid(told: Bytes, at: Numbers) -> NDArray[np.uint64]:
    digits = _HEX[sliding_window_view(told, DIGITS)[at]]
    _expect((digits < 16).all())  # noqa: PLR2004  hexadecimal
    return (digits[:, ::2] << 4 | digits[:, 1::2]).view(">u8").ravel().astype(np.uint64)


def _paired(near: Numbers, far: Numbers) -> tuple[Numbers, Numbers]:
    """Return the rows that tell of each other, the first of each pair and the second, as `discovery.paired` does."""
    order = np.argsort(near)
    ordered = near[order]
    _expect((ordered[1:] != ordered[:-1]).all())
    partner = order[np.minimum(np.searchsorted(ordered, far), order.size - 1)]
    rows = np.arange(near.size)
    _expect((near[partner] == far).all() and (far[partner] == near).all() and (partner != rows).all())
    second = np.flatnonzero(partner < rows)
    return partner[second], second


def _rates(told: Bytes, ends: Numbers) -> list[Rate]:
    """Return the rates at the ends of lines."""
    tails, kinds = np.unique(
        sliding_window_view(told, _TAIL)[ends - _TAIL].copy().view(">u8").ravel(), return_inverse=True
    )
    found = [_RATE.fullmatch(int(tail).to_bytes(_TAIL, "big").decode("ascii")) for tail in tails]
    rates = [(int(each[1]), each[2]) for each in found if each]
    _expect(len(rates) == len(found))
    return [rates[kind] for kind in kinds.tolist()]
