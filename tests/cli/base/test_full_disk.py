"""Commands over a store whose disk is full: those that read tell what there is, those that write refuse."""

import os
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.settings import load
from tests.adapters.store.builders import device
from tests.adapters.store.test_full_disk import LARGE, Disk, crowd, mounted
from tests.cli.conftest import Type

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")


@pytest.mark.parametrize("options", ["size=24m", "ro"])
def test_on_a_disk_that_takes_no_writes_people_still_read(
    typed: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str
) -> None:
    with ExitStack() as stack:
        folder = mounted(tmp_path / "small", stack)
        monkeypatch.setenv("FLEET_STATE_DIR", str(folder))
        disk = Disk(folder, load().store_url)
        with Store.create(disk.url) as store:
            store.register([device("gpu-01")], 100.0)
        assert typed("runners").code == 0
        crowd(disk)
        disk.has(options)
        for line in (
            "status", "node gpu-01", "history gpu-01", "explain gpu-01", "tickets", "results", "trends lemons",
            "queue", "runners", "schedules",
        ):  # fmt: skip
            said = typed(*line.split())
            assert (said.code, "read-only" in said.err) == (0, True), (line, said.err)
        said = typed("hold", "gpu-01", "--reason", "look")
        assert (said.code, "then run it again" in said.err or "permissions" in said.err) == (3, True)
        disk.has("rw")


def test_who_watches_a_full_disk_lets_others_in_once_there_is_room(
    typed: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A view that stays on a screen since the night is no reason for nothing to move in the morning."""
    with ExitStack() as stack:
        folder = mounted(tmp_path / "small", stack)
        disk = Disk(folder, f"sqlite:///{folder}/fleet.db")
        monkeypatch.setenv("FLEET_DATABASE_URL", disk.url)
        Store.create(disk.url).close()
        crowd(disk)
        others: list[int] = []
        other = f"from fleet_runner.adapters.store import Store\nStore.create({disk.url!r}, patience=1.0).close()"

        def sleep(_: float) -> None:
            if others:
                raise KeyboardInterrupt
            disk.has(f"size={LARGE}")  # locks count between processes alone
            others.append(subprocess.run([sys.executable, "-c", other], check=False).returncode)

        monkeypatch.setattr(time, "sleep", sleep)
        said = typed("status", "--watch")
        assert (said.code, "read-only" in said.err, others) == (130, True, [0]), said.err
