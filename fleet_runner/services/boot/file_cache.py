"""A value made from files, made again when one of them changes."""

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")
Stamp = tuple[int, int, int]

FRESH_SECONDS = 0.1
"""A file system's clock ticks: a second change in the tick of the first leaves no other trace than a young file."""


class Kept(Generic[T]):
    """Calls `make` once, and again after a change of a file that it named; what it raises is kept nowhere.

    `make` returns the value and the files that it read.
    """

    __slots__ = ("_files", "_made", "_make", "_stamps")

    def __init__(self, make: Callable[[], tuple[T, Iterable[Path]]]) -> None:
        self._make = make
        self._made: tuple[T] | None = None
        self._files: tuple[Path, ...] = ()
        self._stamps: tuple[Stamp | None, ...] = ()

    def __call__(self) -> T:
        """Return the value as the files are now."""
        if self._made is None or self._stamps != _stamps(self._files):
            self._made = None
            began = time.time()
            value, files = self._make()
            self._files = tuple(files)
            self._stamps = () if _young(self._files, began) else _stamps(self._files)
            self._made = (value,)
        return self._made[0]


def _young(files: Iterable[Path], now: float) -> bool:
    return any(stamp and now - stamp[0] / 1e9 < FRESH_SECONDS for stamp in _stamps(files))


def _stamps(files: Iterable[Path]) -> tuple[Stamp | None, ...]:
    return tuple(_stamp(file) for file in files)


def _stamp(file: Path) -> Stamp | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)
