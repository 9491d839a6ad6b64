"""What interruptions cost."""

from fleet_runner.core.reliability.interruptions.interruption import Assumed
from fleet_runner.core.reliability.interruptions.lost_time import NOTHING, lost, next_runs
from tests.core.reliability.interruptions.made import ENDED, HOUR, found, told

ASSUMED = Assumed(HOUR, 300.0)


def test_gpus_stood_still_and_work_is_done_again() -> None:
    """16 GPUs of 2 nodes: 10 minutes without progress, half an hour of work; nothing is known of a next run."""
    total = lost([found()], {}, ASSUMED)
    assert (total.interruptions, total.runs_again, total.without_gpus) == (1, 0, 0)
    assert (total.still, total.redone, total.restart, total.waiting) == (16 * 600.0, 16 * 1_800.0, 0.0, 0.0)
    assert (total.gpu_seconds, total.node_seconds) == (16 * 2_400.0, 2 * 2_400.0)


def test_a_job_that_ran_again_waited_and_started_again() -> None:
    again = told(None, begun=ENDED + 120.0, ended=ENDED + HOUR)
    begun = next_runs([again, told(), told(id="")])
    assert begun == {("slurm", "4711"): (told().begun, ENDED + 120.0)}
    total = lost([found()], begun, ASSUMED)
    assert (total.runs_again, total.restart, total.waiting) == (1, 16 * 300.0, 120.0)


def test_a_job_whose_gpus_are_not_known_costs_time_of_nodes() -> None:
    total = lost([found(gpus=0)], {}, ASSUMED)
    assert (total.without_gpus, total.gpu_seconds, total.node_seconds) == (1, 0.0, 2 * 2_400.0)
    assert lost([], {}, ASSUMED) == NOTHING
