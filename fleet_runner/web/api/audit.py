"""Who asked what."""

from fastapi import APIRouter

from fleet_runner.core.access.api import Page
from fleet_runner.core.access.roles import AuditLine
from fleet_runner.web.access import Audits
from fleet_runner.web.api.bounds import REFUSALS, Cursor, Limit, Narrow, numbered, page_of
from fleet_runner.web.site import Here

router = APIRouter(tags=["audit"], responses=REFUSALS)


@router.get("/audit", operation_id="list_asked")
def asked(here: Here, _: Audits, name: Narrow = "", limit: Limit = 100, cursor: Cursor = "") -> Page[AuditLine]:
    """List what was asked through pages and the API, and by whom, the newest first."""
    found = here.store.asked(name or None, numbered(cursor), limit + 1)
    return page_of(found, limit, lambda line: line.id)
