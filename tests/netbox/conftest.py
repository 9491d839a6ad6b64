"""A stand-in NetBox for the tests in this folder."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from fleet_runner.adapters.store import Store
from tests.netbox.asking import Desk
from tests.netbox.standin import Standin, serving


@pytest.fixture
def standin() -> Iterator[Standin]:
    """An empty NetBox; at the end nothing may have been asked that NetBox would not know."""
    with serving() as standin:
        yield standin
        assert standin.problems() == []


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty store to copy: to make one takes longer than most tests."""
    path = tmp_path_factory.mktemp("empty") / "fleet.db"
    Store.create(f"sqlite:///{path}").close()
    return path


@pytest.fixture
def desk(standin: Standin, empty_store: Path, tmp_path: Path) -> Iterator[Desk]:
    """A NetBox in whose pages nobody asks for anything yet, and a store."""
    shutil.copy(empty_store, tmp_path / "fleet.db")
    with closing(Store.open(f"sqlite:///{tmp_path}/fleet.db")) as store:
        yield Desk(standin, store)
