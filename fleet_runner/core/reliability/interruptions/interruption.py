"""Which answers are about interruptions, and how long each job ran, stood still and worked again."""

from collections.abc import Iterable
from dataclasses import dataclass

from fleet_runner.core.jobs.event import Area
from fleet_runner.core.jobs.kept import KeptAnswer
from fleet_runner.core.reliability.interruptions.families import Family, family

WELL = frozenset({"COMPLETED", "COMPLETE", "SUCCEEDED"})
"""What schedulers call an end that is none of a failure."""

ASKED = frozenset({"job.preempted", "job.cancelled", "job.deleted", "job.out_of_time", "job.time_limit"})
"""Ends that somebody asked for, or that were known beforehand: they are planned, and interrupt nothing."""

STATES = ("PREEMPTED", "CANCELLED", "TIMEOUT", "DEADLINE")
"""How schedulers call such an end; it is one unless something is known that ended the job, or had it hang."""

LONGEST_STILL = 3_600.0
"""Seconds that a job is taken to stand still at most, between a fault and its end: what began it may be older.

PyTorch's watchdog ends a NCCL job after 10 minutes without progress, by default.
"""


@dataclass(frozen=True, slots=True)
class Assumed:
    """What nobody measures, in seconds: from checkpoint to checkpoint, and from a job's start to its first new step.

    The defaults are those with which Meta counts: an hour, and 5 minutes (arXiv 2410.21680, section III). Writing a
    checkpoint is taken to stop nothing.
    """

    checkpoint: float = 3_600.0
    restart: float = 300.0


@dataclass(frozen=True, slots=True)
class Interruption:
    """A job's unplanned end. `fault_at` is the middle of the time in which it began, None where that is not known."""

    answer: KeptAnswer
    family: Family
    ended: float
    fault_at: float | None

    @property
    def is_infrastructure(self) -> bool:
        """Whether hardware, fabric or storage did it; or the scheduler lost a node, and nobody knows why."""
        area = self.answer.area
        lost = area is Area.UNKNOWN and _state(self.answer).startswith("NODE_FAIL")
        return lost or area in {Area.HARDWARE, Area.FABRIC, Area.STORAGE}

    @property
    def runtime(self) -> float:
        """Return for how many seconds the job ran."""
        return max(0.0, self.ended - self.answer.begun)

    @property
    def still(self) -> float:
        """Return for how many seconds it held its nodes and did nothing, from the fault to its end."""
        if self.fault_at is None:
            return 0.0
        return min(LONGEST_STILL, self.runtime, max(0.0, self.ended - self.fault_at))

    def redone(self, assumed: Assumed) -> float:
        """Return how many seconds of work are done again: half of the time between checkpoints, on average."""
        return min(assumed.checkpoint / 2, self.runtime - self.still)


def interruption(answer: KeptAnswer) -> Interruption | None:
    """Return what an answer says of an interruption; None where the job runs, ended well, or as somebody asked."""
    if answer.ended is None or _state(answer) in WELL or answer.code in ASKED:
        return None
    if answer.area is Area.UNKNOWN and _state(answer).startswith(STATES):
        return None
    at = None if answer.fault_at is None else answer.fault_at - answer.blur / 2
    return Interruption(answer, family(answer.area, answer.code, answer.component), answer.ended, at)


def interruptions(answers: Iterable[KeptAnswer]) -> tuple[Interruption, ...]:
    """Return the interruptions among answers."""
    return tuple(found for each in answers if (found := interruption(each)) is not None)


def _state(answer: KeptAnswer) -> str:
    return answer.state.upper()
