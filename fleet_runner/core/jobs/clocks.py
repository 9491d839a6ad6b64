"""Times of an output that tells no zone, brought to the job's own: launchers and loggers write local time."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from fleet_runner.core.jobs.event import Event
from fleet_runner.core.jobs.job import Job

QUARTER = 900
"""Seconds: every zone on earth differs from UTC by a multiple of it."""

FARTHEST = 14 * 3600

CLOSE = 600.0
"""Seconds by which an output may go on after its job ended, or begin before it: nothing is shifted for these."""


def zone_of(times: Iterable[float], job: Job) -> int:
    """Return by how many seconds the output's clock is ahead of UTC, a multiple of QUARTER.

    0 where all of its times lie within the job as they are, where the job still runs, and where no zone brings the
    last of them close to the job's end.
    """
    told = sorted(times)
    if not told or job.ended is None:
        return 0
    if job.begun - CLOSE <= told[0] and told[-1] <= job.ended + CLOSE:
        return 0
    ahead = round((told[-1] - job.ended) / QUARTER) * QUARTER
    fits = told[0] - ahead >= job.begun - CLOSE and abs(told[-1] - ahead - job.ended) <= CLOSE
    return ahead if fits and abs(ahead) <= FARTHEST else 0


def shifted(events: Sequence[Event], seconds: int) -> tuple[Event, ...]:
    """Return events of an output whose clock is ahead by so many seconds, at their true times."""
    if not seconds:
        return tuple(events)
    return tuple(replace(each, at=None if each.at is None else each.at - seconds) for each in events)
