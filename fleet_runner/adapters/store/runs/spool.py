"""Taking in what plays told: the spool of a batch, each stretch once, or the lines of a play started by hand."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, insert, select, update

from fleet_runner.adapters.store.engine import bounds
from fleet_runner.adapters.store.lifecycle import history, nodes
from fleet_runner.adapters.store.results import results
from fleet_runner.adapters.store.runs.rows import run as from_row
from fleet_runner.adapters.store.runs.runs import entry, row
from fleet_runner.adapters.store.schema.core import batches, runs
from fleet_runner.adapters.store.schema.core import nodes as node_rows
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.checks.verdicts import Verdict, worst
from fleet_runner.core.lifecycle.runs import Outcome, Run
from fleet_runner.core.lifecycle.spool import Ended, Evidence, Judged, Line, PlayEnd, Progress
from fleet_runner.core.lifecycle.states import Stage

OUTCOMES: dict[Verdict, Outcome] = {
    Verdict.PASS: Outcome.PASSED,
    Verdict.FAIL: Outcome.FAILED,
    Verdict.UNKNOWN: Outcome.UNKNOWN,
    Verdict.SKIPPED: Outcome.SKIPPED,
}


class Stretch(NamedTuple):
    """The bytes of a batch's spool, from `before` up to `after`, that some lines were read from."""

    batch: str
    before: int
    after: int


class ByHand(NamedTuple):
    """A play that somebody started without the runner."""

    stage: Stage
    by: str
    ended_at: float


Packed = Sequence[Mapping[str, Any]]


def offset(connection: Connection, batch: str) -> int:
    """Return how much of a batch's spool is in the store; 0 for a batch it does not know."""
    return connection.execute(select(batches.c.spool_offset).where(batches.c.id == batch)).scalar_one_or_none() or 0


def ingest(connection: Connection, stretch: Stretch, lines: Sequence[Line], packed: Packed) -> None:
    """Store what a stretch told about the batch's open runs; a stretch that is in already changes nothing.

    Raises:
        ConflictError: the stretch does not follow what is in, or nothing of the batch is open any more.
    """
    at_before = update(batches).where(batches.c.id == stretch.batch, batches.c.spool_offset == stretch.before)
    if connection.execute(at_before.values(spool_offset=stretch.after)).rowcount != 1:
        known = offset(connection, stretch.batch)
        if known >= stretch.after:
            return
        raise ConflictError(
            f"batch {stretch.batch}: its spool is stored up to byte {known}, these lines start at {stretch.before}; "
            f"nothing was changed; read the offset again"
        )
    opened = open_runs(connection, stretch.batch)
    if lines and not opened:
        raise ConflictError(
            f"batch {stretch.batch}: none of its runs is open, its work was taken over; leave it alone"
        )
    _evidence(connection, opened, lines, packed)
    results.add(connection, opened, [line for line in lines if isinstance(line, Judged)])
    _progress(connection, opened, lines)
    _ends(connection, opened, lines)


def record_by_hand(connection: Connection, play: ByHand, lines: Sequence[Line], packed: Packed) -> tuple[str, ...]:
    """Store an already ended run per node with its results; return the names that are not nodes."""
    by_node: dict[str, list[Line]] = {}
    for line in lines:
        by_node.setdefault(line.node, []).append(line)
    known = nodes.existing(connection, by_node)
    made = {name: _ended_run(connection, play, by_node[name]) for name in sorted(known)}
    _evidence(connection, made, lines, packed)
    results.add(connection, made, [line for line in lines if isinstance(line, Judged)])
    history.add(
        connection, [entry(run, run.outcome or Outcome.UNKNOWN, run.detail, play.ended_at) for run in made.values()]
    )
    nodes.wake(connection, sorted(known))
    return tuple(sorted(by_node.keys() - known))


def open_runs(connection: Connection, batch: str) -> dict[str, Run]:
    """Return the batch's open runs that hold their nodes' newest fence, locked until the transaction ends."""
    mine = select(runs).join_from(runs, node_rows, node_rows.c.name == runs.c.node)
    mine = mine.where(runs.c.batch == batch, runs.c.ended_at.is_(None), runs.c.fence == node_rows.c.fence)
    return {found.node: from_row(found) for found in connection.execute(mine.with_for_update(of=runs)).all()}


def _evidence(connection: Connection, of: Mapping[str, Run], lines: Iterable[Line], packed: Packed) -> None:
    told = {line.hash: line for line in lines if isinstance(line, Evidence) and line.node in of}
    new = {text["hash"]: text for text in packed if text["hash"] in told}
    results.add_evidence(connection, list(new.values()))
    results.touch(connection, (line for digest, line in told.items() if digest not in new))


def _progress(connection: Connection, opened: Mapping[str, Run], lines: Iterable[Line]) -> None:
    newest = {line.node: line for line in lines if isinstance(line, Progress) and line.node in opened}
    rows = [{"_id": opened[name].id, **_progress_row(line)} for name, line in newest.items()]
    if rows:
        connection.execute(update(runs).where(runs.c.id == bindparam("_id")), rows)


def _progress_row(line: Progress) -> dict[str, Any]:
    return {
        "done": bounds.count(line.done),
        "total": bounds.count(line.total),
        "task": bounds.key(line.task),
    }


def _ends(connection: Connection, opened: Mapping[str, Run], lines: Iterable[Line]) -> None:
    """Keep how the play ended: the spool is not read twice, and the reconciler may die before it closes the run."""
    newest = {line.node: line for line in lines if isinstance(line, Ended) and line.node in opened}
    rows = [
        {
            "_id": opened[name].id,
            "play_end": line.end.value,
            "play_ended_at": bounds.moment(line.at, opened[name].opened_at),
            "play_message": bounds.words(line.message),
        }
        for name, line in newest.items()
    ]
    if rows:
        connection.execute(update(runs).where(runs.c.id == bindparam("_id")), rows)


def _ended_run(connection: Connection, play: ByHand, lines: Sequence[Line]) -> Run:
    """Store one node's run with fence 0: it held nothing and takes nothing over."""
    verdicts = tuple(line.result.verdict for line in lines if isinstance(line, Judged))
    ends = [line for line in lines if isinstance(line, Ended)]
    outcome = OUTCOMES[worst(verdicts)]
    if outcome is Outcome.PASSED and any(line.end is not PlayEnd.OK for line in ends):
        outcome = Outcome.UNKNOWN
    first = min(bounds.moment(line.at, play.ended_at) for line in lines)
    progress = [_progress_row(line) for line in lines if isinstance(line, Progress)][-1:]
    values = row(
        Run(
            id=0,
            node=lines[0].node,
            stage=play.stage,
            fence=0,
            batch="",
            opened_at=min(first, play.ended_at),
            by=play.by,
            reason="Started by hand.",
            ended_at=play.ended_at,
            outcome=outcome,
            detail=bounds.words(ends[-1].message) if ends else "",
        )
    )
    return from_row(connection.execute(insert(runs).values(values | dict(*progress)).returning(runs)).one())
