"""fleet-runner db backup and restore: the store in one file, and back from it."""

import time
from pathlib import Path
from typing import Annotated

import typer

from fleet_runner import settings
from fleet_runner.adapters.plays import engine
from fleet_runner.adapters.plays.engine import BatchState
from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.session import console, stamp, whoami
from fleet_runner.cli.db.migrate import nobody_at, reached
from fleet_runner.core.base.errors import FleetError, NoStoreError, StoreError
from fleet_runner.core.schedules.retention import size
from fleet_runner.reconcile.loop import store_ownership
from fleet_runner.reconcile.loop.single_instance import alone, served
from fleet_runner.settings import Settings

File = Annotated[Path, typer.Argument(metavar="FILE", help="the backup")]


def backup(file: File) -> None:
    """Write a consistent copy of the store to a new FILE; serve may run meanwhile.

    SQLite's own backup, or pg_dump's custom format. Evidence is in it, folders in state_dir are not.
    """
    from fleet_runner.adapters.store.maintenance import backups  # noqa: PLC0415  Alembic is slow to load, rarely used

    found = settings.load()
    _new(file)
    count = backups.save(found.store_url, file.absolute())
    console.print(f"{file}: {size(count)}", markup=False, soft_wrap=True)


def restore(file: File) -> None:
    """Restore the store from FILE. What happened since is lost, so automation waits until a person has looked.

    A SQLite store that is there is moved aside. With PostgreSQL, database_url must name an empty database.
    """
    from fleet_runner.adapters.store.maintenance import backups  # noqa: PLC0415  as above

    found = settings.load()
    _nobody(found)
    with alone(found):
        done = backups.restore(found.store_url, file.absolute(), time.time())
        with Store.open(found.store_url) as store:
            store_ownership.accept(found, store, whoami(), f"restored from {file}", time.time())
    told = stamp(done.known_until) if done.known_until is not None else "nothing"
    lines = (
        f"restored from {file}; its newest data is of {told} UTC",
        *([f"the previous store is {done.aside} now"] if done.aside else []),
        f"open runs, closed as lost: {done.runs}",
        f"nodes held: {done.held}; open flashes: {done.flashes}",
        f"serving nodes in maintenance, checked without remedies: {done.watched}",
        f"requests refused: {done.intents}; rollouts paused: {done.rollouts}",
        f"valid tokens for signals, also those revoked since: {done.tokens} (fleet-runner signals token list)",
        "look at the nodes (fleet-runner status), then fleet-runner release NODE",
    )
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)


def _new(file: Path) -> None:
    """Refuse what a new file cannot be made of."""
    if file.is_dir():
        raise FleetError(f"backup {file}: is a folder; name a new file in it")
    if file.exists():
        raise FleetError(f"backup {file}: the file exists already; name a new one")
    if not file.absolute().parent.is_dir():
        raise FleetError(f"backup {file}: there is no folder {file.parent}; create it, or name another")


def _nobody(found: Settings) -> None:
    """Refuse while anybody is at the store, or a play of this machine goes on that the backup may not know."""
    if served(found):
        raise StoreError(f"a process serves {found.state_dir}, or ticks now; end it first, nothing was changed")
    try:
        with reached(found.store_url) as database:
            nobody_at(found, database)
    except NoStoreError:
        pass
    folders = sorted(found.batches_dir.iterdir()) if found.batches_dir.is_dir() else []
    names = (path.name for path in folders if engine.PLAIN.fullmatch(path.name))
    alive = {BatchState.RUNNING, BatchState.ORPHANED}
    if busy := [name for name in names if engine.look(found, name).state in alive]:
        raise StoreError(
            f"plays of {len(busy)} batches go on ({', '.join(busy[:3])}), which the backup may not know; "
            f"wait for them or end their supervisors, nothing was changed"
        )
