"""How far the nodes of rollouts are, counted where they are stored: a fleet's rollout has thousands."""

from collections.abc import Iterable

from sqlalchemy import func, select

from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.schema.firmware import rollout_nodes
from fleet_runner.core.firmware.turns import RolloutStep


class RolloutCountMethods:
    """Methods of the Store, which extends this."""

    _database: Database

    def rollout_counts(self, rollouts: Iterable[int]) -> dict[int, dict[RolloutStep, int]]:
        """Return how many nodes of each rollout are how far; those that have none are left out."""
        columns = (rollout_nodes.c.rollout, rollout_nodes.c.state)
        query = select(*columns, func.count()).where(rollout_nodes.c.rollout.in_(list(rollouts))).group_by(*columns)
        found: dict[int, dict[RolloutStep, int]] = {}
        with self._database.read() as connection:
            for number, state, count in connection.execute(query):
                found.setdefault(number, {})[RolloutStep(state)] = count
        return found
