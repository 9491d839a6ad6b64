"""Boots: armed for a node, one open at a time; read with how far they came."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import ColumnElement, Connection, bindparam, insert, select, update

from fleet_runner.adapters.store.boot import events, rows
from fleet_runner.adapters.store.engine import bounds
from fleet_runner.adapters.store.lifecycle import history
from fleet_runner.adapters.store.schema.core import boots
from fleet_runner.adapters.store.schema.core import nodes as node_rows
from fleet_runner.core.base.errors import StoreError
from fleet_runner.core.boot.boots import Boot, Identity
from fleet_runner.core.lifecycle.runs import Entry

KIND = "boot"
"""What boots are called in a node's history."""

BY = "boot service"

MANY = 2**63
"""More boots than the databases can number; whoever names a higher one names none."""


Key = TypeVar("Key", int, str)


class Arming(NamedTuple):
    """What a boot is armed with: for which run, when, for how long, and the hash of what its BMC was given."""

    run: int | None
    at: float
    seconds: float
    nonce_hash: str


class OpenBootState(NamedTuple):
    """What decides about an open boot's next step."""

    node: str
    run: int | None
    expires_at: float
    claimed: bool


def arm(connection: Connection, node: str, expected: Identity, arming: Arming) -> Boot:
    """Open a boot for a node in place of the one it may have open.

    Raises:
        StoreError: the store does not know the node.
    """
    mine = select(node_rows.c.name).where(node_rows.c.name == node).with_for_update(key_share=True)
    if connection.execute(mine).scalar_one_or_none() is None:
        raise StoreError(
            f"node {node}: the store does not know it; `fleet-runner tick` registers it, then arm it again"
        )
    for older in connection.execute(select(boots.c.id).where(boots.c.node == node, _OPEN)).scalars().all():
        close(connection, older, "armed anew", arming.at)
    number = connection.execute(
        insert(boots).values(_fresh(node, expected, arming)).returning(boots.c.id)
    ).scalar_one()
    sentence = f"Boot {number} is armed for {arming.seconds:g} s"
    events.add(connection, [events.row(node, number, arming.at, "armed", sentence)])
    events.prune(connection, [node])
    history.add(connection, [Entry(0, node, arming.at, KIND, sentence, BY, run=arming.run)])
    return _found(connection, boots.c.id == number)[0]


def close(connection: Connection, boot: int, because: str, now: float) -> bool:
    """Close a boot; False where it was not open."""
    told = bounds.words(because)
    mine = update(boots).where(boots.c.id == boot, _OPEN)
    closed = mine.values(closed_at=now, closed_because=told)
    node = connection.execute(closed.returning(boots.c.node)).scalar_one_or_none()
    if node is None:
        return False
    events.add(connection, [events.row(node, boot, now, "closed", f"Boot {boot} is closed: {told}")])
    return True


def one(connection: Connection, boot: int) -> Boot | None:
    """Return a boot, or None."""
    return next(iter(_found(connection, boots.c.id == boot)), None)


def opened(connection: Connection) -> tuple[Boot, ...]:
    """Return every open boot, oldest first."""
    return _found(connection, _OPEN)


def of_node(connection: Connection, node: str, limit: int) -> tuple[Boot, ...]:
    """Return the newest boots of a node, oldest first."""
    newest = select(boots.c.id).where(boots.c.node == node).order_by(boots.c.id.desc()).limit(limit)
    return _found(connection, boots.c.id.in_(newest))


def some(connection: Connection, numbers: Iterable[int]) -> tuple[Boot, ...]:
    """Return boots by their ids, oldest first; unknown ones are left out."""
    return tuple(boot for chunk in chunked(numbers) for boot in _found(connection, boots.c.id.in_(chunk)))


def stand(connection: Connection, numbers: Iterable[int]) -> dict[int, OpenBootState]:
    """Return how the open ones among some boots stand; nobody else changes them until the transaction ends."""
    rows = (row for chunk in chunked(numbers) for row in connection.execute(_STANDING, {"numbers": chunk}).all())
    return {
        number: OpenBootState(node, run, expires_at, at is not None) for number, node, run, expires_at, at in rows
    }


def change(connection: Connection, values: Mapping[str, Any], rows: list[dict[str, Any]]) -> None:
    """Change open boots, each by a row whose `_id` names it."""
    if rows:
        connection.execute(update(boots).where(boots.c.id == bindparam("_id"), _OPEN).values(values), rows)


def chunked(keys: Iterable[Key]) -> Iterable[list[Key]]:
    """Split keys, in order, so that neither database's limit of parameters is met."""
    wanted = sorted(set(keys))
    return (wanted[start : start + 1000] for start in range(0, len(wanted), 1000))


_OPEN: ColumnElement[bool] = boots.c.closed_at.is_(None)

_STANDING = (
    select(boots.c.id, boots.c.node, boots.c.run, boots.c.expires_at, boots.c.claimed_at)
    .where(boots.c.id.in_(bindparam("numbers", expanding=True)), _OPEN)
    .order_by(boots.c.id)
    .with_for_update()
)


def _fresh(node: str, expected: Identity, arming: Arming) -> dict[str, Any]:
    return {
        "node": node,
        "run": arming.run,
        "armed_at": arming.at,
        "expires_at": arming.at + arming.seconds,
        "expected": {
            "macs": sorted(expected.macs),
            "serial": expected.serial,
            "uuid": expected.uuid,
            "addresses": sorted(expected.addresses),
        },
        "nonce_hash": arming.nonce_hash,
        "proved_by": "",
        "claimed_by": "",
        "host_keys": [],
        "refused": 0,
        "closed_because": "",
    }


def _found(connection: Connection, wanted: ColumnElement[bool]) -> tuple[Boot, ...]:
    found = connection.execute(select(boots).where(wanted)).all()  # unordered: SQLite would walk every closed boot
    return rows.boots(found, events.steps(connection, wanted))
