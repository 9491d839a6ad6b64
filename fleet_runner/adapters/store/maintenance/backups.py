"""Backups of a store in one file, made while it is in use, and brought back: by SQLite itself, or by pg_dump."""

import os
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from sqlalchemy import inspect, text
from sqlalchemy.engine import URL, make_url

from fleet_runner.adapters.store.engine.database import connect
from fleet_runner.adapters.store.maintenance.migrate import migrate, newer, revision
from fleet_runner.adapters.store.maintenance.restored import Restored, mark
from fleet_runner.core.base.errors import StoreError

SQLITE, DUMP = b"SQLite format 3\0", b"PGDMP"
"""How files of either kind begin."""

_SCHEMA = re.compile(r"^COPY [a-z_.\"]*alembic_version[^\n]*\n([0-9]{4})$", re.MULTILINE)


def save(url: str, file: Path) -> int:
    """Write a backup of a store to a new file; return its bytes."""
    if file.exists():
        raise StoreError(f"backup {file}: the file exists already; name a new one")
    with _draft(file) as draft:
        if _is_sqlite(url):
            _save_sqlite(_path(url), draft)
        else:
            _run("pg_dump", url, ["--format=custom", f"--file={draft}", f"--dbname={_shown(url)}"])
    return file.stat().st_size


def restore(url: str, file: Path, now: float) -> Restored:
    """Bring a store back from a backup, to this version's schema, and mark it: see `restored`.

    Nobody sees it before it is marked. A SQLite store that was there is moved aside; a PostgreSQL must be empty.
    """
    head = _head(file)
    if _is_sqlite(url):
        if not head.startswith(SQLITE):
            raise StoreError(f"backup {file}: not a SQLite store; expected a file that `db backup` wrote of one")
        return _restore_sqlite(_path(url), file, now)
    if not head.startswith(DUMP):
        raise StoreError(f"backup {file}: not a dump of PostgreSQL; expected a file that `db backup` wrote of one")
    return _restore_postgresql(url, file, now)


def _save_sqlite(path: Path, draft: Path) -> None:
    if not path.is_file():
        raise StoreError(f"store {path}: there is no such file; nothing was saved")
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(draft)) as copy:
        source.backup(copy)  # in one step: a snapshot, while others go on writing
        copy.execute("PRAGMA journal_mode = DELETE")  # one file, without another beside it
        _check(copy, draft)


def _restore_sqlite(path: Path, file: Path, now: float) -> Restored:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    part = path.with_name(f".{path.name}.restored")
    for each in _files(part):
        each.unlink(missing_ok=True)
    shutil.copyfile(file, part)
    part.chmod(0o600)
    with closing(sqlite3.connect(part)) as copy:
        _check(copy, file)
    restored = _marked(f"sqlite:///{part}", file, now)
    with closing(sqlite3.connect(part)) as copy:
        copy.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    aside = path.with_name(f"{path.name}.before-{now:.0f}")
    was = path.exists()
    for old, new in zip(_files(path), _files(aside), strict=True):
        if old.exists():
            old.rename(new)
    part.rename(path)
    return replace(restored, aside=aside) if was else restored


def _restore_postgresql(url: str, file: Path, now: float) -> Restored:
    """Bring back all but the schema's number, without which nobody opens it, then mark it and add that."""
    database = connect(url)
    try:
        with database.read() as connection:
            if found := inspect(connection).get_table_names():
                raise StoreError(
                    f"store {database.where}: it has tables ({', '.join(found[:3])}); a backup goes into an empty "
                    f"database (createdb) that database_url names; nothing was changed"
                )
    finally:
        database.close()
    listed = _run("pg_restore", url, ["--list", str(file)])
    known = _SCHEMA.search(_run("pg_restore", url, ["--data-only", "--table=alembic_version", "--file=-", str(file)]))
    if known is None:
        raise StoreError(f"backup {file}: not a store of fleet-runner; nothing was changed")
    with _draft(file.with_name(f".{file.name}.list"), keep=False) as some:
        some.write_text("\n".join(x for x in listed.splitlines() if "TABLE DATA public alembic_version" not in x))
        how = ["--exit-on-error", "--single-transaction", "--no-owner", "--no-privileges", f"--use-list={some}"]
        _run("pg_restore", url, [*how, f"--dbname={_shown(url)}", str(file)])
    return _marked(url, file, now, known.group(1))


def _marked(url: str, file: Path, now: float, schema: str | None = None) -> Restored:
    database = connect(url)
    try:
        with database.write() as connection:
            if schema is not None:
                connection.execute(text("INSERT INTO alembic_version VALUES (:found)"), {"found": schema})
            found = revision(connection)
            if found is None or newer(found):
                what = f"its schema is {found}" if found else "not a store of fleet-runner"
                raise StoreError(
                    f"backup {file}: {what}; update this fleet-runner, or name another; nothing was changed"
                )
            migrate(database, connection)
            return mark(connection, now)
    finally:
        database.close()


def _check(connection: sqlite3.Connection, path: Path) -> None:
    try:
        said = connection.execute("PRAGMA quick_check").fetchone()[0]
    except sqlite3.DatabaseError as error:
        said = str(error)
    if said != "ok":
        raise StoreError(f"backup {path}: it is damaged ({said[:200]}); name another, nothing was changed")


def _files(path: Path) -> tuple[Path, ...]:
    return tuple(path.with_name(path.name + ending) for ending in ("", "-wal", "-shm"))


def _head(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.read(16)
    except OSError as error:
        raise StoreError(f"backup {file}: {error.strerror}; nothing was changed") from error


@contextmanager
def _draft(file: Path, *, keep: bool = True) -> Iterator[Path]:
    """Write beside a file, readable by its owner alone, and name it so once it is whole."""
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        yield draft
        if keep:
            _sync(draft)
            file.hardlink_to(draft)  # fails where somebody made such a file meanwhile
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"backup {file}: {error}; free space or name another folder, then try again") from error
    finally:
        draft.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _is_sqlite(url: str) -> bool:
    connect(url, create=True).close()  # says what is wrong with it, as everywhere
    return make_url(url).get_backend_name() == "sqlite"


def _path(url: str) -> Path:
    return Path(str(make_url(url).database)).absolute()


def _shown(url: str) -> str:
    """Return a URL as PostgreSQL's programs take it, without its password: arguments are seen by everybody."""
    given = make_url(url)
    if "sslpassword" in given.query:
        raise StoreError(
            "database_url has an sslpassword, which PostgreSQL's programs take only where everybody sees it; name an "
            "sslkey that needs none and that only its owner reads"
        )
    options = {name: value for name, value in given.query.items() if name != "password"}
    plain = URL.create("postgresql", given.username, None, given.host, given.port, given.database, options)
    return plain.render_as_string(hide_password=False)


def _secrets(url: str) -> list[str]:
    """Return the passwords of a URL; the last one is what it is used with."""
    given = make_url(url)
    before = [] if given.password is None else [str(given.password)]
    return [*before, *given.normalized_query.get("password", ())]


def _run(program: str, url: str, arguments: list[str]) -> str:
    """Run one of PostgreSQL's programs with the password in its environment; return what it said."""
    found = shutil.which(program) or next(
        map(str, sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"))), None
    )
    if found is None:
        raise StoreError(f"{program} is not installed; Debian's package is `postgresql-client`")
    secrets = _secrets(url)
    environment = os.environ | ({"PGPASSWORD": secrets[-1]} if secrets else {})
    done = subprocess.run(  # noqa: S603  PostgreSQL's own program, and no shell
        [found, *arguments], capture_output=True, text=True, check=False, env=environment
    )
    if done.returncode != 0:
        said = done.stderr
        for secret in sorted(filter(None, secrets), key=len, reverse=True):
            said = said.replace(secret, "…")
        raise StoreError(f"{program}: {' '.join(said.split())[:500]}; nothing was changed here")
    return done.stdout
