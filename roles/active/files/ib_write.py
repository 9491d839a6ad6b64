"""Measure each adapter with perftest, both ends on this node, or one adapter against another node's.

A server and a client of ib_write_bw (and ib_write_lat) run for each rail in turn, the client told to reach the server
by way of 127.0.0.1; the data goes through the adapters. With --to self both ends are one adapter, with --to next the
other end is the next rail, through the fabric.

With --serve this node is one end for another node, which is told --to and this one's address: both write at once, in
--flows queue pairs. Whichever is first waits for the other one, and no longer than --wait. For RoCE the index of the
GID (RoCE v2, of the interface, IPv4 before IPv6) is found in /sys.

Prints one line of JSON a measurement, with what the client printed, and a last one with "ended".
"""

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import BinaryIO

FIRST_PORT = 18600  # TCP, on which the two ends tell each other their addresses; perftest's own is 18515
LISTENS = "0A"  # a listening socket's state in /proc/net/tcp
READY_SECONDS = 20
SPARE_SECONDS = 60
KEPT = 8_000  # bytes of what a client printed
WIDE = 8_388_608  # bytes of a message: AzNHC's size
SMALL = 2
OF_FLOWS = 65_536  # bytes of a message where there are many flows: each has a buffer
AGAIN_SECONDS = 1.0
ADDRESSES = (" local address:", " remote address:", " GID:")  # two lines of each for every flow, before the table
ROOT = os.environ.get("FLEET_ROOT", "")
NO_SERVER = "Couldn't connect to"
OF_IPV4 = "0000:0000:0000:0000:0000:ffff:"


def main() -> int:
    """Measure rail after rail; one that cannot be measured says why and does not keep the others."""
    asked = _arguments()
    tests = ["ib_write_bw", *(["ib_write_lat"] if asked.latency else [])]
    missing = [test for test in tests if shutil.which(test) is None]
    if missing:
        _say(error=f"{missing[0]} is not installed (perftest)")
        return 3
    rails = [rail for rail in asked.rails.split(",") if rail]
    if asked.serve or asked.to not in ("self", "next"):
        return _pair(rails[0] if rails else _adapter(asked.interface), asked)
    port = FIRST_PORT
    for at, rail in enumerate(rails):
        peer = rails[(at + 1) % len(rails)] if asked.to == "next" else rail
        for test in tests:
            port += 1
            _say(target=rail, peer=peer, test=test, **_measured(test, (rail, peer), (at, port), asked))
    _say(ended=True, rails=len(rails))
    return 0


def _measured(
    test: str, ends: tuple[str, str], where: tuple[int, int], asked: argparse.Namespace
) -> dict[str, object]:
    """Return what the client printed, or why there is nothing."""
    at, port = where
    size = WIDE if test == "ib_write_bw" else SMALL
    words = [test, "-p", str(port), "-s", str(size), "-F", *asked.argument]
    if test == "ib_write_bw":
        words += ["--report_gbits", "-D", str(asked.seconds)]
    if asked.gpu_memory:
        words += [f"--use_cuda={at}"]
    with tempfile.TemporaryFile() as said:
        server = subprocess.Popen(words + _end(ends[1]), stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        try:
            if not _listening(server, port):
                return {"error": f"the other end did not start: {_last(said, server.poll())}"}
            client = subprocess.run(
                [*words, *_end(ends[0]), "127.0.0.1"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, timeout=asked.seconds + SPARE_SECONDS, check=False,
            )  # fmt: skip
            return {"rc": client.returncode, "output": client.stdout.decode("utf-8", "replace")[-KEPT:]}
        except subprocess.TimeoutExpired:
            return {"error": f"it hung for {asked.seconds + SPARE_SECONDS} s"}
        finally:
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.wait(2 if server.poll() is None else 0)
            server.kill()
            server.wait()


def _pair(rail: str, asked: argparse.Namespace) -> int:
    """Be one end of a pair of nodes; what cannot be measured says why."""
    if not rail:
        _say(error=f"no adapter has the interface {asked.interface}, expected one in /sys/class/infiniband")
        return 3
    words = ["ib_write_bw", *_end(rail), "-p", str(asked.port), "-q", str(asked.flows), "-s", str(OF_FLOWS)]
    words += ["-b", "-F", "--report_gbits", "-D", str(asked.seconds), *asked.argument]
    port = Path(ROOT + "/sys/class/infiniband", rail.partition("/")[0], "ports", rail.partition("/")[2] or "1")
    gid = _gid(port, asked.interface) if _text(port / "link_layer") != "InfiniBand" else None
    words += [] if gid is None else ["-x", str(gid)]
    told = _written([*words, *([] if asked.serve else [asked.to])], asked)
    _say(target=rail, peer=asked.peer, test=words[0], gid=gid, **told)
    _say(ended=True, rails=1)
    return 0


def _written(words: list[str], asked: argparse.Namespace) -> dict[str, object]:
    """Return what perftest printed, or why there is nothing; a client tries until its server is there."""
    until = time.monotonic() + asked.wait
    limit = asked.seconds + SPARE_SECONDS + (asked.wait if asked.serve else 0)
    while True:
        with tempfile.TemporaryFile() as said:
            test = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
            try:
                rc = test.wait(limit)
            except subprocess.TimeoutExpired:
                return {"error": f"it did not end in {limit} s: {_last(said, 0)}"}
            finally:
                test.kill()
                test.wait()
            output = _all(said)
        if asked.serve or NO_SERVER not in output or time.monotonic() > until:
            return {"rc": rc, "output": output[:KEPT]}
        time.sleep(AGAIN_SECONDS)


def _all(said: BinaryIO) -> str:
    """Return what perftest said but for the addresses of its flows, of which there may be hundreds."""
    said.seek(0)
    lines = said.read().decode("utf-8", "replace").splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith(ADDRESSES))


def _adapter(interface: str) -> str:
    """Return the adapter's port that an interface is; "" where none is known to be."""
    found = sorted(Path(ROOT + "/sys/class/infiniband").glob("*/ports/*/gid_attrs/ndevs/*"))
    mine = next((path.parts for path in found if interface and _text(path) == interface), None)
    return "" if mine is None else f"{mine[-6]}/{mine[-4]}"


def _gid(port: Path, interface: str) -> "int | None":
    """Return the index of a port's GID for RoCE v2: the interface's own before others, IPv4 before IPv6."""
    best: list[tuple[bool, bool, bool, int]] = []
    for path in (port / "gid_attrs" / "types").glob("*"):
        gid = _text(port / "gids" / path.name)
        if _text(path) == "RoCE v2" and gid.strip("0:"):
            other = interface != _text(port / "gid_attrs" / "ndevs" / path.name)
            best.append((other, not gid.startswith(OF_IPV4), gid.startswith("fe80"), int(path.name)))
    return min(best)[-1] if best else None


def _text(path: Path) -> str:
    """Return the text of a file; "" where there is none, as for a GID that is not used."""
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def _end(rail: str) -> list[str]:
    """Return the words for an adapter ("mlx5_0"), or for one of its ports ("mlx5_0/2")."""
    name, _, port = rail.partition("/")
    return ["-d", name, "-i", port or "1"]


def _listening(server: "subprocess.Popen[bytes]", port: int) -> bool:
    """Wait until the server listens: a connection to try it would be taken for the client."""
    until = time.monotonic() + READY_SECONDS
    while time.monotonic() < until and server.poll() is None:
        if any(_listens(table, port) for table in ("/proc/net/tcp", "/proc/net/tcp6")):
            return True
        time.sleep(0.1)
    return False


def _listens(table: str, port: int) -> bool:
    with contextlib.suppress(OSError), Path(table).open(encoding="ascii") as rows:
        return any(
            words[1].endswith(f":{port:04X}") and words[3] == LISTENS
            for words in (row.split() for row in rows)
            if len(words) > len("sl")
        )
    return False


def _last(said: BinaryIO, ended: int | None) -> str:
    """Return the last word of a server that did not come up."""
    if ended is None:
        return f"it does not listen after {READY_SECONDS} s"
    said.seek(0)
    lines = said.read(KEPT).decode("utf-8", "replace").strip().splitlines()
    return lines[-1].strip()[:200] if lines else f"it exited with {ended}"


def _say(**line: object) -> None:
    sys.stdout.write(json.dumps({"program": "ib_write", **line}) + "\n")
    sys.stdout.flush()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rails", default="", help="adapters, with commas between them")
    parser.add_argument("--to", default="self", help="where the other end is: self, next, or another node's address")
    parser.add_argument("--serve", action="store_true", help="be the end that another node writes to")
    parser.add_argument("--interface", default="", help="the network interface of a pair's adapter")
    parser.add_argument("--peer", default="", help="what the other end is called")
    parser.add_argument("--port", type=int, default=FIRST_PORT, help="TCP port on which a pair's ends meet")
    parser.add_argument("--flows", type=int, default=1, help="queue pairs of a pair")
    parser.add_argument("--wait", type=int, default=READY_SECONDS, help="seconds to wait for the other end of a pair")
    parser.add_argument("--seconds", type=int, default=5, help="how long each rail's bandwidth is measured")
    parser.add_argument("--latency", action="store_true", help="measure latency as well")
    parser.add_argument("--gpu-memory", action="store_true", help="use the memory of the rail's GPU (GPUDirect)")
    parser.add_argument("--argument", action="append", default=[], help="one more word for perftest")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
