"""Backups: made while others write, brought back whole; then nothing goes on that the lost time may have ended."""

import os
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.engine.database import connect
from fleet_runner.adapters.store.maintenance.backups import restore, save
from fleet_runner.adapters.store.maintenance.restored import JUMP, UNSEEN, Restored
from fleet_runner.core.base.errors import ConflictError, StoreError
from fleet_runner.core.lifecycle.actions import Move, SetCondition
from fleet_runner.core.lifecycle.runs import Held, IntentKind, Outcome
from fleet_runner.core.lifecycle.states import TRANSITIONS, Condition, Event, State
from tests.adapters.store.builders import (
    UrlMaker,
    armed,
    decision,
    device,
    everything,
    judged,
    node,
    opened,
    run,
    told,
)
from tests.adapters.store.filling import empty, fill, rows

NOW = 5_000.0

Again = Callable[[Path], Store]


@pytest.fixture
def said() -> list[Restored]:
    """What was said of each backup that was brought back."""
    return []


@pytest.fixture
def again(url: str, request: pytest.FixtureRequest, postgresql_urls: UrlMaker, said: list[Restored]) -> Again:
    """Bring a backup back where it belongs: over the file, or into another, empty database; open what came of it."""

    def back(file: Path) -> Store:
        where = url
        if url.startswith("postgresql"):
            where = postgresql_urls()
            database = connect(where)
            with database.write() as connection:
                empty(connection)
            database.close()
        said.append(restore(where, file, NOW))
        store = Store.open(where)
        request.addfinalizer(store.close)
        return store

    return back


def test_a_backup_is_the_store_of_one_moment_and_its_owners_alone(
    stocked: Store, url: str, tmp_path: Path, again: Again
) -> None:
    mine = opened(stocked)
    stocked.ingest("b-1", 0, 9, [told("a piece"), judged()])
    stocked.close_run(mine, Outcome.PASSED, "", 300.0)
    before = everything(stocked)[1:3], stocked.results(1), stocked.evidence(told("a piece").hash)
    file = tmp_path / "fleet.backup"
    assert save(url, file) == file.stat().st_size > 1_000
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".fleet")] == []
    stocked.register([device("gpu-09")], 400.0)
    stocked.close()
    back = again(file)
    assert back.node("gpu-09") is None
    assert (everything(back)[1:3], back.results(1), back.evidence(told("a piece").hash)) == before


def test_a_file_that_is_there_is_not_written_over(stocked: Store, url: str, tmp_path: Path) -> None:
    file = tmp_path / "fleet.backup"
    file.write_text("mine")
    with pytest.raises(StoreError, match="the file exists already"):
        save(url, file)
    assert file.read_text() == "mine"
    assert stocked.nodes()


def test_what_was_open_is_over_and_old_fences_are_refused(
    stocked: Store, url: str, tmp_path: Path, again: Again
) -> None:
    mine = opened(stocked)
    armed(stocked, "gpu-02")
    file = tmp_path / "fleet.backup"
    save(url, file)
    stocked.close()
    back = again(file)
    assert back.open_runs() == ()
    lost = run(back, mine.id)
    assert (lost.outcome, lost.ended_at) == (Outcome.LOST, NOW)
    assert "restored from a backup" in back.history("gpu-01")[-2].sentence
    assert back.open_boots() == ()
    with pytest.raises(ConflictError, match="its work was taken over"):
        back.close_run(mine, Outcome.PASSED, "", NOW)
    anew = opened(back, "gpu-01", batch="b-2")
    assert anew.fence > JUMP


def test_requests_are_refused_so_nothing_is_erased_or_flashed_twice(
    stocked: Store, url: str, tmp_path: Path, again: Again
) -> None:
    intent = stocked.leave_intent("gpu-01", IntentKind.WIPE, "ada", now=200.0)
    file = tmp_path / "fleet.backup"
    save(url, file)
    stocked.close()
    back = again(file)
    assert back.intents("gpu-01") == ()
    assert back.answer(intent) == (False, "The store was restored from a backup; ask for it again.")


def test_nodes_are_held_where_something_would_begin_and_serving_ones_only_looked_at(
    stocked: Store, url: str, tmp_path: Path, again: Again, said: list[Restored]
) -> None:
    way = [
        (State.REGISTERED, Event.START),
        (State.PROVISION, Event.PASSED),
        (State.ONBOARD, Event.CERTIFIED),
        (State.VERIFY, Event.PASSED),
        (State.FIRMWARE, Event.PASSED),
        (State.BURN_IN, Event.PASSED),
    ]
    for state, event in way:
        for name in ("gpu-02", "gpu-03"):
            stocked.apply(node(stocked, name), decision(Move(TRANSITIONS[state, event], "runner")), 200.0)
    pending = SetCondition(Condition.PENDING, Held(200.0, "A GPU fell off.", "runner", "REBOOT"))
    stocked.apply(node(stocked, "gpu-03"), decision(pending), 201.0)
    file = tmp_path / "fleet.backup"
    save(url, file)
    stocked.close()
    back = again(file)
    (told,) = said
    assert told.aside is None or told.aside.is_file()
    made = Restored(201.0, runs=0, held=2, watched=1, flashes=0, intents=0, rollouts=0, tokens=0)
    assert replace(told, aside=None) == made
    assert {each.waiting for each in back.nodes()} == {UNSEEN}
    conditions = {each.name: set(each.conditions) for each in back.nodes()}
    assert conditions == {
        "gpu-01": {Condition.HELD},  # registered: it would be provisioned
        "gpu-02": {Condition.MAINTENANCE},
        "gpu-03": {Condition.PENDING, Condition.HELD},
    }
    assert {each.name for each in back.due(NOW)} == {"gpu-01", "gpu-02", "gpu-03"}, "all are looked at at once"
    assert "look at the node, then release it" in node(back, "gpu-01").conditions[Condition.HELD].reason


def test_every_row_comes_back(url: str, tmp_path: Path, again: Again) -> None:
    """But for what is let go of, and what is changed on purpose."""
    database = connect(url)
    with database.write() as connection:
        fill(connection)
        known = "UPDATE nodes SET state = 'triage', device_type = 'hgx', management = 'full'"
        connection.execute(text(known))
        connection.execute(text("UPDATE runs SET stage = 'verify', outcome = 'passed', ended_at = opened_at + 1"))
        sent = rows(connection)
    file = tmp_path / "fleet.backup"
    save(url, file)
    database.close()
    back = again(file)
    with back._database.read() as connection:
        found = rows(connection)
    gone = {"firmware_leases", "power_allowances", "runners"}
    grown = {"journal", "conditions", "boot_events"}
    changed = {"nodes", "trackers", "parcels", "intents", "boots", "mirrored_lines", *gone, *grown}
    assert {table: found[table] for table in found if table not in changed} == {
        table: sent[table] for table in sent if table not in changed
    }
    assert all(found[table] == [] for table in gone)
    assert all(found[table][: len(sent[table])] == sent[table] for table in ("journal", "boot_events"))


def test_a_damaged_file_or_another_one_changes_nothing(
    stocked: Store, url: str, tmp_path: Path, again: Again
) -> None:
    other = tmp_path / "other"
    other.write_text("Dear diary")
    with pytest.raises(StoreError, match="expected a file that `db backup` wrote of one"):
        restore(url, other, NOW)
    with pytest.raises(StoreError, match="No such file"):
        restore(url, tmp_path / "none", NOW)
    file = tmp_path / "fleet.backup"
    save(url, file)
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StoreError, match=r"damaged|pg_restore"):
        again(file)
    assert len(stocked.nodes()) == 3


def test_a_store_of_something_else_is_no_backup(sqlite_urls: UrlMaker, tmp_path: Path) -> None:
    url, file = sqlite_urls(), tmp_path / "invoices.db"
    made = sqlite3.connect(file)
    made.execute("CREATE TABLE invoices (id int)")
    made.close()
    with pytest.raises(StoreError, match="not a store of fleet-runner"):
        restore(url, file, NOW)
    Store.open(url).close()


def test_the_file_that_was_there_is_moved_aside(sqlite_urls: UrlMaker, tmp_path: Path) -> None:
    url, file = sqlite_urls(), tmp_path / "fleet.backup"
    save(url, file)
    with Store.open(url) as store:
        store.register([device("gpu-01")], 1.0)
    restore(url, file, NOW)
    with Store.open(url) as store:
        assert store.nodes() == ()
    with Store.open(f"{url}.before-5000") as store:
        assert [each.name for each in store.nodes()] == ["gpu-01"]


def test_a_server_with_tables_is_left_alone(postgresql_urls: UrlMaker, tmp_path: Path) -> None:
    url, file = postgresql_urls(), tmp_path / "fleet.backup"
    save(url, file)
    with pytest.raises(StoreError, match=r"it has tables .*an empty database \(createdb\)"):
        restore(url, file, NOW)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://fleet:s%20ecret@db.example:5433/fleet?sslmode=require",
        "postgresql://fleet@db.example:5433/fleet?password=s%20ecret&sslmode=require",
        "postgresql://fleet:older-ecret@db.example:5433/fleet?sslmode=require&password=s%20ecret",
    ],
)
def test_the_password_is_in_no_argument_and_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    """Wherever the URL has it. A program in place of pg_dump tells how it was called, and fails."""
    fake = tmp_path / "bin" / "pg_dump"
    fake.parent.mkdir()
    fake.write_text('#!/bin/sh\necho "$@" > "$0.arguments"\necho "no: $PGPASSWORD" >&2\nexit 1\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(StoreError, match="pg_dump: no: …; nothing was changed") as caught:
        save(url, tmp_path / "file")
    assert "ecret" not in str(caught.value)
    said = (fake.parent / "pg_dump.arguments").read_text()
    assert "postgresql://fleet@db.example:5433/fleet?sslmode=require" in said
    assert "ecret" not in said
    assert not (tmp_path / "file").exists()


def test_a_key_s_password_is_no_argument_either(tmp_path: Path) -> None:
    """The programs know no variable for it."""
    with pytest.raises(StoreError, match="name an sslkey that needs none") as caught:
        save("postgresql://fleet@db.example/fleet?sslkey=k&sslpassword=ecret", tmp_path / "file")
    assert "ecret" not in str(caught.value)


def test_a_backup_is_made_while_others_write(stocked: Store, url: str, tmp_path: Path) -> None:
    """An open transaction of another connection neither waits nor is in it."""
    database = connect(url)
    with database.write() as connection:
        connection.execute(text("INSERT INTO beats VALUES ('somebody', 1.0)"))
        save(url, tmp_path / "fleet.backup")
    database.close()
    assert stocked.beats() == {"somebody": 1.0}
