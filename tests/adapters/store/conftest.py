"""Stores to test with: a SQLite file, and a PostgreSQL of the test's own."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from fleet_runner.adapters.store import Store, database
from tests.adapters.store.builders import UrlMaker, device


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty store in a file, to copy: migrating once is enough."""
    path = tmp_path_factory.mktemp("template") / "fleet.db"
    Store.create(f"sqlite:///{path}").close()
    return path


@pytest.fixture
def sqlite_urls(sqlite_template: Path, tmp_path: Path) -> UrlMaker:
    """Make the URL of a new empty store in a file, as often as it is called."""
    numbers = count()

    def make() -> str:
        path = tmp_path / f"fleet-{next(numbers)}.db"
        shutil.copy(sqlite_template, path)
        return f"sqlite:///{path}"

    return make


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The socket folder of a PostgreSQL started for this session and ended by its pid, whatever happens."""
    programs = _programs()
    with ExitStack() as stack:
        home = Path(tempfile.mkdtemp(prefix="fleet-pg-"))
        stack.callback(shutil.rmtree, home, ignore_errors=True)
        as_user = _as_user(home)
        data = home / "data"
        _run(
            [
                *as_user,
                programs / "initdb",
                "-D",
                data,
                "-U",
                "fleet",
                "-A",
                "trust",
                "-N",
                "--locale=C",
                "-E",
                "UTF8",
            ]
        )
        options = f"-c listen_addresses='' -c unix_socket_directories={home} -c fsync=off"
        log = home / "log"
        stack.callback(_end, data / "postmaster.pid")
        _run([*as_user, programs / "pg_ctl", "-D", data, "-l", log, "-o", options, "-w", "-t", "120", "start"])
        Store.create(_url(str(home), "postgres")).close()
        yield str(home)


@pytest.fixture
def postgresql_urls(postgresql: str) -> Iterator[UrlMaker]:
    """Make the URL of a new empty store in the session's PostgreSQL, as often as it is called."""
    engine = create_engine(_url(postgresql, "template1"), isolation_level="AUTOCOMMIT")
    made: list[str] = []

    def make() -> str:
        name = f"t{os.getpid()}_{time.monotonic_ns()}"
        with engine.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name} TEMPLATE postgres"))
        made.append(name)
        return _url(postgresql, name)

    yield make
    with engine.connect() as connection:
        for name in made:
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    engine.dispose()


@pytest.fixture(params=["sqlite", "postgresql"])
def urls(request: pytest.FixtureRequest) -> UrlMaker:
    """Make URLs of new empty stores, on both databases in turn."""
    made: UrlMaker = request.getfixturevalue(f"{request.param}_urls")
    return made


@pytest.fixture
def url(urls: UrlMaker) -> str:
    """The URL of a new empty store, on both databases in turn."""
    return urls()


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """A new empty store, on both databases in turn."""
    with Store.open(url) as opened:
        yield opened


@pytest.fixture
def stocked(store: Store) -> Store:
    """A store that knows the nodes gpu-01, gpu-02 and gpu-03."""
    store.register([device(f"gpu-0{number}") for number in (1, 2, 3)], 100.0)
    return store


def _programs() -> Path:
    """Find initdb and pg_ctl where Debian puts them, or skip."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    named = shutil.which("initdb")
    if not found and named is None:
        pytest.skip("PostgreSQL is not installed (no initdb); Debian's package is `postgresql`")
    return found[-1].parent if found else Path(str(named)).parent


def _as_user(home: Path) -> list[str]:
    """Return what starts a program as somebody PostgreSQL runs as, who also owns the folder; or skip."""
    if os.geteuid() != 0:
        return []
    try:
        shutil.chown(home, "postgres", "postgres")
    except LookupError:
        pytest.skip("PostgreSQL will not run as root and there is no user `postgres`; Debian's `postgresql` makes it")
    return ["runuser", "-u", "postgres", "--"]


def _run(command: list[Any]) -> None:
    log = subprocess.run([str(part) for part in command], cwd="/", capture_output=True, text=True, check=False)
    assert log.returncode == 0, f"{command}: {log.stdout}{log.stderr}"


def _end(pid_file: Path) -> None:
    """End the server whose pid the file holds, and wait until it is gone."""
    if not pid_file.is_file():
        return
    pid = int(pid_file.read_text().split()[0])
    for patience, signum in ((20.0, signal.SIGINT), (20.0, signal.SIGQUIT)):
        os.kill(pid, signum)
        until = time.monotonic() + patience
        while time.monotonic() < until:
            if not pid_file.exists():
                return
            time.sleep(0.05)


def _url(socket_folder: str, database: str) -> str:
    return f"postgresql+psycopg://fleet@/{database}?host={socket_folder}"


@pytest.fixture
def given_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have leases of firmware go by the times that a test gives, with PostgreSQL, too."""
    monkeypatch.setattr(database, "agreed", lambda _, now: now)
