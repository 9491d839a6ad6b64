"""A node's name in every row of the store, changed at once: its machine has another one in the source of truth.

Rows that name a node by a foreign key are found by it; `ELSEWHERE` has the columns that name one without. Keys of
faults hold names as words. What was said before stays as it was said: history, messages, evidence.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Column, Connection, Table, bindparam, delete, func, insert, literal, select, update

from fleet_runner.adapters.store.engine import database
from fleet_runner.adapters.store.lifecycle import history, nodes
from fleet_runner.adapters.store.schema import core
from fleet_runner.adapters.store.schema.core import (
    boot_events,
    conditions,
    latest,
    results,
    runs,
    ticket_nodes,
    tickets,
)
from fleet_runner.adapters.store.schema.firmware import firmware_leases
from fleet_runner.adapters.store.schema.jobs import job_answers
from fleet_runner.adapters.store.schema.netbox import page_intents
from fleet_runner.adapters.store.schema.remedies import alarms, attempts, breakers, tokens
from fleet_runner.adapters.store.schema.runners import modes
from fleet_runner.adapters.store.schema.trends import episodes, foresights, stays
from fleet_runner.core.budgets.modes import Scope
from fleet_runner.core.cabling.fabrics import FABRIC_TYPES
from fleet_runner.core.inventory.identity import Renamed, retold
from fleet_runner.core.lifecycle.runs import Entry
from fleet_runner.core.lifecycle.states import Condition

KIND = "identity"
"""The kind of what the history says of it."""

ELSEWHERE: tuple[Column[Any], ...] = (
    ticket_nodes.c.node,
    boot_events.c.node,
    breakers.c.trial,
    page_intents.c.name,
    stays.c.node,
    episodes.c.node,
    foresights.c.node,
    job_answers.c.node,
)
"""Columns that name a node and are no foreign keys."""

_ASIDE = "renamed {}\N{SYMBOL FOR NULL}"
"""What stands where a name, or a key, is taken still; no record of the source of truth has such a name."""


def rename(connection: Connection, group: tuple[Renamed, ...], now: float) -> bool:
    """Give nodes their new names, with all that is known of them; False while something works on one of them."""
    old = [each.old for each in group]
    connection.execute(select(core.nodes.c.name).where(core.nodes.c.name.in_(old)).with_for_update()).all()
    if _is_busy(connection, old, now):
        return False
    names = {each.old: each.new for each in group}
    aside = {name: _ASIDE.format(number) for number, name in enumerate(names)}
    if not set(names.values()) & nodes.existing(connection, names.values()):
        aside = {}
    for name, to in aside.items():
        _rename(connection, name, to)
    for name, to in names.items():
        _rename(connection, aside.get(name, name), to)
    _retell(connection, names)
    said = [(each.new, f"Renamed from {each.old} to {each.new}: {each.why}.") for each in group]
    history.add(connection, [Entry(0, name, now, KIND, sentence, "runner") for name, sentence in said])
    nodes.wake(connection, names.values())
    return True


def naming() -> tuple[Column[Any], ...]:
    """Return every column that names a node, but for that of the nodes themselves."""
    tables = core.metadata.tables.values()
    keys = (key.parent for table in tables for key in table.foreign_keys if key.column is core.nodes.c.name)
    return (*keys, *ELSEWHERE)


def _is_busy(connection: Connection, names: list[str], now: float) -> bool:
    """Whether a run is open, or somebody is at the firmware: what they tell carries the old name."""
    going = select(func.count()).where(runs.c.node.in_(names), runs.c.ended_at.is_(None))
    held = select(func.count()).where(
        firmware_leases.c.node.in_(names), firmware_leases.c.until > database.agreed(connection, now)
    )
    return any(connection.execute(query).scalar_one() for query in (going, held))


def _rename(connection: Connection, old: str, new: str) -> None:
    table = core.nodes
    others = [column for column in table.c if column is not table.c.name]
    copied = select(literal(new), *others).where(table.c.name == old)
    connection.execute(insert(table).from_select(["name", *(column.name for column in others)], copied))
    for column in naming():
        owner = column.table
        assert isinstance(owner, Table)  # noqa: S101  a column of a table's
        connection.execute(update(owner).where(column == old).values({column.name: new}))
    connection.execute(delete(table).where(table.c.name == old))


def _retell(connection: Connection, names: Mapping[str, str]) -> None:
    """Have keys of faults, and what stands open, name the nodes by their new names."""
    mine = list(names.values())
    _modes(connection, names)
    _tickets(connection, mine, names)
    for table, where, columns in (
        (alarms, alarms.c.node.in_(mine), ("fault",)),
        (attempts, attempts.c.node.in_(mine), ("faults",)),
        (episodes, episodes.c.node.in_(mine), ("fault",)),
    ):
        _change(connection, table, where, columns, names)
    _keys(connection, foresights, foresights.c.node.in_(mine), ("key",), names)
    _change(connection, tokens, tokens.c.nodes != [], ("nodes",), names)
    _conditions(connection, mine, names)
    seen = select(latest.c.result).join(core.nodes, core.nodes.c.name == latest.c.node)
    fabrics = seen.where(core.nodes.c.device_type.in_(FABRIC_TYPES))
    newest = (results.c.node.in_(mine)) | results.c.id.in_(fabrics)
    _change(connection, results, newest & (results.c.verdict == "FAIL"), ("findings",), names)


def _modes(connection: Connection, names: Mapping[str, str]) -> None:
    """What people said of a node counts for its machine, too."""
    mine = (modes.c.scope == Scope.NODE.value) & modes.c.name.in_(list(names))
    rows = connection.execute(select(modes.c.id, modes.c.name).where(mine)).all()
    _write(connection, modes, [(number, {"name": names[name]}) for number, name in rows])


def _tickets(connection: Connection, mine: list[str], names: Mapping[str, str]) -> None:
    about = select(ticket_nodes.c.ticket).where(ticket_nodes.c.node.in_(mine))
    _keys(connection, tickets, tickets.c.id.in_(about), ("fault", "title", "body"), names)


def _conditions(connection: Connection, mine: list[str], names: Mapping[str, str]) -> None:
    """Keys of the faults that ask for what is pending, or that are waived, stand in the condition's detail."""
    kinds = (Condition.DRAINING, Condition.WAIVED, Condition.ADVISED)
    where = conditions.c.node.in_(mine) & conditions.c.condition.in_([each.value for each in kinds])
    for row in connection.execute(select(conditions).where(where)).all():
        one = (conditions.c.node == row.node) & (conditions.c.condition == row.condition)
        connection.execute(update(conditions).where(one).values(detail=retold(row.detail, names)))


def _keys(
    connection: Connection, table: Table, where: Any, columns: tuple[str, ...], names: Mapping[str, str]
) -> None:
    """Change rows whose first column is a key of the open ones: of two that exchange theirs, each is aside once."""
    changed = _changed(connection, table, where, columns, names)
    key = columns[0]
    for number, _ in changed:
        connection.execute(update(table).where(table.c.id == number).values({key: _ASIDE.format(number)}))
    _write(connection, table, changed)


def _change(
    connection: Connection, table: Table, where: Any, columns: tuple[str, ...], names: Mapping[str, str]
) -> None:
    _write(connection, table, _changed(connection, table, where, columns, names))


def _changed(
    connection: Connection, table: Table, where: Any, columns: tuple[str, ...], names: Mapping[str, str]
) -> list[tuple[int, dict[str, Any]]]:
    rows = connection.execute(select(table.c.id, *(table.c[name] for name in columns)).where(where)).all()
    both = ((number, dict(zip(columns, values, strict=True))) for number, *values in rows)
    found = ((number, before, retold(before, names)) for number, before in both)
    return [(number, after) for number, before, after in found if after != before]


def _write(connection: Connection, table: Table, changed: Iterable[tuple[int, dict[str, Any]]]) -> None:
    rows = [{"_id": number, **values} for number, values in changed]
    if rows:
        names = [name for name in rows[0] if name != "_id"]
        values: dict[str, Any] = {name: bindparam(name) for name in names}
        connection.execute(update(table).where(table.c.id == bindparam("_id")).values(values), rows)
