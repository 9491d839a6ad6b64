"""Cells of a large text by columns, as arrays: what every cell holds is expected to be spelled as a tool does.

A cell that would reach beyond the end of the text raises IndexError.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.int64]
Guids = NDArray[np.uint64]
Digits = NDArray[np.uint64]
"""Two numbers a row, of eight characters each."""

DIGITS = 16
"""Of a GUID, as tools write it."""

SHORT = 8
"""Characters that `words` reads of each cell."""

_BLOCK = 1 << 20
"""Characters in which line ends are found at a time: a whole text would take as much memory again."""

_ROWS = 1 << 13
"""Rows of which cells are found at a time: of a whole text that would take as much memory as many texts."""

_MIXER = np.uint64(0x9E3779B97F4A7C15)
"""An odd number without a pattern."""

_HEX = np.full(256, 255, np.uint8)
_HEX[[*b"0123456789"]] = range(10)
_HEX[[*b"abcdef"]] = _HEX[[*b"ABCDEF"]] = range(10, 16)


class OtherwiseError(Exception):
    """A text that is not spelled as the tool does: it is to be read line by line."""


def expect(fits: bool | np.bool) -> None:  # noqa: FBT001  what a condition says
    """Go on where a condition holds."""
    if not fits:
        raise OtherwiseError


def told_in(text: str) -> Bytes:
    """Return the characters of a text in ASCII."""
    expect(text.isascii())
    return np.frombuffer(text.encode("ascii"), np.uint8)


def windows(told: Bytes, width: int) -> NDArray[np.uint8]:
    """Return as many characters from each place of a text on."""
    expect(told.size >= width)
    return sliding_window_view(told, width)


def line_ends(told: Bytes) -> Numbers:
    """Return where lines end."""
    blocks = range(0, told.size, _BLOCK)
    return np.concatenate([np.flatnonzero(told[begin : begin + _BLOCK] == ord("\n")) + begin for begin in blocks])


def all_told(told: Bytes, at: Numbers, word: bytes) -> bool:
    """Whether a word begins everywhere."""
    return windows(told, len(word))[at].tobytes() == word * at.size


def numbers(told: Bytes, at: Numbers) -> tuple[Numbers, Numbers]:
    """Return numbers of up to three digits, without a leading zero, and where they have ended."""
    digits = windows(told, 3)[at] - ord("0")  # what is no digit wraps around
    one, two, three = (digits[:, place] for place in range(3))
    more = two < 10  # noqa: PLR2004  a digit
    most = more & (three < 10)  # noqa: PLR2004  likewise
    expect((one < 10).all() and ((one > 0) | ~more).all())  # noqa: PLR2004  likewise
    number = one.astype(np.int64)
    number[more] = number[more] * 10 + two[more]
    number[most] = number[most] * 10 + three[most]
    return number, at + 1 + more + most


def guids(told: Bytes, at: Numbers) -> Guids:
    """Return the GUIDs that begin somewhere."""
    digits = _HEX[windows(told, DIGITS)[at]]
    expect((digits < 16).all())  # noqa: PLR2004  hexadecimal
    return (digits[:, ::2] << 4 | digits[:, 1::2]).view(">u8").ravel().astype(np.uint64)


def digits(told: Bytes, at: Numbers) -> Digits:
    """Return the digits of the GUIDs that begin somewhere, as they are written."""
    return windows(told, DIGITS)[at].view(np.uint64)


def guids_of(digits: Sequence[str]) -> Guids:
    """Return GUIDs of hexadecimal digits."""
    together = "".join(digits)
    expect(len(together) == DIGITS * len(digits))
    return np.frombuffer(bytes.fromhex(together), ">u8").astype(np.uint64)


def digits_of(guids: Guids) -> list[str]:
    """Return the digits of GUIDs, in small letters."""
    together = guids.astype(">u8").tobytes().hex()
    return [together[at : at + DIGITS] for at in range(0, len(together), DIGITS)]


def words(told: Bytes, at: Numbers) -> tuple[list[str], list[int]]:
    """Return the different eight characters that begin somewhere, and which of them each is."""
    eight = windows(told, SHORT)[at].copy().view(">u8").ravel()
    found, kinds = np.unique(eight, return_inverse=True)
    return [int(each).to_bytes(SHORT, "big").decode("ascii") for each in found], kinds.tolist()


def places(known: NDArray[np.generic], asked: NDArray[np.generic]) -> Numbers:
    """Return where each value that is asked for stands among known ones, each of which stands there once."""
    order = np.argsort(known)
    ordered = known[order]
    expect(bool(known.size) and (ordered[1:] != ordered[:-1]).all())
    found = order[np.minimum(np.searchsorted(ordered, asked), order.size - 1)]
    expect((known[found] == asked).all())
    return found


class Nodes:
    """Nodes by the digits of their GUIDs, as one of several places writes them."""

    def __init__(self, digits: Sequence[str]) -> None:
        self.guids = guids_of(digits)
        self._digits = np.frombuffer("".join(digits).encode("ascii"), np.uint64).reshape(-1, 2)
        mixed = _mixed(self._digits)
        self._order = np.argsort(mixed)
        self._mixed = mixed[self._order]
        expect(bool(mixed.size) and (self._mixed[1:] != self._mixed[:-1]).all())

    def places(self, asked: Digits) -> Numbers:
        """Return where each node stands that is asked for."""
        found = self._order[np.minimum(np.searchsorted(self._mixed, _mixed(asked)), self._order.size - 1)]
        expect((self._digits[found] == asked).all())
        return found


def _mixed(digits: Digits) -> Guids:
    """Return a number for sixteen digits that next to no others have."""
    return digits[:, 0] * _MIXER + digits[:, 1]


class Cells(NamedTuple):
    """Cells of one column: where each begins in a text, and where it has ended."""

    told: Bytes
    begins: Numbers
    ends: Numbers

    def digits(self) -> Digits:
        """Return the digits of GUIDs that are written with 0x and all of them."""
        expect((self.ends - self.begins == DIGITS + 2).all())
        expect((self.told[self.begins] == ord("0")).all() and (self.told[self.begins + 1] == ord("x")).all())
        return digits(self.told, self.begins + 2)

    def numbers(self, most: int) -> Numbers:
        """Return numbers of up to as many digits, without a leading zero."""
        length = self.ends - self.begins
        expect((length > 0).all() and (length <= most).all())
        expect(((length == 1) | (self.told[self.begins] != ord("0"))).all())
        number = np.zeros(length.size, np.int64)
        for place in range(int(length.max(initial=0))):  # from the last digit on
            inside = length > place
            digit = np.where(inside, self.told[self.ends - 1 - place] - ord("0"), 0)
            expect((digit < 10).all())  # noqa: PLR2004  a digit
            number += digit * np.int64(10**place)
        return number


class Table(NamedTuple):
    """Where the first row begins, where rows end at newlines, and how many cells each has, commas between them."""

    told: Bytes
    begin: int
    ends: Numbers
    width: int

    def blocks(self, columns: Sequence[int]) -> Iterator[list[Cells]]:
        """Yield some columns of so many rows at a time."""
        begin = self.begin
        for first in range(0, self.ends.size, _ROWS):
            ends = self.ends[first : first + _ROWS] - begin
            block = self.told[begin : begin + int(ends[-1]) + 1]
            commas = np.flatnonzero(block == ord(","))
            expect(commas.size == ends.size * (self.width - 1))
            before = np.concatenate((np.full(1, -1), ends[:-1]))
            marks = [before, *commas.reshape(ends.size, self.width - 1).T, ends]
            expect((marks[1] > before).all() and (marks[-2] < ends).all())
            yield [Cells(block, marks[column] + 1, marks[column + 1]) for column in columns]
            begin += block.size
