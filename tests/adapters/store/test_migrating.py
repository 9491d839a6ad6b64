"""Stores of every released schema become ones of today, with all that was in them."""

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.engine.database import Database, connect
from fleet_runner.adapters.store.engine.exclusive import others
from fleet_runner.adapters.store.maintenance.migrate import config, migrate, missing, newer, revision
from fleet_runner.adapters.store.schema.core import REVISION, metadata
from fleet_runner.core.base.errors import StoreError
from tests.adapters.store.builders import UrlMaker
from tests.adapters.store.filling import Rows, empty, fill, is_ours, rows

RELEASED = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009")


def older(database: Database, schema: str) -> Rows:
    """Make a store of an older schema with rows in every table."""
    with database.write() as connection:
        empty(connection)
    with database.write() as connection:
        command.upgrade(config(connection), schema)
    with database.write() as connection:
        return fill(connection)


@pytest.mark.parametrize("schema", RELEASED)
def test_a_store_of_every_released_schema_is_migrated_with_its_rows(url: str, schema: str) -> None:
    database = connect(url)
    before = older(database, schema)
    migrate(database)
    with database.read() as connection:
        assert revision(connection) == REVISION
        context = MigrationContext.configure(connection, opts={"include_name": is_ours})
        assert compare_metadata(context, metadata) == []
        after = rows(connection)
    database.close()
    assert before.keys() <= after.keys()
    for table, mine in before.items():
        assert [{name: row[name] for name in mine[0]} for row in after[table]] == mine, table
    Store.open(url).close()


def test_an_older_schema_is_not_opened_and_says_what_to_do(url: str) -> None:
    database = connect(url)
    older(database, "0006")
    database.close()
    with pytest.raises(
        StoreError, match=rf"its schema is 0006, this fleet-runner expects {REVISION}; `fleet-runner db"
    ):
        Store.open(url)


def test_who_serves_migrates_its_own_file_and_leaves_a_server_to_a_person(
    sqlite_urls: UrlMaker, postgresql_urls: UrlMaker
) -> None:
    mine, shared = connect(sqlite_urls()), connect(postgresql_urls())
    for database in (mine, shared):
        older(database, "0006")
    Store.create(f"sqlite:///{mine.where}").close()
    with pytest.raises(
        StoreError, match=r"its schema is 0006.*only a person may migrate it.*`fleet-runner db migrate`"
    ):
        Store.create(shared.engine.url.render_as_string(hide_password=False))
    with shared.read() as connection:
        assert revision(connection) == "0006"
    mine.close()
    shared.close()


def test_the_migrations_that_are_missing_are_named() -> None:
    late = ["0009", "0010", "0012", "0013", "0014", "0015", "0016", "0017", "0018", "0019"]
    assert [step.revision for step in missing("0005")] == ["0006", "0007", "0008", *late]
    assert missing("0006")[0].sentence.endswith(".")
    assert [step.revision for step in missing(None)] == [*RELEASED, *late[1:]]
    assert missing(REVISION) == missing("9999") == ()
    assert [newer(each) for each in (None, "0001", REVISION, "9999")] == [False, False, False, True]


def test_who_else_is_at_a_server_is_named(postgresql_urls: UrlMaker) -> None:
    url = postgresql_urls()
    database = connect(url)
    assert others(database) == ()
    with Store.open(url) as other:
        other.nodes()
        assert others(database) == ("1 connections of fleet-runner from this machine",)
    with database.write() as connection:
        fill(connection)
        connection.execute(text("UPDATE parcels SET until = extract(epoch FROM now()) + 60, runner = 'hall-a'"))
        connection.execute(text("UPDATE parcels SET ended_at = NULL WHERE rc = 1"))
    assert others(database) == ("runner hall-a carries 1 batches",)
    database.close()


def test_nobody_is_known_to_be_at_a_file(sqlite_urls: UrlMaker) -> None:
    database = connect(sqlite_urls())
    assert others(database) == ()
    database.close()


def test_the_bytes_of_older_evidence_are_counted(url: str) -> None:
    database = connect(url)
    older(database, "0006")
    migrate(database)
    database.close()
    with Store.open(url) as store:
        assert store.bytes_of_evidence() == 256 + 512
