"""How well the node that holds a job back is told, on drawn jobs of which it is known.

`python benchmarks/slow_jobs.py [JOBS]` draws so many (default 240) of each class: one node is slow, or all are alike.
It judges them as `fleet-runner job` does, once by the job's output alone, once by its nodes' sweeps
too, and prints how often a node was named, and how often the right one.
"""

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path

from fleet_runner.cli.jobs.evidence import Nowhere
from fleet_runner.cli.jobs.job import answered
from fleet_runner.core.jobs.job import Job
from fleet_runner.core.jobs.node_measures import NodesCompared, compare
from fleet_runner.core.jobs.record import Record
from fleet_runner.lab.slow_jobs import Form, SlowJob, slow_job


class Swept(Nowhere):
    """What sweeps measured of a drawn job's nodes, and nothing else."""

    def __init__(self, made: SlowJob) -> None:
        self._made = made

    def compared(self, job: Job) -> NodesCompared:
        """Return how its nodes differ."""
        del job
        return compare(self._made.looks, self._made.types)


def held_by(made: SlowJob, known: Nowhere) -> str:
    """Return the node that is said to hold a job back, "" where none is."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "slurm-4711.out"
        path.write_text(made.output)
        return answered(Record(made.job), [path], known, made.job.begun + 9_000).held_by


def _sum(told: Counter[tuple[Form, str]], wanted: str) -> int:
    return sum(count for (_, word), count in told.items() if word == wanted)


def main() -> None:
    """Draw, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("jobs", nargs="?", type=int, default=240)
    wanted = parser.parse_args().jobs
    forms = tuple(Form)
    begun = time.process_time()
    for title in ("output alone", "output and sweeps"):
        told: Counter[tuple[Form, str]] = Counter()
        for number in range(wanted):
            form = forms[number % len(forms)]
            for is_alike in (False, True):
                made = slow_job(number, form, is_alike=is_alike)
                named = held_by(made, Nowhere() if title == "output alone" else Swept(made))
                if is_alike:
                    told[form, "alike, named" if named else "alike"] += 1
                else:
                    told[form, "right" if named == made.node else "wrong" if named else "none"] += 1
        print(f"{title}:")
        for form in forms:
            print(
                f"  {form.value:32} "
                + ", ".join(
                    f"{word} {told[form, word]}" for word in ("right", "wrong", "none", "alike", "alike, named")
                )
            )
        right, wrong, none = (_sum(told, word) for word in ("right", "wrong", "none"))
        false = _sum(told, "alike, named")
        said, slow = right + wrong + false, right + wrong + none
        print(f"  precision {right / max(said, 1):.3f} of {said}, recall {right / max(slow, 1):.3f} of {slow}")
        print(f"  a node named where all are alike: {false} of {wanted}")
    print(f"{time.process_time() - begun:.1f} s of CPU")


if __name__ == "__main__":
    main()
