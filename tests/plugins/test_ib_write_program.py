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
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        sys.exit(f"Couldn't connect to 127.0.0.1:{port}")
    print(" RDMA_Write BW Test\n Dual-port : OFF Device : " + device)
    print(" #bytes #iterations BW peak[Gb/sec] BW average[Gb/sec] MsgRate[Mpps]\n 8388608 5000 0.00 392.10 0.005843")
else:
    with socket.create_server(("127.0.0.1", port)) as server:
        server.accept()
"""


def ran(*words: str, path: Path | None = None, root: Path | None = None) -> tuple[int, str]:
    """Run the program, with a folder of tools instead of all others; return its exit status and what it printed."""
    environment = dict(os.environ, FLEET_ROOT=str(root or ""))
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


def free_port() -> str:
    """Return a port on which nobody listens now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return str(server.getsockname()[1])


def test_two_ends_of_a_pair_meet_though_the_client_is_first(tools: Path) -> None:
    """It tries again until the server is there; both say what they measured, and of whom."""
    words = ["--port", free_port(), "--flows", "12", "--seconds", "1", "--rails", "mlx5_0"]
    environment = dict(os.environ, PATH=str(tools), FLEET_ROOT=str(tools))
    argv = [sys.executable, str(PROGRAM), *words, "--to", "127.0.0.1", "--wait", "30", "--peer", "gpu-02 eth1"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env=environment) as client:
        status, served = ran(*words, "--serve", path=tools, root=tools)
        output, _ = client.communicate(timeout=30)
    assert (status, client.returncode) == (0, 0)
    (told,) = measured(output)
    assert (told.rail, told.peer) == ("mlx5_0", "gpu-02 eth1")
    assert told.table is not None
    assert [each.table for each in measured(served)] == [None], "this stand-in's server prints no table"


def test_an_end_that_waits_in_vain_says_so(tools: Path) -> None:
    """A client that no server answers, and a server to which no client comes, are both at an end by themselves."""
    words = ["--port", free_port(), "--rails", "mlx5_0", "--wait", "0"]
    status, output = ran(*words, "--to", "127.0.0.1", path=tools, root=tools)
    (told,) = measured(output)
    assert (status, told.table) == (0, None)
    assert "Couldn't connect to 127.0.0.1" in told.trouble
    status, output = ran(*words, "--serve", "--seconds", "-59", path=tools, root=tools)
    assert (status, measured(output)[0].trouble.startswith("it did not end in 1 s")) == (0, True)


def gids(root: Path, adapter: str, *rows: tuple[str, str, str]) -> None:
    """Write the table of an adapter's GIDs: kind, interface and GID of each."""
    port = root / "sys" / "class" / "infiniband" / adapter / "ports" / "1"
    for at, row in enumerate(rows):
        for folder, text in zip(("gid_attrs/types", "gid_attrs/ndevs", "gids"), row, strict=True):
            (port / folder).mkdir(parents=True, exist_ok=True)
            (port / folder / str(at)).write_text(f"{text}\n")


IPV4, LOCAL, NONE = (
    "0000:0000:0000:0000:0000:ffff:ac10:0001",
    "fe80:0000:0000:0000:0000:00ff:fe00:0001",
    "0000:0000:0000:0000:0000:0000:0000:0000",
)


@pytest.mark.parametrize(
    ("rows", "gid"),
    [
        ([("IB/RoCE v1", "eth1", IPV4), ("RoCE v2", "eth1", LOCAL), ("RoCE v2", "eth1", IPV4)], 2),
        ([("RoCE v2", "eth1", LOCAL), ("RoCE v2", "eth1.100", IPV4)], 0),
        ([("RoCE v2", "eth1", NONE), ("RoCE v2", "bond0", IPV4)], 1),
        ([("RoCE v2", "eth1", NONE), ("IB/RoCE v1", "eth1", IPV4)], None),
    ],
)
def test_the_gid_is_of_roce_v2_of_the_interface_and_of_ipv4_before_others(
    tools: Path, rows: list[tuple[str, str, str]], gid: int | None
) -> None:
    """The index differs from node to node. The adapter is found by its interface, where nobody names it."""
    gids(tools, "mlx5_7", ("RoCE v2", "eth9", IPV4))
    gids(tools, "mlx5_0", *rows)
    words = ["--port", free_port(), "--interface", "eth1", "--to", "127.0.0.1", "--wait", "0"]
    _, output = ran(*words, path=tools, root=tools)
    line: dict[str, Any] = json.loads(output.splitlines()[0])
    assert (line["target"], line["gid"]) == ("mlx5_0/1", gid)


def test_of_an_infiniband_port_no_gid_is_asked_for_and_without_an_adapter_it_is_said(tools: Path) -> None:
    gids(tools, "mlx5_0", ("RoCE v2", "ib0", IPV4))
    (tools / "sys/class/infiniband/mlx5_0/ports/1/link_layer").write_text("InfiniBand\n")
    words = ["--port", free_port(), "--to", "127.0.0.1", "--wait", "0", "--interface"]
    _, output = ran(*words, "ib0", path=tools, root=tools)
    assert json.loads(output.splitlines()[0])["gid"] is None
    status, output = ran(*words, "eth5", path=tools, root=tools)
    assert (status, "no adapter has the interface eth5" in json.loads(output)["error"]) == (3, True)
