"""What is read in one moment, and what ends one early."""

import pytest
from sqlalchemy import Connection, create_engine, text

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import StoreError
from tests.adapters.store.builders import UrlMaker

CUT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> :mine"


def cut_off(store: Store, connection: Connection, mine: int) -> None:
    """Have the server end all others' connections in the middle of a moment."""
    with store.one_moment():
        store.nodes()
        connection.execute(text(CUT), {"mine": mine})


def test_a_server_that_ends_the_connection_in_the_middle_is_told_in_words(postgresql_urls: UrlMaker) -> None:
    """It is the store's trouble: whoever serves goes on."""
    url = postgresql_urls()
    other = create_engine(url)
    with Store.open(url) as store, other.begin() as connection:
        mine = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
        with pytest.raises(StoreError, match="ended the connection"):
            cut_off(store, connection, mine)
    other.dispose()


def test_a_moment_within_a_moment_is_the_same(url: str) -> None:
    """And one in which nothing is read costs nothing."""
    with Store.open(url) as store:
        pool = store._database.engine.pool
        with store.one_moment():
            assert pool.checkedout() == 0
            with store.one_moment():
                store.nodes()
            assert pool.checkedout() == 1
            store.nodes()
            assert pool.checkedout() == 1
        assert pool.checkedout() == 0
