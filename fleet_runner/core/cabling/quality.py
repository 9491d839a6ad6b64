"""Links that are plugged as designed and still bad: what both of their ends counted between two looks at a fabric.

The rules are those of UFM's plug-in for port isolation (its README), which looks all the time; a look in a while sees
only how much was counted since the last one. A counter that went backwards was cleared or its device restarted, and
one that is full stopped counting: neither says anything about a link.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import NamedTuple

from fleet_runner.core.cabling.links import Port
from fleet_runner.core.checks.parsers.ibqueryerrors import DOWNED_LIMIT, SYMBOL_LIMIT

MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0

SHORT_SECONDS, SHORT_SYMBOLS = 12 * MINUTE, 2.88
LONG_SECONDS, LONG_SYMBOLS = 125 * MINUTE, 3.0
"""Symbol errors that a link of 400 Gb/s may count in each of the two windows (UFM's PDR plug-in)."""

HOUR_FLAPS, DAY_FLAPS = 3, 6
"""Link downs, seen from both ends, that make a link flap: in an hour, and in a day (ours; see FACTS of the field)."""

MOST_DOWNS = 12
"""Downs of one link that are remembered, the newest: more than it takes to call it flapping."""


class End(NamedTuple):
    """What tells a port of a fabric from all others: its GUID (16 lower-case digits) and number."""

    guid: str
    port: int


class Count(NamedTuple):
    """What a port counts: symbol errors, and how often its link went down."""

    symbol: int = 0
    downed: int = 0


class Known(NamedTuple):
    """What is remembered of a port: its symbol errors at two marks in time, and the downs at the last look."""

    older: int = 0
    newer: int = 0
    downed: int = 0


class Grown(NamedTuple):
    """By how much a port's counts grew, errors since a mark and downs since the last look; None where unknown.

    `full` says that the counter of symbol errors has reached its end: there were at least as many.
    """

    symbol: int | None
    downed: int | None
    full: bool = False


class Side(NamedTuple):
    """One side of a link: its port in the design's words and in the fabric's, and by how much its counts grew."""

    port: Port
    end: End
    grown: Grown


class Downs(NamedTuple):
    """How often a link went down between two looks (epoch seconds)."""

    since: float
    until: float
    times: int


class Kind(StrEnum):
    """What is wrong with a link."""

    SYMBOLS = "symbol_errors"
    FLAPS = "link_flaps"


@dataclass(frozen=True, slots=True)
class BadLink:
    """A link that is bad. `first` is the side whose port shows it, or shows it most."""

    kinds: tuple[Kind, ...]
    message: str
    first: Side
    other: Side


@dataclass(frozen=True, slots=True)
class Window:
    """The time between two looks, in epoch seconds."""

    since: float
    until: float

    @property
    def words(self) -> str:
        """Return how long it was."""
        return spoken(self.until - self.since)


def spoken(seconds: float) -> str:
    """Return a length of time in the words of a ticket: "10 min", "4.1 h"."""
    return f"{seconds / MINUTE:.0f} min" if seconds < 2 * HOUR else f"{seconds / HOUR:.3g} h"


def times(count: int) -> str:
    """Return how often something happened in words."""
    return "once" if count == 1 else f"{count} times"


def restarted(now: Count, known: Known) -> bool:
    """Whether a port's counters went backwards: cleared, or restarted with its device, nobody knows when."""
    return now.symbol < known.newer or now.downed < known.downed


def grown(now: Count, known: Known | None, *, soon: bool = False) -> Grown:
    """Return by how much a port's counts grew, since the older mark if `soon`; `known` is None where nothing is."""
    full = now.symbol == SYMBOL_LIMIT
    if known is None:
        return Grown(None, None, full)
    if restarted(now, known):
        return Grown(0, 0)
    before = known.older if soon else known.newer
    symbol = None if full and before == SYMBOL_LIMIT else now.symbol - before
    downed = None if now.downed == DOWNED_LIMIT else now.downed - known.downed
    return Grown(symbol, downed, full)


def allowed_symbols(seconds: float) -> float:
    """Return how many symbol errors a port may count in a window: never fewer than in the rule's own windows."""
    if seconds <= SHORT_SECONDS:
        return SHORT_SYMBOLS
    return LONG_SYMBOLS * max(1.0, seconds / LONG_SECONDS)


def downs(one: Grown, other: Grown) -> int:
    """Return how often both ends saw their link go down: what only one end saw is no news about a cable."""
    return min(one.downed or 0, other.downed or 0)


def lopsided(one: Grown, other: Grown) -> bool:
    """Whether one end saw its link go down and the other did not, which both would if it had."""
    return None not in (one.downed, other.downed) and bool(one.downed) != bool(other.downed)


def kept(known: Iterable[Downs], window: Window, count: int) -> tuple[Downs, ...]:
    """Return the downs to remember: those of the last day, and the new ones."""
    new = (Downs(window.since, window.until, count),) if count else ()
    young = tuple(each for each in known if window.until - DAY <= each.since)
    return (*young, *new)[-MOST_DOWNS:]


def flapping(known: Iterable[Downs], now: float) -> str:
    """Return how often a link flapped if that is too often, "" if not. Only looks that lie wholly in a span count."""
    told = tuple(known)
    for span, most in ((HOUR, HOUR_FLAPS), (DAY, DAY_FLAPS)):
        count = sum(each.times for each in told if now - span <= each.since)
        if count >= most:
            return f"went down {count} times in {spoken(span)}, expected fewer than {most}"
    return ""


def worn(sides: tuple[Side, Side], known: Iterable[Downs], window: Window) -> BadLink | None:
    """Judge one link from the errors that both of its ends counted in a window, and its downs of the last day."""
    other, first = sorted(sides, key=lambda side: (side.grown.symbol or 0, side.grown.downed or 0))
    said: dict[Kind, str] = {}
    errors, most = first.grown.symbol or 0, allowed_symbols(window.until - window.since)
    if errors > most:
        said[Kind.SYMBOLS] = f"counted {_errors(first.grown)} at {first.port} in {window.words}, allowed {most:.3g}"
    if often := flapping(known, window.until):
        said[Kind.FLAPS] = often
    if not said:
        return None
    message = f"The link {first.port} to {other.port} {' and '.join(said.values())}."
    return BadLink(tuple(said), message, first, other)


def key(ports: Iterable[Port]) -> str:
    """Return the key of a bad link: the same from whichever end it is seen."""
    lines = "\n".join(f"{port.device}\t{port.interface}" for port in sorted(ports))
    return f"cabling/quality/{sha256(lines.encode()).hexdigest()[:12]}"


def disturbed(ports: Iterable[Port], until: Mapping[str, float], since: float) -> bool:
    """Whether a boot, a drain or work on a device of one of the ports reached into the time since then."""
    return any(until.get(port.device, since) > since for port in ports)


def _errors(counted: Grown) -> str:
    return f"{'at least ' if counted.full else ''}{counted.symbol} symbol errors"
