"""Power, boots, and what they end and clear."""

import json
import subprocess
import threading

import pytest

from fleet_runner.lab import hardware, jobs
from fleet_runner.lab.folder import Lab, LabError
from fleet_runner.lab.tools.node import Node
from tests.lab.bench import boot, shell, wait
from tests.waiting import PATIENCE


def test_a_server_as_delivered_is_off_and_answers_nobody(lab: Lab) -> None:
    answer = shell(lab, "gpu-02", "true")
    assert answer.returncode == 255
    assert "No route to host" in answer.stderr


def test_a_stateless_node_never_comes_up_without_the_network(lab: Lab) -> None:
    """Nothing is on its disks: without PXE there is nothing to boot, until it was provisioned once."""
    hardware.power(lab, "gpu-01", "On")
    assert not hardware.up(lab, "gpu-01")
    boot(lab, "gpu-01")
    hardware.power(lab, "gpu-01", "ForceRestart")
    assert hardware.up(lab, "gpu-01")


def test_the_one_time_override_is_used_up_by_the_boot(lab: Lab, node: str) -> None:
    state = hardware.state_of(lab, node)
    assert state["boot"]["how"] == "network"
    assert state["override"] == {"enabled": "Disabled", "target": "None"}
    hardware.power(lab, node, "ForceRestart")
    assert hardware.state_of(lab, node)["boot"]["how"] == "image"


def test_powering_on_what_is_on_changes_nothing(lab: Lab, node: str) -> None:
    before = hardware.state_of(lab, node)
    hardware.power(lab, node, "On")
    assert hardware.state_of(lab, node) == before


def test_a_restart_of_what_is_off_leaves_it_off(lab: Lab) -> None:
    hardware.power(lab, "gpu-02", "ForceRestart")
    assert hardware.state_of(lab, "gpu-02")["power"] == "Off"


@pytest.mark.parametrize("action", ["ForceOff", "ForceRestart", "PowerCycle", "GracefulShutdown"])
def test_losing_power_ends_what_runs_on_the_node_and_nothing_else(lab: Lab, node: str, action: str) -> None:
    boot(lab, "gpu-02")
    mine, other = jobs.start(lab, node), jobs.start(lab, "gpu-02")
    hardware.power(lab, node, action)
    assert Node(str(lab.root), node).processes() == []
    assert Node(str(lab.root), "gpu-02").processes() == [("tenant_job", other)]
    assert mine != other


def test_a_command_that_runs_when_the_power_goes_ends_like_a_lost_connection(lab: Lab, node: str) -> None:
    """Ansible reads 255 as unreachable; any other status would blame the command."""
    with subprocess.Popen([lab.root / "bin" / "ssh", node, "echo on; sleep 60"], stdout=-1, stderr=-1) as client:
        assert client.stdout is not None
        assert client.stdout.readline() == b"on\n"
        hardware.power(lab, node, "ForceOff")
        assert client.wait(PATIENCE) == 255
        assert client.stderr is not None
        assert b"closed by remote host" in client.stderr.read()


def test_a_boot_forgets_what_the_node_kept(lab: Lab, node: str) -> None:
    shell(lab, node, "mkdir -p ~/.ansible/tmp; touch ~/.ansible/tmp/x $TMPDIR/y")
    hardware.power(lab, node, "ForceRestart")
    assert shell(lab, node, "find ~ $TMPDIR -mindepth 1").stdout == ""


def test_the_witness_saw_every_boot(lab: Lab, node: str) -> None:
    hardware.power(lab, node, "ForceRestart")
    events = [json.loads(line) for line in lab.log.read_text("utf-8").splitlines()]
    boots = [event["how"] for event in events if event["event"] == "boot"]
    assert boots == ["network", "image"]
    assert [event["action"] for event in events if event["event"] == "power"] == ["PowerCycle", "ForceRestart"]


def test_writers_wait_for_each_other(lab: Lab) -> None:
    def work() -> None:
        for _ in range(20):
            hardware.log_kernel(lab, "gpu-01", "a line")

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(hardware.state_of(lab, "gpu-01")["kernel_log"]) == 80


def test_an_unknown_node_is_named_with_those_there_are(lab: Lab) -> None:
    with pytest.raises(LabError, match="no node named 'gpu-99'; its nodes are gpu-01, gpu-02"):
        hardware.power(lab, "gpu-99", "On")


def test_a_job_needs_a_node_that_is_up_and_is_started_once(lab: Lab, node: str) -> None:
    with pytest.raises(LabError, match="gpu-02 is not up"):
        jobs.start(lab, "gpu-02")
    pid = jobs.start(lab, node)
    assert jobs.start(lab, node) == pid
    assert str(pid) in shell(lab, node, "nvidia-smi -q -x").stdout
    assert jobs.stop(lab, node) == 1
    wait(lambda: not Node(str(lab.root), node).processes())
    assert jobs.stop(lab, node) == 0
