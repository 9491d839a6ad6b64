"""The tests of processors, memory, disks and network, really run for a moment, and judged by what they then print."""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import PROGRAM
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.lab import ports
from tests.core.checks.healthy.active import ended

PROGRAMS = Path(__file__).resolve().parents[2] / "roles" / "active" / "files"


def needs(*tools: str) -> None:
    """Skip where a tool is not installed."""
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}; scripts/debian-packages names what tests need")


def really(name: str, profile: dict[str, Any], *more: str, **swapped: str) -> Result:
    """Run what a check orders, with some of its words swapped and some more, and judge what came out."""
    expected = Expected("this-machine", {"active": {name: profile}})
    job = CHECKS[name].job
    assert job is not None
    order = job(expected)
    argv = [str(PROGRAMS / order.program) if word == PROGRAM else swapped.get(word, word) for word in order.argv]
    argv += more
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=120)
    reading = Reading(f"{name}_job", ReadEnd.OK, ended(done.stdout, rc=done.returncode, seconds=order.seconds))
    return CHECKS[name].judge({reading.name: reading}, expected)


def test_processors_and_memory_compute_rightly() -> None:
    """Every stressor on every processor, verified; a little memory, so that its patterns go round in time."""
    needs("stress-ng")
    result = really("cpu_stress", {"seconds": 4, "memory_share": 0.01}, **{"1%": "4M"})
    assert result.verdict is Verdict.PASS, result.message
    assert set(result.observed["bogo_ops_per_second"]) == {"cpu", "matrix", "cache", "vm"}


def test_a_load_that_cannot_be_run_is_no_fault() -> None:
    """stress-ng refuses an option, and exits with 1."""
    needs("stress-ng")
    with pytest.raises(Exception, match="exited with 1"):
        really("cpu_stress", {"seconds": 1, "argv": ["stress-ng", "--no-such-option"]})


def test_a_second_is_too_short_for_the_bandwidth_of_memory() -> None:
    """The real tool says so, and nobody's memory is called slow.

    It moves four times a processor's cache at once: gigabytes, for which a busy computer with a large cache needs
    longer than the second that it is given.
    """
    needs("stress-ng")
    with pytest.raises(Exception, match="needs 5 s or more"):
        really("memory_bandwidth", {"seconds": 1, "gbps_min": 1e6}, "--stream-l3-size", "64k")


@pytest.mark.nightly
def test_the_bandwidth_of_memory_is_measured() -> None:
    """Ten seconds of it."""
    needs("stress-ng")
    result = really("memory_bandwidth", {"seconds": 10, "gbps_min": 0.01})
    assert result.verdict is Verdict.PASS, result.message
    assert result.observed["instances"] >= 1


def test_a_file_system_is_measured_and_nothing_is_left_in_it(tmp_path: Path) -> None:
    """Its file has no name from the beginning."""
    needs("fio")
    result = really("disk_speed", {"folders": [str(tmp_path)], "file_gb": 0.008, "seconds": 0.2})
    if "Invalid argument" in result.message:  # tmpfs has no direct I/O
        pytest.skip(f"{tmp_path}: {result.message}")
    assert result.verdict is Verdict.PASS, result.message
    assert result.observed["targets"][f"{tmp_path} read"]["read_gbps"] > 0
    assert result.observed["targets"][f"{tmp_path} randread"]["random_read_p99_ms"] > 0
    assert list(tmp_path.iterdir()) == []


def test_a_file_system_without_room_is_left_alone(tmp_path: Path) -> None:
    """And so is a path that is no disk."""
    needs("fio")
    result = really("disk_speed", {"folders": [str(tmp_path)], "devices": "/dev/null", "file_gb": 900_000})
    assert result.verdict is Verdict.UNKNOWN
    assert "too few for a file of 900000.0 GB" in result.message
    assert "it is neither a folder nor a block device" in result.message
    assert list(tmp_path.iterdir()) == []


def test_fio_is_told_to_only_read_whatever_has_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of raw devices nothing else is asked, so a disk with data on it is safe."""
    stub = tmp_path / "fio"
    stub.write_text('#!/bin/sh\necho "{\\"jobs\\": [], \\"fio version\\": \\"$*\\"}"\n')
    stub.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    spec = importlib.util.spec_from_file_location("disk_speed", PROGRAMS / "disk_speed.py")
    assert spec is not None
    assert spec.loader is not None
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    asked: list[str] = []
    monkeypatch.setattr(program, "_say", lambda line: asked.append(str(line)))
    monkeypatch.setattr(program.stat, "S_ISBLK", lambda _: True)
    monkeypatch.setattr(sys, "argv", ["disk_speed.py", "--device", str(stub)])
    assert program.main() == 0
    assert len(asked) == 3
    assert all("--readonly" in line and "--rw=write" not in line for line in asked[:2])


@pytest.fixture
def server() -> Iterator[int]:
    """Serve iperf3 on this machine's own address for one test; return its port."""
    needs("iperf3")
    (port,) = ports.choose(1)
    argv = ["iperf3", "--server", "--forceflush", "--bind", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert any("listening" in line for line in process.stdout), f"iperf3 ended with {process.wait()}"
        yield port
    finally:
        process.terminate()
        process.wait()
        if process.stdout:
            process.stdout.close()


def test_a_network_is_measured(server: int) -> None:
    """Over this machine's own loopback."""
    result = really("network_speed", {"server": "127.0.0.1", "port": server, "seconds": 1, "streams": 2})
    assert result.verdict is Verdict.PASS, result.message
    assert result.observed["streams"] == 2
    assert result.observed["gbitps"] > 0
    assert result.observed["retransmit_share"] is not None


def test_a_server_that_is_not_there_is_no_fault_of_the_network(server: int) -> None:
    """iperf3 says so."""
    with pytest.raises(Exception, match="Connection refused; is its server up"):
        really("network_speed", {"server": "127.0.0.1", "port": 1, "seconds": 1})
