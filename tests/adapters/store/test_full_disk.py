"""A disk that really is full, or takes no writes, under both databases: said in a sentence, and nothing is lost."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from fleet_runner.adapters.store import Store
from fleet_runner.core.errors import StoreError
from fleet_runner.core.spool import Evidence
from tests import postgres
from tests.adapters.store.builders import device, judged, opened, told

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")

SMALL, LARGE = "24m", "200m"


class Disk:
    """A small disk of its own, and the URL of an empty store on it."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.url = url

    def has(self, options: str) -> None:
        """Change the disk while it is in use."""
        subprocess.run(["mount", "-o", f"remount,{options}", self.folder], check=True)


def mounted(folder: Path, stack: ExitStack) -> Path:
    """Mount a small disk for as long as the stack is open."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SMALL}", "tmpfs", folder], check=True)
    stack.callback(subprocess.run, ["umount", "--lazy", folder], check=True)
    return folder


@pytest.fixture
def on_sqlite(tmp_path: Path) -> Iterator[Disk]:
    """A store in a file."""
    with ExitStack() as stack:
        folder = mounted(tmp_path / "small", stack)
        url = f"sqlite:///{folder}/fleet.db"
        Store.create(url).close()
        yield Disk(folder, url)


@pytest.fixture
def on_postgresql() -> Iterator[Disk]:
    """A store in a tablespace, of a server that no other test uses: one that has lost a disk serves nobody.

    Copied as files, every page of the catalogue has its room from the start; else a read would need some.
    """
    with postgres.template() as data, postgres.running(data) as server, ExitStack() as stack:
        folder = mounted(server.home / "small", stack)
        shutil.chown(folder, "postgres", "postgres")
        admin = create_engine(server.url.replace("/postgres?", "/template1?"), isolation_level="AUTOCOMMIT")
        with admin.connect() as connection:
            connection.execute(text(f"CREATE TABLESPACE small LOCATION '{folder}'"))
            connection.execute(text("CREATE DATABASE crowded TEMPLATE postgres STRATEGY file_copy TABLESPACE small"))
        admin.dispose()
        yield Disk(folder, server.url.replace("/postgres?", "/crowded?"))


@pytest.fixture(params=["sqlite", "postgresql"])
def disk(request: pytest.FixtureRequest) -> Disk:
    """A small disk under both databases in turn."""
    found: Disk = request.getfixturevalue(f"on_{request.param}")
    return found


def test_a_disk_that_fills_up_stops_what_finds_no_room_and_loses_nothing(disk: Disk) -> None:
    """What was taken in before is there, what was not is taken in once there is room."""
    with Store.open(disk.url) as store:
        store.register([device("gpu-01")], 100.0)
        mine = opened(store)
        taken, said, noise = 0, "", told("")
        while not said:
            noise = told(os.urandom(500_000).hex())
            said = refused(store, taken, noise)
            taken += not said
        assert taken > 2
        assert "full" in said
        assert re.search("nothing was half-written; (free space there|check its space)", said)
        assert (store.offset("b-1"), len(store.results(mine.id)), store.evidence(noise.hash)) == (taken, taken, None)
        disk.has(f"size={LARGE}")
        store.ingest("b-1", taken, taken + 1, [judged(at=999.0), noise])
        assert (store.offset("b-1"), len(store.results(mine.id))) == (taken + 1, taken + 1)


def refused(store: Store, before: int, noise: Evidence) -> str:
    """Take in a result and a text; return why not, or nothing."""
    assert before < 100
    try:
        store.ingest("b-1", before, before + 1, [judged(at=201.0 + before), noise])
    except StoreError as error:
        return str(error)
    return ""


def test_a_disk_that_takes_no_writes_says_so_and_is_still_read(on_sqlite: Disk) -> None:
    """As Linux remounts one that failed."""
    with Store.open(on_sqlite.url) as store:
        store.register([device("gpu-01")], 100.0)
    on_sqlite.has("ro")
    try:
        with pytest.raises(StoreError, match=r"may not be written|cannot be opened|read-only"):
            Store.create(on_sqlite.url)
    finally:
        on_sqlite.has("rw")
    with Store.create(on_sqlite.url) as store:
        assert [node.name for node in store.nodes()] == ["gpu-01"]
