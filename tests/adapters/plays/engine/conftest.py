"""A tiny project to run for real: one node, a playbook of shell lines, a witness file that each task appends to."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from fleet_runner.adapters.plays import batch_folder, engine, fork_server, processes
from fleet_runner.adapters.plays.engine import Batch, BatchState, Look
from fleet_runner.adapters.plays.fork_server import keeper
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.settings import Settings
from tests.waiting import until

B1, B2 = (f"{name}-{os.getpid()}" for name in ("b1", "b2"))
"""Names of batches: by them processes are found on the whole machine, where other tests run at the same time."""

CALLBACK = """
import json, os, time
from ansible.plugins.callback import CallbackBase

class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "tell"

    def v2_runner_on_ok(self, result):
        line = {"kind": "progress", "node": result._host.get_name(), "at": time.time(), "done": 1, "total": 1,
                "task": result._task.get_name()}
        with open(os.environ["FLEET_SPOOL"], "a") as spool:
            spool.write(json.dumps(line) + chr(10))
"""

RUNNER = """
import json, sys, time
from fleet_runner.adapters.plays import engine
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.settings import Settings
settings = Settings.model_validate_json(sys.argv[1])
engine.launch(settings, engine.Batch(sys.argv[2], Stage.VERIFY, json.loads(sys.argv[3])))
print("launched", flush=True)
time.sleep(600)
"""


class Site:
    """The project's folder, its settings and everything the test starts in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = folder / "project"
        self.settings = Settings(
            project_dir=self.project,
            overrides_dir=folder / "own",
            state_dir=folder / "state",
            inventory=self.project / "hosts",
            source="none",
        )
        self.runners: list[subprocess.Popen[str]] = []
        for part in ("playbooks", "plugins/callback"):
            (self.project / part).mkdir(parents=True)
        (self.project / "ansible.cfg").write_text("[defaults]\nlocalhost_warning = False\n")
        (self.project / "plugins" / "callback" / "tell.py").write_text(CALLBACK)
        (self.project / "hosts").write_text(
            f"[nodes]\ngpu-01\ngpu-02\n[nodes:vars]\nansible_connection=local\n"
            f"ansible_python_interpreter={sys.executable}\n"
        )

    def play(self, *tasks: str) -> None:
        """Write the verify playbook: one shell task per text; `say WORD` and `until FILE` are short for the usual."""
        head = (
            f'say() {{ echo "$1" >> {self.folder}/witness; }}; until_() {{ while [ ! -e {self.folder}/$1 ]; '
            "do sleep 0.05; done; }; "
        )
        plays = [
            {
                "hosts": "nodes",
                "gather_facts": False,
                "tasks": [
                    {"name": f"Task {number}", "ansible.builtin.shell": head + task}
                    for number, task in enumerate(tasks)
                ],
            }
        ]
        (self.project / "playbooks" / "verify.yml").write_text(json.dumps(plays))

    def batch(self, name: str, nodes: Sequence[str] = ("gpu-01",)) -> Batch:
        """Return a batch of verify."""
        runs = {node: {"run": 12 + at, "fence": 3, "since": 0.5} for at, node in enumerate(nodes)}
        return Batch(name, Stage.VERIFY, runs)

    def file(self, batch: str, name: str) -> Path:
        """Return a file of a batch."""
        return self.settings.batches_dir / batch / name

    def look(self, batch: str) -> Look:
        """Look at a batch."""
        return engine.look(self.settings, batch)

    def wait_for(self, batch: str, state: BatchState) -> Look:
        """Wait until a batch is in this state."""
        until(lambda: self.look(batch).state is state)
        return self.look(batch)

    def wait_for_witness(self, word: str) -> None:
        """Wait until a task has said this."""
        until(lambda: word in self.witness())

    def witness(self) -> list[str]:
        """Return what the tasks did, in order."""
        path = self.folder / "witness"
        return path.read_text().split() if path.exists() else []

    def open_gate(self, name: str) -> None:
        """Let tasks that wait for this file go on."""
        (self.folder / name).touch()

    def supervisor(self, batch: str) -> int:
        """Return the supervisor's process id."""
        return int(batch_folder.read_json(self.file(batch, batch_folder.STARTED))["pid"])

    def launch_elsewhere(self, batch: Batch) -> "subprocess.Popen[str]":
        """Launch from another process, which then does nothing but live."""
        runs = json.dumps({node: dict(run) for node, run in batch.runs.items()})
        runner = subprocess.Popen(
            [sys.executable, "-c", RUNNER, self.settings.model_dump_json(), batch.id, runs],
            stdout=subprocess.PIPE,
            text=True,
            env=without_test(os.environ),
        )
        self.runners.append(runner)
        return runner

    def close(self) -> None:
        """End whatever is left, each by its own id."""
        for runner in self.runners:
            runner.kill()
            runner.communicate()
        if self.settings.batches_dir.exists():
            for folder in self.settings.batches_dir.iterdir():
                processes.end(folder.name, spare={os.getpid()}, grace=0.5)
        until(lambda: engine.reap() or not engine._children)


EITHER = pytest.mark.parametrize("site", ["cold", "warm"], indirect=True)
WARM_AND_AT_NIGHT_COLD = pytest.mark.parametrize(
    "site", [pytest.param("cold", marks=pytest.mark.nightly), "warm"], indirect=True
)
"""A test that must hold whether Ansible is started for each play or plays are forked from a parent."""


@pytest.fixture
def site(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A project that ends with its test; "warm" with a parent that forks plays."""
    given = engine.environment
    monkeypatch.setattr(engine, "environment", lambda *words: without_test(given(*words)))
    made = Site(tmp_path)
    with contextlib.ExitStack() as stack:
        stack.callback(made.close)
        if getattr(request, "param", "cold") == "warm":
            stack.enter_context(keeper.kept(made.settings, engine.environment(made.settings, "none")))
            until(lambda: fork_server.answers(fork_server.folder(made.settings)))
        yield made


def without_test(environment: Mapping[str, str]) -> dict[str, str]:
    """Leave out the test's name, which differs between its beginning and its middle: no parent would fit."""
    return {name: value for name, value in environment.items() if name != "PYTEST_CURRENT_TEST"}
