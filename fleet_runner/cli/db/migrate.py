"""fleet-runner db migrate and copy: the store at this release's schema, and in another database."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from fleet_runner import settings
from fleet_runner.adapters.store.engine.database import Database, connect
from fleet_runner.adapters.store.engine.exclusive import others
from fleet_runner.cli.base.session import Exit, console, errors
from fleet_runner.core.base.errors import SettingsError, StoreError
from fleet_runner.reconcile.loop.single_instance import alone, served
from fleet_runner.settings import Settings

TARGET = "FLEET_COPY_TO"
"""The variable that may name the target of a copy with its password."""


def migrate(
    *,
    check: Annotated[bool, typer.Option("--check", help="only show what is to be done; 1 if anything is")] = False,
    force: Annotated[bool, typer.Option("--force", help="although other processes use the store")] = False,
) -> None:
    """Upgrade the store to this release's schema, all or nothing; back up first (db backup).

    It waits for nobody: while runners are at the store it refuses, for those of an older release cannot go on.
    """
    from fleet_runner.adapters.store.maintenance import migrate as migrations  # noqa: PLC0415  Alembic is slow to load

    found = settings.load()
    with reached(found.store_url) as database:
        with database.read() as connection:
            schema = migrations.revision(connection)
        if schema is None:
            raise StoreError(
                f"store {database.where}: it has no tables of fleet-runner; `fleet-runner tick` creates them"
            )
        steps = migrations.missing(schema)
        for step in steps:
            console.print(f"{step.revision}: {step.sentence}", markup=False, soft_wrap=True)
        if check and steps:
            console.print(
                f"{database.where}: schema {schema}; db migrate brings it to {steps[-1].revision}", markup=False
            )
            raise typer.Exit(Exit.NO)
        if steps and not force:
            nobody_at(found, database)
        if steps:
            with alone(found):
                migrations.migrate(database)
        else:
            migrations.refuse_newer(database, schema)
    end = steps[-1].revision if steps else schema
    done = f"is at schema {end} now" if steps else f"is at schema {end}; nothing to do"
    console.print(f"{database.where} {done}", markup=False, soft_wrap=True)


def copy(
    *,
    to: Annotated[
        str, typer.Option("--to", metavar="URL", help="an empty database, without a password; see docs/database.md")
    ] = "",
) -> None:
    """Copy the whole store to another database: SQLite to PostgreSQL, or back. The old one is not changed.

    A password is not taken here: put it into ~/.pgpass or PGPASSWORD, or the whole URL into FLEET_COPY_TO.
    """
    from fleet_runner.adapters.store.maintenance import copy as copying  # noqa: PLC0415  as above

    found, url = settings.load(), _target(to)

    def tell(copied: copying.Copied) -> None:
        errors.print(f"{copied.table}: {copied.rows:,} rows", markup=False)

    with reached(found.store_url) as source, reached(url, create=True) as target:
        nobody_at(found, source)
        with alone(found):
            done = copying.copy(source, target, tell)
        rows = sum(each.rows for each in done)
        said = f"{rows:,} rows of {len(done)} tables are in {target.where}, each table with the same count and hash"
        console.print(said, markup=False, soft_wrap=True)
        console.print(f"now set database_url to it, and move {source.where} away", markup=False, soft_wrap=True)


@contextmanager
def reached(url: str, *, create: bool = False) -> Iterator[Database]:
    """Reach a database whatever its schema, for the length of a command."""
    database = connect(url, create=create)
    try:
        yield database
    finally:
        database.close()


def nobody_at(found: Settings, database: Database) -> None:
    """Refuse while anybody may write to a store."""
    here = (f"a process serves {found.state_dir}, or ticks now",) if served(found) else ()
    if busy := (*here, *others(database)):
        raise StoreError(
            f"store {database.where}: {'; '.join(busy)}; end them first (their plays go on), nothing was changed"
        )


def _target(given: str) -> str:
    url = given or os.environ.get(TARGET, "")
    if not url:
        raise SettingsError(f"no target; give it with --to postgresql://HOST/DATABASE or in the variable {TARGET}")
    try:
        secret = make_url(url).password is not None
    except ArgumentError:
        secret = False  # connecting says what is wrong with it
    if given and secret:
        raise SettingsError(
            f"--to has a password, which everybody on this machine can read; put the URL into {TARGET}, "
            f"or the password into ~/.pgpass"
        )
    return url
