"""How fast Xids are found in kernel logs, beside `grep -F NVRM` over the same bytes.

`python benchmarks/xids.py [MEGABYTES] [--rounds N]` writes a log of so many MB in pieces of 16 MB, as much as a node
may send of its own, and takes the CPU time of one core for each, the median of the rounds: of reading all that a
node sends (`parsers.xid.parse`), and of grep that counts. Logs are a quiet node's (an Xid in 10,000
lines), a node's with many of the driver's other lines, and one where every line is an Xid.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from statistics import median

from fleet_runner.core.checks.parsers import xid

PIECE = 16_000_000
OTHER = "2025-03-01T09:40:00,123456+00:00 {}: eth0: renamed from veth{:06}, nothing to see here (type 0x{:08x})\n"
DRIVER = "2025-03-01T09:40:00,123456+00:00 NVRM: GPU4 RPC history entry {} {:06} GSP_RM_CONTROL 0x{:016x}\n"
XID = "2025-03-01T09:40:00,123456+00:00 NVRM: Xid (PCI:0000:9b:00): 31, pid={}, name=python{}, Ch {:08x}, MMU Fault\n"

LOGS: dict[str, tuple[int, str]] = {"quiet": (10_000, OTHER), "driver": (1_000, DRIVER), "xids": (1, XID)}
"""Of each log: in how many lines one is an Xid, and what the others are."""


def piece(every: int, other: str) -> str:
    """Return a piece of a log."""
    lines = (
        (XID if number % every == 0 else other).format("docker0", number, number) for number in range(PIECE // 60)
    )
    return "".join(lines)[:PIECE].rpartition("\n")[0] + "\n"


def parsed(text: str, times: int) -> tuple[float, int]:
    """Return the CPU seconds of reading a piece so many times, and how many Xids were found."""
    begun, found = time.process_time(), 0
    for _ in range(times):
        found += len(xid.parse(text).xids)
    return time.process_time() - begun, found


def grepped(text: str, times: int) -> float:
    """Return the CPU seconds of grep over as much."""
    with tempfile.NamedTemporaryFile(suffix=".log") as file:
        for _ in range(times):
            file.write(text.encode())
        file.flush()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = ["grep", "-c", "-F", "NVRM", file.name]
        subprocess.run(command, check=True, stdout=subprocess.PIPE)  # noqa: S603  grep as it is installed
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(arguments: list[str]) -> int:
    """Print one line a log."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("megabytes", type=int, nargs="?", default=256)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    times = max(1, options.megabytes * 1_000_000 // PIECE)
    print(f"{times} pieces of {PIECE / 1e6:.0f} MB; load {os.getloadavg()[0]:.1f}")
    for name, (every, other) in LOGS.items():
        text = piece(every, other)
        size = len(text) * times / 1e6
        rounds = [(parsed(text, times), grepped(text, times)) for _ in range(options.rounds)]
        ours, theirs = median(ours for (ours, _), _ in rounds), median(theirs for _, theirs in rounds)
        found = rounds[0][0][1]
        print(
            f"{name:8} {size / ours:7,.0f} MB/s, {found:,} Xids; grep -F NVRM {size / max(theirs, 0.001):7,.0f} MB/s,"
            f" {ours / max(theirs, 0.001):.1f} times its CPU"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
