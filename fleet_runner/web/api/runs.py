"""Runs, the queue of batches that carry them, and who carries those."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query

from fleet_runner.adapters.store.runs.past import SoughtRuns
from fleet_runner.core.access.api import Page, Queue, Runner
from fleet_runner.core.boot.boots import Boot
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.firmware.flash import Flash
from fleet_runner.core.lifecycle.runs import Outcome, Run, Stored
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.reconcile.lifecycle import queue as queueing
from fleet_runner.reconcile.loop import remote_answers
from fleet_runner.web.access import Sees
from fleet_runner.web.api.bounds import NOT_FOUND, REFUSALS, Cursor, Limit, Narrow, Number, missing, numbered
from fleet_runner.web.site import Here

router = APIRouter(tags=["runs"], responses=REFUSALS)


@router.get("/runs", operation_id="list_open_runs")
def opened(here: Here, _: Sees) -> tuple[Run, ...]:
    """List every run that goes on, oldest first."""
    return here.store.open_runs()


@router.get("/runs/past", operation_id="list_past_runs")
def past(  # noqa: PLR0913  a query has as many parameters as it narrows by
    *,
    here: Here,
    _: Sees,
    node: Narrow = "",
    stage: Stage | None = None,
    outcome: Outcome | None = None,
    limit: Limit = 100,
    cursor: Cursor = "",
) -> Page[Run]:
    """List runs that are over, the newest first; a page may be short, or empty, and have a next one all the same."""
    found = here.store.past_runs(SoughtRuns(node, stage, outcome), below=numbered(cursor), limit=limit)
    return Page(found.runs, str(found.older) if found.older is not None else None)


@router.get("/runs/{number}", operation_id="get_run", responses=NOT_FOUND)
def one(here: Here, _: Sees, number: Number) -> Run:
    """Return a run."""
    found = here.store.run(number)
    if found is None:
        raise missing(f"run {number}")
    return found


@router.get("/runs/{number}/results", operation_id="get_results_of_run", responses=NOT_FOUND)
def results(here: Here, _: Sees, number: Number) -> tuple[Stored, ...]:
    """Return a run's results in the order they came."""
    if here.store.run(number) is None:
        raise missing(f"run {number}")
    return here.store.results(number)


@router.get("/durations", operation_id="get_durations")
def durations(
    here: Here, _: Sees, stage: Stage, limit: Annotated[int, Query(ge=1, le=500)] = 50
) -> tuple[float, ...]:
    """Return the seconds that the newest runs of a stage took to a verdict, newest first."""
    return here.store.durations(stage, limit)


@router.get("/queue", operation_id="get_queue")
def queue(here: Here, _: Sees) -> Queue:
    """Return every batch that has not ended, and why what waits does."""
    return remote_answers.queue(here.settings, here.store)


@router.get("/runners", operation_id="list_runners")
def runners(here: Here, _: Sees) -> tuple[Runner, ...]:
    """List who runs."""
    decides = queueing.deciding(here.settings, here.store)
    return tuple(
        Runner(**asdict(each), state=queueing.standing(each, decides, here.settings.lease_seconds))
        for each in queueing.runners(here.settings, here.store)
    )


@router.get("/alarms", operation_id="list_alarms")
def alarms(here: Here, _: Sees) -> tuple[Alarm, ...]:
    """List what stands of all nodes, oldest first, also what does not count yet."""
    return here.store.standing_alarms()


@router.get("/boots", operation_id="list_open_boots")
def boots(here: Here, _: Sees) -> tuple[Boot, ...]:
    """List every boot over the network that goes on, oldest first."""
    return here.store.open_boots()


@router.get("/flashes", operation_id="list_open_flashes")
def flashes(here: Here, _: Sees) -> tuple[Flash, ...]:
    """List every firmware update that goes on."""
    return here.store.open_flashes()
