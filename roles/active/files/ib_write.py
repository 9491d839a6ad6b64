"""Measure each adapter with perftest, both ends on this node: its PCIe, itself and its link, or the rail beside it.

A server and a client of ib_write_bw (and ib_write_lat) run for each rail in turn, the client told to reach the server
by way of 127.0.0.1; the data goes through the adapters. With --to self both ends are one adapter, with --to next the
other end is the next rail, through the fabric.

Prints one line of JSON a measurement, with what the client printed, and a last one with "ended".
"""

import argparse
import contextlib
import json
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


def main() -> int:
    """Measure rail after rail; one that cannot be measured says why and does not keep the others."""
    asked = _arguments()
    tests = ["ib_write_bw", *(["ib_write_lat"] if asked.latency else [])]
    missing = [test for test in tests if shutil.which(test) is None]
    if missing:
        _say(error=f"{missing[0]} is not installed (perftest)")
        return 3
    rails = [rail for rail in asked.rails.split(",") if rail]
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
    parser.add_argument("--rails", required=True, help="adapters, with commas between them")
    parser.add_argument("--to", choices=("self", "next"), default="self", help="where the other end is")
    parser.add_argument("--seconds", type=int, default=5, help="how long each rail's bandwidth is measured")
    parser.add_argument("--latency", action="store_true", help="measure latency as well")
    parser.add_argument("--gpu-memory", action="store_true", help="use the memory of the rail's GPU (GPUDirect)")
    parser.add_argument("--argument", action="append", default=[], help="one more word for perftest")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
