"""Bring a database's tables to the schema of this version, through Alembic and without an ini file."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util.exc import CommandError
from sqlalchemy import Connection

from fleet_runner.adapters.store.database import Database, hold_creation
from fleet_runner.core.errors import StoreError

SCRIPTS = Path(__file__).resolve().parent / "migrations"


def migrate(database: Database) -> None:
    """Create or migrate every table in one transaction; nothing happens where they are current."""
    try:
        with database.write() as connection:
            hold_creation(connection)
            command.upgrade(config(connection), "head")
    except CommandError as error:
        raise StoreError(
            f"store {database.where}: written by a newer fleet-runner ({error}); update this one, nothing was changed"
        ) from error


def config(connection: Connection) -> Config:
    """Return Alembic's configuration for one open transaction."""
    found = Config()
    found.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    found.attributes["connection"] = connection
    return found
