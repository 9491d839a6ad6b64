"""Deaths with a known cause are told right: by what the job, Slurm and the nodes' kernels would have left."""

from pathlib import Path

import pytest

from fleet_runner.cli.jobs.evidence import Nowhere
from fleet_runner.cli.jobs.job import answered
from fleet_runner.core.jobs.answer import Answer
from fleet_runner.core.jobs.event import Area
from fleet_runner.core.jobs.record import Record
from fleet_runner.lab.job_deaths import AREAS, Cause, Death, death

SEEDS = range(4)


def answer(made: Death, folder: Path) -> Answer:
    """Return what is told of a death."""
    for name, text in made.files.items():
        (folder / name).write_text(text)
    return answered(Record(made.job), [folder], Nowhere(), made.job.ended or 0.0)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("cause", [each for each in Cause if each is not Cause.MACHINE])
def test_the_cause_is_found(cause: Cause, seed: int, tmp_path: Path) -> None:
    """With the node it began at, where it is one node's."""
    made = death(seed, cause)
    told = answer(made, tmp_path)
    assert told.area.value == AREAS[cause], told.sentence
    if told.area in {Area.HARDWARE, Area.FABRIC}:
        assert told.exclude[0] == made.node
    if cause in {Cause.BUG, Cause.GPU_OOM, Cause.OOM, Cause.SEGFAULT, Cause.KERNEL_BUG}:
        assert told.origin is not None
        assert made.node in told.origin.node or told.origin.rank == made.rank
        assert told.exclude == ()
    if cause is Cause.HANG:
        assert told.look_at[0] == f"rank {made.rank} on {made.node}"
    if cause is Cause.TWO:
        assert Area.SOFTWARE in {each.area for each in told.others} or len(made.job.nodes) == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_a_machine_that_stops_without_a_word_is_named_and_not_condemned(seed: int, tmp_path: Path) -> None:
    """Its kernel may have had no time to say why."""
    made = death(seed, Cause.MACHINE)
    told = answer(made, tmp_path)
    spoke = "Machine Check Exception" in made.files[f"{made.node}.dmesg"]
    assert told.area is (Area.HARDWARE if spoke else Area.UNKNOWN)
    assert made.node in (told.exclude if spoke else told.look_at)


def test_the_same_seed_draws_the_same_death() -> None:
    """Or a figure could not be measured again."""
    assert death(7, Cause.GPU).files == death(7, Cause.GPU).files
    assert death(7, Cause.GPU).files != death(8, Cause.GPU).files
