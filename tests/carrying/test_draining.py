"""A runner that is asked to stop, and waits for its plays, leaves everything else to the others at once."""

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

from fleet_runner.adapters.plays import batch_folder
from fleet_runner.adapters.store import Store
from tests.adapters.store.builders import UrlMaker
from tests.waiting import until


def test_who_waits_for_its_plays_decides_no_more_and_takes_nothing(tmp_path: Path, postgresql_urls: UrlMaker) -> None:
    """The process is real, as is its SIGTERM; its one play is a lock that a supervisor would hold."""
    url = postgresql_urls()
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sites.yml").write_text("- name: hall\n", "utf-8")
    folder = tmp_path / "state" / "batches" / "verify-1"
    folder.mkdir(parents=True)
    given = {"FLEET_STATE_DIR": str(tmp_path / "state"), "FLEET_DATABASE_URL": url, "FLEET_TICK_SECONDS": "0.1"}
    with Store.open(url) as store, (folder / batch_folder.LOCK).open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        process = subprocess.Popen(
            [sys.executable, "-u", "-m", "fleet_runner.cli", "serve", "--drain", "600"],
            cwd=tmp_path,
            env=os.environ | given,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            until(lambda: store.deciding() != "")
            process.send_signal(signal.SIGTERM)
            assert process.stdout is not None
            assert next(line for line in process.stdout if line.startswith("waiting up to 600 s"))
            assert store.deciding() == ""
            (runner,) = store.runners()
            assert runner.ending
            assert process.poll() is None
            fcntl.flock(lock, fcntl.LOCK_UN)
            assert "stopped; 0 plays were asked to end" in process.stdout.read()
            assert process.wait(60) == 0
        finally:
            process.kill()
            process.communicate()
