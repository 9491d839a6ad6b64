"""Of jobs that nothing ended the node is told that holds the others back, and none where all are alike."""

from pathlib import Path

import pytest

from fleet_runner.cli.jobs.evidence import Nowhere
from fleet_runner.cli.jobs.job import answered
from fleet_runner.core.jobs.answer import Answer
from fleet_runner.core.jobs.event import Area
from fleet_runner.core.jobs.job import Job
from fleet_runner.core.jobs.node_measures import NodesCompared, compare
from fleet_runner.core.jobs.record import Record
from fleet_runner.lab.slow_jobs import Form, SlowJob, slow_job

NAMELESS = {Form.SPREAD, Form.NOTHING}


class Swept(Nowhere):
    """What sweeps measured of a drawn job's nodes."""

    def __init__(self, made: SlowJob) -> None:
        self._made = made

    def compared(self, job: Job) -> NodesCompared:
        """Return how its nodes differ."""
        del job
        return compare(self._made.looks, self._made.types)


def told(made: SlowJob, folder: Path, known: Nowhere) -> Answer:
    (folder / "slurm-4711.out").write_text(made.output)
    return answered(Record(made.job), [folder], known, made.job.begun + 9_000)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("form", list(Form))
def test_the_slow_node_is_named_and_not_left_out(form: Form, seed: int, tmp_path: Path) -> None:
    """By the output alone where it says whose times they are, else by the sweeps, but not a slow data loader."""
    made = slow_job(seed, form, is_alike=False)
    alone = told(made, tmp_path, Nowhere())
    assert alone.held_by == ("" if form in NAMELESS else made.node), alone.sentence
    answer = told(made, tmp_path, Swept(made))
    assert answer.held_by in ({made.node, ""} if form in NAMELESS else {made.node}), answer.sentence
    assert (answer.exclude, answer.area) == ((), Area.UNKNOWN)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("form", list(Form))
def test_where_all_are_as_slow_as_each_other_nobody_is_named(form: Form, seed: int, tmp_path: Path) -> None:
    made = slow_job(seed, form, is_alike=True)
    answer = told(made, tmp_path, Swept(made))
    assert (answer.held_by, answer.look_at) == ("", ())
    assert "No node holds the others back by what is known" in answer.sentence


def test_the_same_seed_draws_the_same_job() -> None:
    """Or a figure could not be measured again."""
    assert slow_job(7, Form.LINES, is_alike=False) == slow_job(7, Form.LINES, is_alike=False)
    assert slow_job(7, Form.LINES, is_alike=False) != slow_job(8, Form.LINES, is_alike=False)
