"""How well the causes of jobs' deaths are told, on drawn deaths whose cause is known.

`python benchmarks/job_deaths.py [DEATHS]` draws so many (default 420, as many of each cause), gives each to
`fleet-runner job` in several ways, and prints for each way precision and recall by area, how often the right node was
named, and how often hardware was blamed for what software alone did. The ways:

- files: the job's output and its nodes' kernel logs, as `--log`; no store and no scheduler
- store: what a fleet's store (SQLite) learned by pushed logs and hourly sweeps, and Slurm's accounts
- sweeps: the same of a fleet whose nodes push no logs
- store and output: as store, with the job's output as `--log`
"""

import argparse
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from fleet_runner import settings
from fleet_runner.adapters.store import Store
from fleet_runner.cli.jobs.evidence import Nowhere, OfFleet
from fleet_runner.cli.jobs.job import answered
from fleet_runner.core.checks.parsers import slurm_job
from fleet_runner.core.jobs.answer import Answer
from fleet_runner.core.jobs.event import Area
from fleet_runner.core.jobs.record import Record
from fleet_runner.lab.job_deaths import AREAS, Cause, Death, death
from fleet_runner.lab.stored_deaths import put, sacct

SHARE = ("hardware", "fabric", "storage", "software", "unknown")
OUTPUT = "slurm-4711.out"


@dataclass
class Score:
    """What one way told of all deaths."""

    told: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    by_cause: Counter[tuple[Cause, str]] = field(default_factory=Counter[tuple[Cause, str]])
    named: int = 0
    blamed: int = 0
    machines: int = 0
    seconds: float = 0.0

    def add(self, made: Death, answer: Answer) -> None:
        """Count an answer."""
        truth = AREAS[made.cause]
        self.told[truth, answer.area.value] += 1
        self.by_cause[made.cause, answer.area.value] += 1
        machine = answer.area in {Area.HARDWARE, Area.FABRIC}
        self.machines += machine
        self.named += machine and answer.exclude[:1] == (made.node,)
        self.blamed += bool(truth == "software" and (machine or answer.exclude))

    def show(self, way: str) -> None:
        """Print it."""
        print(f"== {way}")
        for cause in Cause:
            row = ", ".join(f"{area} {self.by_cause[cause, area]}" for area in SHARE if self.by_cause[cause, area])
            print(f"{cause.value:12} ({AREAS[cause]}): {row}")
        for area in SHARE:
            right = self.told[area, area]
            said = sum(count for (_, answer), count in self.told.items() if answer == area)
            true = sum(count for (truth, _), count in self.told.items() if truth == area)
            precision, recall = right / max(said, 1), right / max(true, 1)
            print(f"{area:9} precision {precision:.3f} of {said}, recall {recall:.3f} of {true}")
        print(f"the right node first, of answers that name a machine: {self.named} of {self.machines}")
        print(f"software-only deaths with anything held against a machine: {self.blamed}")
        print(f"{self.seconds:.1f} s of CPU to answer")


def main() -> None:
    """Draw, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("deaths", nargs="?", type=int, default=420)
    wanted = parser.parse_args().deaths
    scores = {way: Score() for way in ("files", "store", "sweeps", "store and output")}
    causes = list(Cause)
    for number in range(wanted):
        made = death(number, causes[number % len(causes)])
        with tempfile.TemporaryDirectory() as folder:
            _judge(made, Path(folder), scores)
    for way, score in scores.items():
        score.show(way)


def _judge(made: Death, folder: Path, scores: dict[str, Score]) -> None:
    logs = folder / "logs"
    logs.mkdir()
    for name, text in made.files.items():
        (logs / name).write_text(text)
    _timed(scores["files"], made, Record(made.job), [logs], Nowhere())
    record = slurm_job.parse(sacct(made).splitlines(), made.job.id)
    for way, pushed in (("store", True), ("sweeps", False)):
        with Store.create(f"sqlite:///{folder / way}.db") as store:
            put(store, made, pushed=pushed)
            known = OfFleet(settings.load(), store)
            _timed(scores[way], made, record, [], known)
            if pushed:
                _timed(scores["store and output"], made, record, [logs / OUTPUT], known)


def _timed(score: Score, made: Death, record: Record, paths: list[Path], known: Nowhere) -> None:
    begun = time.process_time()
    answer = answered(record, paths, known, made.job.ended or 0.0)
    score.seconds += time.process_time() - begun
    score.add(made, answer)


if __name__ == "__main__":
    main()
