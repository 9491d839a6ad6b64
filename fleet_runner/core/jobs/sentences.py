"""Where a job's end began, in a sentence."""

from collections.abc import Sequence

from fleet_runner.core.base.plural import counted
from fleet_runner.core.jobs import complaints
from fleet_runner.core.jobs.event import Area, Event
from fleet_runner.core.jobs.job import Job

CLEAN = frozenset({"COMPLETED", "Complete", "Completed", "Succeeded"})
"""States of a job that ended well."""

STOPPED = {
    complaints.TIME_LIMIT: "reached its time limit",
    complaints.CANCELLED: "was cancelled",
    complaints.PREEMPTED: "gave way to another job",
}
"""What is said of a job that was ended from outside."""

WORD = {
    Area.HARDWARE: "Hardware",
    Area.FABRIC: "Fabric",
    Area.STORAGE: "Storage",
    Area.SOFTWARE: "Software",
    Area.UNKNOWN: "Not known",
}


def place(event: Event, job: Job) -> str:
    """Return "rank 3 on gpu-07", or what is known of it."""
    node = event.node or (job.ranks.get(event.rank, "") if event.rank is not None else "")
    if event.rank is None:
        return node
    return f"rank {event.rank} on {node}" if node else f"rank {event.rank}"


def where(event: Event, job: Job) -> str:
    """Return where an event happened: node and part, or rank."""
    named = place(event, job)
    return f"{named}, {event.component}" if named and event.component else named or event.component or "the job"


def sentence(job: Job, origin: Event | None, others: Sequence[Event], otherwise: str) -> str:
    """Return the conclusion; `otherwise` is that where nothing is known to have begun it."""
    if origin is not None:
        more = f" Beside it: {counted(len(others), 'further cause')}." if others else ""
        return f"{WORD[origin.area]}: it began at {where(origin, job)}: {origin.what}.{more}"
    return otherwise


def unknown(job: Job, look_at: Sequence[str], symptom: Event | None, stopped: str) -> str:
    """Return what is said where nothing is known that the job's end began with."""
    if job.state in CLEAN:
        return "It ended well."
    if look_at:
        return f"Not known: no cause was found. Look at {', '.join(look_at[:3])} first."
    if stopped:
        return f"Not known: it {STOPPED[stopped]}, and nothing is known that went wrong before."
    if symptom is not None:
        named = f"{where(symptom, job)}: " if symptom.node or symptom.rank is not None else ""
        return f"Not known: no cause was found. The first that is known: {named}{symptom.what}."
    return "Not known: nothing was found that ended it."
