"""Rows of the circuit breaker, switches and modes as values; without SQLAlchemy."""

from typing import Any

from fleet_runner.core.budgets.breaker import Breaker
from fleet_runner.core.budgets.modes import Kind, Mode, Scope, Setting
from fleet_runner.core.inventory.switch import Switch


def breaker(row: Any) -> Breaker:
    """Return the row of an open circuit breaker as a value."""
    return Breaker(row.opened_at, row.because, row.pause, row.trial, row.tried_at)


def switch(row: Any) -> Switch:
    """Return a row as a switch."""
    return Switch(row.name, row.at, row.by, row.reason)


def setting(row: Any) -> Setting:
    """Return a row of the modes as a value."""
    return Setting(
        Scope(row.scope),
        row.name,
        Kind(row.kind) if row.kind else None,
        Mode(row.mode) if row.mode else None,
        row.at,
        row.by,
        row.reason,
    )
