"""A store in another database: every row, the same there, and new ones numbered on."""

from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import text

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.engine.database import Database, connect
from fleet_runner.adapters.store.maintenance import copy as copying
from fleet_runner.adapters.store.maintenance.copy import Copied, copy
from fleet_runner.adapters.store.schema.core import metadata
from fleet_runner.core.base.errors import StoreError
from fleet_runner.core.lifecycle.runs import IntentKind
from tests.adapters.store.builders import UrlMaker, device, opened
from tests.adapters.store.filling import fill, rows

Pair = tuple[Database, Database]


@pytest.fixture(params=["to the server", "to the file"])
def pair(request: pytest.FixtureRequest, sqlite_urls: UrlMaker, postgresql_urls: UrlMaker) -> Iterator[Pair]:
    """A store with rows in every table, and an empty one in the other database."""
    file, server = connect(sqlite_urls()), connect(postgresql_urls())
    source, target = (file, server) if request.param == "to the server" else (server, file)
    with source.write() as connection:
        fill(connection)
        connection.execute(text("UPDATE runs SET ended_at = opened_at + 1"))
    yield source, target
    file.close()
    server.close()


def test_every_row_arrives_and_is_verified(pair: Pair) -> None:
    source, target = pair
    told: list[Copied] = []
    done = copy(source, target, told.append)
    assert list(done) == told
    assert {each.table: each.rows for each in done} == dict.fromkeys(metadata.tables, 2)
    with source.read() as connection:
        sent = rows(connection)
    with target.read() as connection:
        assert rows(connection) == sent
        assert [copying.digest(connection, metadata.tables[each.table]) for each in done] == list(done)


def test_new_rows_are_numbered_after_the_old_ones(pair: Pair) -> None:
    source, target = pair
    with source.write() as connection:
        connection.execute(text("UPDATE nodes SET state = 'production', device_type = 'hgx', management = 'full'"))
        name = connection.execute(text("SELECT min(name) FROM nodes")).scalar_one()
        connection.execute(text("DELETE FROM rollout_nodes"))
        connection.execute(text("DELETE FROM page_wishes"))
        connection.execute(text("UPDATE intents SET id = id + 40, wish = 'hold'"))
    copy(source, target, lambda _: None)
    with Store(target) as there:
        assert there.leave_intent(name, IntentKind.HOLD, "ada", now=1.0) == 43


def test_a_target_with_rows_is_refused_and_stays_as_it_is(pair: Pair) -> None:
    source, target = pair
    with target.write() as connection:
        connection.execute(text("INSERT INTO beats VALUES ('somebody', 1.0)"))
    with pytest.raises(StoreError, match=r"it is not empty \(beats\); name a new database"):
        copy(source, target, lambda _: None)
    with target.read() as connection:
        assert sum(map(len, rows(connection).values())) == 1


def test_a_database_of_something_else_is_refused(sqlite_urls: UrlMaker, postgresql_urls: UrlMaker) -> None:
    source, target = connect(sqlite_urls()), connect(postgresql_urls())
    with target.write() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
        connection.execute(text("CREATE TABLE invoices (id int)"))
    with pytest.raises(StoreError, match=r"tables of something else \(invoices\)"):
        copy(source, target, lambda _: None)
    source.close()
    target.close()


def test_open_runs_are_not_copied_their_plays_would_tell_the_old_store(
    sqlite_urls: UrlMaker, postgresql_urls: UrlMaker
) -> None:
    url = sqlite_urls()
    with Store.open(url) as store:
        store.register([device("gpu-01")], 1.0)
        opened(store)
    source, target = connect(url), connect(postgresql_urls())
    with pytest.raises(StoreError, match=r"1 runs are open.*`fleet-runner queue pause`"):
        copy(source, target, lambda _: None)
    source.close()
    target.close()


def test_what_arrives_otherwise_is_not_kept(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hash that differs ends it, and the target is empty as before."""
    source, target = pair
    honest: Callable[..., Copied] = copying.digest

    def broken(*given: object) -> Copied:
        found = honest(*given)
        return Copied(found.table, found.rows, found.digest + (found.table == "results"))

    monkeypatch.setattr(copying, "digest", broken)
    with pytest.raises(StoreError, match=r"of results 2 rows arrived, 2 were sent, and their contents differ"):
        copy(source, target, lambda _: None)
    with target.read() as connection:
        assert sum(map(len, rows(connection).values())) == 0
