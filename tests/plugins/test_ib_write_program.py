"""The program that measures adapters: with the real perftest, without an adapter, and with a stand-in for it."""

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.core.checks.parsers.perftest import Row, measured
from fleet_runner.settings import PROJECT_DIR

PROGRAM = PROJECT_DIR / "roles" / "active" / "files" / "ib_write.py"

STAND_IN = r"""#!{python}
import socket, sys
words = sys.argv[1:]
port, device = int(words[words.index("-p") + 1]), words[words.index("-d") + 1]
if device == "mlx5_9":
    sys.exit("IB device mlx5_9 not found")
if words[-1] == "127.0.0.1":
    socket.create_connection(("127.0.0.1", port)).close()
    print(" RDMA_Write BW Test\n Dual-port : OFF Device : " + device)
    print(" #bytes #iterations BW peak[Gb/sec] BW average[Gb/sec] MsgRate[Mpps]\n 8388608 5000 0.00 392.10 0.005843")
else:
    with socket.create_server(("127.0.0.1", port)) as server:
        server.accept()
"""


def ran(*words: str, path: Path | None = None) -> tuple[int, str]:
    """Run the program, with a folder of tools before all others; return its exit status and what it printed."""
    environment = dict(os.environ)
    if path is not None:
        environment["PATH"] = str(path)
    done = subprocess.run(
        [sys.executable, PROGRAM, *words], capture_output=True, text=True, timeout=30, check=False, env=environment
    )
    assert not done.stderr
    return done.returncode, done.stdout


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder with an ib_write_bw that connects as the real one does, and copies nothing."""
    tool = tmp_path / "ib_write_bw"
    tool.write_text(STAND_IN.replace("{python}", sys.executable))
    tool.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize(("to", "peers"), [("self", ["mlx5_0", "mlx5_1"]), ("next", ["mlx5_1", "mlx5_0"])])
def test_each_rail_is_measured_with_both_ends_here(tools: Path, to: str, peers: list[str]) -> None:
    """And what perftest printed is what the parser reads."""
    status, output = ran("--rails", "mlx5_0,mlx5_1", "--to", to, "--seconds", "1", path=tools)
    assert status == 0
    found = measured(output)
    assert [(each.rail, each.peer) for each in found] == list(zip(["mlx5_0", "mlx5_1"], peers, strict=True))
    assert all(each.table is not None and each.table.rows == (Row(8388608, 392.1, None),) for each in found)


def test_a_rail_that_is_not_there_does_not_keep_the_others(tools: Path) -> None:
    """It says why."""
    status, output = ran("--rails", "mlx5_9,mlx5_0/1", path=tools)
    assert status == 0
    (gone, there) = measured(output)
    assert gone.trouble == "the other end did not start: IB device mlx5_9 not found"
    assert there.table is not None


def test_without_perftest_it_says_so(tmp_path: Path) -> None:
    """And exits with 3."""
    status, output = ran("--rails", "mlx5_0", path=tmp_path)
    line: dict[str, Any] = json.loads(output)
    assert (status, line["error"]) == (3, "ib_write_bw is not installed (perftest)")


@pytest.mark.skipif(shutil.which("ib_write_bw") is None, reason="Debian package perftest is not installed")
def test_the_real_perftest_without_an_adapter_measures_nothing() -> None:
    """On a machine that has one, no rail of this name."""
    status, output = ran("--rails", "no_such_0", "--latency")
    assert status == 0
    found = measured(output)
    assert [each.table for each in found] == [None, None]
    assert all(each.trouble for each in found)
    socket.create_server(("127.0.0.1", 18601)).close()
