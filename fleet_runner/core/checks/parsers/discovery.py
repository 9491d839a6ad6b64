"""What a fabric says of itself, whichever tool asked it: links between ports as the fabric names them.

Each form of capture tells a link from both of its ends. `joined` makes one link of the two; what only one end told of
is kept apart, for `whole` to refuse.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fleet_runner.core.base.errors import EvidenceError

GUID_DIGITS = 16

LARGE = 1_000_000
"""Characters of a capture that is worth reading by columns."""

AGGREGATION_NODE = "Aggregation Node"
"""A switch's own SHARP engine describes itself so ("Mellanox Technologies Aggregation Node"), and stands in captures
as an adapter behind the switch's last port. It is a part of the switch: no cable joins them."""

Rate = tuple[int, str]
"""Width ("4x" is 4) and speed ("NDR"); 0 and "" where not told."""

Line = tuple[int, str]
"""A line's number, counted from 1, and its text."""


class FabricPort(NamedTuple):
    """One end as the fabric names it: the node's description and port number, the GUID as 16 lower-case digits.

    `kind` is CA, SW or RT. `guid` is the port's where the line tells it, else the node's.
    """

    name: str
    port: int
    kind: str
    guid: str


class FabricLink(NamedTuple):
    """Two ends that are up, with the width ("4x" is 4) and speed ("NDR") in use; 0 and "" where not told."""

    a: FabricPort
    b: FabricPort
    width: int
    speed: str


@dataclass(frozen=True, slots=True)
class Discovery:
    """What a fabric looked like; each link is in `links` once.

    `lonely` are those that only one of their ends told of: a whole capture tells each from both. `unread` are lines
    (counted from 1) that look like records and cannot be read, `skipped` those that can be none: a terminal's
    heading, a prompt, a tool's warning. `unanswered` are ports that are up, and at whose far end nobody answers; a
    form that does not tell them from ports that are down has none. `identified` is whether each adapter's port has
    its own GUID here; without it a GUID that is not seen may be there. `lacks` says what a capture that can be used
    does not tell.
    """

    links: Sequence[FabricLink]
    lonely: tuple[FabricLink, ...]
    unread: tuple[Line, ...]
    unanswered: tuple[FabricPort, ...] = ()
    skipped: tuple[Line, ...] = ()
    identified: bool = True
    lacks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """A tool's way to print: what its lines look like that are read, and those that need not be.

    Both begin with the newline before their line: that is found faster than the beginning of a line. `piece` is what
    stands in any piece of a record, and `words` are what its records begin with: a line without them can be none.
    """

    tool: str
    read: tuple[re.Pattern[str], ...]
    passed_over: re.Pattern[str]
    piece: re.Pattern[str]
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LldpEnds:
    """What each end that is up told: which end it is and which its far end, a row each, in the text's own words.

    `links` gives the links of pairs of rows that tell of each other, `alone` what single rows tell of theirs. They
    are asked for as few rows as will do, since a large fabric has some hundred thousand. `lines` counts what was
    read, ends that are down included. `unanswered` is Discovery's.
    """

    near: Sequence[str]
    far: Sequence[str]
    links: Callable[[Sequence[int], Sequence[int]], list[FabricLink]]
    alone: Callable[[Sequence[int]], list[FabricLink]]
    lines: int
    unanswered: Sequence[FabricPort] = ()


def joined(text: str, form: Form, told: LldpEnds) -> Discovery:
    """Join the two tellings of each link; EvidenceError where there is none, or where one port tells twice."""
    return paired(text, form.tool, told, *_unread(text, form, told.lines))


def paired(text: str, tool: str, told: LldpEnds, unread: tuple[Line, ...], skipped: tuple[Line, ...]) -> Discovery:
    """Join as `joined`, for a form that knows by itself which of its lines are no records."""
    if not told.near:
        raise EvidenceError(_nothing(tool, unread or skipped))
    if len(set(told.near)) < len(told.near):
        raise EvidenceError(_twice(told, tool))
    first, second, alone = _paired(range(len(told.near)), zip(told.near, told.far, strict=True))
    if alone:  # the other telling may have written the same GUIDs in other words
        more, others, alone = _paired(alone, [(_end(each.a), _end(each.b)) for each in told.alone(alone)])
        first, second = first + more, second + others
    lonely = told.alone(alone)
    links = cables(told.links(first, second) + lonely, text)
    return Discovery(tuple(links), tuple(lonely), unread, tuple(told.unanswered), skipped)


def cables(links: list[FabricLink], text: str) -> list[FabricLink]:
    """Return the links that are cables, of those that a text told of."""
    if AGGREGATION_NODE not in text:
        return links
    return [each for each in links if not (_aggregates(each.a) or _aggregates(each.b))]


def whole(found: Discovery, tool: str) -> Discovery:
    """Return a discovery that was read to its end, since what is absent from half of one says nothing."""
    if found.unread:
        number, line = found.unread[0]
        raise EvidenceError(f"{tool} line {number} cannot be read: {line[:80]!r}; was it cut short?")
    if found.lonely:
        count, first = len(found.lonely), found.lonely[0]
        raise EvidenceError(
            f"{tool} told {count} link{'s' if count > 1 else ''} from one end only, the first at {said(first.a)}, to "
            f"{said(first.b)}, expected both ends; the capture is not whole, read the fabric again"
        )
    return found


def said(port: FabricPort) -> str:
    """Return how messages call a port of the fabric."""
    return f"{port.name!r} port {port.port}"


def guid(digits: str) -> str:
    """Return a GUID as 16 lower-case digits: some versions leave leading zeros out, and people change the case."""
    return digits.lower().rjust(GUID_DIGITS, "0")


def _unread(text: str, form: Form, lines: int) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """Return the lines that neither were read nor need be: those that may be records, and those that can be none."""
    after = "\n" + text
    count = after.count("\n")
    if lines + after.endswith("\n") == count or lines + len(form.passed_over.findall(after)) == count:
        return (), ()
    patterns = (*form.read, form.passed_over)
    unread, skipped = list[Line](), list[Line]()
    for number, line in enumerate(text.split("\n"), start=1):
        if not any(pattern.match("\n" + line) for pattern in patterns):
            told = line.strip()
            (unread if _may_be_record(told, form) else skipped).append((number, told))
    return tuple(unread), tuple(skipped)


def _may_be_record(line: str, form: Form) -> bool:
    """A record may have been cut within its first word."""
    begins = line.startswith(form.words) or any(word.startswith(line) for word in form.words)
    return begins or form.piece.search(line) is not None


def _paired(rows: Iterable[int], ends: Iterable[tuple[str, str]]) -> tuple[list[int], list[int], list[int]]:
    """Return the rows that tell of each other, the first of each pair and the second, and those that are alone."""
    waiting: dict[tuple[str, str], int] = {}
    first: list[int] = []
    second: list[int] = []
    for row, (near, far) in zip(rows, ends, strict=True):
        other = waiting.pop((far, near), None)
        if other is None:
            waiting[near, far] = row
        else:
            first.append(other)
            second.append(row)
    return first, second, list(waiting.values())


def _end(port: FabricPort) -> str:
    return f"{port.port} {port.guid}"


def _aggregates(port: FabricPort) -> bool:
    return port.name.endswith(AGGREGATION_NODE) and port.kind == "CA"


def _nothing(tool: str, unread: Sequence[Line]) -> str:
    if unread:
        number, line = unread[0]
        return f"{tool} line {number}: expected a record of a fabric, found {line[:80]!r}"
    return f"{tool} saw no link at all: is there a fabric, and may this user ask it?"


def _twice(told: LldpEnds, tool: str) -> str:
    seen: dict[str, int] = {}
    again = [row for row, near in enumerate(told.near) if seen.setdefault(near, row) != row]
    row = next((row for row in again if told.far[row] != told.far[seen[told.near[row]]]), again[0])
    one, other = told.alone([seen[told.near[row]], row])
    return (
        f"{tool}: {said(one.a)} is listed twice, joined to {said(one.b)} and to {said(other.b)}; "
        f"expected each port once: are these two captures in one?"
    )
