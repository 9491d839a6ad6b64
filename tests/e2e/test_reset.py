"""A fault that a reset clears, from the sweep that finds it to the node's return: the whole product on a lab."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet_runner.adapters.source import read
from fleet_runner.adapters.store import Store
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.lifecycle.actions import Decision, Move
from fleet_runner.core.lifecycle.runs import IntentKind, Node
from fleet_runner.core.lifecycle.states import TRANSITIONS, Event, State
from fleet_runner.lab import faults
from fleet_runner.lab.down import down
from fleet_runner.lab.folder import Lab
from fleet_runner.lab.up import up
from fleet_runner.settings import load
from tests.lab.bench import boot

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(600)]

NODE = "gpu-01"
WAY = (Event.START, Event.PASSED, Event.CERTIFIED, Event.PASSED, Event.PASSED, Event.PASSED)
SECONDS = 400.0


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    """A lab of one server, up."""
    made = up(tmp_path / "lab", 1, boot_seconds=0.5)
    monkeypatch.setenv("FLEET_CONFIG", str(made.settings))
    try:
        boot(made, NODE)
        yield made
    finally:
        down(made)


def row(store: Store) -> Node:
    """Return the node as it is."""
    found = store.node(NODE)
    assert found is not None
    return found


def test_a_reset_heals_a_node_in_production_and_the_attempt_says_so(lab: Lab) -> None:
    """Found, drained, reset, verified, back: one attempt that helped, and no boot."""
    with Store.create(load().store_url) as store:
        store.register(read(load()).devices.values(), time.time())
        for event in WAY:
            move = Move(TRANSITIONS[row(store).state, event], "test", "")
            store.apply(row(store), Decision((move,), "", time.time()), time.time())
        assert row(store).state is State.PRODUCTION
        faults.inject(lab, "row_remap", NODE, {"gpu": 2})
        store.leave_intent(NODE, IntentKind.RUN, "test", detail="health_passive", now=time.time())
        until = time.monotonic() + SECONDS
        while not any(each.ended_at for each in store.attempts(NODE)) and time.monotonic() < until:
            command = [sys.executable, "-m", "fleet_runner.cli", "tick"]
            subprocess.run(command, capture_output=True, check=False, env=os.environ, cwd=lab.root)
            time.sleep(0.5)
        said = [each.sentence for each in store.history(NODE)]
        [attempt] = store.attempts(NODE)
        assert (attempt.remedy, attempt.helped) == (Remedy.RESET, True), said
        assert row(store).state is State.PRODUCTION, said
    assert faults.injected(lab, NODE) == {}
