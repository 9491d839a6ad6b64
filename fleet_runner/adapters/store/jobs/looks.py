"""What checks found on some nodes in a time, and when each finding came to be, without reading every result.

Three looks of each check on each node tell what changed: the last before the time, the last in it, the first after
it. Answers that failed have an index of their own, so those in between are known, too. What is new is then narrowed
to two looks that follow each other: findings stay until they are cleared.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median_low
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    Text,
    bindparam,
    case,
    func,
    null,
    select,
    text,
    type_coerce,
    union_all,
)

from fleet_runner.adapters.store.results.results import first_id, in_chunks
from fleet_runner.adapters.store.schema.core import results
from fleet_runner.core.checks.catalogue import link_flaps
from fleet_runner.core.checks.parsers.json_text import number
from fleet_runner.core.checks.verdicts import Remedy, Verdict
from fleet_runner.core.jobs.known import Booted, Seen

ROUND = 150
"""Results of a node that are read to find one of each check: a sweep has fewer."""

MOST_FAILED = 200_000
"""Answers that failed which are looked through, of the whole fleet, the newest."""

MOST_PICKED = 32
"""Of a check's answers on a node that failed one after the other, how many are read."""

MOST_NARROWED = 500
MOST_GAPS = 500
"""Findings that are dated to two looks, and pauses of a failing check that are looked into."""

STEPS = 40
"""Halvings: more than there are ids."""

APART = 2.5
"""Answers that failed are not one after the other where they are so many times farther apart than they mostly are."""

REBOOTED = 60.0
"""Seconds by which two starts of a kernel differ at least; `uptime` works them out anew each time."""

NOTHING = "[]"
"""Findings of an answer that found none, as they are stored."""

LOGGED = ", last at "
"""What a message says that was made of a log's lines; it changes when another line comes."""

Span = tuple[float, float, float]
"""A job's begin, its end, and until when is looked for what tells of it."""


class Look(NamedTuple):
    """One check's answer on a node: its findings by code and component, and when the kernel had started."""

    id: int
    check: str
    at: float
    findings: dict[tuple[str, str], dict[str, Any]]
    booted: float | None = None


_FINDINGS = type_coerce(results.c.findings, Text).label("findings")
_OBSERVED = case((results.c.check == link_flaps.NAME, type_coerce(results.c.observed, Text)), else_=null())
_COLUMNS: list[ColumnElement[Any]] = [results.c.id, results.c.check, results.c.at, _FINDINGS]
_SHOWN: list[ColumnElement[Any]] = [*_COLUMNS, _OBSERVED.label("observed")]
_OF_NODE: Select[Any] = select(*_SHOWN).where(results.c.node == bindparam("node"))


def _round(one: Callable[[Any], Any], within: ColumnElement[bool], order: ColumnElement[Any]) -> Select[Any]:
    """Return the ids of a round of a node's answers; of those of a check that say the same, `one` of them."""
    mine = select(*_SHOWN).where(results.c.node == bindparam("node"), within).order_by(order).limit(ROUND).subquery()
    return select(one(mine.c.id)).group_by(mine.c.check, mine.c.findings, mine.c.observed)


_ROUNDS = union_all(
    _round(func.max, results.c.id < bindparam("first"), results.c.id.desc()),
    _round(func.max, results.c.id < bindparam("ended"), results.c.id.desc()),
    _round(func.min, results.c.id >= bindparam("ended"), results.c.id),
)
_AROUND: Select[Any] = select(*_SHOWN).where(results.c.id.in_(_ROUNDS), results.c.id < bindparam("last"))
_ONE_BEFORE = (
    _OF_NODE.where(results.c.check == bindparam("check"), results.c.id.between(bindparam("least"), bindparam("most")))
    .order_by(results.c.id.desc())
    .limit(1)
)


def found(connection: Connection, names: Sequence[str], span: Span) -> tuple[list[Seen], list[Booted], list[str]]:
    """Return what was found on some nodes, their boots, and what was left out."""
    first, ended, last = (first_id(connection, moment) for moment in span)
    left_out: list[str] = []
    picked = _failed(connection, set(names), (first, last), left_out)
    seen: list[Seen] = []
    booted: list[Booted] = []
    dating = _Dating(connection, first, MOST_NARROWED)
    for name in names:
        around = {"node": name, "first": first, "ended": ended, "last": last}
        looks = _by_check(connection.execute(_AROUND, around))
        booted += _boots(name, looks.get(link_flaps.NAME, []), first)
        for check in {check for node, check in picked if node == name} | looks.keys():
            mine = [*looks.get(check, ()), *picked.get((name, check), ())]
            seen += dating.changes((name, check), _ordered(mine))
    if dating.left < 0:
        left_out.append(f"Only {MOST_NARROWED} findings were dated between two looks in a row.")
    return seen, booted, left_out


def _look(row: Row[Any]) -> Look:
    said = () if row.findings == NOTHING else json.loads(row.findings)
    findings = {(each["code"], each["component"]): each for each in said}
    observed = None if row.observed is None else json.loads(row.observed)
    booted = number(observed.get(link_flaps.BOOTED)) if isinstance(observed, dict) else None
    return Look(row.id, row.check, row.at, findings, booted)


def _by_check(rows: Iterable[Row[Any]]) -> dict[str, list[Look]]:
    looks: dict[str, list[Look]] = defaultdict(list)
    for row in rows:
        looks[row.check].append(_look(row))
    return looks


def _ordered(looks: Iterable[Look]) -> list[Look]:
    return sorted({look.id: look for look in looks}.values())


def _failed(
    connection: Connection, names: set[str], ids: tuple[int, int], left_out: list[str]
) -> dict[tuple[str, str], list[Look]]:
    """Return answers that failed between two ids, by node and check, and what was said in pauses between them."""
    columns: list[ColumnElement[Any]] = [results.c.id, results.c.node, results.c.check, results.c.at]
    notable = text("results.verdict IN ('FAIL', 'UNKNOWN')")  # so that SQLite takes the index
    mine = select(*columns).where(
        notable, results.c.verdict == Verdict.FAIL.value, results.c.id >= ids[0], results.c.id < ids[1]
    )
    rows = connection.execute(mine.order_by(results.c.id.desc()).limit(MOST_FAILED)).all()
    if len(rows) == MOST_FAILED:
        left_out.append(f"Of the answers that failed meanwhile only the newest {MOST_FAILED} were looked through.")
    pairs: dict[tuple[str, str], list[Row[Any]]] = defaultdict(list)
    for row in reversed(rows):
        if row.node in names:
            pairs[row.node, row.check].append(row)
    wanted = {row.id for mine in pairs.values() for row in _picked(mine)}
    read: list[ColumnElement[Any]] = [*_COLUMNS, results.c.node, null().label("observed")]
    looks: dict[tuple[str, str], list[Look]] = defaultdict(list)
    for row in in_chunks(connection, select(*read), results.c.id, wanted):
        looks[row.node, row.check].append(_look(row))
    paused = [(pair, pause) for pair, mine in pairs.items() for pause in _pauses(mine)]
    if len(paused) > MOST_GAPS:
        left_out.append(f"Of {len(paused)} pauses of checks that failed only {MOST_GAPS} were looked into.")
    for (node, check), (least, most) in paused[-MOST_GAPS:]:
        looks[node, check] += _between(connection, (node, check), least, most)
    return looks


def _picked(rows: Sequence[Row[Any]]) -> Iterator[Row[Any]]:
    """Yield the first and the last, and others evenly; those around a pause come with it."""
    step = max(1, -(-len(rows) // MOST_PICKED))
    yield from rows[::step]
    yield rows[-1]


def _pauses(rows: Sequence[Row[Any]]) -> Iterator[tuple[int, int]]:
    """Yield the ids between which a failing check may have passed."""
    gaps = [later.at - earlier.at for earlier, later in pairwise(rows)]
    usual = median_low(gaps) if gaps else 0.0
    for index, gap in enumerate(gaps):
        if gap > APART * usual or len(gaps) == 1:
            yield rows[index].id + 1, rows[index + 1].id - 1


def _between(connection: Connection, of: tuple[str, str], least: int, most: int) -> list[Look]:
    """Return the newest look of a check on a node between two ids, both among them."""
    given = {"node": of[0], "check": of[1], "least": least, "most": most}
    return [_look(row) for row in connection.execute(_ONE_BEFORE, given)]


@dataclass(slots=True)
class _Dating:
    """Finds out between which two looks findings came to be, of so many as are `left`.

    The time begins with the id `first`.
    """

    connection: Connection
    first: int
    left: int

    def changes(self, of: tuple[str, str], looks: Sequence[Look]) -> Iterator[Seen]:
        """Yield what is new from look to look; what stood when the time began is told once."""
        before: Look | None = None
        for look in looks:
            for key, finding in look.findings.items() if look.id >= self.first else ():
                old = before.findings.get(key) if before is not None else None
                if old is None:
                    yield self._narrowed(of, key, before, look)
                elif (before is not None and before.id < self.first) or _logged_again(old, finding):
                    yield _seen(of, finding, look.at, None, stood=True)
            before = look

    def _narrowed(self, of: tuple[str, str], key: tuple[str, str], before: Look | None, look: Look) -> Seen:
        """Return a new finding, dated between two looks in a row where there are more in between."""
        if before is not None and LOGGED not in look.findings[key]["message"]:
            self.left -= 1
            low = before.id
            for _ in range(STEPS if self.left >= 0 else 0):
                if look.id - low <= 1:
                    break
                middle = (low + look.id) // 2
                there = _between(self.connection, of, low + 1, middle)
                if there and key in there[0].findings:
                    look = there[0]
                else:
                    before, low = (there or [before])[0], middle
        return _seen(of, look.findings[key], look.at, None if before is None else before.at)


def _logged_again(old: dict[str, Any], new: dict[str, Any]) -> bool:
    return LOGGED in new["message"] and new["message"] != old["message"]


def _seen(
    of: tuple[str, str], finding: dict[str, Any], at: float, before: float | None, *, stood: bool = False
) -> Seen:
    told = (finding["code"], finding["component"], finding["message"], Remedy(finding["remedy"]))
    return Seen(*of, *told, at, before, stood)


def _boots(name: str, looks: Sequence[Look], first: int) -> Iterator[Booted]:
    """Yield starts of a node's kernel that were not known at the look before."""
    before: Look | None = None
    for look in _ordered(looks):
        if look.booted is None:
            continue
        if before is not None and look.id >= first and look.booted - (before.booted or 0.0) > REBOOTED:
            yield Booted(name, look.booted, before.at)
        before = look
