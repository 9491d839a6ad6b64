"""What comes by the clock: when it did and does, and what people want otherwise."""

from typing import Annotated

from fastapi import APIRouter, Form, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.schedules.known import KNOWN
from fleet_runner.core.schedules.text import words
from fleet_runner.reconcile.lifecycle import queue
from fleet_runner.reconcile.schedules.upcoming import coming
from fleet_runner.web.access import Sees, Steers
from fleet_runner.web.intents import wake
from fleet_runner.web.rendering import page
from fleet_runner.web.site import Here

router = APIRouter()


@router.get("/schedules")
def schedules(request: Request, here: Here, who: Sees) -> HTMLResponse:
    """Show every schedule: its plan, how the last one ended, and when the next one comes."""
    now, known = coming(here.settings, here.store)
    return page(
        request,
        who,
        "schedules.html",
        at=now,
        known=[(each, KNOWN[each.name], words(each.schedule, KNOWN[each.name].whose)) for each in known],
        serves=any(each.silent < here.settings.lease_seconds for each in queue.runners(here.settings, here.store)),
    )


@router.get("/schedules/{name}/pause")
def pausing(request: Request, who: Steers, name: str) -> HTMLResponse:
    """Ask why nothing is to begin by a schedule."""
    return page(request, who, "schedule_pause.html", known=KNOWN[_known(name)], name=name)


@router.post("/schedules/{name}/pause")
def pause(here: Here, who: Steers, name: str, reason: Annotated[str, Form(max_length=500)] = "") -> RedirectResponse:
    """Have nothing begin by a schedule until it is resumed."""
    if not reason.strip():
        raise FleetError("no reason is given; say why this schedule is paused")
    here.store.pause_schedule(_known(name), who.name, printable(" ".join(reason.split())))
    return RedirectResponse("/schedules", 303)


@router.post("/schedules/{name}/resume")
def resume(here: Here, who: Steers, name: str) -> RedirectResponse:
    """Resume a schedule."""
    del who
    here.store.resume_schedule(_known(name))
    wake(here)
    return RedirectResponse("/schedules", 303)


@router.post("/schedules/{name}/run")
def run(here: Here, who: Steers, name: str) -> RedirectResponse:
    """Have a schedule come now: whoever serves begins it."""
    del who
    switch = here.store.schedules()[2].get(_known(name))
    if switch is not None:
        raise HTTPException(409, f"{name} is paused by {switch.by}: {switch.reason}; resume it first")
    here.store.ask_schedule(name)
    wake(here)
    return RedirectResponse("/schedules", 303)


def _known(name: str) -> str:
    if name not in KNOWN:
        raise HTTPException(404, f"there is no such schedule; there are {', '.join(KNOWN)}")
    return name
