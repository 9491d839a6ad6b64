"""A full disk, a lock that is not let go, a process killed halfway: an error that says so, nothing half-made."""

import os
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import event, text

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.engine.database import connect
from fleet_runner.core.base.errors import ConflictError, StoreError
from fleet_runner.core.lifecycle.actions import Action, OpenRun, SetCondition
from fleet_runner.core.lifecycle.runs import Held
from fleet_runner.core.lifecycle.states import Condition, Stage
from tests.adapters.store.builders import (
    START,
    UrlMaker,
    decision,
    device,
    everything,
    failing_after,
    judged,
    node,
    opened,
    swap,
    told,
)

ALL: tuple[Action, ...] = (
    START,
    SetCondition(Condition.CORDONED, Held(1.0, "Test", "ada")),
    swap("gpu-01", "gpu-02", body="x" * 20_000),
    OpenRun(Stage.PROVISION, "Day 0", batch="b-1"),
)


@pytest.fixture
def filed(sqlite_urls: UrlMaker) -> Iterator[tuple[Store, Path]]:
    """A store in a file, with its path."""
    url = sqlite_urls()
    with Store.open(url, patience=0.05) as store:
        store.register([device(f"gpu-0{number}") for number in (1, 2, 3)], 100.0)
        yield store, Path(url.removeprefix("sqlite:///"))


def test_a_full_database_stops_a_decision_whole(filed: tuple[Store, Path]) -> None:
    store, _ = filed
    before = everything(store)
    with store._database.read() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()

    def fill(connection: sqlite3.Connection, *_: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {pages + 1}")

    store._database.engine.dispose()
    event.listen(store._database.engine, "connect", fill)
    with pytest.raises(StoreError, match=r"disk is full.*nothing was half-written; free space there"):
        store.apply(node(store), decision(*ALL), 200.0)
    assert everything(store) == before


def test_a_file_that_may_not_grow_stops_a_decision_whole(filed: tuple[Store, Path]) -> None:
    store, path = filed
    before = everything(store)
    with _files_up_to(path.with_name(path.name + "-wal").stat().st_size + 8_192), pytest.raises(StoreError) as caught:
        store.apply(node(store), decision(*ALL), 200.0)
    assert "nothing was half-written" in str(caught.value)
    assert "space" in str(caught.value)
    assert everything(store) == before
    assert len(store.apply(node(store), decision(*ALL), 200.0)) == 1


def test_a_full_disk_stops_a_spool_whole_and_it_is_taken_in_later(filed: tuple[Store, Path]) -> None:
    store, path = filed
    mine = opened(store)
    noise = told(os.urandom(200_000).hex())
    wal = path.with_name(path.name + "-wal")
    with _files_up_to(wal.stat().st_size + 8_192), pytest.raises(StoreError, match="space"):
        store.ingest("b-1", 0, 900, [judged(), noise])
    assert (store.offset("b-1"), store.results(mine.id), store.evidence(noise.hash)) == (0, (), None)
    store.ingest("b-1", 0, 900, [judged(), noise])
    assert (store.offset("b-1"), len(store.results(mine.id))) == (900, 1)


def test_a_locked_file_says_who_to_look_for(filed: tuple[Store, Path]) -> None:
    store, path = filed
    before = everything(store)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(
        StoreError, match=r"another process holds its lock.*nothing was half-written; wait for"
    ) as caught:
        store.apply(node(store), decision(*ALL), 200.0)
    assert str(path) in str(caught.value)
    assert everything(store) == before  # readers are not locked out
    other.execute("ROLLBACK")
    other.close()
    assert len(store.apply(node(store), decision(*ALL), 200.0)) == 1


def test_a_writer_takes_the_lock_before_it_reads(filed: tuple[Store, Path]) -> None:
    """A transaction that read first could not write after another one did, however long it waited."""
    store, path = filed
    other = sqlite3.connect(path, isolation_level=None, timeout=0.0)
    with store._database.write(), pytest.raises(sqlite3.OperationalError, match="locked"):
        other.execute("BEGIN IMMEDIATE")
    other.close()


def test_a_locked_row_of_a_server_says_the_same(postgresql_urls: UrlMaker) -> None:
    url = postgresql_urls()
    with Store.open(url, patience=0.05) as store:
        store.register([device("gpu-01")], 100.0)
        other = connect(url)
        with other.write() as connection:
            connection.execute(text("UPDATE nodes SET version = version"))
            with pytest.raises(StoreError, match="another process holds its lock"):
                store.apply(node(store), decision(*ALL[:2]), 200.0)
        other.close()
        assert store.history("gpu-01") == ()


def test_a_file_that_may_not_be_written_says_so(filed: tuple[Store, Path]) -> None:
    store, _ = filed
    event.listen(
        store._database.engine, "begin", lambda connection: connection.exec_driver_sql("PRAGMA query_only = 1")
    )
    with pytest.raises(StoreError, match="may not be written"):
        store.register([device("gpu-09")], 1.0)


def test_an_error_after_any_statement_leaves_nothing(store: Store) -> None:
    """Every statement of a decision fails once; each time nothing at all has changed."""
    store.register([device("gpu-01"), device("gpu-02"), device("gpu-03")], 100.0)
    before, found = everything(store), node(store)
    fatal = 0
    while True:
        fatal += 1
        try:
            with failing_after(store, fatal):
                store.apply(found, decision(*ALL), 200.0)
        except OSError:
            assert everything(store) == before
        else:
            break
    assert fatal > 8
    assert len(store.open_runs()) == 1


def test_a_runner_killed_in_the_middle_leaves_nothing(filed: tuple[Store, Path]) -> None:
    store, path = filed
    before = everything(store)
    code = f"""
import os, signal
from sqlalchemy import event
from fleet_runner.adapters.store import Store
from tests.adapters.store.test_failures import ALL, decision, node
store = Store.open("sqlite:///{path}")
event.listen(store._database.engine, "commit", lambda connection: os.kill(os.getpid(), signal.SIGKILL))
store.apply(node(store), decision(*ALL), 200.0)
"""
    killed = subprocess.run([sys.executable, "-c", code], check=False, timeout=120)
    assert killed.returncode == -signal.SIGKILL
    assert everything(store) == before


def test_of_many_writers_with_the_same_decision_exactly_one_wins(url: str) -> None:
    with Store.open(url) as store:
        store.register([device("gpu-01")], 100.0)
        seen = node(store)
    ends: list[str] = []
    together = threading.Barrier(6)

    def write() -> None:
        with Store.open(url) as mine:
            together.wait()
            try:
                mine.apply(seen, decision(*ALL[:2], ALL[3]), 200.0)
                ends.append("won")
            except ConflictError:
                ends.append("refused")

    writers = [threading.Thread(target=write) for _ in range(6)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert sorted(ends) == ["refused"] * 5 + ["won"]


def test_of_many_writers_of_one_fault_all_find_one_ticket(url: str) -> None:
    with Store.open(url) as store:
        store.register([device(f"gpu-0{number}") for number in range(6)], 100.0)
    together = threading.Barrier(6)

    def write(name: str) -> None:
        with Store.open(url) as mine:
            together.wait()
            mine.apply(node(mine, name), decision(swap(name)), 200.0)

    writers = [threading.Thread(target=write, args=(f"gpu-0{number}",)) for number in range(6)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    with Store.open(url) as store:
        (ticket,) = store.tickets()
    assert (ticket.seen, len(ticket.nodes)) == (6, 6)


def test_two_creators_at_once_both_get_the_store(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/new/fleet.db"
    code = f"from fleet_runner.adapters.store import Store; print(len(Store.create({url!r}).nodes()))"
    creators = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(3)]
    assert [creator.communicate(timeout=120)[0] for creator in creators] == [b"0\n"] * 3


@contextmanager
def _files_up_to(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond a size, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
