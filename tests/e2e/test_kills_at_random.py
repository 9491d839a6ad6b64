"""Three runners on one PostgreSQL take a lab through real plays while they are killed, cut off and started again.

The stand-in of tests/chaos plays whole fleets; here few nodes, and nothing stands in for Ansible or the lab's BMCs.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

from fleet_runner.adapters.plays.processes import end
from fleet_runner.adapters.store import Store
from fleet_runner.core.budgets.modes import Mode, Scope, Setting
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import State
from fleet_runner.lab import boot_server, plan, ports, processes
from fleet_runner.lab.down import down
from fleet_runner.lab.up import up
from tests import postgres
from tests.e2e.conftest import Fleet

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(1500)]

PATIENCE = 1200.0
ROUNDS = 6
RUNNERS = ("runner-1", "runner-2", "runner-3")


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Fleet]:
    """Two servers without a boot service, which would look into another store."""
    lab = up(tmp_path / "lab", 2, boot_seconds=1.0)
    made = Fleet(lab)
    try:
        yield made
    finally:
        for process in made.serving:
            process.kill()
            process.wait()
        for folder in lab.root.glob("runner-*/batches/*"):
            end(folder.name, grace=0.0)
        down(lab)


@pytest.fixture
def server() -> Iterator[postgres.Postgres]:
    """A PostgreSQL of the test's own."""
    try:
        with postgres.template() as data, postgres.running(data) as started:
            yield started
    except postgres.AbsentError as error:
        pytest.skip(str(error))


def serve(fleet: Fleet, server: postgres.Postgres, runner: str) -> subprocess.Popen[bytes]:
    """Have a runner of the lab's fleet serve, with a folder of its own."""
    more = {"FLEET_DATABASE_URL": server.url, "FLEET_STATE_DIR": str(fleet.lab.root / runner)}
    with (fleet.lab.root / f"{runner}.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "fleet_runner.cli", "serve"],
            env={**fleet.environment(), **more, "FLEET_RUNNER_NAME": runner},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    fleet.serving.append(process)
    return process


@pytest.mark.parametrize("seed", [1, 2])
def test_every_node_comes_to_serve_and_boots_once(own: Fleet, server: postgres.Postgres, seed: int) -> None:
    """By the lab's own log; plays of the runners that were killed go on, and nobody repeats them."""
    draw = Random(seed)
    with Store.create(server.url) as store:
        store.set_mode(Setting(Scope.FLEET, "", None, Mode.ACT, 0.0, "tests"))
    serving = {runner: serve(own, server, runner) for runner in RUNNERS}
    due = [time.monotonic() + 10.0 + 15.0 * number + draw.uniform(0.0, 10.0) for number in range(ROUNDS)]
    until = time.monotonic() + PATIENCE
    with Store.open(server.url) as store:
        while not all(node.state is State.PRODUCTION for node in store.nodes()) or due or not store.nodes():
            assert time.monotonic() < until, [(node.name, node.state, node.waiting) for node in store.nodes()]
            for node in store.nodes():
                if node.state is State.ONBOARD and not store.intents(node.name):
                    store.leave_intent(node.name, IntentKind.CERTIFY, "technician", now=time.time())
            if due and time.monotonic() > due[0]:
                due.pop(0)
                runner = draw.choice(RUNNERS)
                if draw.random() < 0.3:
                    server.cut(draw.random())
                os.kill(serving[runner].pid, signal.SIGKILL)
                serving[runner].wait()
                time.sleep(draw.uniform(0.0, 3.0))
                serving[runner] = serve(own, server, runner)
            time.sleep(0.5)
        assert store.tickets(open_only=False) == ()
        for node in own.lab.nodes():
            assert len(own.witnessed("boot", node)) == 1
            path = [entry.to for entry in store.history(node, kind="transition")]
            assert len(path) == len(set(path)), path


@pytest.fixture
def booting(tmp_path: Path) -> Iterator[Fleet]:
    """Four servers, off, whose hardware is healthy, with a boot service."""
    lab = up(tmp_path / "lab", 4, boot_seconds=1.0, boot_service=True)
    made = Fleet(lab)
    try:
        yield made
    finally:
        for process in made.serving:
            process.kill()
            process.wait()
        for folder in lab.root.glob("state/batches/*"):
            end(folder.name, grace=0.0)
        down(lab)


def listen(fleet: Fleet, port: int) -> subprocess.Popen[bytes]:
    """Have a listener take signals and syslog."""
    more = {"FLEET_SIGNALS_LISTEN": "127.0.0.1:0", "FLEET_SIGNALS_SYSLOG": f"127.0.0.1:{port}"}
    with (fleet.lab.root / "listener.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "fleet_runner.cli", "signals", "serve"],
            env={**fleet.environment(), **more},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    fleet.serving.append(process)
    return process


def forge(fleet: Fleet, port: int) -> None:
    """Have each node say over syslog that a GPU of every other one fell off the bus."""
    at = datetime.now(UTC).isoformat()
    for number, own in enumerate(fleet.lab.nodes(), start=1):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.bind((plan.address(number), 0))
            for other in fleet.lab.nodes():
                if other != own:
                    line = f"<3>1 {at} {other} kernel - - - NVRM: Xid (PCI:0000:0f:00): 79, pid=1, x"
                    with suppress(ConnectionRefusedError):  # while no listener is there
                        sender.sendto(line.encode(), ("127.0.0.1", port))


@pytest.mark.parametrize("seed", range(1, 6))
def test_no_healthy_node_comes_to_a_person_for_a_part_of_ours_that_died(booting: Fleet, seed: int) -> None:
    """Runner, supervisors, boot service and listener are killed, all while nodes say false things of each other."""
    draw = Random(seed)
    lab, port = booting.lab, ports.choose(1)[0]
    parts = {"runner": booting.serve(), "listener": listen(booting, port)}
    start = {"runner": booting.serve, "listener": lambda: listen(booting, port)}
    due = [time.monotonic() + 3.0 + 6.0 * number + draw.uniform(0.0, 6.0) for number in range(4 * ROUNDS)]
    until = time.monotonic() + PATIENCE
    with booting.store() as store:
        while not all(node.state is State.PRODUCTION for node in store.nodes()) or due or not store.nodes():
            assert time.monotonic() < until, [(node.name, node.state, node.waiting) for node in store.nodes()]
            for node in store.nodes():
                if node.state is State.ONBOARD and not store.intents(node.name):
                    store.leave_intent(node.name, IntentKind.CERTIFY, "technician", now=time.time())
            forge(booting, port)
            if due and time.monotonic() > due[0]:
                due.pop(0)
                match draw.choice(("runner", "listener", "boot", "boot", "supervisor")):
                    case "boot":
                        pid = processes.running(lab, boot_server.SERVICE)
                        assert pid is not None
                        os.kill(pid, signal.SIGKILL)
                        time.sleep(draw.uniform(0.0, 12.0))
                        boot_server.start(lab)
                        boot_server.wait(lab)
                    case "supervisor":
                        for run in store.open_runs():
                            end(run.batch, grace=0.0)
                    case part:
                        parts[part].kill()
                        parts[part].wait()
                        time.sleep(draw.uniform(0.0, 3.0))
                        parts[part] = start[part]()
            time.sleep(0.5)
        assert store.tickets(open_only=False) == ()
        for node in lab.nodes():
            path = [entry.to for entry in store.history(node, limit=2000, kind="transition")]
            assert State.TRIAGE not in path, path
            assert store.attempts(node) == ()
