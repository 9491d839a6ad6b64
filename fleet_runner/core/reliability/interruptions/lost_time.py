"""What interruptions cost: seconds of each job's nodes, of four kinds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fleet_runner.core.jobs.kept import KeptAnswer
from fleet_runner.core.reliability.interruptions.interruption import Assumed, Interruption


@dataclass(frozen=True, slots=True)
class Lost:
    """GPU seconds and node seconds that interruptions took; `without_gpus` are jobs whose GPUs are not known.

    `still` is from the fault to the job's end, where the time of the fault is known. `redone` is the work since the
    last checkpoint, `restart` the start of the next run; both are assumed, the second only where the job ran again.
    `waiting` is from its end to the next run, where both are known: it costs the job time, and no GPU.
    """

    interruptions: int = 0
    without_gpus: int = 0
    runs_again: int = 0
    still: float = 0.0
    redone: float = 0.0
    restart: float = 0.0
    waiting: float = 0.0
    node_seconds: float = 0.0

    @property
    def gpu_seconds(self) -> float:
        """Return the GPU seconds that went into no work that lasts."""
        return self.still + self.redone + self.restart


NOTHING = Lost()


def next_runs(answers: Sequence[KeptAnswer]) -> Mapping[tuple[str, str], tuple[float, ...]]:
    """Return when the runs of each job that answers tell of began, by scheduler and number."""
    begun: dict[tuple[str, str], set[float]] = {}
    for each in answers:
        if each.job:
            begun.setdefault((each.scheduler, each.job), set()).add(each.begun)
    return {job: tuple(sorted(times)) for job, times in begun.items()}


def lost(found: Sequence[Interruption], begun: Mapping[tuple[str, str], tuple[float, ...]], assumed: Assumed) -> Lost:
    """Add up what interruptions cost; `begun` is from `next_runs`."""
    total = NOTHING
    for each in found:
        gpus = each.answer.gpus
        again = _again(each, begun)
        redone, restart = each.redone(assumed), 0.0 if again is None else assumed.restart
        total = Lost(
            total.interruptions + 1,
            total.without_gpus + (not gpus),
            total.runs_again + (again is not None),
            total.still + gpus * each.still,
            total.redone + gpus * redone,
            total.restart + gpus * restart,
            total.waiting + (0.0 if again is None else again - each.ended),
            total.node_seconds + each.answer.node_count * (each.still + redone + restart),
        )
    return total


def _again(each: Interruption, begun: Mapping[tuple[str, str], tuple[float, ...]]) -> float | None:
    """Return when the job's next run began, None where none is known."""
    times = begun.get((each.answer.scheduler, each.answer.job), ())
    return next((at for at in times if at >= each.ended), None)
