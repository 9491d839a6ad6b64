"""Jobs and answers to test with."""

from dataclasses import replace
from typing import Any

from fleet_runner.core.jobs.answer import Answer
from fleet_runner.core.jobs.event import Area, Event, Role
from fleet_runner.core.jobs.job import Job

BEGUN, ENDED = 1_000_000.0, 1_036_000.0
JOB = Job("4711", ("gpu-01", "gpu-02"), BEGUN, ENDED, "slurm", "pretrain", "ann", "acme", "NODE_FAIL", gpus=16)


def fallen(at: float | None = ENDED - 600.0, **more: Any) -> Event:
    """A GPU that fell off the bus."""
    words: dict[str, Any] = {
        "area": Area.HARDWARE,
        "role": Role.CAUSE,
        "code": "xid.79",
        "message": "gpu-01: GPU 3 has fallen off the bus",
        "node": "gpu-01",
        "component": "GPU 3",
    }
    return Event(at, **words | more)


def answer(origin: Event | None = None, /, **job: Any) -> Answer:
    """An answer about a job that began with an event; without one nothing is known."""
    area = Area.UNKNOWN if origin is None else origin.area
    events = () if origin is None else (origin,)
    return Answer(replace(JOB, **job), area, "It is so.", origin=origin, timeline=events)
