"""What a look at a fabric's counters leaves for the next one, in a form small enough to be kept with its result."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from fleet_runner.core.cabling.quality import DAY, Count, Downs, End
from fleet_runner.core.parsers.ibqueryerrors import SYMBOL_LIMIT

MOST_PORTS = 250_000
"""Ports whose counts are remembered, in about two megabytes: more than 4,096 servers with 8 rails have."""

MOST_LINKS = 2_000
"""Links whose downs are remembered: more at once is no matter of cables."""


class Joined(NamedTuple):
    """A link's two ends, the smaller first."""

    one: End
    other: End


@dataclass(frozen=True, slots=True)
class Memory:
    """What the last look saw, and when (epoch seconds).

    `whole` says that every port answered: one that is not in `counts` had counted nothing.
    """

    at: float
    whole: bool
    counts: Mapping[End, Count]
    downs: Mapping[Joined, tuple[Downs, ...]]

    def before(self, end: End) -> Count | None:
        """Return what a port had counted, None where that is not known."""
        return self.counts.get(end, Count() if self.whole else None)


def joined(one: End, other: End) -> Joined:
    """Return a link by its ends, whichever is named first."""
    return Joined(one, other) if one <= other else Joined(other, one)


def carried(counts: Mapping[End, Count], before: Memory | None, *, whole: bool) -> dict[End, Count]:
    """Return the counts to hold the next look against.

    Of a counter that ran full, what it was before stays: while it is not cleared, its errors are not forgotten. Where
    not every port answered, one that is not in `counts` keeps what it had.
    """
    if before is None:
        return dict(counts)
    told = {} if whole else dict(before.counts)
    for end, count in counts.items():
        known = before.before(end)
        ran_full = count.symbol == SYMBOL_LIMIT and known is not None and count.downed >= known.downed
        told[end] = Count(known.symbol, count.downed) if known is not None and ran_full else count
    return told


def plain(counts: Mapping[End, Count], downs: Mapping[Joined, Iterable[Downs]], *, whole: bool) -> dict[str, Any]:
    """Return the memory as plain JSON.

    Shape: {"whole", "ports": {guid: "port,symbol,downed ..."}, "downs": {"guid/port guid/port": [[since, until,
    times]]}}. A text for each device: what is told to a play is walked through value by value.
    """
    rows: dict[str, list[str]] = {}
    for end, count in sorted(counts.items())[:MOST_PORTS]:
        rows.setdefault(end.guid, []).append(f"{end.port},{count.symbol},{count.downed}")
    ports = {guid: " ".join(mine) for guid, mine in rows.items()}
    told = {_word(link): [list(each) for each in known] for link, known in sorted(downs.items())[:MOST_LINKS]}
    return {"whole": whole and len(counts) <= MOST_PORTS, "ports": ports, "downs": told}


def recall(before: object, now: float) -> Memory | None:
    """Read what was kept with the last result: None where nothing was, in another form, or more than a day ago."""
    try:
        memory = _memory(before)
    except (AttributeError, LookupError, TypeError, ValueError):
        return None
    return memory if now - DAY <= memory.at < now else None


def _memory(before: Any) -> Memory:
    observed = before["observed"]
    counts = {
        End(guid, int(port)): Count(int(symbol), int(downed))
        for guid, rows in observed["ports"].items()
        for port, symbol, downed in (row.split(",") for row in rows.split())
    }
    downs = {
        _link(word): tuple(Downs(float(since), float(until), int(times)) for since, until, times in rows)
        for word, rows in observed["downs"].items()
    }
    return Memory(float(before["at"]), bool(observed["whole"]), counts, downs)


def _word(link: Joined) -> str:
    return " ".join(f"{end.guid}/{end.port}" for end in link)


def _link(word: str) -> Joined:
    one, other = (each.split("/") for each in word.split(" "))
    return joined(End(one[0], int(one[1])), End(other[0], int(other[1])))
