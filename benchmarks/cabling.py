"""How long a whole fabric takes: parse, bind and explain up to 4,096 servers with 100 pairs of swapped cables.

`make bench-cabling` prints CPU seconds by step (the median of several rounds), the peak of memory, and the ratios to
two floors: reading the same file, and splitting its lines into words, which a busy machine slows down as the steps.
Beside it, where they are installed, the field's own tools with the same fabric and the same swaps.
"""

import argparse
import gc
import multiprocessing
import resource
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import captures
import peers

from fleet_runner.core.cabling.binding import bind
from fleet_runner.core.cabling.diff import diff
from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.judge import hold
from fleet_runner.core.cabling.links import Link, matching
from fleet_runner.core.cabling.names import names
from fleet_runner.core.checks.parsers import fabric_capture

ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds by step, and the peak of memory in MB of a process that does nothing else."""

    seconds: dict[str, float]
    peak_mb: float
    cables: int
    faults: int
    touches: int


def main() -> None:
    """Measure each size and form in a process of its own, so that one's memory is not the other's."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("servers", type=int, nargs="*", default=[64, 1024, 4096])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--collect", action="store_true", help="leave Python's garbage collector on")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for servers in chosen.servers:
            designed = captures.cables(servers)
            plugged = captures.swapped(designed)
            for form, write in captures.FORMS.items():
                file = Path(folder) / "capture"
                file.write_text(write(plugged), encoding="utf-8")
                for spelling in captures.SPELLINGS if form == "ibnetdiscover" else ("7",):
                    with multiprocessing.get_context("spawn").Pool(1) as pool:
                        cost = pool.apply(measure, (servers, file, chosen.rounds, chosen.collect, spelling))
                    _tell(servers, form if spelling == "7" else f"{form}, {spelling}", cost)
            for line in peers.compared(designed, plugged, Path(folder)):
                print(line, flush=True)


def measure(
    servers: int,
    file: Path,
    rounds: int,
    collect: bool,  # noqa: FBT001  a pool passes by position
    spelling: str,
) -> Cost:
    """Judge one fabric several times, whose design has its switches' ports in a spelling."""
    if not collect:
        gc.disable()  # as the command does: half a million tuples hold no cycle
    designed = captures.spelled(captures.cables(servers), captures.SPELLINGS[spelling])
    found = [_round(designed, file) for _ in range(rounds)]
    seconds = {step: statistics.median(one[0][step] for one in found) for step in found[0][0]}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Cost(seconds, peak, len(designed), *found[0][1])


def _round(designed: list[Link], file: Path) -> tuple[dict[str, float], tuple[int, int]]:
    clock = time.process_time
    servers = frozenset(port.device for joined in designed for port in joined if port.device.startswith("gpu"))
    begun = clock()
    text = file.read_bytes().decode("utf-8", errors="replace")
    read = clock()
    words = sum(len(line.split()) for line in text.split("\n"))
    split = clock()
    discovery = fabric_capture.read(text)
    parsed = clock()
    known = names((port for joined in designed for port in joined), {}, {}, designed)
    bound = bind(discovery.links, known)
    named = clock()
    verdicts = hold(designed, bound, Places({}, {}, servers), share=1.0)
    held = clock()
    components = diff(matching(designed), matching(bound.links))
    if not words or not components or len(verdicts.faults) != len(components):
        raise RuntimeError(f"{len(components)} differences gave {len(verdicts.faults)} faults, expected as many")
    steps = {"read": read - begun, "parse": parsed - split, "bind": named - parsed, "explain": held - named}
    steps |= {"all": sum(steps.values())}
    steps |= {"words": split - read}
    return steps, (len(verdicts.faults), sum(len(fault.actions) for fault in verdicts.faults))


def _tell(servers: int, form: str, cost: Cost) -> None:
    steps = ", ".join(f"{step} {seconds:.3f}" for step, seconds in cost.seconds.items())
    ratios = [cost.seconds["all"] / cost.seconds[floor] for floor in ("read", "words")]
    print(
        f"{servers:5d} servers, {cost.cables:6d} cables, {form:18}: {steps} s CPU; "
        f"{ratios[0]:.0f} times reading the file, {ratios[1]:.0f} times splitting it; peak {cost.peak_mb:.0f} MB; "
        f"{cost.faults} faults, {cost.touches} touches",
        flush=True,
    )


if __name__ == "__main__":
    main()
