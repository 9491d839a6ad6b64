"""A disk that really is full, or takes no writes, under both databases: said in a sentence, and nothing is lost."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from shutil import copytree

import pytest
from sqlalchemy import create_engine, text

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import StoreError
from fleet_runner.core.lifecycle.spool import Evidence
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


def crowd(disk: Disk) -> None:
    """Fill a disk to the last byte, as somebody else's files do."""
    with (disk.folder / "somebody-elses").open("wb", buffering=0) as file, suppress(OSError):
        for size in (1_000_000, 4_096, 1):
            with suppress(OSError):
                while True:
                    file.write(b"x" * size)


def left_by_a_crash(disk: Disk) -> None:
    """Have the newest line in the log beside the store, and nobody who has either open."""
    kept = disk.folder.parent / "kept"
    with Store.open(disk.url) as store:
        store.register([device("gpu-02")], 101.0)
        copytree(disk.folder, kept)
    copytree(kept, disk.folder, dirs_exist_ok=True)
    (disk.folder / "fleet.db-shm").unlink()


@pytest.mark.parametrize("crashed", [False, True])
def test_a_store_that_nobody_has_open_is_read_on_a_full_disk_and_not_written(
    on_sqlite: Disk, *, crashed: bool
) -> None:
    with Store.open(on_sqlite.url) as store:
        store.register([device("gpu-01")], 100.0)
    if crashed:
        left_by_a_crash(on_sqlite)
    names = ["gpu-01", "gpu-02"][: 1 + crashed]
    crowd(on_sqlite)
    for _ in range(2):  # the first attempt leaves empty files behind
        with pytest.raises(StoreError, match=r"full") as strict:
            Store.open(on_sqlite.url)
        with Store.open(on_sqlite.url, reading=True) as store:
            assert [node.name for node in store.nodes()] == names
            with pytest.raises(StoreError) as refused_words:
                store.register([device("gpu-03")], 102.0)
        assert str(strict.value) == str(refused_words.value) == store.refusal
    (on_sqlite.folder / "somebody-elses").unlink()
    with Store.open(on_sqlite.url, reading=True) as store:
        assert store.refusal == ""
        store.register([device("gpu-03")], 102.0)
        assert [node.name for node in store.nodes()] == [*names, "gpu-03"]


def test_a_store_on_a_read_only_file_system_is_read_unless_its_log_would_be_missed(on_sqlite: Disk) -> None:
    with Store.open(on_sqlite.url) as store:
        store.register([device("gpu-01")], 100.0)
    on_sqlite.has("ro")
    with Store.open(on_sqlite.url, reading=True) as store:
        assert [node.name for node in store.nodes()] == ["gpu-01"]
        with pytest.raises(StoreError, match="cannot be opened"):
            store.register([device("gpu-02")], 101.0)
    on_sqlite.has("rw")
    left_by_a_crash(on_sqlite)
    on_sqlite.has("ro")
    with pytest.raises(StoreError, match="cannot be opened"):
        Store.open(on_sqlite.url, reading=True)
    on_sqlite.has("rw")
