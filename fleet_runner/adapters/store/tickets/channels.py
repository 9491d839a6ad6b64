"""Channels: how far each is notified, who may tell it, and the lines of the journal that it has not heard of."""

from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import Connection, func, or_, select, update

from fleet_runner.adapters.store.engine import bounds, database
from fleet_runner.adapters.store.lifecycle import history
from fleet_runner.adapters.store.schema.core import journal, tickets
from fleet_runner.adapters.store.schema.remedies import alarms
from fleet_runner.adapters.store.schema.web import channels
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.lifecycle.runs import Entry
from fleet_runner.core.tickets.notifications.grouping import ChannelPosition
from fleet_runner.core.tickets.notifications.lines import KINDS, ticket

CHUNK = 500
"""Names or numbers of one question."""

_FIELDS = tuple(column.name for column in channels.c if column.name not in {"holder", "until"})


def newest(connection: Connection) -> int:
    """Return the journal's newest line, which others may still come before."""
    return int(connection.execute(select(func.coalesce(func.max(journal.c.id), 0))).scalar_one())


def settled(connection: Connection) -> int:
    """Return the journal's newest line, once no line can come before it any more."""
    found = newest(connection)
    database.settle(connection, journal)
    return found


def one(connection: Connection, name: str) -> ChannelPosition | None:
    """Return how far a channel is told; None for one that is new."""
    row = connection.execute(select(channels).where(channels.c.name == name)).mappings().one_or_none()
    return ChannelPosition(**{field: row[field] for field in _FIELDS}) if row is not None else None


def begin(connection: Connection, name: str, line: int) -> None:
    """Notify a channel from a line on: what happened before it was named stays untold."""
    row = {
        field.name: getattr(ChannelPosition(name, line, line), field.name)
        for field in channels.c
        if field.name in _FIELDS
    }
    blank = row | {"holder": "", "until": 0.0}
    connection.execute(database.insert(connection, channels).values(blank).on_conflict_do_nothing())


def take(connection: Connection, name: str, holder: str, now: float, seconds: float) -> bool:
    """Take or renew the right to notify a channel; False while another process has it.

    One that lasts longer than any may was taken before the clock was set back.
    """
    free = or_(channels.c.holder == holder, channels.c.until <= now, channels.c.until > now + seconds)
    mine = update(channels).where(channels.c.name == name, free).values(holder=holder, until=now + seconds)
    return connection.execute(mine).rowcount == 1


def give_back(connection: Connection, name: str, holder: str) -> None:
    """Let another process notify a channel at once."""
    mine = update(channels).where(channels.c.name == name, channels.c.holder == holder)
    connection.execute(mine.values(holder="", until=0.0))


def write(connection: Connection, holder: str, standing: ChannelPosition) -> None:
    """Write down how far a channel is told; ConflictError if another process has taken the right to tell it."""
    row: dict[str, Any] = {field: getattr(standing, field) for field in _FIELDS if field != "name"}
    row["detail"] = bounds.words(standing.detail)
    mine = update(channels).where(channels.c.name == standing.name, channels.c.holder == holder)
    if connection.execute(mine.values(row)).rowcount != 1:
        raise ConflictError(f"channel {standing.name}: another process notifies it now; this one is on standby")


def lines(connection: Connection, after: int, until: int, limit: int) -> tuple[Entry, ...]:
    """Return lines of the journal that may be news, in their order."""
    span = (journal.c.id > after, journal.c.id <= until, journal.c.kind.in_(KINDS))
    query = select(journal).where(*span).order_by(journal.c.id).limit(limit)
    return tuple(map(history.entry, connection.execute(query).all()))


def remedies(connection: Connection, entries: Collection[Entry]) -> dict[int, str]:
    """Return the remedies of the tickets and alarms that lines are about, by the lines' ids."""
    about = {entry.id: ticket(entry) for entry in entries if ticket(entry)}
    known: dict[int, str] = {}
    for chunk in _chunks(set(about.values())):
        rows = connection.execute(select(tickets.c.id, tickets.c.remedy).where(tickets.c.id.in_(chunk)))
        known |= {row.id: row.remedy for row in rows}
    found = {line: known[number] for line, number in about.items() if number in known}
    return found | _of_alarms(connection, [entry for entry in entries if entry.kind == "alarm"])


def _of_alarms(connection: Connection, entries: Collection[Entry]) -> dict[int, str]:
    """Return the remedies of alarms by the lines that tell of them: both were written at one moment."""
    known: dict[tuple[str, float], list[tuple[str, str]]] = {}
    for chunk in _chunks({entry.node for entry in entries}):
        since = min(entry.at for entry in entries)
        mine = (alarms.c.node.in_(chunk), or_(alarms.c.raised_at >= since, alarms.c.cleared_at >= since))
        for row in connection.execute(select(alarms).where(*mine)):
            for at in {row.raised_at, row.cleared_at} - {None}:
                known.setdefault((row.node, at), []).append((row.code, row.remedy))
    said = {entry.id: (entry.sentence, known.get((entry.node, entry.at), [])) for entry in entries}
    return {
        line: remedy
        for line, (words, rows) in said.items()
        for code, remedy in rows
        if words.startswith(f"Alarm {code}")
    }


def _chunks(wanted: Iterable[Any]) -> Iterable[list[Any]]:
    rows = sorted(wanted)
    return (rows[start : start + CHUNK] for start in range(0, len(rows), CHUNK))
