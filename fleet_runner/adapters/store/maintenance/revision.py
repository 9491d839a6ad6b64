"""Which schema a database has: this fleet-runner's, or none that it may touch."""

from sqlalchemy import inspect, text

from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.schema.core import REVISION
from fleet_runner.core.base.errors import NoStoreError, SchemaError


def check(database: Database) -> None:
    """Refuse a database whose tables are missing or of another version."""
    with database.read() as connection:
        made = inspect(connection).has_table("alembic_version")
        found = (
            connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none() if made else None
        )
    if found is None:
        raise NoStoreError(
            f"store {database.where}: it has no tables of fleet-runner; `fleet-runner tick` creates them"
        )
    if found != REVISION:
        raise SchemaError(
            f"store {database.where}: its schema is {found}, this fleet-runner expects {REVISION}; "
            f"`fleet-runner db migrate` migrates an older one; for a newer one, update fleet-runner",
            newer=found > REVISION,
        )
