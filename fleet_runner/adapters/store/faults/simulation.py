"""What a simulation replays: faults, the use of nodes that had them, and remedies, as the store remembers them."""

from itertools import pairwise

from sqlalchemy import Connection, select, text

from fleet_runner.adapters.store.results.rows import stored as from_row
from fleet_runner.adapters.store.schema.core import results
from fleet_runner.adapters.store.schema.remedies import COUNTED, alarms, attempts
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.faults.simulation.history import Fault, Line, PastRemedy, Use
from fleet_runner.core.lifecycle.idle import USAGE
from fleet_runner.core.lifecycle.runs import Stored
from fleet_runner.core.lifecycle.states import Stage

HOUR = 3600.0

IN_SERVICE = (Stage.HEALTH_PASSIVE, Stage.HEALTH_ACTIVE, Stage.CABLING)
"""Stages that look at nodes which serve; what others found kept a node from serving, and is no fault of service."""


def lines(connection: Connection, since: float) -> list[Line]:
    """Return everything that is remembered since a moment, but the nodes' places, which the source of truth has."""
    found = [*_seen(connection, since), *_pushed(connection, since)]
    uses = [use for node in sorted({fault.node for fault in found}) for use in _uses(connection, node, since)]
    return [*found, *uses, *_tried(connection, since)]


def _seen(connection: Connection, since: float) -> list[Fault]:
    """Return what checks saw in service: from the first failure to the next pass of a check on a node."""
    failed = select(results).where(text("results.verdict IN ('FAIL', 'UNKNOWN')"), results.c.at >= since)
    mine = failed.where(results.c.verdict == Verdict.FAIL.value, results.c.stage.in_([*IN_SERVICE]))
    rows = connection.execute(mine.order_by(results.c.id)).all()
    known: dict[tuple[str, str], Fault] = {}
    passed: dict[tuple[str, str], float] = {}
    found: list[Fault] = []
    for stored in map(from_row, rows):
        key = (stored.node, stored.result.check)
        if stored.at >= passed.get(key, 0.0):
            found += [each for at, each in known.items() if at[0] == stored.node and each.check == key[1]]
            known = {at: each for at, each in known.items() if at[0] != stored.node or each.check != key[1]}
            passed[key] = _passed(connection, stored)
        for finding in stored.result.findings:
            told = (finding.code, finding.component, finding.fault, finding.message, finding.remedy.value)
            ends = passed[key] if passed[key] < float("inf") else 0.0
            known.setdefault((stored.node, finding.fault), Fault(stored.node, *told, stored.at, ends, key[1]))
    return [*found, *known.values()]


def _passed(connection: Connection, failed: Stored) -> float:
    """Return when the check that failed passed again; infinity where it has not."""
    mine = select(results.c.at).where(
        results.c.node == failed.node,
        results.c.check == failed.result.check,
        results.c.id > failed.id,
        results.c.verdict == Verdict.PASS.value,
    )
    at = connection.execute(mine.order_by(results.c.id).limit(1)).scalar_one_or_none()
    return float("inf") if at is None else float(at)


def _pushed(connection: Connection, since: float) -> list[Fault]:
    mine = select(alarms).where(COUNTED, alarms.c.last_at >= since).order_by(alarms.c.id)
    return [
        Fault(
            row.node,
            row.code,
            row.component,
            row.fault,
            row.message,
            row.remedy,
            row.first_at,
            row.last_at if row.cleared_at is not None else 0.0,
        )
        for row in connection.execute(mine).all()
    ]


def _uses(connection: Connection, node: str, since: float) -> list[Use]:
    """Return when work ran on a node: from one answer that says so until the next answer."""
    mine = select(results.c.at, results.c.observed).where(
        results.c.node == node,
        results.c.check == USAGE,
        results.c.verdict == Verdict.PASS.value,
        results.c.at >= since,
    )
    told = [
        (row.at, bool(row.observed.get("in_use"))) for row in connection.execute(mine.order_by(results.c.id)).all()
    ]
    spans: list[Use] = []
    for (at, used), (until, _) in pairwise([*told, (told[-1][0] + HOUR, False)] if told else []):
        if used and spans and spans[-1].ends == at:
            spans[-1] = Use(node, spans[-1].begins, until)
        elif used:
            spans.append(Use(node, at, until))
    return spans


def _tried(connection: Connection, since: float) -> list[PastRemedy]:
    mine = select(attempts).where(attempts.c.at >= since).order_by(attempts.c.id)
    return [
        PastRemedy(row.node, row.remedy, tuple(row.faults), row.at, row.helped)
        for row in connection.execute(mine).all()
    ]
