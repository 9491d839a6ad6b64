"""What the store tells of the worth of checks: what became of nodes, what looks took, and looks spread over a span.

What is read is bounded, however long the history is: the newest looks of each check for what they take, and for
limits so many looks at so many nodes, evenly spread.
"""

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING

from sqlalchemy import Connection, func, select

from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.results.results import first_id
from fleet_runner.adapters.store.schema.core import evidence, journal, nodes, results, runs, tickets
from fleet_runner.adapters.store.schema.remedies import attempts
from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.cabling.fabrics import FABRIC_TYPES
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.parsers import job
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.lifecycle.states import Event, Stage, State
from fleet_runner.core.reliability.check_value.past import DAY, SICK, Cost, FleetPast, Moved, Remedied

if TYPE_CHECKING:
    from fleet_runner.core.reliability.check_value.limits import Limit, Look

NEWEST = 2_000
"""Looks of a check, and runs, from which it is told how often they come and how long they take."""

JOBS, ROUNDS = 30, 50
"""Jobs of a test, and sweeps, whose seconds are looked at: their median counts."""

NODES, LOOKS = 200, 96
"""Nodes whose looks are held against limits, and looks at each: in 30 days one in eight hours."""

ROUND = 120
"""Answers that are read from where a look is looked for: a sweep has fewer."""

SERVICE = (Stage.HEALTH_PASSIVE.value, Stage.HEALTH_ACTIVE.value, Stage.CABLING.value)
"""Stages of nodes in service that come by a schedule."""


class WorthMethods:
    """Methods of the Store, which extends this."""

    _database: Database

    def past_of_checks(self, since: float, until: float) -> FleetPast:
        """Return what happened to nodes in a span, and what looking at them takes."""
        with self._database.one_moment(), self._database.read() as connection:
            names = select(nodes.c.name, nodes.c.state).where(nodes.c.device_type.not_in(FABRIC_TYPES))
            here = {row.name: State(row.state) for row in connection.execute(names)}
            return FleetPast(
                since, until, here,
                tuple(_moves(connection, since)),
                tuple(_remedied(connection, since)),
                frozenset(connection.execute(select(tickets.c.fault).where(tickets.c.opened_at >= since)).scalars()),
                tuple(_costs(connection, since, until, max(1, [*here.values()].count(State.PRODUCTION)))),
            )  # fmt: skip

    def turned_bad(self, since: float) -> dict[str, list[float]]:
        """Return when nodes were taken where bad ones go, since a moment."""
        found: dict[str, list[float]] = {}
        with self._database.read() as connection:
            for move in _moves(connection, since):
                if move.to in SICK:
                    found.setdefault(move.node, []).append(move.at)
        return found

    def limit_looks(
        self, limits: "Iterable[Limit]", wanted: Sequence[str], since: float, until: float
    ) -> "dict[Limit, list[Look]]":
        """Return by limit what looks at some nodes told, so many of each node and spread evenly over a span."""
        from fleet_runner.core.reliability.check_value.limits import look  # noqa: PLC0415  it needs many parsers

        by_check: dict[str, list[Limit]] = {}
        found: dict[Limit, list[Look]] = {}
        for limit in limits:
            found[limit] = []
            by_check.setdefault(limit.check, []).append(limit)
        with self._database.one_moment(), self._database.read() as connection:
            first, last = first_id(connection, since), first_id(connection, until)
            for node in wanted:
                for check, at, observed in _looks(connection, node, [*by_check], first, last):
                    for limit in by_check[check]:
                        told = look(limit, node, at, observed) if since <= at < until else None
                        if told is not None:
                            found[limit].append(told)
        return found


def chosen(names: Iterable[str], first: Iterable[str]) -> tuple[str, ...]:
    """Return the nodes that are looked at: some first, and of the others evenly as many as there is room for."""
    mine = sorted(names)
    ahead = sorted({*first} & {*mine})[: NODES // 2]
    rest = [name for name in mine if name not in {*ahead}]
    room = NODES - len(ahead)
    step = max(1, -(-len(rest) // room))
    return (*ahead, *rest[::step])


def _moves(connection: Connection, since: float) -> Iterator[Moved]:
    columns = select(journal.c.node, journal.c.at, journal.c.state, journal.c.to, journal.c.event)
    moved = columns.where(journal.c.kind == "transition", journal.c.at >= since).order_by(journal.c.id)
    for row in connection.execute(moved):
        mended = row.event == Event.REPAIRED.value or row.to == State.RMA.value
        yield Moved(row.node, row.at, State(row.state), State(row.to), mended)


def _remedied(connection: Connection, since: float) -> Iterator[Remedied]:
    columns = select(attempts.c.node, attempts.c.faults, attempts.c.at, attempts.c.helped)
    for row in connection.execute(columns.where(attempts.c.at >= since).order_by(attempts.c.id)):
        yield Remedied(row.node, tuple(str(fault) for fault in row.faults), row.at, row.helped)


def _costs(connection: Connection, since: float, until: float, serving: int) -> Iterator[Cost]:
    share = _sweep_seconds(connection)
    columns = select(results.c.at, results.c.stage, results.c.verdict, results.c.evidence)
    for name in sorted(CHECKS):
        newest = columns.where(results.c.check == name).order_by(results.c.id.desc()).limit(NEWEST)
        every = [row for row in connection.execute(newest) if since <= row.at < until]
        mine = [row for row in every if row.stage in SERVICE and row.verdict != Verdict.SKIPPED.value]
        if not mine:
            continue
        begins = min(row.at for row in every) if len(every) == NEWEST else since
        days = max(until - begins, 1.0) / DAY
        first = [row.evidence[0] for row in mine if row.evidence]
        seconds = _job_seconds(connection, first[:JOBS]) if CHECKS[name].active else share
        yield Cost(name, len(mine) / days / serving, seconds)


def _job_seconds(connection: Connection, hashes: Sequence[str]) -> float | None:
    """Return how long a test's jobs took, the median; None where no job's end is kept."""
    found: list[float] = []
    for body in connection.execute(select(evidence.c.body).where(evidence.c.hash.in_(hashes))).scalars():
        try:
            told = job.parse(zlib.decompress(body).decode())
        except EvidenceError:
            continue
        if told.state == "ended":
            found.append(told.elapsed)
    return median(found) if found else None


def _sweep_seconds(connection: Connection) -> float | None:
    """Return how long one answer of a passive sweep takes: its share of the sweep, the median of the newest."""
    newest = (
        select(runs.c.id, runs.c.stage, runs.c.opened_at, runs.c.ended_at).order_by(runs.c.id.desc()).limit(NEWEST)
    )
    took = {
        row.id: row.ended_at - row.opened_at
        for row in connection.execute(newest)
        if row.stage == Stage.HEALTH_PASSIVE.value and row.ended_at is not None and row.ended_at >= row.opened_at
    }
    ids = sorted(took, reverse=True)[:ROUNDS]
    asked = (results.c.run.in_(ids), results.c.verdict != Verdict.SKIPPED.value)
    counted = select(results.c.run, func.count()).where(*asked).group_by(results.c.run)
    shares = [took[run] / count for run, count in connection.execute(counted)]
    return median(shares) if shares else None


def _looks(
    connection: Connection, node: str, checks: Sequence[str], first: int, last: int
) -> Iterator[tuple[str, float, Mapping[str, object]]]:
    """Yield what some checks observed of a node, once each at so many places between two ids."""
    width = max(1, -(-(last - first) // LOOKS))
    for start in range(first, last, width):
        piece = select(results.c.check, results.c.at, results.c.observed, results.c.verdict).where(
            results.c.node == node, results.c.id >= start, results.c.id < start + width
        )
        near = piece.order_by(results.c.id).limit(ROUND).subquery()
        answered = near.c.verdict.in_((Verdict.PASS.value, Verdict.FAIL.value))
        told = select(near).where(near.c.check.in_(checks), answered)
        for check, row in {row.check: row for row in connection.execute(told)}.items():
            yield check, row.at, row.observed
