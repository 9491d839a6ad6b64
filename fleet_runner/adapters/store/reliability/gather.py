"""New results read once, node by node, into what is kept for foresight: numbers of days, stays of parts, faults.

Results are read by node, each from where its last reading ended: what that costs follows what is new, not how much is
stored. A piece, some thousand nodes of a stretch of ids, is written as a whole together with how far it came. So
whoever is killed in the middle loses a piece of work, and nothing is told twice.

What is stamped with a time to come, by a clock that is wrong or as ours is, waits in its stretch of ids until that
time has come. What is stamped long ago is of its day.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from sqlalchemy import Connection, Text, and_, bindparam, func, or_, select, type_coerce

from fleet_runner.adapters.store.engine import database
from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.faults import alarm_episodes
from fleet_runner.adapters.store.reliability.chunks import Chunk, Reached, Stretch, counters, standing, write
from fleet_runner.adapters.store.results.results import in_chunks
from fleet_runner.adapters.store.schema.core import nodes, results
from fleet_runner.adapters.store.schema.trends import episodes, gathered, stays
from fleet_runner.core.cabling.fabrics import FABRIC_TYPES
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.reliability.forecasts import Gathered
from fleet_runner.core.reliability.parts import identities
from fleet_runner.core.reliability.parts.events import SILENCE, Episodes
from fleet_runner.core.reliability.parts.places import Places
from fleet_runner.core.reliability.parts.stay import Episode, Stay
from fleet_runner.core.reliability.trends import samples
from fleet_runner.core.reliability.trends.metrics import Metric
from fleet_runner.core.reliability.trends.reading import AHEAD, DAY, Reading, ReadingBuffer, read

ROUND = 2_000_000
"""Ids that are read before the next ones are: a store of years is read a few days at a time."""

A_NODE, FEWEST = 200, 10_000
"""Of them for each node, and at least: all that one node told among them is in memory at once."""

PATIENT = 60.0
"""Seconds to wait for who writes results: nobody waits for the night's look, and it comes once a day."""

GROUP = 50
"""Nodes whose numbers are held as they were told, until they are summed up."""

LARGEST = 2_500_000
"""Summaries that are held until they are written: some 60 MB, and a second of writing."""

Progress = Callable[[str], None]


@dataclass(slots=True)
class Gathering:
    """What does not change while it is gathered: where, what is followed, and what time it is."""

    database: Database
    metrics: Sequence[Metric]
    now: float
    fabrics: frozenset[str] = frozenset()
    readers: samples.Readers = field(init=False)
    checks: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Arrange the metrics by check."""
        self.readers = samples.readers(self.metrics)
        self.checks = tuple(sorted({*self.readers, *identities.TOLD}))


def gather(database: Database, metrics: Sequence[Metric], progress: Progress, now: float) -> Gathered:
    """Read all results that are new; `progress` is told how far it came, and may raise to stop."""
    with database.write() as connection:
        reached, newest = _begin(connection, now)
    done = Gathered()
    with database.read() as connection:
        types = {row.name: row.device_type for row in connection.execute(select(nodes.c.name, nodes.c.device_type))}
        lasts = counters(connection)
    names = sorted(types)  # databases sort otherwise
    mine = Gathering(database, metrics, now, frozenset(name for name in names if types[name] in FABRIC_TYPES))
    most = max(FEWEST, min(ROUND, A_NODE * len(names)))
    while (reading := _next(reached, newest, most, now + AHEAD)).now is not None:
        left = tuple(name for name in names if name > reading.now.after)
        piece = _read(mine, reading.now, left, lasts)
        reached, told = write(database, piece, (reached, reading), now)
        done = _added(done, told)
        lasts = piece.lasts
        progress(f"results up to {reading.now.to}, {piece.after if not piece.whole else 'all nodes'}")
    with database.write() as connection:
        told_of = alarm_episodes.keep(connection, now)
    return replace(done, episodes=done.episodes + told_of)


def _next(reached: Reached, newest: int, most: int, until: float) -> Reached:
    """Say what is read next: what was begun, what has waited until now, what is new; nothing once that is read."""
    due = reached.due(until)
    if reached.now is not None:
        return reached
    if due is not None:
        return reached.resumed(due, until)
    if reached.upto >= newest:
        return reached
    return replace(reached, now=Stretch(reached.upto, min(newest, reached.upto + most), until=until))


def _begin(connection: Connection, now: float) -> tuple[Reached, int]:
    """Return from where to read on, and the newest result there is: all before it are there, too."""
    row = {"name": "results", "upto": 0, "at": now, "told": {}}
    connection.execute(database.insert(connection, gathered).values(row).on_conflict_do_nothing())
    newest = connection.execute(select(func.max(results.c.id))).scalar_one_or_none() or 0
    database.settle(connection, results, PATIENT)
    return standing(connection), newest


def _read(mine: Gathering, stretch: Stretch, names: Sequence[str], lasts: dict[str, Any]) -> Chunk:
    """Read nodes until there is as much as may be held."""
    with mine.database.read() as connection:
        piece = Chunk(mine.metrics, dict(lasts), after=stretch.after)
        stay_ids = count((connection.execute(select(func.max(stays.c.id))).scalar_one_or_none() or 0) + 1)
        ids = count((connection.execute(select(func.max(episodes.c.id))).scalar_one_or_none() or 0) + 1)
        since = _since(connection, stretch, mine.now)
        lately = select(episodes).where(episodes.c.last_at >= since, episodes.c.check != "")
        befell = Episodes((Episode(*row) for row in connection.execute(lately)), ids)
    for group in (names[start : start + GROUP] for start in range(0, len(names), GROUP)):
        with mine.database.read() as connection:
            heap = ReadingBuffer(mine.metrics, mine.readers)
            known = _stays(connection, group)
            for node in group:
                told = _told(connection, mine, node, stretch)
                places = Places(node, known.get(node, ()), stay_ids)
                read(
                    _parsed(told, piece, is_fabric=node in mine.fabrics), places, befell, heap, (node, stretch.until)
                )
                piece.see(*places.changed())
        piece.take(heap)
        piece.after = group[-1]
        if piece.rows > LARGEST:
            break
    else:
        piece.whole = True
    piece.befell = befell.changed()
    return piece


_FIRST = select(results.c.at).where(results.c.id > bindparam("upto")).order_by(results.c.id).limit(1)


def _since(connection: Connection, stretch: Stretch, now: float) -> float:
    """Return from when on faults may go on in what is read."""
    first = connection.execute(_FIRST, {"upto": stretch.upto}).scalar_one_or_none()
    return min(now, now if first is None else first) - DAY - SILENCE


def _stays(connection: Connection, names: Sequence[str]) -> dict[str, list[Stay]]:
    found: dict[str, list[Stay]] = {}
    for row in in_chunks(connection, select(stays), stays.c.node, names):
        found.setdefault(row.node, []).append(Stay(*tuple(row)))
    return found


_COLUMNS = (
    results.c.id, results.c.run, results.c.at, results.c.check, results.c.verdict, results.c.stage,
    type_coerce(results.c.observed, Text).label("observed"),
    type_coerce(results.c.findings, Text).label("findings"),
    type_coerce(results.c.evidence, Text).label("evidence"),
)  # fmt: skip

_TOLD = select(*_COLUMNS).where(
    results.c.node == bindparam("node"),
    results.c.id > bindparam("upto"),
    results.c.id <= bindparam("to"),
    results.c.at > bindparam("later"),
    or_(
        results.c.verdict == Verdict.FAIL.value,
        and_(results.c.check.in_(bindparam("checks", expanding=True)), results.c.verdict != Verdict.SKIPPED.value),
    ),
)
"""The JSON of a result is not read by the database's driver: most of it nobody needs."""


def _told(connection: Connection, mine: Gathering, node: str, stretch: Stretch) -> Sequence[Any]:
    wanted = {"node": node, "upto": stretch.upto, "to": stretch.to, "later": stretch.later, "checks": mine.checks}
    return connection.execute(_TOLD, wanted).all()


def _parsed(rows: Sequence[Any], piece: Chunk, *, is_fabric: bool) -> Iterator[Reading]:
    """Only a fabric's checks know of other nodes: what a node says of others is not held against them."""
    for row in rows:
        piece.results += 1
        observed = json.loads(row.observed)
        findings = json.loads(row.findings) if row.verdict == Verdict.FAIL.value else ()
        findings = findings if is_fabric else [{**finding, "nodes": ()} for finding in findings]
        evidence = json.loads(row.evidence)
        yield Reading(row.run, row.id, row.at, row.check, observed, findings, evidence[0] if evidence else "")


def _added(one: Gathered, more: Gathered) -> Gathered:
    left_out = dict(one.left_out)
    for why, times in more.left_out.items():
        left_out[why] = left_out.get(why, 0) + times
    counts = {
        name: getattr(one, name) + getattr(more, name)
        for name in ("results", "numbers", "panels", "stays", "episodes")
    }
    return Gathered(**counts, left_out=left_out)
