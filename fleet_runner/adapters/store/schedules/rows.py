"""Rows of schedules as values; without SQLAlchemy, which the store's reader does not load."""

from collections.abc import Iterable
from typing import Any

from fleet_runner.adapters.store.budgets.rows import switch
from fleet_runner.core.inventory.switch import Switch
from fleet_runner.core.schedules.firing import Row

SWITCH = "schedule "
"""How the switches begin that pause a schedule."""


def schedules(rows: Iterable[Any], switches: Iterable[Any]) -> tuple[dict[str, Row], dict[str, Switch]]:
    """Return schedules by name, of rows whose columns are in the order of Row's fields, and who paused which."""
    off = {row.name.removeprefix(SWITCH): switch(row) for row in switches}
    return {row[0]: Row(*row) for row in rows}, off
