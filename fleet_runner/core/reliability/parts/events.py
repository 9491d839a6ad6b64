"""What befell the parts of a node: the sightings of a fault become one episode until it has been silent for long."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from fleet_runner.core.reliability.parts.stay import Episode

SILENCE = 1.5 * 86_400.0
"""Seconds without a sight after which the same fault is another one: a sweep a day, which may be late, sees it twice
in less."""

MOST = 1_000
"""Kinds of faults that befall one node at a time: what tells of more is no check, and there is no end to it."""

Key = tuple[str, str, str, str, str]


class Episodes:
    """The episodes of nodes while what they told is read in the order of time; `ids` numbers those that begin."""

    def __init__(self, known: Iterable[Episode], ids: Iterator[int]) -> None:
        self._ids = ids
        self._before = {each.id: each for each in known}
        self._now: dict[Key, Episode] = {_key(each): each for _, each in sorted(self._before.items())}
        self._over: list[Episode] = []
        self._held = Counter(each.node for each in self._now.values())

    def see(self, fault: Episode) -> bool:
        """Take note of one sight of a fault: of an episode with number 0, first and last seen at once.

        Returns whether its node has room for it.
        """
        key = _key(fault)
        known = self._now.get(key)
        if known is None or fault.first_at > known.last_at + SILENCE:
            if self._held[fault.node] >= MOST:
                return False
            self._held[fault.node] += 1
            if known is not None:
                self._over.append(known)
            self._now[key] = replace(fault, id=next(self._ids))
            return True
        last, first = max(known.last_at, fault.last_at), known.first_at
        if fault.first_at >= first - SILENCE:  # what is older was told by a clock that jumped, or is another one
            first = min(first, fault.first_at)
        self._now[key] = replace(known, first_at=first, last_at=last, seen=known.seen + fault.seen)
        return True

    def changed(self) -> tuple[tuple[Episode, ...], tuple[Episode, ...]]:
        """Return the episodes that began, and those that went on."""
        now = sorted((*self._over, *self._now.values()), key=lambda each: each.id)
        began = tuple(each for each in now if each.id not in self._before)
        return began, tuple(each for each in now if each.id in self._before and each != self._before[each.id])


def _key(each: Episode) -> Key:
    return each.node, each.component, each.code, each.fault, each.check
