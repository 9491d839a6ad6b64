"""The runner is killed where it hurts, and started again: nothing is lost, nothing is done twice.

The lab's own log is the witness, not the product's.
"""

import os
import signal
import time
from typing import TYPE_CHECKING

import pytest

from fleet_runner.adapters.plays import batch_folder, engine
from fleet_runner.adapters.plays.engine import BatchState
from fleet_runner.core.lifecycle.runs import Node, Outcome, Run
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.settings import Settings

if TYPE_CHECKING:
    from tests.e2e.conftest import Fleet

pytestmark = pytest.mark.timeout(400)


def running(fleet: "Fleet", stage: Stage) -> Run | None:
    """The open run of a stage whose play is under way."""
    store = fleet.store()
    try:
        runs = [run for run in store.open_runs() if run.stage is stage]
    finally:
        store.close()
    state_dir = Settings(state_dir=fleet.lab.root / "state")
    return next((run for run in runs if engine.look(state_dir, run.batch).state is BatchState.RUNNING), None)


def kill_during(fleet: "Fleet", stage: Stage) -> Run:
    """Serve until a stage's play is under way, then kill the server at once."""
    server = fleet.serve()

    def under_way(rows: dict[str, Node]) -> Run | None:
        fleet.certify_all(rows)
        return running(fleet, stage)

    run = fleet.until(under_way)
    server.kill()
    server.wait()
    return run


def outcomes(fleet: "Fleet", stage: Stage) -> list[Outcome | None]:
    """How the runs of a stage on gpu-01 ended."""
    store = fleet.store()
    try:
        return [run.outcome for run in store.runs("gpu-01") if run.stage is stage]
    finally:
        store.close()


def test_a_play_whose_runner_was_killed_is_adopted(fleet: "Fleet") -> None:
    """One power-on, one boot, one run: the restarted server takes the play's end for its own."""
    kill_during(fleet, Stage.PROVISION)
    time.sleep(1.0)
    fleet.serve()
    fleet.until(lambda rows: rows["gpu-01"].state is State.ONBOARD)
    assert outcomes(fleet, Stage.PROVISION) == [Outcome.PASSED]
    assert len(fleet.witnessed("boot", "gpu-01")) == 1


@pytest.mark.nightly
def test_a_reboot_whose_supervisor_was_killed_is_lost_and_never_repeated(fleet: "Fleet") -> None:
    """The BMC is asked when it last reset the node before anything is done to it again."""
    server = fleet.serve()

    def serving(rows: dict[str, Node]) -> bool:
        fleet.certify_all(rows)
        return bool(rows) and all(node.state is State.PRODUCTION for node in rows.values())

    fleet.until(serving)
    boots = len(fleet.witnessed("boot", "gpu-01"))
    assert fleet.run("reboot", "gpu-01", "--reason", "test").returncode == 0
    run = fleet.until(lambda _rows: running(fleet, Stage.REBOOT))
    fleet.until(lambda _rows: len(fleet.witnessed("boot", "gpu-01")) > boots)
    server.kill()
    started = batch_folder.read_json(fleet.lab.root / "state" / "batches" / run.batch / batch_folder.STARTED)
    os.kill(int(started["pid"]), signal.SIGKILL)
    fleet.serve()
    fleet.until(lambda rows: rows["gpu-01"].state is State.PRODUCTION and rows["gpu-01"].since > run.opened_at)
    assert outcomes(fleet, Stage.REBOOT)[0] is Outcome.LOST
    assert len(fleet.witnessed("boot", "gpu-01")) == boots + 1


@pytest.mark.nightly
def test_a_tool_that_hangs_is_unknown_and_condemns_nothing(fleet: "Fleet") -> None:
    """It is tried again, `status` says so, and once it answers the node goes on."""
    fleet.serve()
    fleet.until(lambda rows: rows and all(node.state is State.ONBOARD for node in rows.values()))
    assert fleet.run("lab", "inject", "tool_hang", "gpu-02", "--tool", "lldpctl", "--dir", ".").returncode == 0
    assert fleet.run("certify", "gpu-02").returncode == 0
    fleet.until(lambda rows: "UNKNOWN" in rows["gpu-02"].waiting)
    assert "UNKNOWN" in fleet.run("status").stdout
    assert fleet.run("lab", "fix", "tool_hang", "gpu-02", "--dir", ".").returncode == 0
    fleet.until(lambda rows: rows["gpu-02"].state in {State.FIRMWARE, State.BURN_IN, State.PRODUCTION})
    assert fleet.run("tickets", "--all").stdout.strip() == "no tickets"
