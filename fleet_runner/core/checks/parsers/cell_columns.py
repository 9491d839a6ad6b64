"""Cells of a large text by columns, as arrays: what every cell holds is expected to be spelled as a tool does."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.int64]
Guids = NDArray[np.uint64]

DIGITS = 16
"""Of a GUID, as tools write it."""

PADDING = b"\0" * 64
"""What follows a text, so that a cell at its end can be read like the others."""

SHORT = 8
"""Characters that `words` reads of each cell."""

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
    return np.frombuffer(text.encode("ascii") + PADDING, np.uint8)


def numbers(told: Bytes, at: Numbers) -> tuple[Numbers, Numbers]:
    """Return numbers of up to three digits, and where they have ended."""
    number = np.zeros(at.size, np.int64)
    for digits in range(3):
        digit = told[at] - ord("0")  # what is no digit wraps around
        more = digit < 10  # noqa: PLR2004  a digit
        expect(digits > 0 or bool(more.all()))
        number = np.where(more, number * 10 + digit, number)
        at = at + more
    return number, at


def guids(told: Bytes, at: Numbers) -> Guids:
    """Return the GUIDs that begin somewhere."""
    digits = _HEX[sliding_window_view(told, DIGITS)[at]]
    expect((digits < 16).all())  # noqa: PLR2004  hexadecimal
    return (digits[:, ::2] << 4 | digits[:, 1::2]).view(">u8").ravel().astype(np.uint64)


def words(told: Bytes, at: Numbers) -> tuple[list[str], list[int]]:
    """Return the different eight characters that begin somewhere, and which of them each is."""
    eight = sliding_window_view(told, SHORT)[at].copy().view(">u8").ravel()
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
