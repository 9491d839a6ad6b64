"""Jobs whose end somebody asked about: what ended them, and the evidence on a line of time."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Query, Request
from fastapi.responses import HTMLResponse

from fleet_runner.core.jobs.event import Area
from fleet_runner.core.jobs.evidence_timeline import evidence_timeline
from fleet_runner.web.access import Sees
from fleet_runner.web.rendering import page
from fleet_runner.web.site import Here

router = APIRouter()

LISTED = 100
"""Jobs of one page."""

EVENTS = 200
"""Events of a job that are drawn and listed."""

LATEST = 253_402_300_800.0
"""The first moment of the year 10000."""

NOTHING: Mapping[str, Any] = dict.fromkeys(
    ("at", "node", "rank", "component", "message", "code", "line", "role", "source"), ""
)
"""What is told of an event of which nothing is."""

JobName = Annotated[str, Path(max_length=400)]
Word = Annotated[str, Query(max_length=100)]


@router.get("/jobs")
def jobs(request: Request, here: Here, who: Sees, area: Word = "", node: Word = "") -> HTMLResponse:
    """Show the newest jobs about whose end somebody asked: all, of an area, or those that began at a node."""
    wanted = area if area in set(Area) else ""
    found = here.store.newest_answers(LISTED + 1, area=wanted, node=node)
    return page(
        request,
        who,
        "jobs.html",
        jobs=found[:LISTED],
        more=len(found) > LISTED,
        area=wanted,
        node=node,
        areas=[*Area],
    )


@router.get("/jobs/{name:path}")
def job(request: Request, here: Here, who: Sees, name: JobName) -> HTMLResponse:
    """Show what ended a job, and all evidence in the order of time."""
    found = here.store.answer_of(name)
    if found is None:
        raise HTTPException(404, f"nothing is kept of a job {name!r}; `fleet-runner job {name}` looks into it")
    body = found.body
    events = _rows(body, "timeline")
    return page(
        request,
        who,
        "job.html",
        job=found,
        sentence=str(body.get("sentence") or ""),
        nodes=_words(_part(body, "job"), "nodes"),
        name=str(_part(body, "job").get("name") or ""),
        drawn=evidence_timeline(events[:EVENTS], found.begun, found.ended),
        events=events[:EVENTS],
        left_out=max(0, len(events) - EVENTS) + int(body.get("timeline_left_out") or 0),
        lists=[
            (title, _words(body, key))
            for key, title in (
                ("done", "Done already"),
                ("todo", "To do"),
                ("unsure", "What could not be told"),
                ("look_at", "To look at first"),
            )
        ],
    )


def _part(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = body.get(name)
    return found if isinstance(found, Mapping) else {}


def _rows(body: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    found = body.get(name)
    told = [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []
    return [{**NOTHING, **each, "at": _moment(each.get("at"))} for each in told]


def _moment(at: object) -> float | None:
    """Return a moment that a calendar has, whatever a line of a log took for one."""
    return float(at) if isinstance(at, int | float) and 0 <= at < LATEST else None


def _words(body: Mapping[str, Any], name: str) -> list[str]:
    found = body.get(name)
    return [str(each) for each in found] if isinstance(found, list) else []
