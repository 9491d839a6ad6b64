"""Designed cables whose two ends are written in one cell each, or in a line: "gpu-01:mlx5_0 <-> leaf-01:1".

What stands between a device and its port must be the same in all cells, so that no name is split by a guess.
"""

import re
from collections.abc import Callable, Sequence

from fleet_runner.core.base.errors import SourceError

_ARROW = re.compile(r"[ \t]*(?:<=+>|<-*>|=+>|-+>|[→↔⇔⟷⟶])[ \t]*")
_BULLET = re.compile(r"^[ \t]*(?:[*•-]|\d{1,6}[.):])[ \t]+", re.ASCII)
_LENGTH = re.compile(r"[ \t]*(?:\([ \t]*\d{1,4}(?:[.,]\d{1,3})?[ \t]*(?:m|cm|ft)\b[^()]{0,40}\)|#.*)$", re.ASCII)
_TABLE = re.compile(r"[,;\t|]")
_TOP = 20
"""Lines that may stand above the first cable."""

EXPECTED = "expected a device and a port at both ends, such as gpu-01:mlx5_0 <-> leaf-01:1, all written alike"

End = tuple[str, str]
"""A device and its port."""


def _by(mark: str, *, once: bool) -> Callable[[str], End | None]:
    def split(cell: str) -> End | None:
        device, found, port = cell.partition(mark)
        if not found or (once and mark in port) or not device.strip() or not port.strip():
            return None
        return device.strip(), _WORD.sub("", port.strip())

    return split


_WORD = re.compile(r"(?:port|interface)[ \t]+(?=\S)", re.IGNORECASE)
_PORT = re.compile(r"(\S+)[ ,]+(?:\((.+)\)|((?:port|interface)[ \t].+))", re.IGNORECASE)


def _by_word(cell: str) -> End | None:
    found = _PORT.fullmatch(cell)
    return (found[1], _WORD.sub("", found[2] or found[3])) if found else None


_SPLITS = (_by(":", once=True), _by(" - ", once=True), _by_word, _by("/", once=False), _by(" ", once=False))
"""How an end may be split, the surest first: "leaf-01/1/1" is port 1/1."""


def parted(cells: Sequence[str]) -> list[End] | None:
    """Return the device and the port of each cell, all split alike; None where no way fits all of them."""
    for split in _SPLITS:
        found = [end for cell in cells if (end := split(cell))]
        if found and len(found) == len(cells):
            return found
    return None


def begins(text: str) -> bool:
    """Whether one of the first lines is a cable with an arrow between its ends, and no row of a table."""
    return any(_ARROW.search(line) and not _TABLE.search(line) for line in _lines(text)[:_TOP])


def rows(text: str, name: str) -> list[tuple[int, list[str]]]:
    """Return each cable as a row of four cells; SourceError names a line that is none.

    A line that ends in a colon is a heading.
    """
    told: list[tuple[int, list[str]]] = []
    for number, line in enumerate(text.lstrip("\ufeff").splitlines(), start=1):
        bare = _LENGTH.sub("", _BULLET.sub("", line, count=1)).strip()
        if not bare or bare.startswith("#") or bare.endswith(":"):
            continue
        ends = _ARROW.split(bare)
        if len(ends) != 2 or not all(ends):  # noqa: PLR2004  a cable has two ends
            raise SourceError(f"{name}:{number}: found {line.strip()[:80]!r}, {EXPECTED}")
        told.append((number, ends))
    if not told:
        raise SourceError(f"{name}: it has no cable, {EXPECTED}")
    found = parted([end for _, ends in told for end in ends])
    if found is None:
        number, ends = told[0]
        raise SourceError(f"{name}:{number}: found {ends[0][:60]!r} to {ends[1][:60]!r}, {EXPECTED}")
    return [(number, [*near, *far]) for (number, _), near, far in zip(told, found[::2], found[1::2], strict=True)]


def _lines(text: str) -> list[str]:
    return [line for line in text.lstrip("\ufeff").splitlines() if line.strip() and not line.startswith("#")]
