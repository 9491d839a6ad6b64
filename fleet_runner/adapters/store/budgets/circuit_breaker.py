"""The circuit breaker's row, and what wanted out of service: counted, opened and tried in one transaction each."""

from sqlalchemy import ColumnElement, Connection, case, delete, func, select, update

from fleet_runner.adapters.store.budgets import rows
from fleet_runner.adapters.store.engine import database
from fleet_runner.adapters.store.lifecycle import history, nodes
from fleet_runner.adapters.store.schema.core import nodes as node_rows
from fleet_runner.adapters.store.schema.remedies import breakers, wants
from fleet_runner.adapters.store.tickets import tickets
from fleet_runner.core.budgets import circuit_breaker
from fleet_runner.core.budgets.breaker import Breaker, refusal
from fleet_runner.core.budgets.circuit_breaker import Disruption, Want
from fleet_runner.core.budgets.circuit_breaker_limits import Limits
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.lifecycle.actions import CloseTicket, OpenTicket
from fleet_runner.core.lifecycle.states import REMEDIED, SERVING

FLEET = "fleet"
"""The one scope that there is: remedies that are wrong are wrong everywhere."""

FAULT = "fleet/breaker"
"""The key of the breaker's ticket."""


def one(connection: Connection) -> Breaker | None:
    """Return the breaker; None while it is closed."""
    row = connection.execute(select(breakers).where(breakers.c.scope == FLEET)).one_or_none()
    return rows.breaker(row) if row is not None else None


def ask(
    connection: Connection, want: Want, asked: Disruption, limits: Limits, now: float
) -> tuple[str, Breaker | None]:
    """Return why a node may not leave service, "" where it may; and the breaker as it is then.

    What is wanted anew is counted, and may open it; once the pause is over, one node becomes its trial.
    """
    database.hold_breaker(connection)
    if asked.anew:
        _note(connection, want, limits, now)
    known = one(connection)
    if known is None:
        known = _opened(connection, limits, now) if asked.anew else None
    if known is None:
        return "", None
    if not circuit_breaker.lets(known, want.node, now, may_try=asked.may_try):
        return refusal(known), known
    tried = circuit_breaker.trying(known, want.node, now)
    if tried != known:
        _write(connection, tried)
    return "", tried


def judge(connection: Connection, limits: Limits, now: float) -> Breaker | None:
    """Return the breaker after a look at its trial, or at what is wanted still: it stays, opens longer, or closes."""
    database.hold_breaker(connection)
    known = one(connection)
    if known is None:
        return None
    wanted = _wants(connection, wants.c.at > now - limits.within)
    if circuit_breaker.is_over(known, wanted, _in_play(connection), limits, now):
        _close(connection, "no node could be tried, and few are about to leave service", now)
        return None
    if not known.trial:
        return known
    found = circuit_breaker.judged(known, nodes.one(connection, known.trial), now, limits)
    if found is None:
        _close(connection, f"the trial on {known.trial} helped: it serves again", now)
    elif found != known:
        _write(connection, found)
    return found


def reset(connection: Connection, by: str, reason: str, now: float) -> bool:
    """Close the breaker in a person's name; False where it is not open."""
    database.hold_breaker(connection)
    if one(connection) is None:
        return False
    _close(connection, f"{by} reset the circuit breaker: {reason}", now)
    return True


def _note(connection: Connection, want: Want, limits: Limits, now: float) -> None:
    """Remember a want. It counts for a window, or until it is answered; then only after a window's silence again.

    What waits for the budget for long is wanted at every look, and is no news: faults that come one by one stay so.
    """
    told = {"at": now, "codes": list(want.codes)}
    until = now + limits.within
    fresh = database.insert(connection, wants).values(told | {"node": want.node, "answered_at": until})
    answered = case((wants.c.at < now - limits.within, until), else_=wants.c.answered_at)
    connection.execute(fresh.on_conflict_do_update(index_elements=["node"], set_=told | {"answered_at": answered}))


def _opened(connection: Connection, limits: Limits, now: float) -> Breaker | None:
    found = _wants(connection, wants.c.at > now - limits.within, wants.c.answered_at > now)
    if len(found) <= limits.least:
        return None
    because = circuit_breaker.trips(found, _in_play(connection), limits)
    if not because:
        return None
    known = Breaker(now, because, limits.pause)
    _write(connection, known)
    ticket = OpenTicket(
        fault=FAULT,
        check="breaker",
        title="Circuit breaker: automation takes no node out of service",
        body=f"{because}.\nFind what they have in common: a driver, a service, power, or a check that is wrong. "
        "Then: fleet-runner breaker reset --reason TEXT",
        nodes=(),
        remedy=Remedy.TRIAGE,
    )
    history.add(connection, tickets.see(connection, found[0].node, ticket, now))
    return known


def _wants(connection: Connection, *which: ColumnElement[bool]) -> list[Want]:
    rows = connection.execute(select(wants).where(*which)).all()
    return [Want(row.node, row.at, tuple(row.codes)) for row in rows]


def _in_play(connection: Connection) -> int:
    """Count the nodes that serve, and those that automation has out."""
    states = [state.value for state in SERVING | REMEDIED]
    return int(connection.execute(select(func.count()).where(node_rows.c.state.in_(states))).scalar_one())


def _write(connection: Connection, known: Breaker) -> None:
    told = {
        "opened_at": known.opened_at,
        "because": known.because,
        "pause": known.pause,
        "trial": known.trial,
        "tried_at": known.tried_at,
    }
    fresh = database.insert(connection, breakers).values(told | {"scope": FLEET})
    connection.execute(fresh.on_conflict_do_update(index_elements=["scope"], set_=told))


def _close(connection: Connection, because: str, now: float) -> None:
    """Close it: whoever waited follows within the budgets, and counts no more."""
    connection.execute(delete(breakers).where(breakers.c.scope == FLEET))
    connection.execute(update(wants).values(answered_at=now))
    for ticket in tickets.found(connection, None, open_only=True):
        if ticket.fault == FAULT:
            tickets.close(connection, "", CloseTicket(ticket.id, because), now)
