"""Nodes on their way into production: how long each state takes, what they wait for, and what would shorten it."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from fleet_runner.core.reliability.bring_up import words
from fleet_runner.core.reliability.report.picture import bar
from fleet_runner.core.reliability.report.rows import Span
from fleet_runner.core.reliability.report.text import duration
from fleet_runner.reconcile.lifecycle.queue import away
from fleet_runner.web.access import Sees
from fleet_runner.web.rendering import page
from fleet_runner.web.site import Here

router = APIRouter()

DAY = 86_400.0
MOST = 1_500
"""Nodes of one page: those that began last."""

LISTED = 100
"""Ways that are listed: the longest."""


@router.get("/trends/bring-up")
def bring_up(request: Request, here: Here, who: Sees, days: Annotated[int, Query(ge=1, le=90)] = 28) -> HTMLResponse:
    """Show the ways of nodes whose Day 0 began in the last days."""
    now = here.clock()
    found = here.store.bring_ups(Span(now - days * DAY, now), now, most=MOST)
    return page(
        request,
        who,
        "trends-bring-up.html",
        days=days,
        most=MOST,
        ways=found,
        shown=found.ways[:LISTED],
        waiting=away(here.settings, here.store)[:LISTED],
        words=words,
        bar=bar,
        duration=duration,
    )
