"""How fast a whole Ethernet fabric is judged from what its switches print, beside reading the JSON of the same texts.

`python -m benchmarks.ethernet [--rounds N]` makes 1,024 servers on eight rails (128 leaves, 32 spines, 12,288 links)
with 25 swaps, has every switch print its neighbours in its maker's form (EOS, SONiC, Junos and NVUE in turn, 8.8 MB
together), and takes the CPU time of one core, the least of the rounds: of reading all texts, of joining both ends and
judging them, and of `json.loads` of the three forms that are JSON.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any

from fleet_runner.core.checks.catalogue import fabric_ethernet
from fleet_runner.core.checks.check import run
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.parsers.neighbours import capture, several
from fleet_runner.core.checks.verdicts import Result
from tests.fabric import switch_shell as makers

SERVERS, RAILS, LEAF_SERVERS, LEAVES, SPINES = 1024, 8, 64, 128, 32
SWAPS = 25
FORMS: tuple[Callable[[list[makers.Neighbour]], str], ...] = (makers.eos, makers.sonic, makers.junos, makers.nvue)

End = tuple[str, str]


def cables() -> list[tuple[End, End]]:
    """Return the designed cables: each server on every rail, each leaf at every spine."""
    found = [
        (
            (f"gpu-{server:04d}", f"eth{rail}"),
            (f"leaf-{server // LEAF_SERVERS * RAILS + rail:03d}", f"Ethernet{server % LEAF_SERVERS + 1}"),
        )
        for server in range(SERVERS)
        for rail in range(RAILS)
    ]
    ups = [
        ((f"leaf-{leaf:03d}", f"Ethernet{LEAF_SERVERS + 1 + spine}"), (f"spine-{spine:02d}", f"Ethernet{leaf + 1}"))
        for leaf in range(LEAVES)
        for spine in range(SPINES)
    ]
    return [*found, *ups]


def swapped(plugged: list[tuple[End, End]]) -> list[tuple[End, End]]:
    """Return the cables with some exchanged: the first rail's of two servers, 25 times."""
    found = list(plugged)
    for at in range(0, SWAPS * 4 * RAILS, 4 * RAILS):
        (one, its), (other, others) = found[at], found[at + 2 * RAILS]
        found[at], found[at + 2 * RAILS] = (one, others), (other, its)
    return found


def printed(plugged: list[tuple[End, End]]) -> dict[str, str]:
    """Return what each switch prints, in its maker's form."""
    heard: dict[str, list[makers.Neighbour]] = {}
    for pair in plugged:
        for near, far in (pair, pair[::-1]):
            if not near[0].startswith("gpu"):
                told = makers.Neighbour(near[1], "02:00:00:00:00:01", far[0], "ifname", far[1], far[1])
                heard.setdefault(near[0], []).append(told)
    return {name: FORMS[at % len(FORMS)](told) for at, (name, told) in enumerate(heard.items())}


def expected(designed: list[tuple[End, End]], switches: list[str]) -> Expected:
    """Return the design as plays carry it."""
    names = {end[0] for pair in designed for end in pair}
    devices = {name: {"site": "h", "role": "gpu-server" if name.startswith("gpu") else "leaf"} for name in names}
    links = [[*one, *other, "400gbase-x-qsfp112", []] for one, other in designed]
    fabric: dict[str, Any] = {"links": links, "devices": devices, "planned": [], "managed": []}
    return Expected("ethernet.h", device={"switches": switches}, fabric=fabric)


def judged(texts: dict[str, str], design: Expected) -> tuple[float, float, Result]:
    """Return the CPU seconds of reading and of judging, and the answer."""
    begun = time.process_time()
    heard = {name: capture.read(text).neighbours for name, text in texts.items()}
    kept = json.dumps(several.written(heard, {}))
    read = time.process_time()
    result = run(fabric_ethernet.CHECK, {"switch_lldp": Reading("switch_lldp", ReadEnd.OK, kept, 0)}, design)
    return read - begun, time.process_time() - read, result


def loaded(texts: dict[str, str]) -> float:
    """Return the CPU seconds of reading what is JSON, and doing nothing with it."""
    begun = time.process_time()
    for text in texts.values():
        if text.startswith("{"):
            json.loads(text)
    return time.process_time() - begun


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--rounds", type=int, default=5)
    rounds = options.parse_args().rounds
    designed = cables()
    texts = printed(swapped(designed))
    design = expected(designed, sorted(texts))
    takes = [(judged(texts, design), loaded(texts)) for _ in range(rounds)]
    read, judge = min(take[0][0] for take in takes), min(take[0][1] for take in takes)
    plain = min(take[1] for take in takes)
    found = takes[0][0][2].findings
    if len(found) != SWAPS:
        sys.exit(f"found {len(found)} faults, expected {SWAPS}")
    print(
        f"{len(designed):,} links, {sum(map(len, texts.values())) / 1e6:.1f} MB of {len(texts)} switches: "
        f"read {read:.3f}, judge {judge:.3f}, all {read + judge:.3f} s CPU, "
        f"{(read + judge) / plain:.1f} times json.loads; "
        f"{len(found)} faults"
    )


if __name__ == "__main__":
    main()
