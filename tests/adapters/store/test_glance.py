"""One glance at the store tells what the store itself tells, costs little, and changes nothing."""

import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from fleet_runner.adapters import store_snapshot
from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.schema import core
from fleet_runner.core.base.errors import StoreError
from fleet_runner.core.lifecycle.actions import SetCondition
from fleet_runner.core.lifecycle.runs import Held
from fleet_runner.core.lifecycle.states import Condition
from tests.adapters.store.builders import UrlMaker, decision, device, node

SOCKET_LESS = "postgresql://fleet:made-up@/postgres?host=/nonexistent"


def test_it_tells_states_and_conditions_as_the_store_does(url: str) -> None:
    with Store.open(url) as store:
        store.register([device("gpu-1"), device("gpu-2")], 5.0)
        store.apply(node(store, "gpu-2"), decision(SetCondition(Condition.HELD, Held(6.0, "a look", "anna"))), 6.0)
        told = {(each.name, "state", each.state.value) for each in store.nodes()}
        told |= {(each.name, "condition", held.value) for each in store.nodes() for held in each.conditions}
    assert set(store_snapshot.states(url)) == told
    assert ("gpu-2", "condition", "held") in told


def test_its_schema_is_the_stores() -> None:
    assert store_snapshot.REVISION == core.REVISION


def test_a_store_of_another_schema_is_said_and_left_as_it_is(url: str) -> None:
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    with pytest.raises(StoreError, match=f"schema is 0001, expected {core.REVISION}; `fleet-runner status` says"):
        store_snapshot.states(url)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one() == "0001"
    engine.dispose()


def test_where_no_store_is_none_comes_to_be(tmp_path: Path, sqlite_urls: UrlMaker) -> None:
    """Not a file that is missing, not one that is empty, not one that is read: nothing is written at all."""
    assert store_snapshot.states(f"sqlite:///{tmp_path / 'none' / 'fleet.db'}") == []
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "empty.db").touch()
    assert store_snapshot.states(f"sqlite:///{tmp_path / 'empty.db'}") == []
    assert (tmp_path / "empty.db").read_bytes() == b""
    there = Path(sqlite_urls().removeprefix("sqlite:///"))
    before = there.read_bytes()
    store_snapshot.states(f"sqlite:///{there}")
    assert there.read_bytes() == before


def test_a_database_without_tables_of_ours_is_no_store(postgresql_urls: UrlMaker) -> None:
    url = postgresql_urls()
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE alembic_version"))
    engine.dispose()
    assert store_snapshot.states(url) == []


def test_what_cannot_be_read_is_one_sentence_without_a_password(tmp_path: Path) -> None:
    (tmp_path / "broken.db").write_bytes(b"this is no database at all" * 100)
    with pytest.raises(StoreError, match=r"broken\.db: file is not a database; `fleet-runner status` says more"):
        store_snapshot.states(f"sqlite:///{tmp_path / 'broken.db'}")
    for url in (SOCKET_LESS, "postgresql://fleet:made-up@[/postgres", f"{SOCKET_LESS}&made-up=1"):
        with pytest.raises(StoreError, match="store in PostgreSQL: ") as told:
            store_snapshot.states(url)
        assert "made-up" not in str(told.value)


def test_a_writer_at_work_is_not_waited_for(sqlite_urls: UrlMaker) -> None:
    url = sqlite_urls()
    writer = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    assert store_snapshot.states(url) == []
    writer.close()


def test_it_loads_nothing_of_what_the_store_is_made_of() -> None:
    """Every play's inventory loads it."""
    loaded = "'sqlalchemy' in sys.modules, 'psycopg' in sys.modules"
    code = f"import sys, fleet_runner.adapters.store_snapshot; print({loaded})"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert told.stdout.split() == ["False", "False"]


def test_a_path_with_odd_letters_is_one_path(tmp_path: Path, sqlite_template: Path) -> None:
    odd = tmp_path / "a b%20#?c.db"
    shutil.copy(sqlite_template, odd)
    with Store.open(f"sqlite:///{sqlite_template}"):
        assert store_snapshot.states(f"sqlite:///{odd}") == []
