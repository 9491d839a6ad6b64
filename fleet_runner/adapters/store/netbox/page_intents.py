"""Requests from NetBox's pages: each is taken once, with the intent or refusal that follows, in one transaction."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, and_, delete, or_, select, update

from fleet_runner.adapters.store.engine import database
from fleet_runner.adapters.store.lifecycle import history, intents
from fleet_runner.adapters.store.schema.netbox import page_intents
from fleet_runner.core.inventory.netbox.page_intents import PageIntent, TakenIntent, known
from fleet_runner.core.lifecycle.runs import Entry, Intent, IntentKind
from fleet_runner.core.schedules.retention import DAY

KEPT = 30 * DAY
"""Seconds for which a request is known again after its field was seen without it."""


class Refused(NamedTuple):
    """A request that was refused, and why: its device is told so in NetBox, for it has no history here."""

    intent: PageIntent
    why: str


def take(connection: Connection, url: str, intent: PageIntent, refusal: tuple[str, bool], now: float) -> bool:
    """Leave a request for the runner, or refuse it and say so; False where it was taken before.

    `refusal` is why it cannot be left, "" where it can, and whether its device has a history that says so.
    """
    there = page_intents.c
    mine = select(page_intents).where(there.url == url, there.device == intent.device).with_for_update()
    if known(intent, [_taken(row) for row in connection.execute(mine).all()]):
        return False
    why, here = refusal
    row = {
        "url": url,
        "device": intent.device,
        "change": intent.change,
        "at": intent.at,
        "name": intent.name,
        "kind": intent.kind,
        "reason": intent.reason,
        "by": intent.by,
        "taken_at": now,
        "refusal": "" if here else why,
        "telling_until": 0.0,
    }
    fresh = database.insert(connection, page_intents).values(row).on_conflict_do_nothing()
    if connection.execute(fresh.returning(page_intents.c.device)).first() is None:  # another runner took it just now
        return False
    at = min(intent.at, now)
    if not why:
        number = intents.leave(
            connection, Intent(0, intent.name, IntentKind(intent.kind), intent.by, at, intent.reason)
        )
        connection.execute(update(page_intents).where(_one(url, intent)).values(intent=number))
    elif here:
        asks = Entry(0, intent.name, at, "intent", intents.sentence(intent.by, intent.kind, intent.reason), intent.by)
        history.add(connection, [asks, Entry(0, intent.name, now, "intent", why, "runner")])
    return True


def standing(connection: Connection, url: str, before: float) -> frozenset[int]:
    """Return the devices whose fields were not seen without a request that was taken before a moment."""
    there = page_intents.c
    stood = select(there.device).where(there.url == url, there.gone_at.is_(None), there.taken_at < before)
    return frozenset(connection.execute(stood).scalars())


def gone(connection: Connection, url: str, devices: Iterable[int], before: float, now: float) -> None:
    """Note that devices' fields are without the requests that were taken before a moment; forget old ones."""
    there = page_intents.c
    mine = and_(there.url == url, there.gone_at.is_(None), there.taken_at < before)
    for device in devices:
        connection.execute(update(page_intents).where(mine, there.device == device).values(gone_at=now))
    said = or_(there.refusal == "", there.told_at.is_not(None))
    connection.execute(delete(page_intents).where(there.url == url, there.gone_at < now - KEPT, said))


def refused(connection: Connection, url: str) -> tuple[Refused, ...]:
    """Return the refusals that NetBox is still to be told of, oldest first."""
    there = page_intents.c
    mine = select(page_intents).where(there.url == url, there.refusal != "", there.told_at.is_(None))
    return tuple(Refused(_asked(row), row.refusal) for row in connection.execute(mine.order_by(there.taken_at)).all())


def begin_telling(connection: Connection, url: str, intent: PageIntent, now: float, seconds: float) -> bool:
    """Take the right to tell NetBox of a refusal; False while another process has it, or has done so."""
    mine = (_one(url, intent), page_intents.c.telling_until <= now, page_intents.c.told_at.is_(None))
    row = {"telling_until": now + seconds}
    return connection.execute(update(page_intents).where(*mine).values(row)).rowcount == 1


def told(connection: Connection, url: str, intent: PageIntent, now: float) -> None:
    """Note that NetBox was told of a refusal."""
    connection.execute(update(page_intents).where(_one(url, intent)).values(told_at=now))


def _one(url: str, intent: PageIntent) -> ColumnElement[bool]:
    there = page_intents.c
    return and_(there.url == url, there.device == intent.device, there.change == intent.change, there.at == intent.at)


def _taken(row: Row[Any]) -> TakenIntent:
    return TakenIntent(row.change, row.at, row.kind, row.reason, row.gone_at is not None)


def _asked(row: Row[Any]) -> PageIntent:
    return PageIntent(row.device, row.name, row.kind, row.reason, row.by, row.at, row.change)
