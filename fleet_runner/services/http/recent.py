"""What was said lately, in bounded memory."""

from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """A mapping that forgets what was not put for `seconds`, and earlier where more than `most` are put in that time.

    It holds two generations: when the young one is old or full, it becomes the old one, whose place it takes.
    """

    __slots__ = ("_most", "_old", "_seconds", "_since", "_young")

    def __init__(self, seconds: float, most: int) -> None:
        self._seconds = seconds
        self._most = most
        self._since = 0.0
        self._young: dict[K, V] = {}
        self._old: dict[K, V] = {}

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def get(self, key: K) -> V | None:
        """Return what was put, or None."""
        found = self._young.get(key)
        return self._old.get(key) if found is None else found

    def put(self, key: K, value: V, now: float) -> None:
        """Keep a value."""
        if now - self._since > self._seconds or len(self._young) >= self._most:
            self._old, self._young, self._since = self._young, {}, now
        self._young[key] = value
