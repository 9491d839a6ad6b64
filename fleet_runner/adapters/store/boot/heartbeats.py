"""When the parts of the boot path were last heard of."""

from collections.abc import Sequence

from sqlalchemy import Connection, select

from fleet_runner.adapters.store.engine import bounds, database
from fleet_runner.adapters.store.schema.core import beats
from fleet_runner.core.boot.boots import Heartbeat


def every(connection: Connection) -> dict[str, float]:
    """Return when each was last heard of."""
    return {row.who: row.at for row in connection.execute(select(beats)).all()}


def take(connection: Connection, told: Sequence[Heartbeat]) -> list[bool]:
    """Keep what was told last, which need not be latest: a clock that was ahead is set back; return what was news."""
    if not told:
        return []
    known, answers = every(connection), list[bool]()
    for each in told:
        who = bounds.key(each.who)
        answers.append(each.at != known.get(who))
        known[who] = each.at
    rows = [{"who": who, "at": known[who]} for who in sorted({bounds.key(each.who) for each in told})]
    fresh = database.insert(connection, beats)
    connection.execute(fresh.on_conflict_do_update(index_elements=["who"], set_={"at": fresh.excluded.at}), rows)
    return answers
