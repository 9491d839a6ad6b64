"""Rows of nodes as values; without SQLAlchemy, which the store's reader does not load."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from fleet_runner.core.inventory.records import Management
from fleet_runner.core.lifecycle.runs import Held, Node
from fleet_runner.core.lifecycle.states import Condition, State


def nodes(rows: Iterable[Sequence[Any]]) -> tuple[Node, ...]:
    """Return rows of nodes with their conditions, those of a node together, as values."""
    return tuple(_node(list(group)) for _, group in groupby(rows, key=itemgetter(0)))


def _node(rows: list[Sequence[Any]]) -> Node:
    name, device_type, state, since, version, management, waiting, wake_at, *_ = rows[0]
    held = {Condition(row[8]): Held(*row[9:]) for row in rows if row[8] is not None}
    return Node(name, device_type, State(state), since, version, Management(management), held, waiting, wake_at)
