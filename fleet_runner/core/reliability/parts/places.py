"""The places of a node and the parts in them, as they are told one after the other."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from fleet_runner.core.reliability.parts.identities import Identity
from fleet_runner.core.reliability.parts.stay import Stay

Place = tuple[str, str]
"""Kind of part, and component."""

MOST = 4_000
"""Stays that a node may have in all its life: a server has some hundred places, and few of its parts are replaced."""

MOST_IN_A_PLACE = 50
"""Of them in one place: a part that calls itself something else at each look is not replaced, it babbles."""


class Places:
    """What is known of a node's places while what it told is read in the order of time.

    `ids` gives the numbers of stays that begin. Which part is in a place is known from the last time that it told its
    serial number; until it does for the first time, the place has a stay whose serial number is not known, and which
    is that part's from then on. What a node tells is not believed for ever: beyond `MOST` and `MOST_IN_A_PLACE` no
    stay begins, and whatever is in a place is the part that was there.
    """

    def __init__(self, node: str, known: Iterable[Stay], ids: Iterator[int]) -> None:
        self._node, self._ids = node, ids
        self._stays = {stay.id: stay for stay in sorted(known, key=lambda stay: stay.id)}
        self._here: dict[Place, int] = {(stay.kind, stay.component): number for number, stay in self._stays.items()}
        self._before = dict(self._stays)
        self._last: dict[int, float] = {}
        self._kinds = {stay.kind for stay in self._stays.values()}
        self._held = Counter((stay.kind, stay.component) for stay in self._stays.values())

    def see(self, told: Identity, at: float) -> None:
        """Take note that a part told its serial number."""
        place = told.kind, told.component
        here = self._here.get(place)
        if here is None or self._stays[here].serial not in {"", told.serial}:
            here = self._begin(place, at) if self._has_room(place) else here
        if here is None:
            return
        stay = self._stays[here]
        if stay.serial in {"", told.serial} and (stay.serial != told.serial or stay.slot != told.slot):
            self._stays[here] = replace(stay, serial=told.serial, slot=told.slot or stay.slot)
        self._touch(here, at)

    def find(self, kind: str, component: str, at: float) -> int | None:
        """Return the stay of whatever is in a place now, and take note that it is there; None without room for it."""
        here = self._here.get((kind, component))
        if here is None and self._has_room((kind, component)):
            here = self._begin((kind, component), at)
        if here is not None:
            self._touch(here, at)
        return here

    def serial(self, component: str) -> str:
        """Return the serial number of the part that a fault is about: for "GPU 3 NVLink 2", that of "GPU 3"."""
        while component:
            here = (self._here.get((kind, component)) for kind in self._kinds)
            found = [self._stays[number].serial for number in here if number is not None]
            if any(found):
                return max(found)
            component = component.rpartition(" ")[0]
        return ""

    def changed(self) -> tuple[tuple[Stay, ...], tuple[Stay, ...]]:
        """Return the stays that began, and those of which more is known than before."""
        now = [
            replace(self._stays[number], last_at=max(at, self._stays[number].last_at))
            for number, at in sorted(self._last.items())
        ]
        began = tuple(stay for stay in now if stay.id not in self._before)
        return began, tuple(stay for stay in now if stay.id in self._before and stay != self._before[stay.id])

    def _has_room(self, place: Place) -> bool:
        return len(self._stays) < MOST and self._held[place] < MOST_IN_A_PLACE

    def _begin(self, place: Place, at: float) -> int:
        number = next(self._ids)
        self._here[place] = number
        self._held[place] += 1
        kind, component = place
        self._kinds.add(kind)
        self._stays[number] = Stay(number, kind, "", self._node, component, first_at=at, last_at=at)
        return number

    def _touch(self, number: int, at: float) -> None:
        self._last[number] = max(at, self._last.get(number, 0.0))
