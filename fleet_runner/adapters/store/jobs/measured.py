"""What sweeps measured of some nodes in a time: the last looks of each, as many as a slow job's nodes need."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, bindparam, select

from fleet_runner.adapters.store.results.results import first_id
from fleet_runner.adapters.store.schema.core import results
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.jobs.node_measures import CHECKS, Measured, measured

LOOKS = 8
"""Of each check, the newest of the time: what slows a job that runs goes on, and one look may be of a bad moment."""

_COLUMNS: list[ColumnElement[Any]] = [results.c.node, results.c.check, results.c.at, results.c.observed]
_NEWEST: Select[Any] = (
    select(*_COLUMNS)
    .where(
        results.c.node == bindparam("node"),
        results.c.id >= bindparam("first"),
        results.c.id < bindparam("end"),
        results.c.check.in_(CHECKS),
        results.c.verdict != Verdict.SKIPPED.value,
    )
    .order_by(results.c.id.desc())
    .limit(LOOKS * len(CHECKS))
)


def read(connection: Connection, names: Sequence[str], since: float, until: float) -> tuple[Measured, ...]:
    """Return what was measured from one moment to another (epoch seconds), the newest of each node first."""
    ids = {"first": first_id(connection, since), "end": first_id(connection, until)}
    return tuple(
        measured(*row) for name in names for row in connection.execute(_NEWEST, {"node": name, **ids})
    )  # fmt: skip
