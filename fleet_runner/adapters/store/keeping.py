"""How large the store is, and what of it goes by age or size."""

from fleet_runner.adapters.store.database import Database


class KeepingMethods:
    """What the store does about it."""

    _database: Database
