"""Rollouts and whose turn it is in them: changed as a whole, by whoever saw them as they are."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, Select, bindparam, insert, select, update
from sqlalchemy.exc import IntegrityError

from fleet_runner.adapters.store.boot.boots import chunked
from fleet_runner.adapters.store.firmware import flashes
from fleet_runner.adapters.store.lifecycle import history, intents, nodes
from fleet_runner.adapters.store.schema.core import intents as intent_rows
from fleet_runner.adapters.store.schema.core import nodes as node_rows
from fleet_runner.adapters.store.schema.firmware import ASKED, GOING_ON, rollout_nodes, rollouts
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.firmware.flash import Flash
from fleet_runner.core.firmware.rollout import Rollout, RolloutStatus
from fleet_runner.core.firmware.turns import Member, RolloutStep
from fleet_runner.core.lifecycle.runs import Entry, Intent, IntentKind
from fleet_runner.core.lifecycle.states import State


class News(NamedTuple):
    """What happened to a node since it was asked: what its request was told, its transitions and flashes."""

    answer: tuple[bool, str] | None
    moves: tuple[Entry, ...]
    flashes: tuple[Flash, ...]


def start(connection: Connection, rollout: Rollout, members: Iterable[Member]) -> Rollout:
    """Store a new rollout with its nodes; return it with its id.

    Raises:
        ConflictError: another rollout of the device type is not over.
    """
    try:
        made = connection.execute(insert(rollouts).values(_values(rollout)).returning(rollouts)).one()
    except IntegrityError as error:
        raise _taken(rollout) from error
    rows = [_member_row(made.id, member) for member in members]
    if rows:
        connection.execute(insert(rollout_nodes), rows)
    return _rollout(made)


def one(connection: Connection, number: int) -> Rollout | None:
    """Return a rollout, or None."""
    found = connection.execute(select(rollouts).where(rollouts.c.id == number)).one_or_none()
    return _rollout(found) if found is not None else None


def every(connection: Connection, limit: int) -> tuple[Rollout, ...]:
    """Return the newest rollouts, oldest first."""
    newest = select(rollouts).order_by(rollouts.c.id.desc()).limit(limit)
    return tuple(_rollout(row) for row in reversed(connection.execute(newest).all()))


def live(connection: Connection) -> tuple[Rollout, ...]:
    """Return the rollouts that may still ask, or that have nodes under way, oldest first."""
    found = {row.id: _rollout(row) for row in connection.execute(going_on_query()).all()}
    for number in connection.execute(asked_query()).scalars():
        found[number] = found.get(number) or _the(connection, number)
    return tuple(found[number] for number in sorted(found))


def going_on_query() -> Select[Any]:
    """Return the query for the rollouts that may still ask."""
    return select(rollouts).where(GOING_ON)


def asked_query() -> Select[Any]:
    """Return the query for the rollouts that have nodes under way."""
    return select(rollout_nodes.c.rollout).where(ASKED).distinct()


def members(connection: Connection, number: int) -> tuple[Member, ...]:
    """Return every node of a rollout, in the order of their turns."""
    mine = select(rollout_nodes).where(rollout_nodes.c.rollout == number)
    ordered = mine.order_by(rollout_nodes.c.wave, rollout_nodes.c.node)
    return tuple(_member(row) for row in connection.execute(ordered).all())


def change(
    connection: Connection, rollout: Rollout, changed: Rollout, turns: Sequence[Member], now: float
) -> Rollout:
    """Bring a rollout, and the turns of some of its nodes, to what they are now; leave the requests of who is asked.

    Nodes whose turn begins or ends are looked at next; those that are skipped before it are not touched.

    Raises:
        ConflictError: it has changed since it was read, or another rollout of its device type is not over.
    """
    mine = update(rollouts).where(rollouts.c.id == rollout.id, rollouts.c.version == rollout.version)
    values = _values(changed) | {"version": rollout.version + 1}
    try:
        made = connection.execute(mine.values(values).returning(rollouts)).one_or_none()
    except IntegrityError as error:
        raise _taken(rollout) from error
    if made is None:
        raise ConflictError(f"{rollout.name}: it has changed since it was read; nothing was changed; read it again")
    for member in turns:
        left = _ask(connection, rollout, member, now) if member.turn is RolloutStep.ASKED else member.intent
        values = _member_row(rollout.id, member) | {"changed_at": now, "intent": left}
        row = update(rollout_nodes).where(rollout_nodes.c.rollout == rollout.id, rollout_nodes.c.node == member.node)
        connection.execute(row.values(values))
    touched = (each for each in turns if each.turn is not RolloutStep.SKIPPED or each.intent is not None)
    nodes.wake(connection, (member.node for member in touched))
    return _rollout(made)


def asking(connection: Connection, node: str) -> Rollout | None:
    """Return the rollout in which it is a node's turn; None where there is none."""
    mine = select(rollout_nodes.c.rollout).where(rollout_nodes.c.node == node, ASKED)
    number = connection.execute(mine.order_by(rollout_nodes.c.rollout.desc()).limit(1)).scalar_one_or_none()
    return _the(connection, number) if number is not None else None


def out(connection: Connection) -> tuple[str, ...]:
    """Return the nodes that rollouts have out of service now."""
    asked = select(rollout_nodes.c.node).where(ASKED).subquery()
    gone = select(node_rows.c.name).where(
        node_rows.c.name.in_(select(asked.c.node)), node_rows.c.state != State.PRODUCTION.value
    )
    return tuple(connection.execute(gone.order_by(node_rows.c.name)).scalars())


def news(connection: Connection, asked: Sequence[Member]) -> dict[str, News]:
    """Return what happened to each of some nodes since it was asked."""
    since = {member.node: member.changed_at for member in asked}
    answers = _answers(connection, asked)
    moves: dict[str, list[Entry]] = defaultdict(list)
    flashed: dict[str, list[Flash]] = defaultdict(list)
    for chunk in chunked(since):
        first = min(since[name] for name in chunk)
        for entry in history.moves(connection, chunk, first):
            if entry.at >= since[entry.node]:
                moves[entry.node].append(entry)
        for flash in flashes.of_nodes(connection, chunk, first):
            if flash.intended_at >= since[flash.node]:
                flashed[flash.node].append(flash)
    return {
        member.node: News(answers.get(member.intent), tuple(moves[member.node]), tuple(flashed[member.node]))
        for member in asked
    }


def _answers(connection: Connection, asked: Iterable[Member]) -> dict[int | None, tuple[bool, str]]:
    columns = (intent_rows.c.id, intent_rows.c.accepted, intent_rows.c.answer)
    given = select(*columns).where(
        intent_rows.c.id.in_(bindparam("ids", expanding=True)), intent_rows.c.answered_at.is_not(None)
    )
    chunks = chunked(member.intent for member in asked if member.intent is not None)
    rows = (row for chunk in chunks for row in connection.execute(given, {"ids": chunk}).all())
    return {row.id: (bool(row.accepted), str(row.answer)) for row in rows}


def _ask(connection: Connection, rollout: Rollout, member: Member, now: float) -> int:
    because = f"{rollout.name} of {rollout.by}: {rollout.reason}"
    return intents.leave(connection, Intent(0, member.node, IntentKind.FIRMWARE, rollout.name, now, because))


def _the(connection: Connection, number: int) -> Rollout:
    return _rollout(connection.execute(select(rollouts).where(rollouts.c.id == number)).one())


def _taken(rollout: Rollout) -> ConflictError:
    return ConflictError(
        f"device type {rollout.device_type}: another rollout of it is running or paused; stop that one first, or wait"
    )


def _values(rollout: Rollout) -> dict[str, Any]:
    return {
        "device_type": rollout.device_type,
        "by": rollout.by,
        "at": rollout.at,
        "reason": rollout.reason,
        "canary": rollout.canary,
        "wave": rollout.wave,
        "failed_share": rollout.failed_share,
        "state": rollout.standing.value,
        "detail": rollout.detail,
        "changed_at": rollout.changed_at,
        "counts_from": rollout.counts_from,
        "version": rollout.version,
    }


def _rollout(row: Row[Any]) -> Rollout:
    return Rollout(
        id=row.id,
        device_type=row.device_type,
        by=row.by,
        at=row.at,
        reason=row.reason,
        canary=row.canary,
        wave=row.wave,
        failed_share=row.failed_share,
        standing=RolloutStatus(row.state),
        detail=row.detail,
        changed_at=row.changed_at,
        counts_from=row.counts_from,
        version=row.version,
    )


def _member_row(number: int, member: Member) -> dict[str, Any]:
    return {
        "rollout": number,
        "node": member.node,
        "wave": member.wave,
        "state": member.turn.value,
        "detail": member.detail,
        "changed_at": member.changed_at,
        "intent": member.intent,
    }


def _member(row: Row[Any]) -> Member:
    return Member(row.node, row.wave, RolloutStep(row.state), row.detail, row.changed_at, row.intent)
