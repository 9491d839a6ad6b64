"""What a look at a fabric's counters leaves for the next one, in a form small enough to be kept with its result.

Symbol errors are held against a mark: what a look at least `LONG_SECONDS` before had read. A look sets the next mark
once the newest is that old. Two marks are kept, so that a look that confirms another soon after reaches as far back.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.quality import DAY, LONG_SECONDS, Count, Downs, End, Grown, Known, grown, restarted
from fleet_runner.core.checks.parsers.ibqueryerrors import SYMBOL_LIMIT

MOST_PORTS = 250_000
"""Ports whose counts are remembered, in about four megabytes: more than 4,096 servers with 8 rails have."""

MOST_LINKS = 2_000
"""Links whose downs are remembered, and bad ones: more at once is no matter of cables."""


NONE = Known()
"""Of a port that had counted nothing."""


class Joined(NamedTuple):
    """A link's two ends, the smaller first."""

    one: End
    other: End


class Marks(NamedTuple):
    """When the symbol errors were read against which the next look may hold its own (epoch seconds)."""

    older: float
    newer: float


@dataclass(frozen=True, slots=True)
class Memory:
    """What the last look left, and when it was (epoch seconds).

    `whole` says that every port answered: one of `devices` (GUIDs) that is not in `ports` had counted nothing. `bad`
    are the links, by the design's names, that were found bad and not seen well since.
    """

    at: float
    marks: Marks
    whole: bool = True
    ports: Mapping[End, Known] = field(default_factory=dict[End, Known])
    devices: frozenset[str] = frozenset()
    downs: Mapping[Joined, tuple[Downs, ...]] = field(default_factory=dict[Joined, tuple[Downs, ...]])
    bad: Mapping[Joined, Link] = field(default_factory=dict[Joined, Link])

    def soon(self, now: float) -> bool:
        """Whether the newest mark is too young to hold a look against it."""
        return now - self.marks.newer < LONG_SECONDS

    def since(self, now: float) -> float:
        """Return the time of the mark against which a look is held."""
        return self.marks.older if self.soon(now) else self.marks.newer

    def known(self, end: End) -> Known | None:
        """Return what is remembered of a port, None where nothing is: it may be new, its counts years old."""
        known = self.ports.get(end)
        return NONE if known is None and self.whole and end.guid in self.devices else known

    def grown(self, end: End, count: Count, now: float) -> Grown:
        """Return by how much a port's counts grew."""
        return grown(count, self.known(end), soon=self.soon(now))


def joined(one: End, other: End) -> Joined:
    """Return a link by its ends, whichever is named first."""
    return Joined(one, other) if one <= other else Joined(other, one)


def marks(before: Memory | None, now: float) -> Marks:
    """Return the marks that a look leaves."""
    if before is None:
        return Marks(now, now)
    return before.marks if before.soon(now) else Marks(before.marks.newer, now)


def carried(
    counts: Mapping[End, Count], before: Memory | None, now: float, *, whole: bool, upset: Collection[End] = ()
) -> dict[End, Known]:
    """Return what is remembered of each port after a look.

    What a port counts is taken as it is where nothing was known of it, it restarted, or something `upset` it. Of a
    counter that ran full, what it was before stays: while it is not cleared, its errors are not forgotten. Where not
    every port answered, one that is not in `counts` keeps what it had.
    """
    told = {} if whole or before is None else dict(before.ports)
    soon = before is not None and before.soon(now)
    for end, (symbol, downed) in counts.items():
        known = before.known(end) if before is not None else None
        if known is None or end in upset or restarted(Count(symbol, downed), known):
            told[end] = Known(symbol, symbol, downed)
        elif soon:
            told[end] = known._replace(downed=downed)
        else:
            told[end] = Known(known.newer, known.newer if symbol == SYMBOL_LIMIT else symbol, downed)
    return told


def plain(memory: Memory) -> dict[str, Any]:
    """Return the memory as plain JSON, without `at`.

    Shape: {"marks": [older, newer], "whole", "ports": {guid: "port,older,newer,downed ..."}, "quiet": "guid ...",
    "downs": {"guid/port guid/port": [[since, until, times]]}, "bad": {"guid/port guid/port": [device, interface,
    device, interface]}}. Long texts, not lists: what is told to a play is walked through value by value.
    """
    whole = memory.whole and len(memory.ports) <= MOST_PORTS
    rows: dict[str, list[str]] = {}
    for end, known in islice(memory.ports.items(), MOST_PORTS):
        if not whole or any(known):
            rows.setdefault(end.guid, []).append(f"{end.port},{known.older},{known.newer},{known.downed}")
    return {
        "marks": [*memory.marks],
        "whole": whole,
        "ports": {guid: " ".join(mine) for guid, mine in rows.items()},
        "quiet": " ".join(sorted(memory.devices - rows.keys())),
        "downs": {
            _word(each): [list(one) for one in known] for each, known in sorted(memory.downs.items())[:MOST_LINKS]
        },
        "bad": {_word(each): [*named.a, *named.b] for each, named in sorted(memory.bad.items())[:MOST_LINKS]},
    }


def recall(before: object, now: float) -> Memory | None:
    """Read what was kept with the last result: None where nothing was, in another form, or more than a day ago."""
    try:
        memory = _memory(before)
    except (AttributeError, LookupError, TypeError, ValueError):
        return None
    kept = now - DAY <= memory.at < now and memory.marks.older <= memory.marks.newer < now
    return memory if kept else None


def _memory(before: Any) -> Memory:
    observed = before["observed"]
    marked = Marks(*map(float, observed["marks"]))
    ports: dict[End, Known] = {}
    for guid, rows in observed["ports"].items():
        for row in rows.split():
            port, older, newer, downed = row.split(",")
            ports[End(guid, int(port))] = Known(int(older), int(newer), int(downed))
    downs = {
        _joined(word): tuple(Downs(float(since), float(until), int(times)) for since, until, times in rows)
        for word, rows in observed["downs"].items()
    }
    bad = {_joined(word): _link(*map(str, cells)) for word, cells in observed["bad"].items()}
    devices = frozenset((*observed["ports"], *observed["quiet"].split()))
    return Memory(float(before["at"]), marked, bool(observed["whole"]), ports, devices, downs, bad)


def _link(device: str, interface: str, far_device: str, far_interface: str) -> Link:
    return link(Port(device, interface), Port(far_device, far_interface))


def _word(ends: Joined) -> str:
    return " ".join(f"{end.guid}/{end.port}" for end in ends)


def _joined(word: str) -> Joined:
    one, other = (each.split("/") for each in word.split(" "))
    return joined(End(one[0], int(one[1])), End(other[0], int(other[1])))
