"""What a store must not believe of itself after it was brought back from a backup.

What happened since then is not known to it: nodes may have moved, been flashed, wiped or given to tenants. So nothing
that was under way goes on by itself, nothing that changes a node begins before a person has released it, and what
plays of the lost time may still say is refused.
"""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, delete, func, or_, select, update

from fleet_runner.adapters.store.boot import boots
from fleet_runner.adapters.store.engine import database
from fleet_runner.adapters.store.lifecycle import history, intents
from fleet_runner.adapters.store.netbox import fields
from fleet_runner.adapters.store.runs import runs
from fleet_runner.adapters.store.schema.core import boots as boot_rows
from fleet_runner.adapters.store.schema.core import conditions, journal, nodes
from fleet_runner.adapters.store.schema.core import intents as intent_rows
from fleet_runner.adapters.store.schema.core import runs as run_rows
from fleet_runner.adapters.store.schema.firmware import firmware_leases, flashes, power_allowances, rollouts
from fleet_runner.adapters.store.schema.remedies import tokens, trackers
from fleet_runner.adapters.store.schema.runners import parcels, runners
from fleet_runner.core.cabling.fabrics import FABRIC_TYPES
from fleet_runner.core.lifecycle.actions import Answer
from fleet_runner.core.lifecycle.runs import Entry, Outcome
from fleet_runner.core.lifecycle.states import ENDED, MOVING, SERVING, Condition, State

BY = "db restore"

JUMP = 1_000_000
"""How far fences and versions jump: what was given out in the lost time is old, however much it was."""

UNSEEN = "Not checked since the store was restored from a backup; the next tick shows what it waits for."
"""What `status` says until then: what a node waited for when the backup was made is as old as that."""

BEGINS = MOVING | {State.REGISTERED}
"""States in which something is done to a node without anybody's word."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What was found and made safe: when the store knew something last, and how much of each.

    `aside` is where the store went that was there, if any.
    """

    known_until: float | None
    runs: int
    held: int
    watched: int
    flashes: int
    intents: int
    rollouts: int
    tokens: int
    aside: Path | None = None


def mark(connection: Connection, now: float) -> Restored:
    """Make a store safe that was brought back, in the caller's transaction."""
    until = connection.execute(select(func.max(journal.c.at))).scalar_one()
    closed = _runs(connection, now)
    _leases(connection, now)
    refused = _intents(connection, now)
    fields.doubt(connection)
    flashing = set(connection.execute(select(flashes.c.node).where(flashes.c.ended_at.is_(None))).scalars())
    held, watched = _hold(connection, flashing, now)
    paused = update(rollouts).where(rollouts.c.state == "running")
    why = {"state": "paused", "detail": "The store was restored from a backup.", "changed_at": now}
    count = connection.execute(paused.values(why | {"version": rollouts.c.version + 1})).rowcount
    jumped = {"fence": nodes.c.fence + JUMP, "version": nodes.c.version + JUMP, "wake_at": 0.0}
    connection.execute(update(nodes).values(jumped))
    connection.execute(update(nodes).where(nodes.c.state.not_in(sorted(ENDED))).values(waiting=UNSEEN))
    live = (tokens.c.revoked_at.is_(None), or_(tokens.c.until.is_(None), tokens.c.until > now))
    known = int(connection.execute(select(func.count()).where(*live)).scalar_one())
    return Restored(until, closed, held, watched, len(flashing), refused, count, known)


def _runs(connection: Connection, now: float) -> int:
    """Close open runs and boots: nobody of today saw their end."""
    opened = runs.opened(connection, None)
    detail = "The store was restored from a backup; what became of it is not known."
    lost = {"ended_at": now, "outcome": Outcome.LOST.value, "detail": detail}
    connection.execute(update(run_rows).where(run_rows.c.ended_at.is_(None)).values(lost))
    history.add(connection, [runs.entry(run, Outcome.LOST, detail, now) for run in opened])
    for number in connection.execute(select(boot_rows.c.id).where(boot_rows.c.closed_at.is_(None))).scalars().all():
        boots.close(connection, number, "the store was restored from a backup", now)
    return len(opened)


def _leases(connection: Connection, now: float) -> None:
    """Let go of everything that somebody held then."""
    connection.execute(delete(firmware_leases))
    connection.execute(delete(power_allowances))
    connection.execute(delete(runners))
    connection.execute(update(trackers).values(holder="", until=0.0))
    over = {"ended_at": now, "detail": "The store was restored from a backup."}
    connection.execute(update(parcels).where(parcels.c.ended_at.is_(None)).values(over))


def _intents(connection: Connection, now: float) -> int:
    """Refuse what nobody had answered: it may have been done since, and nobody wants a node wiped twice."""
    asked = connection.execute(
        select(intent_rows.c.id, intent_rows.c.node).where(intent_rows.c.answered_at.is_(None))
    ).all()
    for number, node in asked:
        said = Answer(number, accepted=False, sentence="The store was restored from a backup; ask for it again.")
        history.add(connection, [intents.answer(connection, node, said, now)])
    return len(asked)


def _hold(connection: Connection, flashing: set[str], now: float) -> tuple[int, int]:
    """Hold nodes to which something would be done, and have serving ones only looked at; return how many of each."""
    pending = set(
        connection.execute(
            select(conditions.c.node).where(conditions.c.condition == Condition.PENDING.value)
        ).scalars()
    )
    counts = {Condition.HELD: 0, Condition.MAINTENANCE: 0}
    mine = select(nodes.c.name, nodes.c.state).where(nodes.c.device_type.not_in(FABRIC_TYPES))
    for name, state in connection.execute(mine.order_by(nodes.c.name)).all():
        begins = State(state) in BEGINS or name in flashing or name in pending
        if not begins and State(state) not in SERVING:
            continue  # it waits for a person anyway
        condition = Condition.HELD if begins else Condition.MAINTENANCE
        counts[condition] += _set(connection, name, condition, now)
    return counts[Condition.HELD], counts[Condition.MAINTENANCE]


def _set(connection: Connection, node: str, condition: Condition, now: float) -> int:
    reason = "the store was restored from a backup: look at the node, then release it"
    row = {"node": node, "condition": condition.value, "since": now, "reason": reason, "by": BY, "detail": ""}
    fresh = database.insert(connection, conditions).values(row).on_conflict_do_nothing()
    made = connection.execute(fresh.returning(conditions.c.node)).all()
    said = f"{condition.value.capitalize()}: {reason}."
    history.add(connection, [Entry(0, node, now, "condition", said, BY)])
    return len(made)
