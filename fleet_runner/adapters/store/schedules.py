"""What runs by the clock: each turn is begun by one runner."""

from fleet_runner.adapters.store.database import Database


class ScheduleMethods:
    """What the store does about it."""

    _database: Database
