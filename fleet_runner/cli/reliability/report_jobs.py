"""The part of a report about jobs: what interrupted them, how long repairs took, what it cost, how often it comes."""

from collections.abc import Sequence
from typing import Any

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.jobs.answers import Sought
from fleet_runner.adapters.store.reliability import forecasts
from fleet_runner.cli.base.session import plain as plain_json
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.reliability.interruptions.analyse import Given, JobFigures, analyse
from fleet_runner.core.reliability.interruptions.interruption import Assumed, interruptions
from fleet_runner.core.reliability.interruptions.repair_times import looked_for
from fleet_runner.core.reliability.interruptions.words import sentences, summary
from fleet_runner.core.reliability.report.rows import Span
from fleet_runner.core.reliability.report.stories import Story

WEEK = 7 * 24 * 60.0
"""Minutes: more between two checkpoints, or until a job works, are no such figure but an error."""


def assumed(checkpoint_minutes: float, restart_minutes: float) -> Assumed:
    """Return what is assumed; FleetError for what cannot be."""
    if not 0 < checkpoint_minutes <= WEEK:
        raise FleetError(f"--checkpoint-minutes {checkpoint_minutes:g}: expected more than 0, and at most {WEEK:g}")
    if not 0 <= restart_minutes <= WEEK:
        raise FleetError(f"--restart-minutes {restart_minutes:g}: expected 0 to {WEEK:g}")
    return Assumed(checkpoint_minutes * 60, restart_minutes * 60)


def job_figures(store: Store, stories: Sequence[Story], span: Span, now: float, given: Assumed) -> JobFigures:
    """Read the answers about jobs that ended in a span, and count them."""
    answers = store.answers(span.since, span.until)
    sought = looked_for(interruptions(answers))
    seen = store.first_seen([Sought(each.answer.node, each.answer.code, *ends) for each, *ends in sought])
    detected = {each: at for (each, *_), at in zip(sought, seen, strict=True)}
    later = store.answers(span.until, max(now, span.until))
    return analyse(Given(answers, later, detected, stories, span, now), given)


def plain(found: JobFigures) -> dict[str, Any]:
    """Return the figures as a program takes them; what there is no number for is null."""
    body = {
        **plain_json(found),
        "lost_gpu_hours": found.lost.gpu_seconds / 3600,
        "sentences": [summary(found), *(sentences(found) if found.answers else ())],
    }
    told: dict[str, Any] = forecasts.plain(body)
    return told
