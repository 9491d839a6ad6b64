"""An answer as it is kept: what is counted of it, and all of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fleet_runner.core.jobs.answer import Answer
from fleet_runner.core.jobs.event import Area


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """One job's end, or a job that runs, and what it came from.

    `scheduler`, `job`, `owner`, `tenant` and `state` are the scheduler's words, "" where it says none. `code`,
    `component`, `node`, `fault_at` and `blur` are those of the event it began with: "" and None where none is known.
    `at` is when the first answer was kept, `told_at` when this one was, `by` whom. `body` is `Answer.to_json`, and
    empty in lists. Times are epoch seconds, `ended` is None while the job runs; `gpus` is 0 where it is not told.
    """

    scheduler: str
    job: str
    owner: str
    tenant: str
    state: str
    begun: float
    ended: float | None
    gpus: int
    node_count: int
    area: Area
    code: str
    component: str
    node: str
    fault_at: float | None
    blur: float
    at: float
    told_at: float
    by: str
    body: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)


def kept(answer: Answer, at: float, by: str) -> KeptAnswer:
    """Return an answer as it is kept at a moment."""
    job, origin = answer.job, answer.origin
    return KeptAnswer(
        scheduler=job.scheduler,
        job=job.id,
        owner=job.owner,
        tenant=job.tenant,
        state=job.state,
        begun=job.begun,
        ended=job.ended,
        gpus=job.gpus,
        node_count=len(job.nodes),
        area=answer.area,
        code=origin.code if origin else "",
        component=origin.component if origin else "",
        node=origin.node if origin else "",
        fault_at=origin.at if origin else None,
        blur=origin.blur if origin else 0.0,
        at=at,
        told_at=at,
        by=by,
        body=answer.to_json(),
    )


def key(answer: Answer) -> str:
    """Return what answers about the same end of a job share: the scheduler's number, or the nodes, and the end."""
    job = answer.job
    end = "runs" if job.ended is None else f"{job.ended:.3f}"
    if job.id:
        return f"{job.scheduler} {job.id} {end}"
    return f"{' '.join(sorted(job.nodes))} {job.begun:.3f} {end}"
