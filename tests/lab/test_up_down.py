"""A lab comes up once, goes down without touching others' processes, and comes up again as it was."""

import socket
import subprocess
from pathlib import Path

import pytest

from fleet_runner.lab import faults, jobs, processes
from fleet_runner.lab.down import down
from fleet_runner.lab.folder import Lab, LabError, open_lab, read
from fleet_runner.lab.tools.node import started
from fleet_runner.lab.up import BMC, up


def test_up_twice_is_the_same_as_once(lab: Lab) -> None:
    faults.inject(lab, "dead_psu", "gpu-01", {})
    before = (processes.running(lab, BMC), read(lab.about), lab.credentials.read_text("utf-8"))
    assert up(lab.root, 2) == lab
    assert up(lab.root) == lab
    assert (processes.running(lab, BMC), read(lab.about), lab.credentials.read_text("utf-8")) == before
    assert "dead_psu" in faults.injected(lab, "gpu-01")


def test_down_ends_everything_and_keeps_the_files(lab: Lab, node: str) -> None:
    bmc, job = processes.running(lab, BMC), jobs.start(lab, node)
    assert bmc is not None
    assert down(lab) == 2
    assert started(bmc) == ""
    assert started(job) == ""
    assert down(lab) == 0
    assert up(lab.root).nodes() == ("gpu-01", "gpu-02")
    assert processes.running(lab, BMC) not in (None, bmc)


def test_down_can_delete(lab: Lab) -> None:
    down(lab, delete=True)
    assert not lab.root.exists()
    with pytest.raises(LabError, match="holds no lab"):
        open_lab(lab.root)


def test_another_process_with_the_same_id_is_left_alone(lab: Lab) -> None:
    """A process id is used again after a reboot: only id and start time together name a process."""
    with subprocess.Popen(["sleep", "60"]) as stranger:
        try:
            (lab.pids / "old").write_text(f"{stranger.pid} 1\n", "utf-8")
            assert processes.running(lab, "old") is None
            assert not processes.end(lab, "old")
            assert stranger.poll() is None
        finally:
            stranger.kill()


def test_a_port_that_was_taken_meanwhile_is_replaced_in_the_site_too(lab: Lab) -> None:
    down(lab)
    taken = read(lab.about)["bmc_ports"]["gpu-01"]
    with socket.socket() as other:
        other.bind(("127.0.0.1", taken))
        other.listen()
        up(lab.root)
    ports = read(lab.about)["bmc_ports"]
    assert ports["gpu-01"] != taken
    devices = (lab.site / "devices.yml").read_text("utf-8")
    assert f"http://127.0.0.1:{ports['gpu-01']}" in devices
    assert f"http://127.0.0.1:{taken}" not in devices


def test_secrets_are_for_the_owner_only(lab: Lab) -> None:
    assert lab.credentials.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("servers", [0, 33])
def test_a_lab_has_as_many_servers_as_its_leaves_have_ports(tmp_path: Path, servers: int) -> None:
    with pytest.raises(LabError, match="1 to 32 servers"):
        up(tmp_path / "lab", servers)
    assert not (tmp_path / "lab").exists()


def test_another_size_or_a_folder_with_other_things_is_refused(lab: Lab, tmp_path: Path) -> None:
    with pytest.raises(LabError, match="a lab of 2 servers, not 3"):
        up(lab.root, 3)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work", "utf-8")
    with pytest.raises(LabError, match="not empty and holds no lab"):
        up(tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]
