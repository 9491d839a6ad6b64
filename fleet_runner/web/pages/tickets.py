"""The technician's queue: what waits for hands, by where somebody stands for it."""

from collections import Counter
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from fleet_runner.core.tickets.work_orders import queue, verification
from fleet_runner.core.tickets.work_orders.queue import OLDEST, WALKING, Task, TicketFilter
from fleet_runner.web.access import Sees
from fleet_runner.web.pages import photos, pictures, ticket
from fleet_runner.web.rendering import page
from fleet_runner.web.site import Here, Site

router = APIRouter()
router.include_router(pictures.router)
router.include_router(ticket.router)
router.include_router(photos.router)

MOST = 200
"""Tickets that the page shows: more than anybody does in a shift."""


@router.get("/tickets")
def tickets(  # noqa: PLR0913, PLR0917  one argument for each field of the form
    request: Request,
    here: Here,
    who: Sees,
    site: Annotated[str, Query(max_length=100)] = "",
    remedy: Annotated[str, Query(max_length=100)] = "",
    q: Annotated[str, Query(max_length=100)] = "",
    order: Annotated[str, Query(max_length=20)] = WALKING,
) -> HTMLResponse:
    """Show what waits for hands."""
    wanted = TicketFilter(site, remedy, q, OLDEST if order == OLDEST else WALKING)
    every = queue.tasks(here.store.tickets(), here.fleet())
    found = queue.chosen(every, wanted)
    shown = [task for stop in queue.stops(found, wanted.order) for task in stop.tasks][:MOST]
    done, marks = _marks(here, shown)
    return page(
        request,
        who,
        "tickets.html",
        wanted=wanted,
        every=len(every),
        found=len(found),
        most=MOST,
        words=queue.WORK,
        sites=sorted({each.site for task in every for each in task.spots if each.site}),
        remedies=sorted(Counter(task.ticket.remedy for task in every).items()),
        stops=queue.stops((task for task in shown if task.ticket.id not in done), wanted.order),
        waiting=[task for task in shown if task.ticket.id in done],
        marks=marks,
        here="/tickets" + (f"?{request.url.query}" if request.url.query else ""),
    )


def _marks(here: Site, shown: list[Task]) -> tuple[set[int], dict[int, str]]:
    """Return the tickets that are done as far as hands go, and what people said of others, in a few words."""
    done: set[int] = set()
    marks: dict[int, str] = {}
    with here.store.one_moment():
        for task in shown:
            changes = here.store.ticket_changes(task.ticket.id)
            said, stuck = verification.claim(changes), verification.stuck(changes)
            if verification.waits(task.ticket, said):
                done.add(task.ticket.id)
            elif said is not None:
                marks[task.ticket.id] = f"done by {said.by}, and seen again since"
            if stuck is not None:
                marks[task.ticket.id] = f"{stuck.by}: {stuck.sentence}"[:160]
    return done, marks
