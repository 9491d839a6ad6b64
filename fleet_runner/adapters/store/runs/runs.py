"""Runs: opening one with the node's next fence, finding them, and ending each exactly once."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Select,
    bindparam,
    exists,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from fleet_runner.adapters.store.engine import bounds, database
from fleet_runner.adapters.store.lifecycle import history
from fleet_runner.adapters.store.runs.rows import run as from_row
from fleet_runner.adapters.store.schema.core import SPOKEN, batches, nodes, runs
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.lifecycle.runs import RUNNER, Entry, Outcome, Run
from fleet_runner.core.lifecycle.spool import Ended, PlayEnd
from fleet_runner.core.lifecycle.states import Stage, State

SWEEPS = frozenset({Stage.HEALTH_PASSIVE, Stage.HEALTH_ACTIVE, Stage.CABLING, Stage.FABRIC})
"""Stages that run by schedule: one that ends like the one before it adds nothing to the history."""

CHUNK = 500
"""Nodes that one query names."""


def start(connection: Connection, run: Run) -> Run:
    """Store a new run and the batch that carries it; return it with its id."""
    if run.batch:
        carried = {"id": run.batch, "stage": run.stage.value, "opened_at": run.opened_at, "spool_offset": 0}
        connection.execute(database.insert(connection, batches).on_conflict_do_nothing(), carried)
    try:
        made = connection.execute(insert(runs).values(row(run)).returning(runs)).one()
    except IntegrityError as error:
        raise ConflictError(
            f"node {run.node}: it has an open run already, so {run.stage} was not started; "
            f"nothing was changed; read the node again and decide again"
        ) from error
    return from_row(made)


def close(connection: Connection, run: Run, outcome: Outcome, ending: tuple[str, float]) -> None:
    """End a run with its detail at a moment, unless its fence is old or it has ended; wake its node."""
    detail, now = bounds.words(ending[0]), ending[1]
    woken = update(nodes).where(nodes.c.name == run.node, nodes.c.fence == run.fence)
    if connection.execute(woken.values(version=nodes.c.version + 1, wake_at=0.0)).rowcount != 1:
        raise ConflictError(
            f"run {run.id} of {run.node}: its fence {run.fence} is no longer the node's, its work was taken over; "
            f"leave the node alone and read it again"
        )
    mine = update(runs).where(runs.c.id == run.id, runs.c.fence == run.fence, runs.c.ended_at.is_(None))
    ended = {"ended_at": now, "outcome": outcome.value, "detail": detail}
    if connection.execute(mine.values(ended)).rowcount != 1:
        raise ConflictError(f"run {run.id} of {run.node}: it has ended already; read it again")
    if not _repeats(connection, run, outcome, detail):
        history.add(connection, [entry(run, outcome, detail, now)])


def entry(run: Run, outcome: Outcome, detail: str, at: float) -> Entry:
    """Return what the history says about an ended run."""
    what = f"{run.stage.value.replace('_', ' ').capitalize()}: {outcome.value}"
    why = f" ({run.reason.removesuffix('.')})" if run.by != RUNNER and run.reason else ""
    return Entry(0, run.node, at, "run", f"{what}{why}; {detail}" if detail else f"{what}{why}.", run.by, run=run.id)


def open_query() -> Select[Any]:
    """Return the query behind `open_runs`: it reads the index of open runs only."""
    return select(runs).where(runs.c.ended_at.is_(None))  # unordered: SQLite would walk every run for the order


def opened(connection: Connection, names: Iterable[str] | None) -> tuple[Run, ...]:
    """Return every open run, oldest first; or those of some nodes."""
    if names is None:
        rows = list(connection.execute(open_query()).all())
    else:
        wanted = sorted(set(names))
        chunks = (wanted[start : start + CHUNK] for start in range(0, len(wanted), CHUNK))
        rows = [row for chunk in chunks for row in connection.execute(_OPEN_OF, {"names": chunk}).all()]
    return tuple(sorted(map(from_row, rows), key=lambda run: run.id))


_NEWEST = (  # made once, as all that is asked of every node that is due
    select(runs)
    .where(runs.c.node == bindparam("node"), runs.c.opened_at >= bindparam("since"))
    .order_by(runs.c.opened_at.desc(), runs.c.id.desc())
    .limit(bindparam("limit", type_=Integer))
)

_OPEN_OF = open_query().where(runs.c.node.in_(bindparam("names", expanding=True)))


def one(connection: Connection, run: int) -> Run | None:
    """Return a run."""
    found = connection.execute(select(runs).where(runs.c.id == run)).one_or_none()
    return from_row(found) if found is not None else None


def ended(connection: Connection, run: int) -> Ended | None:
    """Return how the play ended for a run's node, as its spool said; None where it has not said so."""
    found = connection.execute(select(runs).where(runs.c.id == run, runs.c.play_end.is_not(None))).one_or_none()
    if found is None:
        return None
    return Ended(found.node, found.play_ended_at, PlayEnd(found.play_end), found.play_message)


def of_node(connection: Connection, node: str, since: float, limit: int) -> tuple[Run, ...]:
    """Return the newest runs a node opened since a moment, oldest first."""
    given = {"node": node, "since": since, "limit": limit}
    return tuple(from_row(found) for found in reversed(connection.execute(_NEWEST, given).all()))


def of_stage(
    connection: Connection, node: str, stage: Stage, limit: int, outcomes: Iterable[Outcome] | None
) -> tuple[Run, ...]:
    """Return the newest runs of a stage on a node, all or those with some outcomes, oldest first."""
    newest = _of_stage(node, stage)
    if outcomes is not None:
        newest = newest.where(runs.c.outcome.in_(sorted(outcomes)))
    return tuple(from_row(found) for found in reversed(connection.execute(newest.limit(limit)).all()))


def began(connection: Connection, node: str, stage: Stage) -> float | None:
    """Return when the first run of a stage was opened since a node came to its state; None where none was."""
    mine = (runs.c.node == node, runs.c.stage == stage.value, runs.c.fence > 0)
    query = select(func.min(runs.c.opened_at)).join_from(runs, nodes, nodes.c.name == runs.c.node)
    found = connection.execute(query.where(*mine, runs.c.opened_at >= nodes.c.since)).scalar_one()
    return float(found) if found is not None else None


def begun(connection: Connection, state: State, stage: Stage) -> tuple[str, ...]:
    """Return the nodes in a state that have had a run of a stage since they came to it."""
    mine = select(nodes.c.name).where(nodes.c.state == state.value, _ran(stage))
    return tuple(connection.execute(mine.order_by(nodes.c.name)).scalars())


def durations(connection: Connection, stage: Stage, limit: int) -> tuple[float, ...]:
    """Return how long the newest runs of a stage took that came to a verdict, newest first."""
    newest = select(runs.c.ended_at - runs.c.opened_at).where(runs.c.stage == stage.value, SPOKEN)
    return tuple(connection.execute(newest.order_by(runs.c.ended_at.desc()).limit(limit)).scalars())


def row(run: Run) -> dict[str, Any]:
    """Return a run as its row, without the id."""
    return {
        "node": run.node,
        "stage": run.stage.value,
        "fence": run.fence,
        "batch": run.batch or None,
        "opened_at": run.opened_at,
        "by": run.by,
        "reason": run.reason,
        "ended_at": run.ended_at,
        "outcome": run.outcome.value if run.outcome is not None else None,
        "detail": run.detail,
        "done": run.done,
        "total": run.total,
        "task": run.task,
    }


def _ran(stage: Stage) -> ColumnElement[bool]:
    """Whether a node has had a run of a stage, by hand aside, since it came to its state."""
    mine = (runs.c.node == nodes.c.name, runs.c.stage == stage.value, runs.c.fence > 0)
    return exists().where(*mine, runs.c.opened_at >= nodes.c.since)


def _repeats(connection: Connection, run: Run, outcome: Outcome, detail: str) -> bool:
    """Say if the history already ends with this news: sweeps every few minutes would bury everything else."""
    if outcome is not Outcome.WORKING and run.stage not in SWEEPS:
        return False
    before = connection.execute(_of_stage(run.node, run.stage).where(runs.c.id < run.id).limit(1)).one_or_none()
    if before is None or before.outcome != outcome.value:
        return False
    return outcome in {Outcome.WORKING, Outcome.PASSED} or before.detail == detail


def _of_stage(node: str, stage: Stage) -> Select[Any]:
    mine = select(runs).where(runs.c.node == node, runs.c.stage == stage.value)
    return mine.order_by(runs.c.id.desc())
