"""The whole product on a lab of its own: every process ended by its id, however the test ends."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.lifecycle.states import State
from fleet_runner.lab.down import down
from fleet_runner.lab.folder import Lab
from fleet_runner.lab.up import up

PATIENCE = 150.0


@dataclass
class Fleet:
    """A lab with the product on it; `serve` can be started, killed and started again."""

    lab: Lab
    serving: list[subprocess.Popen[bytes]] = field(default_factory=list[subprocess.Popen[bytes]])

    def environment(self) -> dict[str, str]:
        """The product finds its settings through this."""
        return {**os.environ, "FLEET_CONFIG": str(self.lab.settings)}

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        """Run one command of the product to its end."""
        command = [sys.executable, "-m", "fleet_runner.cli", *args]
        return subprocess.run(
            command,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            cwd=self.lab.root,
        )

    def serve(self) -> subprocess.Popen[bytes]:
        """Start the server."""
        with (self.lab.root / "serve.log").open("ab") as log:
            command = [sys.executable, "-m", "fleet_runner.cli", "serve"]
            process = subprocess.Popen(
                command, env=self.environment(), stdout=log, stderr=log, start_new_session=True
            )
        self.serving.append(process)
        return process

    def store(self) -> Store:
        """Open the store; it appears with the first tick."""
        return Store.create(f"sqlite:///{self.lab.root / 'state' / 'fleet.db'}")

    def until(self, what: Callable[[dict[str, Node]], Any]) -> Any:
        """Wait until something holds for the nodes, and return it; fail with all that is known."""
        deadline = time.monotonic() + PATIENCE
        store = self.store()
        try:
            while time.monotonic() < deadline:
                found = what({node.name: node for node in store.nodes()})
                if found:
                    return found
                time.sleep(0.1)
            rows = [(node.name, node.state, node.waiting) for node in store.nodes()]
        finally:
            store.close()
        log = (self.lab.root / "serve.log").read_text("utf-8")[-3000:]
        raise AssertionError(f"not within {PATIENCE} s: {rows}\n{log}")

    def certify_all(self, rows: dict[str, Node]) -> None:
        """Be the technician: certify whatever waits."""
        for node in rows.values():
            if node.state is State.ONBOARD:
                assert self.run("certify", node.name, "--wait", "5").returncode == 0

    def witnessed(self, kind: str, node: str, **values: Any) -> list[dict[str, Any]]:
        """What the lab's own log says happened to a node."""
        lines = [json.loads(line) for line in self.lab.log.read_text("utf-8").splitlines()]
        wanted = {"event": kind, "node": node, **values}
        return [line for line in lines if wanted.items() <= line.items()]


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    """Two servers, off, and no server process yet."""
    lab = up(tmp_path / "lab", 2, boot_seconds=1.0, boot_service=True)
    made = Fleet(lab)
    try:
        yield made
    finally:
        for process in made.serving:
            if process.poll() is None:
                process.kill()
            process.wait()
        down(lab)
