"""A fleet that serves: whatever becomes of our store, names or source of truth, no node loses its power or its job.

Twelve servers run and were adopted; on six of them runs a tenant's job. Automation may act everywhere. Each case goes
wrong in its own way, and the product is served on it; the lab's own log is the witness of what was done to machines.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_runner.adapters.plays.processes import end
from fleet_runner.adapters.store import Store
from fleet_runner.core.lifecycle.states import State
from fleet_runner.lab import hardware, jobs, plan
from fleet_runner.lab.down import down
from fleet_runner.lab.folder import Lab
from fleet_runner.lab.up import up

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(1800)]

NODES = 12
BUSY = tuple(plan.server(number) for number in range(1, 7))
SERVED = 20.0
"""Seconds for which the product is served on each case; a release that acted needed less."""

HARM = frozenset({"power", "boot", "job_stop", "firmware_accepted", "reset"})
"""What is done to a machine, as the lab's log calls it."""

Row = dict[str, Any]


class Serving:
    """A lab whose servers serve, and what of it a case may spoil."""

    def __init__(self, lab: Lab) -> None:
        self.lab, self.state = lab, lab.root / "state"
        self.jobs = {name: jobs.start(lab, name) for name in BUSY}
        self.known = len(self.log())

    def run(self, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run one command of the product to its end."""
        return subprocess.run(
            [sys.executable, "-m", "fleet_runner.cli", *command],
            env={**os.environ, "FLEET_CONFIG": str(self.lab.settings), **variables},
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )

    def serve(self, seconds: float = SERVED, **variables: str) -> None:
        """Serve for a while, with some settings of the case's own, and end as an operator would."""
        with (self.lab.root / "serve.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "fleet_runner.cli", "serve"],
                env={**os.environ, "FLEET_CONFIG": str(self.lab.settings), **variables},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            time.sleep(seconds)
            assert process.poll() is None, (self.lab.root / "serve.log").read_text()[-3000:]
        finally:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def acting(self, **variables: str) -> None:
        """Serve, then let whatever store that made act, as somebody in a hurry would, and serve again."""
        self.serve(**variables)
        self.run("db", "accept", "--yes", "--reason", "a test", **variables)
        done = self.run("mode", "act", "--fleet", "--reason", "a test", **variables)
        assert done.returncode == 0, done.stderr
        self.serve(**variables)

    def log(self) -> list[dict[str, Any]]:
        """Return all that happened to machines, by the lab's own log."""
        return [json.loads(line) for line in self.lab.log.read_text("utf-8").splitlines()]

    def change(self, name: str, **values: str) -> None:
        """Change what the source of truth says of a device."""
        self._write(lambda each: {**each, **values} if each["name"] == name else each, lambda cable: cable)

    def rename(self, names: Callable[[str], str], site: Path | None = None) -> None:
        """Call devices otherwise, in a copy of the source of truth if one is given."""
        self._write(
            lambda each: {**each, "name": names(each["name"])},
            lambda cable: [names(cable[0]), cable[1], names(cable[2]), cable[3]],
            site,
        )

    def drop(self, names: set[str]) -> None:
        """Take devices and their cables out of the source of truth."""
        self._write(
            lambda each: None if each["name"] in names else each,
            lambda cable: None if {cable[0], cable[2]} & names else cable,
        )

    def _write(
        self, device: Callable[[Row], Row | None], cable: Callable[[Any], Any], site: Path | None = None
    ) -> None:
        for kind, change in (("devices", device), ("cables", cable)):
            file = (site or self.lab.site) / f"{kind}.yml"
            rows = [change(each) for each in yaml.safe_load(file.read_text("utf-8"))[kind]]
            file.write_text(yaml.safe_dump({kind: [each for each in rows if each is not None]}), "utf-8")

    @contextmanager
    def other_source(self) -> Iterator[None]:
        """Have the source of truth say all that it said before again."""
        kept = self.lab.root / "before"
        shutil.copytree(self.lab.site, kept)
        try:
            yield
        finally:
            shutil.rmtree(self.lab.site)
            kept.rename(self.lab.site)

    def states(self, **variables: str) -> Mapping[str, State]:
        """Return the states of all nodes that the store has."""
        url = variables.get("FLEET_DATABASE_URL") or f"sqlite:///{self.state / 'fleet.db'}"
        with Store.open(url) as store:
            return {node.name: node.state for node in store.nodes()}

    def is_unharmed(self) -> None:
        """Nothing was done to any machine, and every job still runs."""
        harm = [line for line in self.log()[self.known :] if line["event"] in HARM]
        assert harm == []
        assert {name: jobs.start(self.lab, name) for name in BUSY} == self.jobs


@pytest.fixture(scope="module")
def adopted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Twelve servers that run, and were adopted by a store that may act."""
    lab = up(tmp_path_factory.mktemp("serving") / "lab", NODES, boot_seconds=0.5)
    try:
        for name in lab.nodes():
            with hardware.changing(lab, name) as state:
                state["provisioned"] = True
            hardware.power(lab, name, "On")
        until = time.monotonic() + 30.0
        while not all(hardware.up(lab, name) for name in lab.nodes()):
            assert time.monotonic() < until
            time.sleep(0.1)
        made = Serving(lab)
        shutil.copytree(made.state, lab.root / "week-old")
        with (lab.root / "adopt.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "fleet_runner.cli", "serve"],
                env={**os.environ, "FLEET_CONFIG": str(lab.settings)},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            time.sleep(5.0)
            told = made.run("adopt", "--all")
            assert told.returncode == 0, told.stdout + told.stderr
        finally:
            process.terminate()
            process.wait(60)
        assert set(made.states().values()) == {State.PRODUCTION}
        yield made
    finally:
        down(lab)


@pytest.fixture
def serving(adopted: Serving) -> Iterator[Serving]:
    """The same for each case; what it spoils is put back."""
    kept, site = adopted.lab.root / "kept-state", adopted.lab.root / "kept-site"
    shutil.copytree(adopted.state, kept, ignore=shutil.ignore_patterns("bell"))  # a named pipe
    shutil.copytree(adopted.lab.site, site)
    try:
        yield adopted
    finally:
        for folder in adopted.lab.root.glob("**/batches/*"):  # plays go on after serve
            end(folder.name, grace=0.0)
        for spoilt, good in ((adopted.state, kept), (adopted.lab.site, site)):
            until = time.monotonic() + 60.0
            while spoilt.exists() and time.monotonic() < until:
                shutil.rmtree(spoilt, ignore_errors=True)
            good.rename(spoilt)


def test_that_is_served_as_it_is(serving: Serving) -> None:
    serving.serve()
    assert len(serving.states()) == NODES
    serving.is_unharmed()


def test_whose_store_was_lost(serving: Serving) -> None:
    for file in serving.state.glob("fleet.db*"):
        file.unlink()
    serving.acting()
    assert set(serving.states().values()) == {State.REGISTERED}
    serving.is_unharmed()


def test_whose_store_is_an_empty_file(serving: Serving) -> None:
    for file in serving.state.glob("fleet.db*"):
        file.unlink()
    (serving.state / "fleet.db").touch()
    serving.acting()
    assert set(serving.states().values()) == {State.REGISTERED}
    serving.is_unharmed()


def test_whose_store_is_last_weeks(serving: Serving) -> None:
    """It was copied before anything was known of the nodes; that it may act is in it."""
    for file in serving.state.glob("fleet.db*"):
        file.unlink()
    for file in (serving.lab.root / "week-old").glob("fleet.db*"):
        shutil.copy(file, serving.state / file.name)
    serving.acting()
    serving.is_unharmed()


def test_that_is_served_with_another_state_dir(serving: Serving, tmp_path: Path) -> None:
    serving.acting(FLEET_STATE_DIR=str(tmp_path / "state"))
    serving.is_unharmed()


def test_that_is_served_with_an_empty_database(serving: Serving, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'empty.db'}"
    serving.acting(FLEET_DATABASE_URL=url)
    assert set(serving.states(FLEET_DATABASE_URL=url).values()) == {State.REGISTERED}
    serving.is_unharmed()


def test_of_which_one_is_called_otherwise(serving: Serving) -> None:
    serving.rename(lambda name: {"gpu-02": "gpu-99"}.get(name, name))
    serving.serve()
    states = serving.states()
    assert (states.get("gpu-99"), "gpu-02" in states) == (State.PRODUCTION, False)
    serving.is_unharmed()


def test_of_which_two_have_exchanged_their_names(serving: Serving) -> None:
    serving.rename(lambda name: {"gpu-01": "gpu-07", "gpu-07": "gpu-01"}.get(name, name))
    serving.serve()
    serving.is_unharmed()


def test_of_which_one_has_another_serial_number_in_the_source(serving: Serving) -> None:
    serving.change("gpu-03", serial="OTHER")
    serving.serve()
    serving.is_unharmed()


def test_of_which_one_leaves_the_source_and_comes_back(serving: Serving) -> None:
    with serving.other_source():
        serving.drop({"gpu-04"})
        serving.serve()
    serving.serve()
    serving.is_unharmed()


@pytest.mark.parametrize("value", [{"role": "storage"}, {"status": "planned"}, {"status": "offline"}], ids=str)
def test_of_which_one_is_something_else_for_a_while(serving: Serving, value: dict[str, str]) -> None:
    with serving.other_source():
        serving.change("gpu-05", **value)
        serving.serve()
    serving.serve()
    serving.is_unharmed()


def test_of_which_the_source_tells_only_half_and_then_all(serving: Serving) -> None:
    with serving.other_source():
        serving.drop({plan.server(number) for number in range(1, NODES // 2 + 1)})
        serving.serve()
    serving.serve()
    assert len(serving.states()) == NODES
    serving.is_unharmed()


def test_that_a_second_runner_with_another_source_serves_too(serving: Serving, tmp_path: Path) -> None:
    """The same machines under other names, in a store of its own that may act."""
    other = tmp_path / "site"
    shutil.copytree(serving.lab.site, other)
    serving.rename(lambda name: name.replace("gpu-", "node-"), other)
    here = {"FLEET_SOURCE": str(other), "FLEET_STATE_DIR": str(tmp_path / "state")}
    serving.acting(**here)
    with Store.open(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}") as store:
        assert {node.state for node in store.nodes()} == {State.REGISTERED}
    serving.is_unharmed()
