"""Bring a database's tables to the schema of this version, through Alembic and without an ini file."""

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError
from sqlalchemy import Connection, inspect, text

from fleet_runner.adapters.store.engine.database import Database, hold_creation
from fleet_runner.adapters.store.schema.core import REVISION
from fleet_runner.core.base.errors import StoreError

SCRIPTS = Path(__file__).resolve().parents[1] / "migrations"


@dataclass(frozen=True, slots=True)
class Step:
    """One migration: the schema it leads to, and what it does."""

    revision: str
    sentence: str


def create(database: Database) -> None:
    """Make the tables where there are none, and migrate an older SQLite, which is one machine's alone.

    An older PostgreSQL may be in use by runners of the older release: whoever serves does not migrate it unasked.
    """
    with database.read() as connection:
        shared = connection.dialect.name == "postgresql"
        found = revision(connection)
    if shared and found is not None and (steps := missing(found)):
        raise StoreError(
            f"store {database.where}: its schema is {found}, this fleet-runner expects {steps[-1].revision}; others "
            f"may use it, so only a person may migrate it: end them, then `fleet-runner db migrate`"
        )
    migrate(database)


def migrate(database: Database, within: Connection | None = None) -> None:
    """Create or migrate every table in one transaction, or `within` one; nothing happens where they are current."""
    try:
        with database.write() if within is None else nullcontext(within) as connection:
            hold_creation(connection)
            command.upgrade(config(connection), "head")
    except CommandError as error:
        raise StoreError(
            f"store {database.where}: written by a newer fleet-runner ({error}); update this one, nothing was changed"
        ) from error


def revision(connection: Connection) -> str | None:
    """Return a database's schema; None where it has no tables of ours."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()
    return str(found) if found is not None else None


def missing(found: str | None) -> tuple[Step, ...]:
    """Return the migrations that a schema still needs, oldest first; none of one that is newer than this version."""
    scripts = ScriptDirectory(str(SCRIPTS))
    known = list(scripts.walk_revisions())
    if found is not None and found not in {each.revision for each in known}:
        return ()
    steps = [each for each in known if found is None or each.revision > found]
    return tuple(Step(each.revision, (each.doc or "").strip().splitlines()[0]) for each in reversed(steps))


def newer(found: str | None) -> bool:
    """Return whether a schema is one that this version does not know."""
    return found is not None and found != REVISION and not missing(found)


def refuse_newer(database: Database, found: str) -> None:
    """Refuse a store of a newer version."""
    if newer(found):
        raise StoreError(
            f"store {database.where}: its schema is {found}, of a newer fleet-runner; this one knows {REVISION}; "
            f"update it, nothing was changed"
        )


def config(connection: Connection) -> Config:
    """Return Alembic's configuration for one open transaction."""
    found = Config()
    found.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    found.attributes["connection"] = connection
    return found
