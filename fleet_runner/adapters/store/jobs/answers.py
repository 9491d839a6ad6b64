"""Answers to why jobs ended: one for each end of a job, the newest of each."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import chain
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, delete, func, or_, select, text

from fleet_runner.adapters.store.engine import bounds, database
from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.reliability.forecasts import plain
from fleet_runner.adapters.store.schema.core import results
from fleet_runner.adapters.store.schema.jobs import job_answers
from fleet_runner.adapters.store.schema.remedies import COUNTED, alarms
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.jobs.answer import Answer
from fleet_runner.core.jobs.event import Area
from fleet_runner.core.jobs.kept import KeptAnswer, kept, key

MOST = 50_000
"""Answers that are read of a span, the newest ones: a fleet with more jobs that died has other worries."""

PIECE = 2_000
"""Rows that are fetched at a time."""

_COUNTED = tuple(job_answers.c[each.name] for each in fields(KeptAnswer) if each.name != "body")

_LAST = func.coalesce(job_answers.c.ended, job_answers.c.told_at)
"""When a job ended, or was seen running last."""


class Sought(NamedTuple):
    """A fault to look for: of which node, with which code, from when to when."""

    node: str
    code: str
    since: float
    until: float


class JobAnswerMethods:
    """Methods of the Store, which extends this."""

    _database: Database

    def keep_answer(self, answer: Answer, at: float, by: str) -> None:
        """Keep an answer, in place of an earlier one about the same end, or about the job while it still ran.

        When the first of them was kept stays written down.
        """
        row = _row(answer, at, by)
        with self._database.write() as connection:
            row["at"] = min([at, *_replaced(connection, row)])
            added = database.insert(connection, job_answers).values(row)
            newer = {name: value for name, value in row.items() if name not in {"key", "at"}}
            connection.execute(added.on_conflict_do_update(index_elements=["key"], set_=newer))

    def answers(self, since: float, until: float) -> tuple[KeptAnswer, ...]:
        """Return the answers about jobs that ended in a span, the oldest first, without their bodies.

        Those about jobs that run are among them where they were kept in the span.
        """
        here = and_(job_answers.c.ended >= since, job_answers.c.ended < until)
        runs = and_(job_answers.c.ended.is_(None), job_answers.c.told_at >= since, job_answers.c.told_at < until)
        mine = select(*_COUNTED).where(or_(here, runs)).order_by(_LAST.desc(), job_answers.c.id.desc()).limit(MOST)
        with self._database.read() as connection:
            rows = connection.execute(mine).all()
        return tuple(_answer(row, {}) for row in reversed(rows))

    def newest_answers(self, limit: int, *, area: str = "", node: str = "") -> tuple[KeptAnswer, ...]:
        """Return the newest `limit` answers without their bodies, the newest first: all, of an area, or of a node."""
        mine = select(*_COUNTED).order_by(_LAST.desc(), job_answers.c.id.desc()).limit(limit)
        mine = mine.where(job_answers.c.area == area) if area else mine
        mine = mine.where(job_answers.c.node == bounds.key(node)) if node else mine
        with self._database.read() as connection:
            return tuple(_answer(row, {}) for row in connection.execute(mine).all())

    def answers_whole(self, since: float, limit: int) -> tuple[KeptAnswer, ...]:
        """Return the newest `limit` answers about jobs that ended since a moment, newest first, with their bodies."""
        mine = select(*_COUNTED, job_answers.c.body).where(job_answers.c.ended >= since)
        newest = mine.order_by(job_answers.c.ended.desc(), job_answers.c.id.desc()).limit(limit)
        with self._database.read() as connection:
            return tuple(_answer(row, row.body) for row in connection.execute(newest).all())

    def answer_of(self, job: str) -> KeptAnswer | None:
        """Return the answer about a job's last end that was looked into; None where there is none."""
        mine = select(*_COUNTED, job_answers.c.body).where(job_answers.c.job == bounds.key(job))
        with self._database.read() as connection:
            newest = mine.order_by(_LAST.desc(), job_answers.c.id.desc()).limit(1)
            row = connection.execute(newest).one_or_none()
        return None if row is None else _answer(row, row.body)

    def first_seen(self, sought: Sequence[Sought]) -> tuple[float | None, ...]:
        """Return when each of some faults was known first, by a check or an alarm; None where it never was."""
        found: list[float | None] = [None] * len(sought)
        if not sought:
            return ()
        wanted: dict[tuple[str, str], list[int]] = defaultdict(list)
        for number, each in enumerate(sought):
            wanted[each.node, each.code].append(number)
        span = (min(each.since for each in sought), max(each.until for each in sought))
        with self._database.one_moment(), self._database.read() as connection:
            for node, code, at in chain(_failed(connection, *span), _raised(connection, *span)):
                for number in wanted.get((node, code), ()):
                    if sought[number].since <= at < sought[number].until:
                        before = found[number]
                        found[number] = at if before is None else min(at, before)
        return tuple(found)


def _replaced(connection: Connection, row: Mapping[str, Any]) -> tuple[float, ...]:
    """Take answers about the job while it ran away; return when they were kept first."""
    if not row["job"] or row["ended"] is None:
        return ()
    same = (job_answers.c.scheduler == row["scheduler"], job_answers.c.job == row["job"])
    ran = and_(*same, job_answers.c.ended.is_(None), job_answers.c.begun < row["ended"])
    return tuple(connection.execute(delete(job_answers).where(ran).returning(job_answers.c.at)).scalars())


def _row(answer: Answer, at: float, by: str) -> dict[str, Any]:
    told = kept(answer, at, by)
    names = ("scheduler", "job", "owner", "tenant", "state", "code", "component", "node", "by")
    return {
        **{column.name: getattr(told, column.name) for column in _COUNTED},
        **{name: bounds.key(getattr(told, name)) for name in names},
        "key": bounds.key(key(answer)),
        "area": told.area.value,
        "begun": bounds.moment(told.begun, at),
        "ended": None if told.ended is None else bounds.moment(told.ended, at),
        "fault_at": None if told.fault_at is None else bounds.moment(told.fault_at, at),
        "gpus": bounds.count(told.gpus),
        "body": _body(told.body),
    }


def _body(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return a body that the store can hold: of too long a timeline the oldest events, and how many are left out."""
    body: dict[str, Any] = plain(told)
    events: list[Any] = body["timeline"]
    while len(json.dumps(body)) > bounds.JSON_CHARS and body["timeline"]:
        body["timeline"] = body["timeline"][: len(body["timeline"]) // 2]
        body["timeline_left_out"] = len(events) - len(body["timeline"])
    return body


def _answer(row: Any, body: Mapping[str, Any]) -> KeptAnswer:
    told = {column.name: getattr(row, column.name) for column in _COUNTED}
    return KeptAnswer(**{**told, "area": Area(row.area), "body": body})


def _failed(connection: Connection, since: float, until: float) -> Iterator[tuple[str, str, float]]:
    """Yield which node was found with which code, and when."""
    notable = text("results.verdict IN ('FAIL', 'UNKNOWN')")  # as the index of them has it
    failed = (notable, results.c.verdict == Verdict.FAIL.value, results.c.at >= since, results.c.at < until)
    query = select(results.c.node, results.c.at, results.c.findings).where(*failed)
    with connection.execution_options(yield_per=PIECE).execute(query) as rows:
        for row in rows:
            yield from ((row.node, finding["code"], row.at) for finding in row.findings)


def _raised(connection: Connection, since: float, until: float) -> Iterator[tuple[str, str, float]]:
    raised = (COUNTED, alarms.c.raised_at >= since, alarms.c.raised_at < until)
    query = select(alarms.c.node, alarms.c.code, alarms.c.raised_at).where(*raised)
    for row in connection.execute(query):
        yield row.node, row.code, row.raised_at
