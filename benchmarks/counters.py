"""How long a second look at a fabric's counters takes, with half of all ports remembered and five links gone bad.

`python benchmarks/counters.py [SERVERS]` prints CPU seconds of the first and second look, with Python's garbage
collector on and off, beside the floor of splitting both captures into words, and the size of what is remembered.
"""

import gc
import json
import random
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import captures

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import run
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Result

NAME = "fabric_counters"
NOW = 1_740_900_000.0
LATER = NOW + 14_400.0


def main() -> None:
    """Look twice at one fabric, with the collector on and off."""
    servers = int(sys.argv[1]) if len(sys.argv) > 1 else 4096
    cables = captures.cables(servers)
    ends = sorted({(captures.guid(port), captures.number(port)) for cable in cables for port in cable})
    known = random.Random(1).sample(ends, len(ends) // 2)
    seen, first, second = captures.by_port(cables), report(known, 0), report(known, 5)
    begun = time.process_time()
    words = sum(len(line.split()) for text in (seen, second) for line in text.splitlines())
    print(f"{servers} servers, {len(cables)} cables; {words} words split in {time.process_time() - begun:.2f} s")
    held = design(cables)
    for collect in (True, False):
        if not collect:
            gc.disable()
        begun = time.process_time()
        one = look(held, (first, seen), NOW, None)
        between = time.process_time()
        other = look(held, (second, seen), LATER, {"at": NOW, "observed": one.observed})
        ended = time.process_time()
        size = len(json.dumps(other.observed)) / 1e6
        print(
            f"garbage collector {'on' if collect else 'off'}: first look {between - begun:.2f} s, second"
            f" {ended - between:.2f} s with {len(other.findings)} findings; {size:.1f} MB remembered"
        )


def report(known: list[tuple[str, int]], bad: int) -> str:
    """Return what ibqueryerrors prints of ports that counted; the first few have counted 500 errors more."""
    rows = [
        f'Errors for "x"\n   GUID 0x{guid} port {port}: [SymbolErrorCounter == {place % 50 + 500 * (place < bad)}]'
        f" [LinkDownedCounter == {place % 3}]\n"
        for place, (guid, port) in enumerate(known)
    ]
    return (
        f"{''.join(rows)}\n## Summary: 9 nodes checked, {len(rows)} bad nodes found\n"
        f"##          {2 * len(rows)} ports checked, {len(rows)} ports have errors beyond threshold\n"
        "## Thresholds: \n## Suppressed:\n"
    )


def design(cables: list[Any]) -> dict[str, Any]:
    """Return the design as plays carry it."""
    devices = {port.device: port for cable in cables for port in cable}
    return {
        "links": [[*cable.a, *cable.b, "infiniband-ndr", []] for cable in cables],
        "devices": {
            name: {"role": "leaf" if captures.is_switch(port) else "gpu-server"} for name, port in devices.items()
        },
    }


def look(fabric: dict[str, Any], texts: tuple[str, str], now: float, before: object) -> Result:
    """Judge the counters once."""
    switches = [name for name, device in fabric["devices"].items() if device["role"] == "leaf"]
    readings = {
        name: Reading(name, ReadEnd.OK, text, rc=rc, at=now)
        for name, text, rc in zip(CHECKS[NAME].reads, texts, (1, 0), strict=True)
    }
    told = {"now": now, "before": {NAME: before}}
    held = Expected("infiniband.h", device={"switches": switches}, fabric=fabric, run=told)
    return run(CHECKS[NAME], readings, held)


if __name__ == "__main__":
    main()
