"""Starting a NetBox in a folder, for a while or until it is ended, and where it then is."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from fleet_runner.lab import processes
from fleet_runner.lab.folder import Lab, LabError, read
from fleet_runner.lab.netbox.configuration import Home, Options
from fleet_runner.lab.netbox.installation import VERSION, Tell
from fleet_runner.settings import CODE_DIR

NAME = "netbox"
"""The name under which a lab's is noted, and of its folder there."""

ENDING_SECONDS = 600.0
"""A lab's keeps its database while it ends, for minutes on a busy computer: one that is killed has lost it."""


@dataclass(frozen=True, slots=True)
class NetBox:
    """A NetBox that answers: its address, and what its superuser logs in with."""

    url: str
    version: str
    token: str
    user: str
    password: str


@contextmanager
def running(folder: Path, tell: Tell, options: Options | None = None) -> Iterator[NetBox]:
    """Run a NetBox of its own, with an empty database, that ends with this block or this process."""
    home = Home(folder.resolve())
    home.lay_out(options or Options())
    with (home.root / "holder.log").open("ab") as log:
        holder = _tied("serve", str(home.root), log)
    try:
        yield _wait(home, lambda: holder.poll() is None, tell)
    finally:
        holder.terminate()
        holder.wait(ENDING_SECONDS)
        holder.communicate()


def preparing(version: str = VERSION) -> subprocess.Popen[bytes]:
    """Begin to install and migrate a release in the background, as far as that is not done; it ends when we do."""
    return _tied("prepare", version, subprocess.DEVNULL)


def start(lab: Lab, tell: Tell) -> NetBox:
    """Start a lab's NetBox where it does not run, and return it; it goes on with what was in it."""
    home = Home(lab.root / NAME)
    if processes.running(lab, NAME) is None:
        home.lay_out(Options())
        words = [sys.executable, "-m", "fleet_runner.lab.netbox", "serve", str(home.root)]
        processes.note(lab, NAME, processes.start(words, _env(), home.root / "holder.log"))
    return _wait(home, lambda: processes.running(lab, NAME) is not None, tell)


def end(lab: Lab) -> bool:
    """End a lab's NetBox, which keeps what is in it; say whether it ran."""
    return processes.end(lab, NAME, ENDING_SECONDS)


def _tied(what: str, which: str, log: IO[bytes] | int) -> subprocess.Popen[bytes]:
    """Start a holder that ends when its standard input does, however this process ends."""
    words = [sys.executable, "-m", "fleet_runner.lab.netbox", what, which, "--tied"]
    return subprocess.Popen(words, env=_env(), stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True)


def _env() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(CODE_DIR)}


def _wait(home: Home, alive: Callable[[], bool], tell: Tell) -> NetBox:
    """Say what it does until it answers."""
    said = 0
    while True:
        lives = alive()
        lines = home.progress.read_text("utf-8").splitlines() if home.progress.is_file() else []
        for line in lines[said:]:
            tell(line)
        said = len(lines)
        if home.known.is_file():
            return NetBox(**read(home.known))
        if not lives:
            last = lines[-1].removeprefix("error: ") if lines else f"it ended; read {home.root / 'holder.log'}"
            raise LabError(f"NetBox did not start: {last}")
        time.sleep(0.2)
