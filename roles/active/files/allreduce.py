"""Add up numbers over several nodes (all-reduce), and tell if the sums are right and how fast the network is.

Every node of a group runs this with the same --nodes, --address and --port and its own --node; it starts one process
for each of its devices. The first node's program lets the others find it, listening on --address and nowhere else.
Sums are of whole numbers that every type can hold, so each element is known.

Needs PyTorch 1.13 or later. Prints one line of JSON: what this node saw.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import importlib.util
import json
import os
import signal
import socket
import socketserver
import statistics
import subprocess
import sys
import threading
import time
from datetime import timedelta

PROGRAM = "allreduce"
LEAVE = 10.0  # seconds that rank 0 waits for the others to be done
PERIOD = 13  # of the pattern in the numbers: with 1,024 ranks a sum stays below 2^24, exact in FP32


def main() -> int:
    """Start the ranks of this node, and gather what they say."""
    asked = arguments()
    if asked.rank >= 0:
        return take_part(asked)
    if importlib.util.find_spec("torch") is None:
        say({"error": f"{sys.executable} has no PyTorch"})
        return 3
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    words = [f"--{name.replace('_', '-')}={value}" for name, value in vars(asked).items() if name != "rank"]
    first = asked.node * asked.local
    children = [
        subprocess.Popen(
            [sys.executable, __file__, *words, f"--rank={first + each}"], stdout=subprocess.PIPE, text=True
        )
        for each in range(asked.local)
    ]
    deadline = time.monotonic() + asked.limit
    try:
        said = [told(child, deadline) for child in children]
    finally:
        for child in children:
            child.kill()
    troubles = [each["trouble"] for each in said if "trouble" in each]
    good = [each for each in said if "trouble" not in each]
    whole = {
        "node": asked.node, "nodes": asked.nodes, "local": asked.local, "backend": asked.backend,
        "bytes": asked.bytes, "troubles": troubles[:4], "wrong": sum(each["wrong"] for each in good),
    }  # fmt: skip
    if good and not troubles:
        # All ranks must have ended an operation before it is one: the slowest counts.
        seconds = max(each["seconds"] for each in good)
        ranks = asked.nodes * asked.local
        whole.update(seconds=seconds, bus_gbps=round(asked.bytes / seconds * 2 * (ranks - 1) / ranks / 1e9, 4))
    say({**whole, "ended": True})
    return 0


def told(child: subprocess.Popen, deadline: float) -> dict[str, object]:
    """Return what one rank said, or why it said nothing."""
    try:
        output, _ = child.communicate(timeout=max(0.1, deadline - time.monotonic()))
        return json.loads(output.strip().splitlines()[-1])
    except subprocess.TimeoutExpired:
        return {"trouble": "it did not end in time"}
    except (ValueError, IndexError):
        return {"trouble": f"it ended with {child.returncode} and said nothing"}


def take_part(asked: argparse.Namespace) -> int:
    """Be one rank."""
    try:
        import torch
        import torch.distributed as dist

        if asked.interface:
            os.environ["GLOO_SOCKET_IFNAME"] = os.environ["NCCL_SOCKET_IFNAME"] = asked.interface
        elif asked.backend == "gloo":
            os.environ["GLOO_SOCKET_IFNAME"] = interface_of(asked)
        ranks = asked.nodes * asked.local
        store = meeting(dist, asked)
        dist.init_process_group(
            asked.backend,
            store=store,
            rank=asked.rank,
            world_size=ranks,
            timeout=timedelta(seconds=asked.limit),
        )
        line = added(torch, dist, asked)
        with contextlib.suppress(OSError, RuntimeError):  # rank 0 may leave before its answer to the last one is sent
            store.add("ended", 1)
    except Exception as error:  # noqa: BLE001  whatever PyTorch raises is this rank's answer
        line = {"trouble": f"rank {asked.rank}: {type(error).__name__}: {error}".splitlines()[0][:300]}
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()
    if asked.rank == 0 and "trouble" not in line:
        left = time.monotonic() + LEAVE
        while store.add("ended", 0) < ranks and time.monotonic() < left:
            time.sleep(0.01)  # the others still need the store
    os._exit(0)  # a hung backend must not keep a rank that has said what it has to say


def added(torch: object, dist: object, asked: argparse.Namespace) -> dict[str, object]:
    """Add up again and again; return the median time of one, and how many elements of all were wrong."""
    device = torch.device("cuda", asked.rank % asked.local) if asked.backend == "nccl" else torch.device("cpu")
    if device.type == "cuda":
        torch.cuda.set_device(device)
    ranks, count = asked.nodes * asked.local, asked.bytes // 4
    pattern = (torch.arange(count, device=device) % PERIOD + 1).float()
    wanted = pattern * (ranks * (ranks + 1) // 2)
    taken, wrong = [], 0
    for _ in range(asked.times + 1):
        numbers = pattern * (asked.rank + 1)
        dist.barrier()
        began = time.monotonic()
        dist.all_reduce(numbers)
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        taken.append(time.monotonic() - began)
        wrong += int((numbers != wanted).sum().item())
    # The first one pays for finding the others.
    return {"seconds": statistics.median(taken[1:]), "wrong": wrong}


def meeting(dist: object, asked: argparse.Namespace) -> object:  # noqa: C901  a class of eight methods of one line
    """Return the store by which ranks find each other; rank 0's process holds it, for all.

    PyTorch's own TCPStore listens on every address of the node; this one on the address that it was told.
    """
    if asked.rank == 0:
        server = Server((asked.address, asked.port), Answer)
        threading.Thread(target=server.serve_forever, daemon=True).start()
    line = Line(asked.address, asked.port, asked.limit)

    class Store(dist.Store):
        def set(self, key: str, value: object) -> None:
            line.ask("set", key, packed(value))

        def get(self, key: str) -> bytes:
            return base64.b64decode(line.ask("get", key))

        def add(self, key: str, amount: int) -> int:
            return int(line.ask("add", key, amount))

        def check(self, keys: list[str]) -> bool:
            return all(line.ask("has", key) for key in keys)

        def wait(self, keys: list[str], _timeout: object = None) -> None:
            for key in keys:
                line.ask("get", key)

        def delete_key(self, key: str) -> bool:
            return bool(line.ask("del", key))

        def num_keys(self) -> int:
            return int(line.ask("num", ""))

        def set_timeout(self, _timeout: object) -> None:
            """Each answer is waited for as long as --limit says."""

    return Store()


def packed(value: object) -> str:
    """Return bytes, or a text, as a text."""
    return base64.b64encode(value.encode() if isinstance(value, str) else bytes(value)).decode()


class Line:
    """A connection to the store for each thread: one may wait for a key that another must set."""

    def __init__(self, address: str, port: int, limit: float) -> None:
        """Remember where the store is; rank 0 may need a while to be there."""
        self.where, self.limit, self.own = (address, port), limit, threading.local()

    def ask(self, *words: object) -> object:
        """Ask one thing and wait for its answer."""
        if not hasattr(self.own, "file"):
            self.own.file = self._connected().makefile("rw")
        self.own.file.write(json.dumps(words) + "\n")
        self.own.file.flush()
        answer = self.own.file.readline()
        if not answer:
            raise RuntimeError(f"the store at {self.where[0]} is gone")
        return json.loads(answer)

    def _connected(self) -> socket.socket:
        deadline = time.monotonic() + self.limit
        while True:
            try:
                return socket.create_connection(self.where, timeout=self.limit)
            except OSError as error:
                if time.monotonic() > deadline:
                    raise RuntimeError(f"no store at {self.where[0]}:{self.where[1]}: {error}") from error
                time.sleep(0.05)


class Server(socketserver.ThreadingTCPServer):
    """Keys and values, for as long as rank 0 lives."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, *words: object) -> None:
        """Begin with nothing."""
        self.values: dict[str, str] = {}
        self.changed = threading.Condition()
        super().__init__(*words)


class Answer(socketserver.StreamRequestHandler):
    """One rank's questions."""

    def handle(self) -> None:
        """Answer until it hangs up."""
        for line in self.rfile:
            verb, key, *rest = json.loads(line)
            self.wfile.write((json.dumps(self._answer(verb, key, *rest)) + "\n").encode())

    def _answer(self, verb: str, key: str, value: object = None) -> object:
        values, changed = self.server.values, self.server.changed
        with changed:
            if verb == "get":
                changed.wait_for(lambda: key in values)
                return values[key]
            if verb == "has":
                return key in values
            if verb == "num":
                return len(values)
            if verb == "add":
                value = packed(str(int(base64.b64decode(values.get(key, "MA=="))) + value))
            found = values.pop(key, None) if verb == "del" else values.__setitem__(key, value)
            changed.notify_all()
            return int(base64.b64decode(value)) if verb == "add" else found is not None


def interface_of(asked: argparse.Namespace) -> str:
    """Return the network interface by which this node reaches the first one: gloo listens there alone."""
    probe = socket.socket(socket.AF_INET6 if ":" in asked.address else socket.AF_INET, socket.SOCK_DGRAM)
    with probe:
        probe.connect((asked.address, asked.port))  # sends nothing
        mine = probe.getsockname()[0]
    shown = subprocess.run(["ip", "-j", "address"], capture_output=True, text=True, check=True, timeout=20)
    for link in json.loads(shown.stdout):
        if any(each.get("local") == mine for each in link.get("addr_info", ())):
            return link["ifname"]
    raise RuntimeError(f"no interface has the address {mine}")


def say(line: dict[str, object]) -> None:
    """Print one line."""
    sys.stdout.write(json.dumps({"program": PROGRAM, **line}) + "\n")
    sys.stdout.flush()


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", choices=("gloo", "nccl"), default="gloo", help="gloo: processors; nccl: GPUs")
    parser.add_argument("--nodes", type=int, required=True, help="how many there are in the group")
    parser.add_argument("--node", type=int, required=True, help="which of them this is; the first is 0")
    parser.add_argument("--local", type=int, default=1, help="ranks of each node: its GPUs")
    parser.add_argument("--address", required=True, help="of the first node")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--interface", default="", help="for the data; otherwise what the backend finds")
    parser.add_argument("--bytes", type=int, default=256 << 20, help="added up at once")
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--limit", type=float, default=120.0, help="seconds after which a rank has failed")
    parser.add_argument("--rank", type=int, default=-1, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
