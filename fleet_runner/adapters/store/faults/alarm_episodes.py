"""Alarms as episodes: what was pushed befell parts as well. They change while they stand, so they are read again."""

from dataclasses import asdict
from itertools import count
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, or_, select, update

from fleet_runner.adapters.store.engine import database
from fleet_runner.adapters.store.results.results import in_chunks
from fleet_runner.adapters.store.schema.remedies import COUNTED, alarms
from fleet_runner.adapters.store.schema.trends import episodes, gathered, stays
from fleet_runner.core.reliability.forecasts import PREFIX
from fleet_runner.core.reliability.parts.places import Places
from fleet_runner.core.reliability.parts.stay import Episode, Stay

ALARMS = "alarms"
"""The row that says when alarms were read."""

DAY = 86_400.0


def keep(connection: Connection, now: float) -> int:
    """Keep raised alarms that stood since they were read last; return how many there were.

    What is foreseen is an alarm, too, and none of these: nothing may be foreseen from that.
    """
    read_at = connection.execute(select(gathered.c.at).where(gathered.c.name == ALARMS)).scalar_one_or_none()
    read = {"name": ALARMS, "upto": 0, "at": now, "told": {}}
    added = database.insert(connection, gathered).values(read)
    connection.execute(added.on_conflict_do_update(index_elements=["name"], set_={"at": now}))
    stood = or_(alarms.c.cleared_at.is_(None), alarms.c.cleared_at >= (read_at or DAY) - DAY)
    mine = select(alarms).where(COUNTED, stood, ~alarms.c.code.startswith(PREFIX))
    told = connection.execute(mine.order_by(alarms.c.id)).mappings().all()  # a row has a count of its own
    names = {str(row["node"]) for row in told}
    known = {
        (row.node, row.component, row.code, row.first_at): row.id
        for row in in_chunks(connection, select(episodes).where(episodes.c.check == ""), episodes.c.node, names)
    }
    there: dict[str, list[Stay]] = {}
    for row in in_chunks(connection, select(stays), stays.c.node, names):
        there.setdefault(row.node, []).append(Stay(*tuple(row)))
    numbers = count((connection.execute(select(func.max(episodes.c.id))).scalar_one_or_none() or 0) + 1)
    began: list[Episode] = []
    again: list[dict[str, Any]] = []
    for alarm in told:
        node, component, first = alarm["node"], alarm["component"], alarm["first_at"]
        number = known.get((node, component, alarm["code"], first))
        if number is not None:
            again.append({"_id": number, "_last": alarm["last_at"], "_seen": alarm["count"]})
            continue
        serial = Places(node, there.get(node, ()), numbers).serial(component)
        words = (node, component, alarm["code"], alarm["fault"], "", serial)
        began.append(Episode(next(numbers), *words, first, alarm["last_at"], alarm["count"]))
    if began:
        connection.execute(insert(episodes), [asdict(each) for each in began])
    if again:
        values: dict[str, Any] = {"last_at": bindparam("_last"), "seen": bindparam("_seen")}
        connection.execute(update(episodes).where(episodes.c.id == bindparam("_id")).values(values), again)
    return len(told)
