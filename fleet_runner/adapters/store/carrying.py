"""Who runs, and which batches each runner carries: leases by the database's clock."""

from fleet_runner.adapters.store.database import Database


class CarryingMethods:
    """What the store does about it."""

    _database: Database
