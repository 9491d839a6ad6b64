"""Results and the evidence they point to: added, and never changed but for the run that was told last."""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, func, insert, select, update

from fleet_runner.adapters.store.engine import bounds, database
from fleet_runner.adapters.store.results.rows import stored as from_row
from fleet_runner.adapters.store.runs.runs import SWEEPS
from fleet_runner.adapters.store.schema.core import evidence, latest, nodes, results, runs
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.verdicts import PREEMPTED, Verdict
from fleet_runner.core.faults.confirmation import speaks
from fleet_runner.core.lifecycle.runs import Run, Stored
from fleet_runner.core.lifecycle.spool import Evidence, Judged
from fleet_runner.core.schedules.retention import DAY

LOOKED_BACK = 50
"""Results of a check among which the newest that spoke is looked for."""

SAME = ("stage", "verdict", "message", "findings", "observed")
"""What is the same of two answers that are one, beside their first evidence: of a test the job's end."""


def add(connection: Connection, by_node: Mapping[str, Run], lines: Iterable[Judged]) -> None:
    """Store results under their nodes' runs, and remember each as the newest of its check.

    A test that gave way hides nothing that says something. That nobody asks any more replaces what was known; the
    sweeps say it once. What a test says that has ended goes on from run to run, and is stored once.
    """
    told = [_row(by_node[line.node], line) for line in lines if line.node in by_node]
    known = _known(connection, [row for row in told if row["verdict"] == Verdict.SKIPPED or _is_test(row)])
    again = {_key(row): row["run"] for row in told if _is_told_again(row, known.get(_key(row)))}
    if again:
        mine = update(results).where(results.c.id == bindparam("_id")).values(run=bindparam("_run"))
        connection.execute(mine, [{"_id": known[key].id, "_run": run} for key, run in again.items()])
    rows = _news([row for row in told if not _is_told_again(row, known.get(_key(row)))], known)
    if rows:
        _insert(connection, rows, {key: row.spoke for key, row in known.items()})


def _insert(connection: Connection, rows: Sequence[dict[str, Any]], spoke: dict[tuple[str, str], int | None]) -> None:
    """Store rows, and point at the newest of each check; `spoke` are those of some checks that said something."""
    stored = insert(results).returning(results.c.id, sort_by_parameter_order=True)
    ids = connection.execute(stored, rows).scalars().all()
    newest: dict[tuple[str, str], dict[str, Any]] = {}
    for row, number in zip(rows, ids, strict=True):
        key = _key(row)
        if _speaks(row) or _is_unasked(row):
            spoke[key] = number if _speaks(row) else None
        said = spoke.get(key)
        shown = said if said is not None and row["verdict"] == Verdict.SKIPPED else number
        newest[key] = {"node": row["node"], "check": row["check"], "result": shown, "spoke": said}
    pointed = database.insert(connection, latest)
    kept = func.coalesce(pointed.excluded.spoke, latest.c.spoke)
    forgotten = {_key(row) for row in rows if _is_unasked(row)}
    for keys, said_before in ((forgotten, pointed.excluded.spoke), (newest.keys() - forgotten, kept)):
        if keys:
            moved = {"result": pointed.excluded.result, "spoke": said_before}
            updated = pointed.on_conflict_do_update(index_elements=["node", "check"], set_=moved)
            connection.execute(updated, [newest[key] for key in newest if key in keys])


def _known(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], Row[Any]]:
    """Return the newest results of some rows' checks on their nodes, by both; with their run's end."""
    if not rows:
        return {}
    wanted = select(results, latest.c.spoke, runs.c.ended_at, nodes.c.since)
    wanted = wanted.join_from(latest, results, results.c.id == latest.c.result)
    wanted = wanted.join(runs, runs.c.id == results.c.run).join(nodes, nodes.c.name == results.c.node)
    wanted = wanted.where(latest.c.check.in_({row["check"] for row in rows}))
    found = in_chunks(connection, wanted, latest.c.node, (row["node"] for row in rows))
    return {(row.node, row.check): row for row in found}


def _news(rows: Sequence[dict[str, Any]], known: Mapping[tuple[str, str], Row[Any]]) -> list[dict[str, Any]]:
    """Leave out what says once more that nobody asks; of each run at least one stays, or it had no answer."""
    kept = [row for row in rows if not _repeats(row, known.get(_key(row)))]
    runs_kept = {row["run"] for row in kept}
    silent = {row["run"]: row for row in reversed(rows) if row["run"] not in runs_kept}
    return [*kept, *silent.values()]


def _repeats(row: Mapping[str, Any], before: Row[Any] | None) -> bool:
    """Whether a sweep's result says that nobody asks, and that is known."""
    return _is_unasked(row) and row["stage"] in SWEEPS and before is not None and before.verdict == Verdict.SKIPPED


def _is_told_again(row: Mapping[str, Any], before: Row[Any] | None) -> bool:
    """Whether a test says to a run what it said to an earlier one of the node's stay, from the very same evidence.

    Of one that has ended, what it took to the millisecond is part of that: another round is told from it.
    """
    if before is None or not _is_test(row) or not row["evidence"] or before.ended_at is None:
        return False
    same = all(row[name] == getattr(before, name) for name in SAME) and row["evidence"][:1] == before.evidence[:1]
    return same and before.at >= before.since


def _is_test(row: Mapping[str, Any]) -> bool:
    check = CHECKS.get(row["check"])
    return check is not None and check.job is not None


def _is_unasked(row: Mapping[str, Any]) -> bool:
    return row["verdict"] == Verdict.SKIPPED and row["observed"].get(PREEMPTED) is not True


def _key(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["node"], row["check"]


def _speaks(row: Mapping[str, Any]) -> bool:
    """Whether a result says something about the node: a test that runs, or was skipped, says nothing."""
    working = row["verdict"] == Verdict.UNKNOWN and row["observed"].get("working") is True
    return row["verdict"] != Verdict.SKIPPED and not working


def pack(lines: Iterable[Evidence]) -> tuple[dict[str, Any], ...]:
    """Compress evidence that is what its hash says, each text once; slow, so outside any transaction."""
    texts = {line.hash: line for line in lines if bounds.genuine(line)}
    bodies = {digest: zlib.compress(line.text.encode()) for digest, line in texts.items()}
    return tuple(
        {
            "hash": line.hash,
            "read": bounds.key(line.read),
            "at": bounds.moment(line.at, 0.0),
            "size": len(line.text),
            "body": bodies[line.hash],
            "stored": len(bodies[line.hash]),
        }
        for line in texts.values()
    )


def add_evidence(connection: Connection, packed: Sequence[Mapping[str, Any]]) -> None:
    """Store packed evidence; what is there already stays.

    Batches share evidence: all write it in the order of its hashes, so that no two wait for each other.
    """
    if packed:
        rows = sorted(packed, key=itemgetter("hash"))
        connection.execute(database.insert(connection, evidence).on_conflict_do_nothing(), rows)


def touch(connection: Connection, told: Iterable[Evidence]) -> None:
    """Remember that evidence was told once more, to the day: it is kept from then on (`core.schedules.retention`)."""
    ordered = sorted(told, key=attrgetter("hash"))  # as above
    rows = [{"_hash": line.hash, "_at": bounds.moment(line.at, 0.0)} for line in ordered]
    if rows:
        mine = (evidence.c.hash == bindparam("_hash"), evidence.c.at < bindparam("_at") - DAY)
        connection.execute(update(evidence).where(*mine).values(at=bindparam("_at")), rows)


def known_evidence(connection: Connection, hashes: Iterable[str]) -> frozenset[str]:
    """Return which of the hashes have their text stored."""
    return frozenset(row.hash for row in in_chunks(connection, select(evidence.c.hash), evidence.c.hash, hashes))


def text(connection: Connection, digest: str) -> str | None:
    """Return the evidence that a hash, or the beginning of exactly one, names; None where there is no such."""
    begins = select(evidence.c.body).where(evidence.c.hash.startswith(digest, autoescape=True)).limit(2)
    found = connection.execute(begins).scalars().all()
    return zlib.decompress(found[0]).decode() if len(found) == 1 else None


def of_run(connection: Connection, run: int) -> tuple[Stored, ...]:
    """Return a run's results in the order they came."""
    mine = select(results).where(results.c.run == run).order_by(results.c.id)
    return tuple(from_row(row) for row in connection.execute(mine).all())


_LATEST = (
    select(results)
    .join_from(latest, results, results.c.id == latest.c.result)
    .where(latest.c.node == bindparam("node"))
    .order_by(latest.c.check)
)


def latest_of(connection: Connection, node: str) -> tuple[Stored, ...]:
    """Return the newest result of each check on a node, by check."""
    return tuple(from_row(row) for row in connection.execute(_LATEST, {"node": node}).all())


def newest(connection: Connection, check: str, names: Iterable[str]) -> dict[str, Stored]:
    """Return the newest result of one check on each of some nodes; those that it never ran on are left out."""
    mine = select(results).join_from(latest, results, results.c.id == latest.c.result).where(latest.c.check == check)
    return {row.node: from_row(row) for row in in_chunks(connection, mine, latest.c.node, names)}


def before(connection: Connection, given: Iterable[Stored]) -> tuple[Stored, ...]:
    """Return, for each result, the newest earlier one that spoke, by the same check in the same stage."""
    found = (_spoken(connection, stored) for stored in given)
    return tuple(stored for stored in found if stored is not None)


def before_query(stored: Stored) -> Select[Any]:
    """Return the query behind `before`: it walks the stage's runs backwards, and stops where it is told to."""
    of_stage = (runs.c.node == stored.node, runs.c.stage == stored.stage.value, runs.c.id <= stored.run)
    mine = select(results).join_from(runs, results, results.c.run == runs.c.id).where(*of_stage)
    asked = mine.where(results.c.node == stored.node, results.c.check == stored.result.check)
    return asked.where(results.c.id < stored.id).order_by(runs.c.id.desc(), results.c.id.desc()).limit(LOOKED_BACK)


def _spoken(connection: Connection, stored: Stored) -> Stored | None:
    earlier = (from_row(row) for row in connection.execute(before_query(stored)))
    return next((each for each in earlier if speaks(each.result)), None)


def some(connection: Connection, ids: Iterable[int]) -> tuple[Stored, ...]:
    """Return results by their ids, in the order of the ids; unknown ones are left out."""
    return tuple(from_row(row) for row in in_chunks(connection, select(results), results.c.id, ids))


def in_chunks(connection: Connection, wanted: Select[Any], column: Any, values: Iterable[Any]) -> list[Row[Any]]:
    """Ask for many keys without meeting either database's limit of parameters."""
    keys = sorted(set(values))
    query = wanted.where(column.in_(bindparam("keys", expanding=True))).order_by(column)
    chunks = (keys[start : start + 1000] for start in range(0, len(keys), 1000))
    return [row for chunk in chunks for row in connection.execute(query, {"keys": chunk}).all()]


def first_id(connection: Connection, moment: float) -> int:
    """Return the id from which on results are of a moment or later: ids grow with time, all but strictly."""
    low, high = 0, (connection.execute(select(func.max(results.c.id))).scalar() or 0) + 1
    while low < high:
        middle = (low + high) // 2
        here = select(results.c.at).where(results.c.id >= middle).order_by(results.c.id).limit(1)
        at = connection.execute(here).scalar()
        low, high = (middle + 1, high) if at is not None and at < moment else (low, middle)
    return low


def _row(run: Run, line: Judged) -> dict[str, Any]:
    result = bounds.result(line.result)
    return {
        "run": run.id,
        "node": run.node,
        "stage": run.stage.value,
        "at": bounds.moment(line.at, run.opened_at),
        "check": result.check,
        "verdict": result.verdict.value,
        "message": result.message,
        "findings": [finding.to_json() for finding in result.findings],
        "observed": result.observed,
        "evidence": list(result.evidence),
    }
