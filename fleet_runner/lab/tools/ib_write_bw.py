"""`ib_write_bw -d ADAPTER [-p PORT] [-q FLOWS] [-D SECONDS] [-b] [-x GID] [SERVER]`: both ends really meet, and wait.

They meet on loopback, at a port of the kernel's choice that stands in a file of the server's node: so labs do not
meet each other. What is printed is perftest 6's; how fast they write is the lab's, by the leaves that they are in.
"""

import json
import os
import re
import socket
import sys
import time
from typing import Any

from fleet_runner.lab import ethernet, plan
from fleet_runner.lab.tools import lldp
from fleet_runner.lab.tools.node import Node, read_state, started
from fleet_runner.lab.tools.ssh import find

GBITPS = 392.0
PORT = 18515
DEPTH = 128
LINE = "-" * 87 + "\n"
FLAGS = frozenset({"-b", "-F", "--report_gbits", "-R"})
RETRIED_SECONDS = 0.5
"""How long an adapter tries before it gives up; real ones take some four."""


def run(node: Node, args: list[str]) -> int:
    """Be the server, or the client of a named one."""
    asked = _words(args)
    leaf = _leaf(node, asked["-d"])
    if leaf is None:
        return _fail(f"IB device {asked['-d']} not found", " Unable to find the Infiniband/RoCE device")
    if [leaf] in lldp.dead(node.lab):
        return _fail(
            " Port number 1 state is Down", " Couldn't set the link layer", " Couldn't get context for the device"
        )
    mine = {"leaf": leaf, "flows": asked["-q"], "both": "-b" in asked, "seconds": asked["-D"]}
    if asked["server"]:
        return _client(node, asked, mine)
    return _server(node, asked, mine)


def _words(args: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "-d": "mlx5_0",
        "-p": str(PORT),
        "-q": "1",
        "-s": "65536",
        "-D": "",
        "-x": "",
        "server": "",
    }
    words = iter(args)
    for word in words:
        if word in FLAGS:
            found[word] = True
        elif word.startswith("-"):
            found[word] = next(words, "")
        else:
            found["server"] = word
    return found


def _leaf(node: Node, adapter: str) -> str | None:
    """Return the switch that an adapter's port is plugged into; None for an adapter that the node does not have."""
    number = int(adapter.removeprefix("mlx5_")) if re.fullmatch(r"mlx5_\d{1,2}", adapter) else -1
    rails = {ethernet.adapter(rail): ethernet.interface(rail) for rail in range(ethernet.RAILS)}
    interface = rails.get(adapter, f"ib{number}" if 0 <= number < plan.RAILS else "")
    return next(
        (far for near, port, far, _ in lldp.fabric(node.lab)["cables"] if (near, port) == (node.name, interface)),
        None,
    )


def _place(lab: str, name: str, port: str) -> str:
    return os.path.join(lab, "nodes", name, "tmp", f"ib_write_bw.{port}")


def _server(node: Node, asked: dict[str, Any], mine: dict[str, Any]) -> int:
    place = _place(node.lab, node.name, asked["-p"])
    if _listening(place):
        return _fail(f"Couldn't listen to port {asked['-p']}", " Unable to init the socket connection")
    _say("\n" + "*" * 36 + "\n* Waiting for client to connect... *\n" + "*" * 36 + "\n")
    with socket.create_server(("127.0.0.1", 0)) as listens:
        with open(f"{place}.new", "w", encoding="utf-8") as file:
            json.dump([listens.getsockname()[1], os.getpid(), started(os.getpid())], file)
        os.replace(f"{place}.new", place)
        try:
            line, _ = listens.accept()
        finally:
            os.unlink(place)
    with line, line.makefile("rw", encoding="utf-8") as told:
        theirs = json.loads(told.readline())
        told.write(json.dumps(mine) + "\n")
        told.flush()
        return _write(node, asked, mine, theirs)


def _listening(place: str) -> int:
    """Return the real port of a server that lives; 0 where there is none."""
    try:
        with open(place, encoding="utf-8") as file:
            port, pid, since = json.load(file)
    except (OSError, ValueError):
        return 0
    return int(port) if started(pid) == since else 0


def _client(node: Node, asked: dict[str, Any], mine: dict[str, Any]) -> int:
    name = find(node.lab, asked["server"])
    port = _listening(_place(node.lab, name, asked["-p"])) if name else 0
    try:
        line = socket.create_connection(("127.0.0.1", port))
    except OSError:
        return _fail(
            f"Couldn't connect to {asked['server']}:{asked['-p']}",
            " Unable to open file descriptor for socket connection Unable to init the socket connection",
        )
    with line, line.makefile("rw", encoding="utf-8") as told:
        told.write(json.dumps(mine) + "\n")
        told.flush()
        return _write(node, asked, mine, json.loads(told.readline()))


def _write(node: Node, asked: dict[str, Any], mine: dict[str, Any], theirs: dict[str, Any]) -> int:
    if {**mine, "leaf": ""} != {**theirs, "leaf": ""}:
        return _fail(" Failed to exchange data between server and clients")
    _header(node, asked)
    share = min(_share(node.lab, leaf) for leaf in (mine["leaf"], theirs["leaf"]))
    if not share:
        time.sleep(RETRIED_SECONDS)
        end = "client" if asked["server"] else "server"
        said = f" Completion with error at {end}\n Failed status 12: wr_id 0 syndrom 0x81\nscnt={DEPTH}, ccnt=0\n"
        return _fail(said + " Failed to complete run_iter_bw function successfully")
    seconds = float(asked["-D"] or 1)
    time.sleep(seconds)
    gbitps = GBITPS * share * (2 if mine["both"] else 1)
    size = int(asked["-s"])
    rate = gbitps * 1e9 / 8 / size
    numbers = f"{int(rate * seconds):<10}       0.00               {gbitps:<7.2f}\t\t     {rate / 1e6:<7.6f}"
    _say(f" {size:<7}    {numbers}\n{LINE}")
    return 0


def _share(lab: str, leaf: str) -> float:
    """Return what share of its speed passes through a leaf: a fault of any node may say that it is slow."""
    names = os.listdir(os.path.join(lab, "nodes"))
    slow = [fault for name in names if (fault := read_state(lab, name)["faults"].get("slow_path")) is not None]
    return min([float(each["share"]) for each in slow if ethernet.leaf(each["rail"]) == leaf], default=1.0)


def _header(node: Node, asked: dict[str, Any]) -> None:
    both = "Bidirectional " if "-b" in asked else ""
    roce = asked["-x"] != ""
    flows, number = int(asked["-q"]), node.state["index"]
    _say(
        f"{LINE}                    RDMA_Write {both}BW Test\n"
        f" Dual-port       : OFF\t\tDevice         : {asked['-d']}\n"
        f" Number of qps   : {flows}\t\tTransport type : IB\n"
        " Connection type : RC\t\tUsing SRQ      : OFF\n"
        " PCIe relax order: ON\t\tLock-free      : OFF\n"
        " ibv_wr* API     : ON\t\tUsing Enhanced Reorder      : OFF\n"
        f" TX depth        : {DEPTH}\n CQ Moderation   : {1 if flows > 1 else 100}\n CQE Poll Batch  : 16\n"
        f" Mtu             : {1024 if roce else 4096}[B]\n Link type       : {'Ethernet' if roce else 'IB'}\n"
        + (f" GID index       : {asked['-x']}\n" if roce else "")
        + " Max inline data : 0[B]\n rdma_cm QPs\t : OFF\n"
        f" Data ex. method : Ethernet\n{LINE}"
    )
    gid = f" GID: {':'.join(['00'] * 10 + ['255'] * 2 + ['172', '16', '00', f'{number:02d}'])}\n" if roce else ""
    for side in ("local", "remote"):
        for flow in range(flows):
            queue = f"QPN {0x100 + flow:#06x} PSN 0x7a1b2c RKey 0x180b00 VAddr 0x007f0000000000"
            _say(f" {side} address: LID 0000 {queue}\n{gid}")
    _say(f"{LINE} #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n")


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _fail(*lines: str) -> int:
    sys.stdout.flush()
    sys.stderr.write("".join(f"{line}\n" for line in lines))
    return 1
