"""Times of an output that tells no zone, brought to the job's own: launchers and loggers write local time."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from fleet_runner.core.jobs.event import Event
from fleet_runner.core.jobs.job import Job
from fleet_runner.core.jobs.lines import Line

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


AFTER = 2 * 86_400.0
"""Seconds after a job's end that its output may tell: another zone's clock, and what is written then."""

HALF_YEAR = 182 * 86_400.0
"""Seconds around a time that tells its year in which others of the same output lie."""


class Years:
    """The years of times that tell none: the last one in which they are no later than they can be."""

    def __init__(self, ended: float | None) -> None:
        """Take the job's end, None where years are to stay as they are."""
        self._latest = None if ended is None else ended + AFTER

    def placed(self, line: Line) -> Line:
        """Return the next line with its time in its year."""
        if line.at is None or self._latest is None:
            return line
        if line.yearless:
            return line._replace(at=_in_year(line.at, self._latest))
        self._latest = min(self._latest, line.at + HALF_YEAR)
        return line


def _in_year(at: float, latest: float) -> float:
    told = datetime.fromtimestamp(at, UTC)
    last = datetime.fromtimestamp(latest, UTC).year
    for year in (last, last - 1):
        try:
            moment = told.replace(year=year).timestamp()
        except ValueError:
            continue  # 29 February
        if moment <= latest:
            return moment
    return at


def shifted(events: Sequence[Event], seconds: int) -> tuple[Event, ...]:
    """Return events of an output whose clock is ahead by so many seconds, at their true times."""
    if not seconds:
        return tuple(events)
    return tuple(replace(each, at=None if each.at is None else each.at - seconds) for each in events)
