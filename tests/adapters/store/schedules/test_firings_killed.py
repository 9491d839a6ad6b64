"""Three runners on one PostgreSQL, an every-second job: one is killed, one is frozen and wakes up again."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from sqlalchemy import text

from fleet_runner.adapters.store import Store
from fleet_runner.core.schedules.firing import Row
from tests.adapters.store.builders import UrlMaker
from tests.waiting import until

RUNNER = """
import os, sys, time
import structlog
from sqlalchemy import text
from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.engine.database import never_hold
from fleet_runner.core.base.errors import FleetError
from fleet_runner.reconcile.schedules.runner import Clockwork, Job
from fleet_runner.settings import Settings

url, state_dir = sys.argv[1:]
settings = Settings(state_dir=state_dir, database_url=url, retention_schedule="every 1s")
settings = settings.model_copy(update={"lease_seconds": 2.0})
store = Store.open(url)
structlog.configure(logger_factory=lambda *_: structlog.PrintLogger(sys.stderr))

def work(settings, store, go_on):
    row = clockwork.running["retention"].row
    go_on()
    time.sleep(0.3)
    go_on()
    with store._database.write() as connection:
        never_hold(connection, 1.0)
        held = text("SELECT 1 FROM schedules WHERE name = 'retention' AND token = :t AND ended_at IS NULL FOR UPDATE")
        if connection.execute(held, {"t": row.token}).one_or_none() is not None:
            connection.execute(text("INSERT INTO witness VALUES (:f, :t, :p)"),
                               {"f": row.firing, "t": row.token, "p": os.getpid()})
    return f"by {os.getpid()}"

clockwork = Clockwork(settings, store, str(os.getpid()), {"retention": Job(work, 60.0)})
print("ready", flush=True)
while True:
    try:
        pause = clockwork.look()
    except FleetError as error:  # frozen in the middle of a transaction, which is over then
        print(error, file=sys.stderr, flush=True)
        pause = 0.5
    clockwork.wake.wait(pause)
    clockwork.wake.clear()
"""
PATIENCE = 60.0
MISSED_BY = 20
"""How often a signal may come too late to meet a job in its middle."""


@contextmanager
def runners(url: str, folder: Path, count: int) -> Iterator[list[subprocess.Popen[str]]]:
    """Processes that see to the schedules of one store; ended by their own ids."""
    started = list[subprocess.Popen[str]]()
    try:
        for number in range(count):
            (folder / str(number)).mkdir()
            command = [sys.executable, "-c", RUNNER, url, str(folder / str(number))]
            with (folder / f"{number}.log").open("w") as log:
                started.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True))
        for each in started:
            assert each.stdout is not None
            assert each.stdout.readline() == "ready\n"
        yield started
    finally:
        for each in started:
            if each.poll() is None:
                each.kill()
            each.communicate()


def row(store: Store) -> Row:
    """The schedule as the store has it."""
    return store.schedules()[1].get("retention", Row("retention"))


def done(store: Store) -> list[tuple[float, int, int]]:
    """What was done: for which moment, with which token, by which process."""
    with store._database.read() as connection:
        return [tuple(each) for each in connection.execute(text("SELECT * FROM witness ORDER BY token"))]


def met(store: Store, number: signal.Signals, after: signal.Signals | None, sparing: int = 0) -> Row:
    """Send a signal to the process that is in the middle of a job; return the firing that it had."""
    for _ in range(MISSED_BY):
        until(lambda: row(store).is_running and int(row(store).runner) != sparing)
        found = row(store)
        os.kill(int(found.runner), number)
        time.sleep(0.6)
        if row(store).is_running and row(store).token == found.token:
            return found
        assert after is not None, "the process that was killed had ended its job; nothing can be learned of that"
        os.kill(int(found.runner), after)
    raise AssertionError(found)


@pytest.mark.nightly
def test_every_moment_is_done_once_though_runners_are_killed_and_frozen(
    postgresql_urls: UrlMaker, tmp_path: Path
) -> None:
    """What the dead one had is done by another; what the frozen one had, too, and it does nothing when it wakes."""
    url = postgresql_urls()
    with Store.open(url) as store:
        with store._database.write() as connection:
            connection.execute(text("CREATE TABLE witness (firing double precision, token integer, pid integer)"))
        with runners(url, tmp_path, 3) as processes:
            until(lambda: len(done(store)) >= 3)
            # Stopped first, so that it cannot end its job before it is killed.
            killed = met(store, signal.SIGSTOP, signal.SIGCONT)
            os.kill(int(killed.runner), signal.SIGKILL)
            until(lambda: any(firing == killed.firing for firing, _, _ in done(store)))
            until(lambda: len(done(store)) >= 6)
            frozen = met(store, signal.SIGSTOP, signal.SIGCONT)
            until(lambda: any(firing == frozen.firing for firing, _, _ in done(store)))
            reached = len(done(store))
            os.kill(int(frozen.runner), signal.SIGCONT)
            until(lambda: len(done(store)) >= reached + 4)
            alive = {each.pid for each in processes if each.poll() is None}
        told = done(store)
    assert len({firing for firing, _, _ in told}) == len(told) >= 10
    assert [token for _, token, _ in told] == sorted({token for _, token, _ in told})
    assert all(late[0] - early[0] >= 1.0 for early, late in pairwise(sorted(told)))
    for gone in (killed, frozen):
        (again,) = [each for each in told if each[0] == gone.firing]
        assert again[1] > gone.token
        assert again[2] != int(gone.runner)
    assert len(alive) == 2
    assert int(frozen.runner) in alive
    logs = {each.pid: (tmp_path / f"{number}.log").read_text() for number, each in enumerate(processes)}
    assert "another runner" in logs[int(frozen.runner)]
