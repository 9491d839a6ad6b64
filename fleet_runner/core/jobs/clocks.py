"""Times of an output that tells no zone, brought to the job's own: launchers and loggers write local time."""

from collections.abc import Sequence
from dataclasses import replace

from fleet_runner.core.jobs.event import Event
from fleet_runner.core.jobs.job import Job

ZONES = tuple(
    sorted(range(-12 * 3600, 14 * 3600 + 1, 900), key=lambda zone: (zone % 3600 != 0, zone % 1800 != 0, abs(zone)))
)
"""Seconds by which clocks are ahead of UTC, the usual ones first."""

CLOSE = 600.0
"""Seconds by which an output may go on after its job ended, begin before it, or end before it does."""

SAME = 60.0
"""Seconds between an output's last line and its job's end that are next to none."""


def zone_of(first: float, last: float, job: Job) -> int:
    """Return by how many seconds a clock is ahead of UTC, by the earliest and latest time that it told.

    0 where they fit the job as they are, where the job still runs, and where no zone brings the last to its end.
    An output that ends hours before its job may be that of a job that hung: its clock is taken as another zone's only
    where the two ends then are as good as the same.
    """
    if job.ended is None or fits(first, last, job):
        return 0
    near = SAME if job.begun - CLOSE <= first and last <= job.ended else CLOSE
    for zone in ZONES:
        if first - zone >= job.begun - CLOSE and abs(last - zone - job.ended) <= near:
            return zone
    return 0


def fits(first: float, last: float, job: Job) -> bool:
    """Return whether times taken as UTC end when their job did, and begin no earlier than it."""
    return job.ended is not None and job.begun - CLOSE <= first and abs(last - job.ended) <= CLOSE


def shifted(events: Sequence[Event], seconds: int) -> tuple[Event, ...]:
    """Return events of an output whose clock is ahead by so many seconds, at their true times."""
    if not seconds:
        return tuple(events)
    return tuple(replace(each, at=None if each.at is None else each.at - seconds) for each in events)
