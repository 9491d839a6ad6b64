"""A value made from files, made again when one of them changes."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")
Stamp = tuple[int, int, int]


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
            value, files = self._make()
            self._files = tuple(files)
            self._stamps = _stamps(self._files)
            self._made = (value,)
        return self._made[0]


def _stamps(files: Iterable[Path]) -> tuple[Stamp | None, ...]:
    return tuple(_stamp(file) for file in files)


def _stamp(file: Path) -> Stamp | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)
