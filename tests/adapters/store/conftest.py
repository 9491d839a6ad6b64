"""Stores to test with: a SQLite file, and a PostgreSQL of the test's own."""

import shutil
from collections.abc import Iterator
from functools import cache
from itertools import count
from pathlib import Path

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.engine import database
from tests import postgres
from tests.adapters.store.builders import UrlMaker, device
from tests.adapters.store.recycling import Databases


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
    try:
        with postgres.template() as data, postgres.running(data) as server:
            yield str(server.home)
    except postgres.AbsentError as error:
        pytest.skip(str(error))


_databases = cache(Databases)
"""The empty stores of a PostgreSQL, by the folder of its socket."""


@pytest.fixture
def postgresql_urls(postgresql: str) -> Iterator[UrlMaker]:
    """Make the URL of an empty store in the session's PostgreSQL, as often as it is called."""
    databases = _databases(postgresql)
    made: list[str] = []

    def make() -> str:
        made.append(databases.make())
        return databases.url(made[-1])

    yield make
    for name in made:
        databases.give_back(name)


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


@pytest.fixture
def given_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have leases of firmware go by the times that a test gives, with PostgreSQL, too."""
    monkeypatch.setattr(database, "agreed", lambda _, now: now)
