"""How far counters grew within the last day: a check that remembers keeps two looks at them, up to a day old."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from fleet_runner.core.checks.evidence import Expected, Reading
from fleet_runner.core.checks.parsers.json_text import number

DAY = 86_400.0

HALF = DAY / 2
"""Once the younger look is so old, it becomes the older one: what grew is told over half a day to a day."""

Counts = Mapping[str, int]


class Growth(NamedTuple):
    """What grew, by counter, in how many seconds; and what the next look is to be given (`observed["looks"]`).

    The first look at a node tells nothing: nothing grew, in no time.
    """

    grown: dict[str, int]
    seconds: float
    looks: list[dict[str, Any]]

    @property
    def hours(self) -> str:
        """Return the time in words."""
        return f"{self.seconds / 3600:.1f} h"


class _Look(NamedTuple):
    at: float
    counts: Counts


def growth(name: str, counts: Counts, reading: Reading, expected: Expected, *, anew: bool = False) -> Growth:
    """Compare a check's counters with its older look; one that fell was cleared, and counts from zero.

    A counter that nobody saw before is a new part's: what it counted elsewhere is no growth. With `anew`, one that
    fell says that the node booted: what its counters gathered since then, while links came up, is no growth either.
    """
    now = number(expected.run.get("now")) or reading.at
    looks = _looks(expected.run.get("before"), name, now)
    if not looks:
        return Growth({}, 0.0, [_plain(_Look(now, counts))])
    oldest = looks[0]
    if anew and any(count < oldest.counts.get(key, 0) for key, count in counts.items()):
        return Growth({}, 0.0, [_plain(_Look(now, counts))])
    grown = {
        key: count - before if count >= before else count
        for key, count in counts.items()
        if (before := oldest.counts.get(key)) is not None and count != before
    }
    kept = [*looks, _Look(now, counts)] if len(looks) == 1 else looks
    if len(kept) > 1 and now - kept[1].at >= HALF:
        kept = [kept[1], _Look(now, counts)]
    return Growth(
        {key: count for key, count in grown.items() if count}, now - oldest.at, [_plain(each) for each in kept]
    )


def _looks(before: object, name: str, now: float) -> list[_Look]:
    """Return the looks that were remembered, the older one first; what cannot be read was never remembered."""
    mine = before.get(name) if isinstance(before, Mapping) else None
    observed = mine.get("observed") if isinstance(mine, Mapping) else None
    rows = observed.get("looks") if isinstance(observed, Mapping) else None
    found = [_look(row) for row in rows[:2]] if isinstance(rows, list) else []
    return sorted((each for each in found if each is not None and each.at < now), key=lambda each: each.at)


def _look(row: object) -> _Look | None:
    at = number(row.get("at")) if isinstance(row, Mapping) else None
    counts = row.get("counts") if isinstance(row, Mapping) else None
    if at is None or not isinstance(counts, Mapping):
        return None
    return _Look(at, {str(key): count for key, count in counts.items() if type(count) is int and count >= 0})


def _plain(look: _Look) -> dict[str, Any]:
    return {"at": look.at, "counts": dict(look.counts)}
