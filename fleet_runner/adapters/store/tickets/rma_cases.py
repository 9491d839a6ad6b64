"""Cases at vendors: opened, their parts out and in, ended; each change is a line of the node's history."""

from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from fleet_runner.adapters.store.lifecycle import history
from fleet_runner.adapters.store.schema.remedies import cases
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.lifecycle.runs import Entry
from fleet_runner.core.tickets.rma_cases import Case, Replaced, told

KIND = "case"


def found(connection: Connection, node: str | None, *, open_only: bool) -> tuple[Case, ...]:
    """Return cases, oldest first: all, or those of a node."""
    wanted = select(cases)
    if node is not None:
        wanted = wanted.where(cases.c.node == node)
    if open_only:
        wanted = wanted.where(cases.c.ended_at.is_(None))
    return tuple(map(_case, connection.execute(wanted.order_by(cases.c.id)).all()))


def begin(connection: Connection, case: Case) -> int:
    """Open a case and return its id; ConflictError where this vendor has one of this number for the node open."""
    same = (cases.c.vendor == case.vendor, cases.c.number == case.number, cases.c.ended_at.is_(None))
    if connection.execute(select(cases.c.id).where(cases.c.node == case.node, *same)).first() is not None:
        raise ConflictError(f"{case.node}: case {case.number} at {case.vendor} is open already; rma show shows it")
    row = {"node": case.node, "vendor": case.vendor, "number": case.number, "by": case.by, "because": ""}
    kept = row | {"opened_at": case.opened_at, "parts": _parts(case)}
    number = connection.execute(insert(cases).values(kept).returning(cases.c.id)).scalar_one()
    about = ", ".join(part.slot for part in case.parts) or "the whole node"
    _say(
        connection,
        case,
        f"Case {case.number} opened at {case.vendor}: {about}. {case.because}".rstrip(),
        case.opened_at,
    )
    return int(number)


def exchange(connection: Connection, case: Case, by: str, now: float) -> None:
    """Keep which parts of an open case went out and which came in."""
    _change(connection, case, {"parts": _parts(case)})
    parts = ", ".join(told(part) for part in case.parts)
    _say(connection, case, f"Case {case.number} at {case.vendor}: {parts}", now, by)


def end(connection: Connection, case: Case, because: str, by: str, now: float) -> None:
    """End a case."""
    _change(connection, case, {"ended_at": now, "because": because})
    _say(connection, case, f"Case {case.number} at {case.vendor} ended: {because}", now, by)


def _change(connection: Connection, case: Case, values: dict[str, Any]) -> None:
    mine = update(cases).where(cases.c.id == case.id, cases.c.ended_at.is_(None))
    if connection.execute(mine.values(values)).rowcount != 1:
        raise ConflictError(f"{case.node}: case {case.number} at {case.vendor} is not open any more")


def _say(connection: Connection, case: Case, sentence: str, now: float, by: str = "") -> None:
    history.add(connection, [Entry(0, case.node, now, KIND, sentence, by or case.by)])


def _parts(case: Case) -> list[dict[str, str]]:
    return [{"slot": part.slot, "out": part.out, "in": part.came} for part in case.parts]


def _case(row: Row[Any]) -> Case:
    parts = tuple(Replaced(each["slot"], each["out"], each["in"]) for each in row.parts)
    ended = {"ended_at": row.ended_at, "because": row.because}
    return Case(row.id, row.node, row.vendor, row.number, row.by, row.opened_at, parts, **ended)
