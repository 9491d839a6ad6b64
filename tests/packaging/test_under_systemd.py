"""The unit for real: systemd as PID 1 starts it, it is killed and hangs, and plays live on."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.packaging.machine import TOOLS, Machine, fetched, installed, running

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(
        os.geteuid() != 0 or None in map(shutil.which, TOOLS),
        reason="a machine is made by root; Debian's packages are `mmdebstrap` and `systemd-container`",
    ),
]

STATE = "var/lib/fleet-runner"
LAB = f"""[Service]
Type=oneshot
RemainAfterExit=yes
User=fleet-runner
StateDirectory=fleet-runner
StateDirectoryMode=0700
Environment=HOME=/{STATE}
ExecStart=/usr/local/bin/fleet-runner lab up --dir /{STATE}/lab --servers 2 --boot-seconds 40
"""
OURS = f"""[Unit]
Requires=lab.service
After=lab.service
[Service]
Environment=FLEET_CONFIG=/{STATE}/lab/fleet.toml FLEET_POLICY_FILE=/{STATE}/policy.yml
WatchdogSec=4s
TimeoutStopSec=10s
"""


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A machine with the unit as it is, on a lab that stands there too; its watchdog is impatient."""
    folder = tmp_path_factory.mktemp("machine")
    root = folder / "root"
    installed(root, fetched(folder / "wheels"))
    units = root / "etc" / "systemd" / "system"
    (units / "lab.service").write_text(LAB)
    (units / "fleet-runner.service.d").mkdir()
    (units / "fleet-runner.service.d" / "test.conf").write_text(OURS)
    (root / STATE).mkdir(mode=0o700)
    (root / STATE / "policy.yml").write_text("{}\n")
    with running(root) as found:
        yield found
    shutil.rmtree(folder, ignore_errors=True)


def carriers(machine: Machine, stage: str) -> set[int]:
    """Return who carries a stage's batches now: as each of them said itself, not the shim that had it forked."""
    told = (machine.root / STATE / "lab" / "state" / "batches").glob(f"{stage}-*/started")
    return {json.loads(each.read_text("utf-8"))["pid"] for each in told} & machine.processes("plays.supervisor")


def booted(machine: Machine, node: str) -> int:
    """How often the lab saw a node boot; it writes its log once something happens."""
    log = machine.root / STATE / "lab" / "log.jsonl"
    lines = log.read_text("utf-8").splitlines() if log.exists() else []
    return sum({"event": "boot", "node": node}.items() <= json.loads(line).items() for line in lines)


def test_a_play_whose_main_process_is_killed_lives_on_and_is_adopted(machine: Machine) -> None:
    """One boot, one run that passed on each node, and systemd started the server anew by itself."""
    machine.until(lambda: machine.shown("ActiveState") == "active")
    machine.until(lambda: "boot: armed" in machine.product("status") or booted(machine, "gpu-01"))
    before = carriers(machine, "provision")
    assert before
    machine.said("systemctl", "kill", "--signal=KILL", "--kill-whom=main", "fleet-runner")
    machine.until(lambda: machine.shown("NRestarts") == "1")
    assert before <= carriers(machine, "provision")
    machine.until(lambda: machine.shown("ActiveState") == "active")
    for node in ("gpu-01", "gpu-02"):
        machine.until(lambda node=node: "provision → onboard" in machine.product("history", node))
        history = machine.product("history", node)
        assert history.count("Provision: passed") == 1
        assert "lost" not in history.casefold()
        assert booted(machine, node) == 1


def test_a_stop_leaves_plays_alone_and_the_next_start_adopts_them(machine: Machine) -> None:
    """`systemctl stop` is quick, no play notices, and what it said counts."""
    machine.product("certify", "gpu-01")
    before = machine.until(lambda: carriers(machine, "verify"))
    machine.said("systemctl", "stop", "fleet-runner")
    assert machine.shown("ActiveState") == "inactive"
    assert machine.shown("Result") == "success"
    assert before <= carriers(machine, "verify")
    machine.said("systemctl", "start", "fleet-runner")
    assert machine.shown("ActiveState") == "active"
    machine.until(lambda: "Verify: " in machine.product("history", "gpu-01"))
    history = machine.product("history", "gpu-01")
    assert history.count("Verify: ") == history.count("Verify: passed") == 1
    assert "lost" not in history.casefold()


def test_the_watchdog_starts_a_server_anew_whose_loop_hangs(machine: Machine) -> None:
    """It hangs in opening a pipe that nobody writes to, and the journal says where."""
    policy = machine.root / STATE / "policy.yml"
    restarts = int(machine.shown("NRestarts"))
    pipe = policy.with_name("pipe")
    os.mkfifo(pipe, 0o644)
    pipe.replace(policy)
    machine.until(lambda: "Watchdog timeout" in journal_of(machine))
    mended = policy.with_name("mended")
    mended.write_text("{}\n")
    mended.replace(policy)
    machine.until(lambda: int(machine.shown("NRestarts")) > restarts and machine.shown("ActiveState") == "active")
    journal = journal_of(machine)
    assert "Fatal Python error: Aborted" in journal
    assert "adapters/files/policy.py" in journal


def journal_of(machine: Machine) -> str:
    """Return all that the unit said."""
    return machine.said("journalctl", "--no-pager", "--output=cat", "-u", "fleet-runner")


def test_state_is_the_accounts_alone(machine: Machine) -> None:
    """Nobody else reads tokens, results and artifacts."""
    state: Path = machine.root / STATE
    assert state.stat().st_mode & 0o777 == 0o700
    assert (state / "tmp").is_dir()
