"""What it costs to keep what a boot service tells: `python benchmarks/boots.py [NODES]`.

Arms a fleet in a new SQLite store and lets every node come from its lease to its phone-home, in batches of 500 mixed
things as the ledger makes them. Prints microseconds a thing, by the clock and of this process.
"""

import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

from fleet_runner.adapters.store import Store
from fleet_runner.core.boot.boots import Claim, Discovered, Identity, Milestone, PhonedHome, Reached, Refused, Told
from fleet_runner.core.inventory.records import Device

BATCH = 500
BEFORE = (Milestone.DHCP, Milestone.SCRIPT, Milestone.KERNEL, Milestone.CLOUD_INIT)


def main(count: int = 2_000) -> None:
    """Measure, and print it."""
    with tempfile.TemporaryDirectory() as folder, Store.create(f"sqlite:///{Path(folder) / 'fleet.db'}") as store:
        names = [f"gpu-{number:05}" for number in range(count)]
        store.register([Device(name, "hgx", "gpu-server", "hall-1") for name in names], 1.0)
        begun = time.perf_counter()
        boots = [store.arm(name, Identity(), run=None, now=10.0, seconds=1e9).id for name in names]
        print(f"arming {1e6 * (time.perf_counter() - begun) / count:.0f} µs each")
        told = _story(names, boots)
        costs = [_cost(store, told[start : start + BATCH]) for start in range(0, len(told), BATCH)]
        clock, cpu = (statistics.median(each) for each in zip(*costs, strict=True))
        print(
            f"telling {len(told)} things, {BATCH} to a transaction: {clock:.1f} µs each, {cpu:.1f} µs of CPU (median)"
        )
        begun = time.perf_counter()
        store.open_boots()
        print(f"reading {count} open boots {1e3 * (time.perf_counter() - begun):.0f} ms")


def _story(names: list[str], boots: list[int]) -> list[Told]:
    """Return six steps for each node, a refusal and an unknown machine for every fourth, some nodes at a time."""
    draw = random.Random(1)
    told: list[tuple[float, Told]] = []
    for number, (name, boot) in enumerate(zip(names, boots, strict=True)):
        source, wave = f"10.0.{number // 256}.{number % 256}", number // 100 * 10
        told += [(wave + step, Reached(boot, at, 20.0 + step, source)) for step, at in enumerate(BEFORE)]
        told += [
            (wave + 4, Claim(boot, 25.0, source)),
            (wave + 5, PhonedHome(boot, 26.0, source, ("key " * 20,) * 2)),
        ]
        if number % 4 == 0:
            said = Refused(name, "mismatch", "Its serial number differs.", 21.0, source, boot)
            told += [(wave + 6 * draw.random(), said)]
            told += [(wave + 6 * draw.random(), Discovered(f"02:00:{number:08x}", 20.0, source, "S-1", "U-1"))]
    return [each for _, each in sorted(told, key=lambda pair: pair[0])]


def _cost(store: Store, told: list[Told]) -> tuple[float, float]:
    clock, cpu = time.perf_counter(), time.process_time()
    store.tell(told)
    return 1e6 * (time.perf_counter() - clock) / len(told), 1e6 * (time.process_time() - cpu) / len(told)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
