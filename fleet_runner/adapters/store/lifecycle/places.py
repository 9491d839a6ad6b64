"""Where each node is, as the source of truth said it last."""

from collections.abc import Mapping

from sqlalchemy import Connection, select

from fleet_runner.adapters.store.engine.database import insert
from fleet_runner.adapters.store.schema.core import places
from fleet_runner.core.inventory.records import Place

_EVERY = select(places.c.node, *(places.c[name] for name in Place._fields))


def every(connection: Connection) -> dict[str, Place]:
    """Return the last known place of each node that ever had one."""
    return {node: Place(*where) for node, *where in connection.execute(_EVERY)}


def put(connection: Connection, found: Mapping[str, Place]) -> None:
    """Keep where nodes are from now on."""
    if found:
        fresh = insert(connection, places)
        row = {name: fresh.excluded[name] for name in Place._fields}
        rows = [{"node": node} | where._asdict() for node, where in found.items()]
        connection.execute(fresh.on_conflict_do_update(index_elements=["node"], set_=row), rows)
