"""Opening, creating and migrating a store."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.engine.database import connect
from fleet_runner.adapters.store.maintenance.migrate import config
from fleet_runner.adapters.store.schema.core import REVISION, metadata
from fleet_runner.core.base.errors import StoreError
from tests.adapters.store.builders import UrlMaker, device
from tests.adapters.store.filling import is_ours


def test_a_missing_file_is_an_error_and_is_not_created(tmp_path: Path) -> None:
    path = tmp_path / "no" / "fleet.db"
    with pytest.raises(StoreError, match=r"there is no such file; `fleet-runner tick` creates it"):
        Store.open(f"sqlite:///{path}")
    assert list(tmp_path.iterdir()) == []


def test_a_new_store_is_its_owners_alone_and_one_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    """With the files that SQLite keeps beside it."""
    path = tmp_path / "state" / "fleet.db"
    with Store.create(f"sqlite:///{path}") as made:
        made.register([device("gpu-01")], 1.0)
        files = list(path.parent.iterdir())
        assert {each.name for each in files} == {"fleet.db", "fleet.db-wal", "fleet.db-shm"}
        assert {each.stat().st_mode & 0o777 for each in files} == {0o600}
    assert path.parent.stat().st_mode & 0o777 == 0o700
    path.chmod(0o640)
    path.parent.chmod(0o750)
    Store.create(f"sqlite:///{path}").close()
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o640, 0o750)


def test_a_file_without_our_tables_is_an_error_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "fleet.db"
    path.touch()
    with pytest.raises(StoreError, match="no tables of fleet-runner"):
        Store.open(f"sqlite:///{path}")


def test_a_file_that_is_no_database_says_so(tmp_path: Path) -> None:
    path = tmp_path / "fleet.db"
    path.write_text("Dear diary, " * 1000)
    with pytest.raises(StoreError, match=r"damaged or is not a database.*nothing was half-written; restore"):
        Store.open(f"sqlite:///{path}")


def test_another_schema_is_refused_with_both_revisions(url: str) -> None:
    _set_revision(url, "9999")
    with pytest.raises(StoreError, match=rf"its schema is 9999, this fleet-runner expects {REVISION}"):
        Store.open(url)


def test_a_store_of_a_newer_version_is_not_migrated(url: str) -> None:
    _set_revision(url, "9999")
    with pytest.raises(StoreError, match="written by a newer fleet-runner"):
        Store.create(url)


def test_creating_twice_keeps_everything(url: str) -> None:
    with Store.open(url) as store:
        store.register([device("gpu-01")], 1.0)
    with Store.create(url) as store:
        assert [node.name for node in store.nodes()] == ["gpu-01"]


def test_create_makes_the_folder_and_needs_nothing_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    path = tmp_path / "state 100% #1 été" / "deep" / "fleet.db"
    Store.create(f"sqlite:///{path}").close()
    assert path.is_file()
    assert list(empty.iterdir()) == []


def test_a_folder_that_cannot_be_made_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="name another state_dir"):
        Store.create(f"sqlite:///{tmp_path}/file/fleet.db")


@pytest.mark.parametrize("bad", ["fleet.db", "sqlite://", "sqlite:///:memory:", "mysql://root@127.0.0.1/fleet", ""])
def test_a_url_it_cannot_use_says_what_it_expects(bad: str) -> None:
    with pytest.raises(StoreError, match="expected sqlite:///PATH"):
        Store.open(bad)


def test_a_server_that_does_not_answer_is_named_without_its_password() -> None:
    with pytest.raises(StoreError, match=r"cannot be reached.*check that it runs") as caught:
        Store.open("postgresql://fleet:secret@127.0.0.1:1/fleet", patience=0.1)
    assert "secret" not in str(caught.value)


def test_a_plain_postgresql_url_uses_psycopg(postgresql_urls: UrlMaker) -> None:
    url = postgresql_urls().replace("postgresql+psycopg:", "postgresql:")
    with Store.open(url) as store:
        assert store.nodes() == ()


def test_the_migrations_make_exactly_the_tables_the_code_uses(url: str) -> None:
    database = connect(url)
    with database.read() as connection:
        context = MigrationContext.configure(connection, opts={"include_name": is_ours})
        assert compare_metadata(context, metadata) == []
        assert ScriptDirectory.from_config(config(connection)).get_current_head() == REVISION
    database.close()


def test_partial_indexes_are_the_same_in_the_migration(url: str) -> None:
    """Alembic does not compare the condition of an index; the promises depend on it."""
    database = connect(url)
    with database.read() as connection:
        listed = "SELECT sql FROM sqlite_master WHERE type = 'index' UNION SELECT NULL"
        if connection.dialect.name == "postgresql":
            listed = "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename !~ '^procrastinate_'"
        found = {
            line.split()[2 + ("UNIQUE" in line)]: line for line in connection.execute(text(listed)).scalars() if line
        }
    database.close()
    assert "UNIQUE" in found["runs_one_open"]
    assert "UNIQUE" in found["tickets_one_open"]
    assert "UNIQUE" in found["boots_one_open"]
    assert "UNIQUE" in found["boot_events_once"]
    assert "UNIQUE" in found["flashes_one_open"]
    assert "UNIQUE" in found["rollouts_one_open"]
    partial = {name for name, line in found.items() if "WHERE" in line}
    assert partial == {
        index.name
        for table in metadata.tables.values()
        for index in table.indexes
        if index.dialect_options["sqlite"]["where"] is not None
    }


def test_sqlite_writes_ahead_keeps_foreign_keys_and_waits(
    sqlite_urls: UrlMaker, written_through: Callable[[Any, object], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fleet_runner.adapters.store.engine.database._prepare_sqlite", written_through)
    database = connect(sqlite_urls(), patience=7.0)
    with database.read() as connection:
        pragmas = ("journal_mode", "foreign_keys", "synchronous", "busy_timeout")
        found = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in pragmas]
    database.close()
    assert found == ["wal", 1, 2, 7000]


def test_the_tables_are_made_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "fleet.db"
    taken = sqlite3.connect(path)
    taken.execute("CREATE TABLE journal (mine TEXT)")
    taken.close()
    with pytest.raises(StoreError, match="already exists"):
        Store.create(f"sqlite:///{path}")
    left = sqlite3.connect(path)
    assert [row[0] for row in left.execute("SELECT name FROM sqlite_master")] == ["journal"]
    left.close()


def _index(line: str) -> str:
    """Return what comes before ON."""
    return line.split(" ON ", maxsplit=1)[0].rsplit(maxsplit=1)[-1]


def _set_revision(url: str, revision: str) -> None:
    database = connect(url)
    with database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :revision"), {"revision": revision})
    database.close()
