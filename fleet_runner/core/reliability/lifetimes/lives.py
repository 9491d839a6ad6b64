"""The lives of parts: from what age to what age each was watched, and what ended it.

Age is time in service: on a shelf a part does not grow older. Few parts are watched from the day they were new. So a
life begins with the age at which a part was first seen (left truncation), and ends with a fault, or with the last
sight of a part that is still well (right censoring).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import NamedTuple

from fleet_runner.core.reliability.lifetimes.fatal import FATAL, SENT_BACK
from fleet_runner.core.reliability.parts.stay import Episode, Stay
from fleet_runner.core.tickets.rma_cases import Case

DAY = 86_400.0

AT_FIRST = 7 * DAY
"""Seconds since the first part of its kind was seen: what is seen in them was there before anybody looked."""

AROUND = DAY
"""Seconds around a stay in which a fault of its place is its part's, where no serial number says whose it is."""

LEAST = 1 / 24
"""Days that a part lived at least that was broken when it was first seen."""


@dataclass(frozen=True, slots=True)
class Life:
    """A time for which a part was watched: ages in days, from `entry` to `exit`; `code` says what ended it, or "".

    A part that was moved has several. `aged` is False where nobody knows how old the part was when it was first seen:
    then ages count from there, and only their differences mean something. `new_at` is when it was new.
    """

    kind: str
    serial: str
    node: str
    entry: float
    exit: float
    code: str
    aged: bool
    new_at: float

    @property
    def month(self) -> str:
        """Return the month in which the part was new: "2026-05"."""
        return datetime.fromtimestamp(self.new_at, UTC).strftime("%Y-%m")


class Ended(NamedTuple):
    """What ended the life of a part, and when."""

    at: float
    code: str


def lives(
    stays: Iterable[Stay], episodes: Iterable[Episode], cases: Iterable[Case], born: Mapping[str, float]
) -> list[Life]:
    """Return the lives of all parts with a serial number; `born` says when the bring-up of nodes began.

    A part that was there when its kind was first watched is as old as its node; of one that came later it is assumed
    that it was new. Where the node's bring-up is not on record, the age is not known.
    """
    parts: dict[tuple[str, str], list[Stay]] = defaultdict(list)
    begun: dict[str, float] = {}
    for stay in stays:
        begun[stay.kind] = min(stay.first_at, begun.get(stay.kind, stay.first_at))
        if stay.serial:
            parts[stay.kind, stay.serial].append(stay)
    ends = _ends(parts, episodes, cases)
    found: list[Life] = []
    for (kind, serial), mine in parts.items():
        mine.sort(key=lambda stay: stay.first_at)
        was_there = mine[0].first_at - begun[kind] <= AT_FIRST
        found += _life(mine, ends.get((kind, serial)), born, was_there=was_there)
    return found


def _life(
    stays: Sequence[Stay], ended: Ended | None, born: Mapping[str, float], *, was_there: bool
) -> Iterator[Life]:
    first = stays[0]
    new_at = born.get(first.node, first.first_at) if was_there else first.first_at
    aged = not was_there or (first.node in born and new_at <= first.first_at)
    age = (first.first_at - new_at) / DAY if aged else 0.0
    upto = first.first_at
    for stay, after in pairwise([*stays, None]):
        assert stay is not None  # noqa: S101  only the last is
        begins = max(stay.first_at, upto)
        upto = max(stay.last_at, begins)
        over = ended is not None and (after is None or ended.at <= after.first_at)
        if ended is not None and over:
            upto = max(begins, min(upto, ended.at))
        days = max((upto - begins) / DAY, LEAST if over else 0.0)
        code = ended.code if ended is not None and over else ""
        yield Life(
            stay.kind, stay.serial, first.node, age, age + days, code, aged, new_at if aged else first.first_at
        )
        age += days
        if over:
            return


def _ends(
    parts: Mapping[tuple[str, str], Sequence[Stay]], episodes: Iterable[Episode], cases: Iterable[Case]
) -> dict[tuple[str, str], Ended]:
    """Return the first thing that ended each part's life; what was seen before the part was is not its own."""
    places: dict[tuple[str, str], list[Stay]] = defaultdict(list)
    kinds: dict[str, list[str]] = defaultdict(list)
    for (kind, serial), mine in parts.items():
        kinds[serial].append(kind)
        for stay in mine:
            places[stay.node, stay.component].append(stay)
    found: dict[tuple[str, str], Ended] = {}
    for key, ended in (*_faults(places, episodes), *_exchanged(kinds, cases)):
        if key in parts and (key not in found or ended.at < found[key].at):
            found[key] = ended
    return found


def _faults(
    places: Mapping[tuple[str, str], Sequence[Stay]], episodes: Iterable[Episode]
) -> Iterator[tuple[tuple[str, str], Ended]]:
    for episode in episodes:
        for kind in (kind for kind, codes in FATAL.items() if episode.code in codes):
            for serial in [episode.serial] if episode.serial else _there(places, kind, episode):
                yield (kind, serial), Ended(episode.first_at, episode.code)


def _exchanged(kinds: Mapping[str, Sequence[str]], cases: Iterable[Case]) -> Iterator[tuple[tuple[str, str], Ended]]:
    for case in cases:
        for part in case.parts:
            yield from (((kind, part.out), Ended(case.opened_at, SENT_BACK)) for kind in kinds.get(part.out, ()))


def _there(places: Mapping[tuple[str, str], Sequence[Stay]], kind: str, episode: Episode) -> Iterator[str]:
    """Return the part that was in a place when a fault began there: where two meet, none, for nobody knows whose."""
    there = {
        stay.serial
        for stay in places.get((episode.node, episode.component), ())
        if stay.kind == kind and stay.first_at - AROUND <= episode.first_at <= stay.last_at + AROUND
    }
    if len(there) == 1:
        yield from there
