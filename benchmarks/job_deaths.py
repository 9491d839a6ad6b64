"""How well the causes of jobs' deaths are told, on drawn deaths whose cause is known.

`python benchmarks/job_deaths.py [DEATHS]` draws so many (default 420, as many of each cause), writes the files that
each would have left, judges them as `fleet-runner job --log` does, and prints precision and recall by area, how often
the right node was named, and how often hardware was blamed for what software alone did.
"""

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path

from fleet_runner.cli.jobs.evidence import Nowhere
from fleet_runner.cli.jobs.job import answered
from fleet_runner.core.jobs.event import Area
from fleet_runner.core.jobs.record import Record
from fleet_runner.lab.job_deaths import AREAS, Cause, death

SHARE = ("hardware", "fabric", "storage", "software", "unknown")


def main() -> None:
    """Draw, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("deaths", nargs="?", type=int, default=420)
    wanted = parser.parse_args().deaths
    causes = list(Cause)
    told: Counter[tuple[str, str]] = Counter()
    by_cause: Counter[tuple[Cause, str]] = Counter()
    named = blamed = machines = 0
    begun, size = time.process_time(), 0
    for number in range(wanted):
        cause = causes[number % len(causes)]
        made = death(number, cause)
        with tempfile.TemporaryDirectory() as folder:
            for name, text in made.files.items():
                (Path(folder) / name).write_text(text)
                size += len(text)
            answer = answered(Record(made.job), [Path(folder)], Nowhere(), made.job.ended or 0.0)
        told[AREAS[cause], answer.area.value] += 1
        by_cause[cause, answer.area.value] += 1
        machine = answer.area in {Area.HARDWARE, Area.FABRIC}
        machines += machine
        named += machine and answer.exclude[:1] == (made.node,)
        blamed += bool(AREAS[cause] == "software" and (machine or answer.exclude))
    spent = time.process_time() - begun
    for cause in causes:
        row = ", ".join(f"{area} {by_cause[cause, area]}" for area in SHARE if by_cause[cause, area])
        print(f"{cause.value:12} ({AREAS[cause]}): {row}")
    for area in SHARE:
        right = told[area, area]
        said = sum(count for (_, answer_), count in told.items() if answer_ == area)
        true = sum(count for (truth, _), count in told.items() if truth == area)
        precision, recall = right / max(said, 1), right / max(true, 1)
        print(f"{area:9} precision {precision:.3f} of {said}, recall {recall:.3f} of {true}")
    print(f"the right node first, of answers that name a machine: {named} of {machines}")
    print(f"software-only deaths with anything held against a machine: {blamed}")
    print(f"{spent:.1f} s of CPU for {wanted} deaths, {size / 1e6:.0f} MB of logs")


if __name__ == "__main__":
    main()
