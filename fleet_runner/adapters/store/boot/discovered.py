"""Machines that nobody knows, by their MAC address: the newest ten thousand."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, delete, select

from fleet_runner.adapters.store.engine import bounds, database
from fleet_runner.adapters.store.schema.core import discovered
from fleet_runner.core.boot.boots import Discovered

KEPT = 10_000
"""Machines; whoever makes up addresses only pushes out the oldest."""

SAID = ("source", "serial", "uuid", "manufacturer", "product")


def every(connection: Connection) -> tuple[Discovered, ...]:
    """Return all of them, the one heard of last at first."""
    newest = select(discovered).order_by(discovered.c.at.desc(), discovered.c.mac)
    return tuple(Discovered(**row) for row in connection.execute(newest).mappings().all())


def forget(connection: Connection, mac: str) -> bool:
    """Forget one; False where there is none."""
    mine = delete(discovered).where(discovered.c.mac == bounds.key(mac.lower()))
    return connection.execute(mine).rowcount == 1


def take(connection: Connection, told: Sequence[Discovered]) -> list[bool]:
    """Keep what machines said last; return of each whether it said something new."""
    if not told:
        return []
    rows = [_row(each) for each in told]
    known, answers = _known(connection, {row["mac"] for row in rows}), list[bool]()
    grown = any(row["mac"] not in known for row in rows)
    for row in rows:
        said = tuple(row[name] for name in SAID)
        answers.append(known.get(row["mac"]) != said)
        known[row["mac"]] = said
    fresh = database.insert(connection, discovered)
    again = {name: fresh.excluded[name] for name in ("at", *SAID)} | {"times": discovered.c.times + 1}
    connection.execute(
        fresh.on_conflict_do_update(index_elements=["mac"], set_=again), sorted(rows, key=lambda row: row["mac"])
    )
    if grown:
        _prune(connection)
    return answers


def _known(connection: Connection, macs: set[str]) -> dict[str, tuple[str, ...]]:
    columns = [discovered.c[name] for name in ("mac", *SAID)]
    query = select(*columns).where(discovered.c.mac.in_(bindparam("macs", expanding=True)))
    return {mac: tuple(said) for mac, *said in connection.execute(query, {"macs": sorted(macs)}).all()}


def _prune(connection: Connection) -> None:
    newest = select(discovered.c.mac).order_by(discovered.c.at.desc(), discovered.c.mac.desc())
    connection.execute(delete(discovered).where(discovered.c.mac.in_(newest.offset(KEPT))))


def _row(each: Discovered) -> dict[str, Any]:
    said = {name: bounds.key(getattr(each, name)) for name in SAID}
    return {"mac": bounds.key(each.mac.lower()), "at": each.at, "first_at": each.at, "times": 1, **said}
