"""A bench for each kind of tracker."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet_runner.adapters.store import Store
from tests.adapters.trackers.bench import KINDS, Bench, bench


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty store in a file, to copy: migrating once is enough."""
    path = tmp_path_factory.mktemp("template") / "fleet.db"
    Store.create(f"sqlite:///{path}").close()
    return path


@pytest.fixture(params=KINDS)
def desk(request: pytest.FixtureRequest, template: Path, tmp_path: Path) -> Iterator[Bench]:
    """A bench with each kind of tracker in turn."""
    shutil.copy(template, tmp_path / "fleet.db")
    with bench(request.param, f"sqlite:///{tmp_path / 'fleet.db'}", tmp_path) as made:
        yield made


@pytest.fixture
def jira(template: Path, tmp_path: Path) -> Iterator[Bench]:
    """A bench with a Jira Cloud."""
    shutil.copy(template, tmp_path / "fleet.db")
    with bench("jira-cloud", f"sqlite:///{tmp_path / 'fleet.db'}", tmp_path) as made:
        yield made


@pytest.fixture
def github(template: Path, tmp_path: Path) -> Iterator[Bench]:
    """A bench with a GitHub."""
    shutil.copy(template, tmp_path / "fleet.db")
    with bench("github", f"sqlite:///{tmp_path / 'fleet.db'}", tmp_path) as made:
        yield made
