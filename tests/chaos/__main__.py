"""Run seeds by hand or at night: `python -m tests.chaos --seeds 200 --database postgresql`."""

import argparse
import signal
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path

from tests.chaos import postgres
from tests.chaos.herd import environment
from tests.chaos.seeds import Setting, run


def main() -> int:
    """Run them, some at a time; say of each how long it took, and of those that failed everything."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="postgresql")
    parser.add_argument("--seeds", type=int, default=20, help="how many")
    parser.add_argument("--first", type=int, default=1, help="the number of the first one")
    parser.add_argument("--nodes", type=int, default=10)
    parser.add_argument("--disturbances", type=int, default=6)
    parser.add_argument("--at-once", type=int, default=4)
    given = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell in the background has it ignored
        signal.signal(number, signal.default_int_handler)
    failed: list[int] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fleet-chaos-env-")))
        data = stack.enter_context(postgres.template()) if given.database == "postgresql" else None
        setting = Setting(environment(folder / "env"), data, given.nodes, given.disturbances)
        pool = stack.enter_context(ProcessPoolExecutor(given.at_once, get_context("fork")))
        asked = [pool.submit(run, seed, setting) for seed in range(given.first, given.first + given.seeds)]
        for each in as_completed(asked):
            report = each.result()
            if report.wrong:
                failed.append(report.seed)
                say(str(report))
            say(f"seed {report.seed}: {'FAILED' if report.wrong else 'well'} after {report.seconds:.0f} s")
    say(f"{given.seeds} seeds on {given.database}, failed: {sorted(failed) or 'none'}")
    return 1 if failed else 0


def say(words: str) -> None:
    """Print it at once."""
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
