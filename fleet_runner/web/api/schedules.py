"""What comes by the clock: how it stands, and switching it off and on."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, HTTPException, Path
from pydantic import BaseModel, Field

from fleet_runner.core.access.api import Ended, Schedules
from fleet_runner.core.base.printable import printable
from fleet_runner.core.schedules.known import KNOWN
from fleet_runner.reconcile.loop import remote_answers
from fleet_runner.web.access import Sees, Steers
from fleet_runner.web.api.bounds import CONFLICT, NOT_FOUND, REFUSALS, Sound, missing, shown
from fleet_runner.web.intents import wake
from fleet_runner.web.site import Here

router = APIRouter(tags=["schedules"], responses=REFUSALS)

Known = Annotated[str, Path(max_length=40, pattern="^[a-z_]+$", description=f"a schedule: {', '.join(KNOWN)}")]


class OffReason(BaseModel):
    """Why something is switched off."""

    reason: Annotated[
        str,
        Field(
            min_length=1,
            max_length=500,
            pattern=r"^[^\x00-\x1f\x7f]*[^\x00-\x20\x7f][^\x00-\x1f\x7f]*$",
            description="others see it",
        ),
        Sound,
    ]


@router.get("/schedules", operation_id="list_schedules")
def every(here: Here, _: Sees) -> Schedules:
    """Return every schedule: when it comes, how the last one ended, and the next one."""
    found = remote_answers.schedules(here.settings, here.store)
    waits = (replace(each, waits=shown(each.waits)) if each.waits is not None else each for each in found.schedules)
    return replace(found, schedules=tuple(waits))


@router.post("/schedules/{name}/pause", operation_id="pause_schedule", responses=NOT_FOUND)
def pause(here: Here, who: Steers, name: Known, because: OffReason) -> Ended:
    """Have nothing begin by it until it is resumed; what runs goes on to its end."""
    _check(name)
    here.store.pause_schedule(name, who.name, printable(because.reason.strip()))
    return Ended(done=True, sentence=f"{name} is paused: nothing begins by it until it is resumed")


@router.post("/schedules/{name}/resume", operation_id="resume_schedule", responses=NOT_FOUND)
def resume(here: Here, _: Steers, name: Known) -> Ended:
    """Have it come again."""
    _check(name)
    done = here.store.resume_schedule(name)
    return Ended(done, f"{name} comes again" if done else f"{name} is not paused; nothing was changed")


@router.post("/schedules/{name}/run", status_code=202, operation_id="run_schedule", responses=NOT_FOUND | CONFLICT)
def run(here: Here, _: Steers, name: Known) -> Ended:
    """Have it come now: a sweep of every node within ten minutes, a job of the fleet at once, where one serves."""
    _check(name)
    if name in here.store.schedules()[2]:
        raise HTTPException(409, f"{name} is paused; resume it first")
    here.store.ask_schedule(name)
    wake(here)
    return Ended(done=True, sentence=f"{name}: requested; a serving runner begins it")


def _check(name: str) -> None:
    if name not in KNOWN:
        raise missing(f"schedule {name!r}; there are {', '.join(KNOWN)}")
