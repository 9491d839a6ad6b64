"""What a scheduler keeps of a job: the job, what ended it or a part of it, and what cannot be told."""

from dataclasses import dataclass

from fleet_runner.core.jobs.event import Area, Event, Role
from fleet_runner.core.jobs.job import Job


@dataclass(frozen=True, slots=True)
class Record:
    """A job as its scheduler tells it. `notes` are sentences about what was left out, or could not be told."""

    job: Job
    events: tuple[Event, ...] = ()
    notes: tuple[str, ...] = ()


KINDS: dict[str, tuple[Area, Role]] = {
    # The scheduler lost a node: its daemon, its network or the node itself.
    "job.node_failed": (Area.UNKNOWN, Role.SYMPTOM),
    "job.out_of_memory": (Area.SOFTWARE, Role.CAUSE),
    # A limit, a person or the scheduler itself ended it; what hangs reaches its limit, too.
    "job.out_of_time": (Area.UNKNOWN, Role.CONTEXT),
    "job.cancelled": (Area.UNKNOWN, Role.CONTEXT),
    "job.preempted": (Area.UNKNOWN, Role.CONTEXT),
    "job.evicted": (Area.UNKNOWN, Role.SYMPTOM),
    "job.deleted": (Area.UNKNOWN, Role.CONTEXT),
    # A process ended with a status or by a signal: what made it do so is for its output, and for its nodes, to say.
    "job.failed": (Area.UNKNOWN, Role.SYMPTOM),
}
"""What a scheduler says of the end of a job or of a part of it, by code."""
