"""Who asked what."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from fleet_runner.web.access import Audits
from fleet_runner.web.rendering import page
from fleet_runner.web.site import Here

router = APIRouter()

LINES = 100
"""Lines of one page."""

Name = Annotated[str, Query(max_length=100)]
Before = Annotated[int | None, Query(ge=1, le=2**63 - 1)]


@router.get("/audit")
def audit(request: Request, here: Here, who: Audits, name: Name = "", before: Before = None) -> HTMLResponse:
    """Show the newest lines, of all or of one name; older ones on further pages."""
    found = here.store.asked(name or None, before, LINES + 1)
    return page(
        request, who, "audit.html", lines=found[:LINES], name=name, before=before,
        older=found[LINES - 1].id if len(found) > LINES else 0, days=here.settings.keep_audit_days,
    )  # fmt: skip
