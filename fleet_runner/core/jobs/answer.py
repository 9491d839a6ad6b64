"""The answer to "why did this job end?": one area, where it began, and what to do."""

from dataclasses import dataclass
from typing import Any

from fleet_runner.core.jobs.event import Area, Event
from fleet_runner.core.jobs.job import Job


@dataclass(frozen=True, slots=True)
class Answer:
    """What a job's death, or its slowness, came from.

    `sentence` is the conclusion. `origin` is the event it began with, None where nothing is known to have begun it;
    `symptom` the first one that followed from it. `others` are further causes, which alone would have ended the job.
    `timeline` are all events that matter, oldest first, those without a time last. `look_at` names the ranks or nodes
    to look at first where no cause is known; `held_by` is the node, or the rank, that holds all others back in a job
    that nothing ended, "" where none is known to. `exclude` are nodes that a new start should leave out. `done` says
    what was already done about it, `todo` what to do, `unsure` what could not be told and why; one sentence each.
    """

    job: Job
    area: Area
    sentence: str
    origin: Event | None = None
    symptom: Event | None = None
    others: tuple[Event, ...] = ()
    timeline: tuple[Event, ...] = ()
    look_at: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    todo: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()
    held_by: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types."""
        job = self.job
        return {
            "job": {
                "id": job.id,
                "scheduler": job.scheduler,
                "name": job.name,
                "owner": job.owner,
                "tenant": job.tenant,
                "nodes": list(job.nodes),
                "gpus": job.gpus,
                "begun": job.begun,
                "ended": job.ended,
                "state": job.state,
                "exit_code": job.exit_code,
                "failed_node": job.failed_node,
                "restarts": job.restarts,
            },
            "area": self.area.value,
            "sentence": self.sentence,
            "origin": None if self.origin is None else self.origin.to_json(),
            "symptom": None if self.symptom is None else self.symptom.to_json(),
            "others": [each.to_json() for each in self.others],
            "timeline": [each.to_json() for each in self.timeline],
            "look_at": list(self.look_at),
            "held_by": self.held_by,
            "exclude": list(self.exclude),
            "done": list(self.done),
            "todo": list(self.todo),
            "unsure": list(self.unsure),
        }
