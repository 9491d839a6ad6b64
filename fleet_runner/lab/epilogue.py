"""The demo's epilogue: its store is thrown away, and the nodes that serve come back without a reboot.

Everything is the product's own: `serve`, `db accept` and `adopt`, as an operator types them.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import FleetError
from fleet_runner.lab.folder import Lab, LabError

STORE = "fleet.db*"
ASIDE = "thrown-away"
IDENTITY = "store-identity.json"
COMMANDS = (("db", "accept", "--yes", "--reason", "its disk died"), ("adopt", "--all"))

LONGEST = 120.0
"""Seconds that one command, or the first tick of a new store, may take."""

PAUSE = 0.3


def throw_away(lab: Lab) -> None:
    """Move the store of a lab, which nobody serves, out of the way; what is remembered of it stays where it is."""
    aside = _state(lab) / ASIDE
    aside.mkdir()
    shutil.copy(_state(lab) / IDENTITY, aside / IDENTITY)
    _move(_state(lab), aside)


def put_back(lab: Lab) -> None:
    """Put the story's store back in place of the new one, so that it can be looked at."""
    aside = _state(lab) / ASIDE
    for file in _state(lab).glob(STORE):
        file.unlink()
    _move(aside, _state(lab))
    shutil.move(aside / IDENTITY, _state(lab) / IDENTITY)
    aside.rmdir()


def recover(lab: Lab, tell: Callable[[str], None]) -> int:
    """Take the nodes over by a new store that is served, tell each command and its answer, and say how many came.

    Raises:
        LabError: a command did not end well, or a machine's power was touched meanwhile.
    """
    before = _power(lab)
    _until_registered(lab)
    for command in COMMANDS:
        tell(f"$ fleet-runner {' '.join(repr(word) if ' ' in word else word for word in command)}")
        for line in _run(lab, command).splitlines():
            tell(line)
    sent = _power(lab) - before
    if sent:
        raise LabError(f"{sent} power actions were sent to machines that serve; read {lab.log}")
    with Store.open(_url(lab), reading=True) as store:
        return len([node for node in store.nodes() if node.state.value == "production"])


def _until_registered(lab: Lab) -> None:
    until = time.monotonic() + LONGEST
    while time.monotonic() < until:
        try:
            with Store.open(_url(lab), reading=True) as store:
                if len(store.nodes()) == len(lab.nodes()):
                    return
        except FleetError:  # it is not made yet
            pass
        time.sleep(PAUSE)
    raise LabError(f"the nodes were not registered within {LONGEST:.0f} s; read {lab.root / 'serve.log'}")


def _run(lab: Lab, command: tuple[str, ...]) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "fleet_runner.cli", *command],
        env={**os.environ, "FLEET_CONFIG": str(lab.settings), "COLUMNS": "200"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )
    if done.returncode:
        raise LabError(f"fleet-runner {' '.join(command)} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def _power(lab: Lab) -> int:
    """Return how many power actions the machines of a lab have ever got, by their own log."""
    lines = lab.log.read_text(encoding="utf-8").splitlines() if lab.log.exists() else []
    return sum(json.loads(line).get("event") == "power" for line in lines)


def _state(lab: Lab) -> Path:
    return lab.root / "state"


def _url(lab: Lab) -> str:
    return f"sqlite:///{_state(lab) / 'fleet.db'}"


def _move(here: Path, there: Path) -> None:
    for file in here.glob(STORE):
        shutil.move(file, there / file.name)
