"""Run seeds by hand or at night: `python -m tests.chaos --seeds 200 --database postgresql`."""

import argparse
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any

from tests import postgres
from tests.chaos.herd import environment
from tests.chaos.seeds import Report, Setting, run


def main() -> int:
    """Run them, some at a time; say of each how long it took, and of those that failed everything."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="postgresql")
    parser.add_argument("--seeds", type=int, default=20, help="how many")
    parser.add_argument("--first", type=int, default=1, help="the number of the first one")
    parser.add_argument("--nodes", type=int, default=10)
    parser.add_argument("--disturbances", type=int, default=6)
    parser.add_argument("--in-a-row", type=int, default=1, help="how many one lab takes, one after the other")
    parser.add_argument("--healthy", action="store_true", help="of the hardware nothing breaks")
    parser.add_argument("--at-once", type=int, default=4, help="labs")
    given = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell in the background has it ignored
        signal.signal(number, signal.default_int_handler)
    failed: list[str] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fleet-chaos-env-")))
        data = stack.enter_context(postgres.template()) if given.database == "postgresql" else None
        python = environment(folder / "env")
        setting = Setting(python, data, given.nodes, given.disturbances, given.in_a_row, given.healthy)
        for report in reports(range(given.first, given.first + given.seeds), setting, given.at_once):
            if report.wrong:
                failed.append(report.name)
                say(str(report))
            how = f"{'FAILED' if report.wrong else 'well'} after {report.seconds:.0f} s"
            say(f"{report.name}: {how}, {report.forked} of {report.plays} runs in forked plays")
    say(f"{given.seeds} seeds on {given.database}, failed: {', '.join(sorted(failed)) or 'none'}")
    return 1 if failed else 0


def reports(seeds: range, setting: Setting, at_once: int) -> Iterator[Report]:
    """Run seeds, each lab in a process of its own, and return what became of them; left early, none goes on."""
    context, each = get_context("fork"), setting.in_a_row
    waiting = [seeds[start : start + each] for start in range(0, len(seeds), each)]
    going: dict[Any, tuple[range, ForkProcess]] = {}  # by the pipe that brings its report
    try:
        while waiting or going:
            while waiting and len(going) < at_once:
                mine, theirs = context.Pipe(duplex=False)
                process = context.Process(target=_run, args=(theirs, waiting[0], setting))
                process.start()
                theirs.close()
                going[mine] = (waiting.pop(0), process)
            ready = wait(list(going))
            for mine in [pipe for pipe in going if pipe in ready]:
                lost, process = going.pop(mine)
                try:
                    yield mine.recv()
                except EOFError:
                    yield Report(lost, (), [f"its process ended without a word ({process.exitcode})"])
                process.join()
    finally:
        for _, process in going.values():
            process.terminate()  # which it takes for Ctrl-C: it ends what it started
        for _, process in going.values():
            process.join()


def _run(theirs: Connection, seeds: range, setting: Setting) -> None:
    theirs.send(run(seeds, setting))


def say(words: str) -> None:
    """Print it at once."""
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
