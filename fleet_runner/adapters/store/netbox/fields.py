"""How far a NetBox is told: which fields of nodes are not as they should be there, which lines it has not.

The journal is read up to a line before which none can appear any more: two who write at once may end in the other
order than their lines are numbered.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, case, func, insert, or_, select, update

from fleet_runner.adapters.store.engine import bounds, database
from fleet_runner.adapters.store.lifecycle import history
from fleet_runner.adapters.store.schema.core import journal, nodes
from fleet_runner.adapters.store.schema.netbox import mirrored_fields, mirrored_lines, mirrors
from fleet_runner.core.cabling.fabrics import FABRIC_TYPES
from fleet_runner.core.inventory.netbox.mirror.fields import MirroredState
from fleet_runner.core.inventory.netbox.mirror.lines import KINDS
from fleet_runner.core.inventory.netbox.mirror.standing import JournalPosition, Written
from fleet_runner.core.lifecycle.runs import Entry

KIND = "netbox"
BY = "netbox"

MOST_ASKED = 8
"""Answers that may be lost one after another until the oldest is forgotten."""

_IS_NODE = nodes.c.device_type.not_in(FABRIC_TYPES)


def begin(connection: Connection, url: str, bound: int) -> None:
    """Tell a NetBox from now on; what happened before it was told first stays untold."""
    row = {"url": url, "began": bound, "seen": bound}
    connection.execute(database.insert(connection, mirrors).values(row).on_conflict_do_nothing())


def bound(connection: Connection) -> int:
    """Return the newest line of the journal, once no line can come before it any more."""
    newest = int(connection.execute(select(func.coalesce(func.max(journal.c.id), 0))).scalar_one())
    database.settle(connection, journal)
    return newest


def behind(connection: Connection, url: str) -> bool:
    """Whether the journal has lines that were not looked at for this NetBox, or it was never told."""
    seen = connection.execute(select(mirrors.c.seen).where(mirrors.c.url == url)).scalar_one_or_none()
    newest = connection.execute(select(func.coalesce(func.max(journal.c.id), 0))).scalar_one()
    return seen is None or newest > seen


def scan(connection: Connection, url: str, until: int) -> None:
    """Note for each node which line is its newest, up to a line that is settled."""
    mine = connection.execute(select(mirrors).where(mirrors.c.url == url).with_for_update()).one()
    if until <= mine.seen:
        return
    span = (journal.c.id > mine.seen, journal.c.id <= until, journal.c.kind.in_(KINDS), _IS_NODE)
    query = select(journal.c.node, func.max(journal.c.id)).join(nodes, nodes.c.name == journal.c.node).where(*span)
    found = connection.execute(query.group_by(journal.c.node)).all()
    blank = {"url": url, "told": mine.began, "doubted": 0, "asked_at": 0.0, "tries": 0, "due_at": 0.0, "detail": ""}
    if found:
        fresh = database.insert(connection, mirrored_lines)
        further = fresh.on_conflict_do_update(index_elements=["url", "node"], set_={"newest": fresh.excluded.newest})
        connection.execute(further, [blank | {"node": node, "newest": newest} for node, newest in found])
    connection.execute(update(mirrors).where(mirrors.c.url == url).values(seen=until))


def written(connection: Connection, url: str, names: Collection[str] | None = None) -> tuple[Written, ...]:
    """Return the fields of every node, or of some, by name."""
    query = _fields(url)
    if names is not None:
        query = query.where(nodes.c.name.in_(sorted(names)))
    return tuple(map(_written, connection.execute(query.order_by(nodes.c.name)).all()))


def unwritten(connection: Connection, url: str, before: float) -> tuple[Written, ...]:
    """Return the fields that are not as they should be, or were last before a moment; first what was tried least."""
    there = mirrored_fields.c
    other = or_(
        there.node.is_(None),
        there.state != nodes.c.state,
        there.since != nodes.c.since,
        there.conflict != "",
        there.written_at < before,
    )
    query = _fields(url).where(other).order_by(func.coalesce(there.tries, 0), nodes.c.name)
    return tuple(map(_written, connection.execute(query).all()))


def asking(connection: Connection, url: str, given: Iterable[Written]) -> None:
    """Note what is about to be sent."""
    for each in given:
        asked = [list(stand) for stand in dict.fromkeys((*each.asked, each.wanted))][-MOST_ASKED:]
        _put(connection, url, each.node, {"asked": asked})


def wrote(connection: Connection, url: str, given: Iterable[Written], now: float) -> None:
    """Note that fields are as they were wanted."""
    for each in given:
        state, since = each.wanted
        well = {"conflict": "", "tries": 0, "due_at": 0.0, "detail": "", "asked": []}
        _put(connection, url, each.node, {"state": state, "since": since, "written_at": now} | well)


def conflicting(connection: Connection, url: str, each: Written, conflict: str, moments: tuple[float, float]) -> bool:
    """Note what of somebody else's is in the way, and say so in the history; False where something was before.

    What else is written there until that is settled is not said: it may be a program that writes every minute.
    """
    now, due_at = moments
    what = bounds.words(conflict)
    _put(connection, url, each.node, {"conflict": what, "due_at": due_at, "detail": ""})
    if each.conflict:
        return False
    said = (
        f"In its page in NetBox {what}, which fleet-runner did not write: it is left as it is. "
        f"Empty the field there, or say fleet-runner netbox sync --over {each.node}, then it is written again."
    )
    history.add(connection, [Entry(0, each.node, now, KIND, said, BY)])
    return True


def not_written(connection: Connection, url: str, each: Written, why: str, due_at: float) -> None:
    """Note why fields are not written, and when that is tried again."""
    row = {"tries": bounds.count(each.tries + 1), "due_at": due_at, "detail": bounds.words(why)}
    _put(connection, url, each.node, row)


def untold(connection: Connection, url: str) -> tuple[JournalPosition, ...]:
    """Return the nodes whose history is not told in full; first what was tried least, then the oldest line."""
    there = mirrored_lines.c
    mine = select(mirrored_lines).where(there.url == url, there.newest > there.told)
    return tuple(_told(row) for row in connection.execute(mine.order_by(there.tries, there.told, there.node)).all())


def lines(connection: Connection, told: JournalPosition, limit: int) -> tuple[Entry, ...]:
    """Return the next lines of a node that are to be told, oldest first."""
    return history.after(connection, told.node, (told.told, told.newest), KINDS, limit)


def waiting(connection: Connection, url: str) -> int:
    """Return how many lines are not told."""
    there = mirrored_lines.c
    span = and_(journal.c.node == there.node, journal.c.id > there.told, journal.c.id <= there.newest)
    query = select(func.count()).select_from(mirrored_lines).join(journal, span)
    mine = (there.url == url, there.newest > there.told, journal.c.kind.in_(KINDS))
    return int(connection.execute(query.where(*mine)).scalar_one())


def telling(connection: Connection, url: str, until: Mapping[str, int], now: float) -> None:
    """Note up to which line of each node is about to be sent."""
    for node, line in until.items():
        doubted = case((mirrored_lines.c.doubted > line, mirrored_lines.c.doubted), else_=line)
        _tell(connection, url, node, {"doubted": doubted, "asked_at": now})


def told(connection: Connection, url: str, until: Mapping[str, int]) -> None:
    """Note up to which line each node's history is told."""
    for node, line in until.items():
        _tell(connection, url, node, {"told": line, "tries": 0, "due_at": 0.0, "detail": ""})


def not_told(connection: Connection, url: str, each: JournalPosition, why: str, due_at: float) -> None:
    """Note why a node's history is not told, and when that is tried again."""
    row = {"tries": bounds.count(each.tries + 1), "due_at": due_at, "detail": bounds.words(why)}
    _tell(connection, url, each.node, row)


def not_taken(connection: Connection, url: str, given: Iterable[JournalPosition]) -> None:
    """Note that it is certain that nothing of what was sent was taken: all is as it was before."""
    for each in given:
        _tell(connection, url, each.node, {"doubted": each.doubted, "asked_at": each.asked_at})


def hurry(connection: Connection, url: str) -> None:
    """Have everything that waits tried at once."""
    for table in (mirrored_fields, mirrored_lines):
        connection.execute(update(table).where(table.c.url == url).values(due_at=0.0))


def doubt(connection: Connection) -> None:
    """Look for every line before it is told: a store from a backup does not know what was told since."""
    newest = select(func.coalesce(func.max(journal.c.id), 0)).scalar_subquery()
    connection.execute(update(mirrored_lines).values(doubted=newest, asked_at=0.0))


def _fields(url: str) -> Select[Any]:
    there = [column for column in mirrored_fields.c if column.name not in {"url", "node", "state", "since"}]
    wanted = [nodes.c.name, nodes.c.state, nodes.c.since]
    last = [mirrored_fields.c.state.label("was"), mirrored_fields.c.since.label("then")]
    mine = and_(mirrored_fields.c.node == nodes.c.name, mirrored_fields.c.url == url)
    return select(*wanted, *last, *there).join_from(nodes, mirrored_fields, mine, isouter=True).where(_IS_NODE)


def _written(row: Row[Any]) -> Written:
    wanted = MirroredState(row.state, row.since)
    if row.was is None:
        return Written(row.name, wanted)
    asked = tuple(MirroredState(state, since) for state, since in row.asked)
    last = (MirroredState(row.was, row.then), row.written_at, asked)
    return Written(row.name, wanted, *last, row.conflict, row.tries, row.due_at, row.detail)


def _told(row: Row[Any]) -> JournalPosition:
    return JournalPosition(
        row.node, row.newest, row.told, row.doubted, row.asked_at, row.tries, row.due_at, row.detail
    )


def _put(connection: Connection, url: str, node: str, row: dict[str, Any]) -> None:
    mine = (mirrored_fields.c.url == url, mirrored_fields.c.node == node)
    if connection.execute(update(mirrored_fields).where(*mine).values(row)).rowcount == 0:
        blank = {"state": "", "since": 0.0, "asked": [], "conflict": "", "tries": 0, "due_at": 0.0, "detail": ""}
        connection.execute(insert(mirrored_fields).values({"url": url, "node": node} | blank | row))


def _tell(connection: Connection, url: str, node: str, row: dict[str, Any]) -> None:
    mine = (mirrored_lines.c.url == url, mirrored_lines.c.node == node)
    connection.execute(update(mirrored_lines).where(*mine).values(row))
