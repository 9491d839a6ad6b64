"""Panels as bytes to keep: small, for a fleet has millions of numbers a day and most are like their neighbours.

Whole numbers below 131,072 and four decimal digits of others come back as they were; of a spread, two.
"""

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fleet_runner.core.reliability.trends.daily import Last
from fleet_runner.core.reliability.trends.panel import Ids, Numbers, Panel

WORD = np.dtype("<u4")
"""Four bytes, the least first, whatever the machine: a store may be moved."""

MIDDLE_BITS, SPREAD_BITS = 16, 8
"""Bits of a number's 23 that are kept: more would be noise of the sensor, and noise is what does not compress."""

LEVEL = 1
"""Of zlib: a higher one takes three times as long and saves a tenth."""


def encode(panel: Panel) -> bytes:
    """Return a panel's rows as bytes; the metric and the day are kept beside them."""
    columns = (
        np.diff(panel.stays, prepend=np.uint32(0)),
        panel.count,
        _rounded(panel.middle, MIDDLE_BITS),
        _rounded(panel.spread, SPREAD_BITS),
    )
    return zlib.compress(b"".join(map(_planes, columns)), LEVEL)


def decode(metric: str, day: int, rows: int, body: bytes) -> Panel:
    """Return the panel that `encode` wrote."""
    planes = np.frombuffer(zlib.decompress(body), np.uint8).reshape(4, 4, rows)
    deltas, count, middle, spread = (np.ascontiguousarray(each.T).reshape(-1).view(WORD) for each in planes)
    stays = np.cumsum(deltas, dtype=np.uint32)
    return Panel(metric, day, stays, _words(count), _words(middle).view(np.float32), _words(spread).view(np.float32))


def encode_last(last: Last) -> bytes:
    """Return what counters said last as bytes; nothing is rounded, for growth is a difference."""
    wide = [np.ascontiguousarray(each, "<f8").tobytes() for each in (last.values, last.at)]
    return zlib.compress(b"".join([last.stays.astype(WORD).tobytes(), *wide]), LEVEL)


def decode_last(rows: int, body: bytes) -> Last:
    """Return what `encode_last` wrote."""
    raw = zlib.decompress(body)
    values, at = np.frombuffer(raw, "<f8", offset=rows * WORD.itemsize).reshape(2, rows)
    return Last(_words(np.frombuffer(raw, WORD, rows)), values, at)


def _words(values: NDArray[Any]) -> Ids:
    return values.astype(np.uint32, copy=False)


def _planes(values: NDArray[np.uint32]) -> bytes:
    """Return numbers byte by byte, all first bytes at first: the high ones are much alike."""
    return values.astype(WORD, copy=False).view(np.uint8).reshape(-1, 4).T.tobytes()


def _rounded(values: Numbers, bits: int) -> NDArray[np.uint32]:
    """Return the bits of numbers, rounded to so many of their fraction."""
    drop = np.uint32(23 - bits)
    raw = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    near = (raw + (np.uint32(1) << (drop - np.uint32(1)))) >> drop << drop
    return np.where(np.isfinite(near.view(np.float32)), near, raw)
