"""What people said of how far automation may go: only ever added to, so that who said what, and why, stays known."""

from sqlalchemy import Connection, insert, select

from fleet_runner.adapters.store.budgets import rows
from fleet_runner.adapters.store.engine import bounds
from fleet_runner.adapters.store.lifecycle import nodes
from fleet_runner.adapters.store.schema.runners import modes
from fleet_runner.core.budgets.modes import Setting


def every(connection: Connection) -> tuple[Setting, ...]:
    """Return all that was ever said, the oldest first."""
    return tuple(map(rows.setting, connection.execute(select(modes).order_by(modes.c.id)).all()))


def add(connection: Connection, setting: Setting) -> None:
    """Keep what somebody said; every node is looked at next, for it may be another's turn to do something."""
    row = {
        "scope": setting.scope.value,
        "name": bounds.key(setting.name),
        "kind": setting.kind.value if setting.kind else "",
        "mode": setting.mode.value if setting.mode else "",
        "at": setting.at,
        "by": bounds.words(setting.by),
        "reason": bounds.words(setting.reason),
    }
    connection.execute(insert(modes), [row])
    nodes.wake_all(connection)
