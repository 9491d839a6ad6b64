"""Interrupted jobs in words: sentences, and the rows of the report's tables."""

import math
from collections.abc import Callable
from typing import NamedTuple

from fleet_runner.core.base.plural import counted
from fleet_runner.core.jobs.event import Area
from fleet_runner.core.reliability.interruptions.analyse import JobFigures, JobSize
from fleet_runner.core.reliability.interruptions.causes import Cause
from fleet_runner.core.reliability.interruptions.repair_times import Took
from fleet_runner.core.reliability.lifetimes.cohorts import within
from fleet_runner.core.reliability.lifetimes.rates import Between
from fleet_runner.core.reliability.lifetimes.saying import amount, days, percent, too_short
from fleet_runner.core.reliability.report.text import duration, hours

NONE = "No job's end was looked into in this time: `fleet-runner job JOBID` keeps its answer."

DASH = "–"  # noqa: RUF001  what stands in a table where there is no number


class CauseRow(NamedTuple):
    """A component in words: how many here and there, their shares, and node days from one to the next."""

    name: str
    interruptions: str
    share: str
    published: str
    published_share: str
    between: str


class LostRow(NamedTuple):
    """What was lost in one way: GPU hours, and how they are known."""

    name: str
    gpu_hours: str
    known: str


class SizeRow(NamedTuple):
    """Jobs of a size in words."""

    nodes: str
    jobs: str
    interruptions: str
    ran: str
    between: str
    expected: str
    ettr: str
    expected_ettr: str


def summary(found: JobFigures) -> str:
    """Return the one sentence that a report begins with."""
    if not found.answers:
        return NONE
    if not found.interruptions:
        return f"{counted(found.answers, 'job was', 'jobs were')} looked into, and none of them was interrupted."
    told = [f"{count:,} by {AREAS[area]}" for area, count in found.areas if count]
    said = f"{counted(found.interruptions, 'interruption')} of jobs: {', '.join(told)}"
    return f"{said}; {amount(found.lost.gpu_seconds / 3600)} GPU hours lost."


AREAS = {
    Area.HARDWARE: "hardware",
    Area.FABRIC: "the fabric",
    Area.STORAGE: "storage",
    Area.SOFTWARE: "software",
    Area.UNKNOWN: "a cause that is not known",
}


def sentences(found: JobFigures) -> tuple[str, ...]:
    """Return what the figures say: rates, training time, and what is not in them."""
    lines = ["Jobs that nobody asked about are in none of these figures.", _rate(found)]
    if found.planned:
        verb = "is" if found.planned == 1 else "are"
        more = f"{counted(found.planned, 'answer')} {verb} about jobs that run, ended well, or as somebody asked."
        lines[0] = f"{more} {lines[0]}"
    if found.ettr is not None:
        lines.append(
            f"Of the time of the jobs that were looked into, {percent(found.ettr)} was progress (ETTR). Few jobs that"
            " ended well are among them, so that of all jobs is higher."
        )
    if found.goodput is not None:
        lines.append(
            f"Interruptions by infrastructure left {percent(found.goodput)} of the nodes' time in production to work"
            " that lasts (goodput)."
        )
    return tuple(lines)


def assumptions(found: JobFigures) -> str:
    """Say what is assumed, and with which options it is another."""
    return (
        f"Assumed: a checkpoint every {duration(found.assumed.checkpoint)} (--checkpoint-minutes), of which half is"
        f" done again, and {duration(found.assumed.restart)} from a job's start to its first new step"
        " (--restart-minutes). Writing a checkpoint is taken to stop nothing."
    )


def _rate(found: JobFigures) -> str:
    days_ = counted(amount(found.node_days), "node day")
    if found.rate is None:
        return f"No rate is given: {too_short(found.node_days)}."
    if not found.rate.events:
        return f"Infrastructure interrupted no job in {days_} in production."
    each = found.rate.each
    thousand = Between(1_000 * each.value, 1_000 * (each.low or 0.0), 1_000 * (each.high or 0.0))
    return (
        f"In {days_} in production, infrastructure interrupted a job {amount(thousand.value)} times in 1,000 node"
        f" days ({within(thousand, amount)}, 95 % interval)."
    )


def cause_rows(found: JobFigures) -> tuple[CauseRow, ...]:
    """Return the rows of the table of components."""
    between = {row.family: spell(row.between, days) for row in found.families}
    return tuple(_cause(each, between.get(each.family, DASH) if each.family else DASH) for each in found.causes)


def _cause(row: Cause, between: str) -> CauseRow:
    mine = (f"{row.interruptions:,}", percent(row.share)) if row.family else (DASH, DASH)
    theirs = (DASH, DASH)
    if row.published is not None and row.published_share is not None:
        theirs = (f"{row.published:,}", percent(row.published_share))
    return CauseRow(row.name, *mine, *theirs, between)


def time_rows(found: JobFigures) -> tuple[tuple[str, str, str, str], ...]:
    """Return of each time its name, median, ninetieth, and how many are known."""
    return tuple((row.name, _took(row.median), _took(row.ninetieth), _known(row)) for row in found.times)


def _took(seconds: float | None) -> str:
    return DASH if seconds is None else duration(seconds)


def _known(row: Took) -> str:
    return f"{row.known:,} of {row.all:,}"


def lost_rows(found: JobFigures) -> tuple[LostRow, ...]:
    """Return what was lost, by how."""
    lost = found.lost
    of = f"of {counted(lost.interruptions, 'interruption')}"
    still = "measured where the time of the fault is known, at most 1 h each"
    without = f"{lost.without_gpus:,} {of} have no number of GPUs, and count 0"
    rows = [
        LostRow("standing still, from the fault to the job's end", hours(lost.still), still),
        LostRow("work done again since the last checkpoint", hours(lost.redone), f"assumed, {of}"),
        LostRow("starting again", hours(lost.restart), f"assumed, of {lost.runs_again:,} with a next run known"),
        LostRow("together", hours(lost.gpu_seconds), without),
    ]
    if lost.runs_again:
        mean = duration(lost.waiting / lost.runs_again)
        rows.append(LostRow("waiting for the next run", DASH, f"{mean} on average; costs the job time, and no GPU"))
    return tuple(rows)


def size_rows(found: JobFigures) -> tuple[SizeRow, ...]:
    """Return the rows of the table of sizes of jobs."""
    return tuple(_size(each) for each in found.sizes)


def _size(row: JobSize) -> SizeRow:
    return SizeRow(
        f"{row.least:,}" if row.least == row.most else f"{row.least:,} to {row.most:,}",
        f"{row.jobs:,}",
        f"{row.interruptions:,}",
        days(row.days),
        DASH if row.between is None else spell(row.between, days),
        DASH if row.expected_days is None else spell(row.expected_days, days),
        DASH if row.ettr is None else percent(row.ettr),
        DASH if row.expected_ettr is None else spell(row.expected_ettr, percent),
    )


def spell(between: Between, say: Callable[[float], str]) -> str:
    """Say a number with its interval; of a time between things of which none was seen, its lower end."""
    if math.isinf(between.value):
        return f"more than {say(between.low or 0.0)}"
    return f"{say(between.value)} ({within(between, say)})"
