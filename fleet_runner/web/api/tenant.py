"""A tenant's own nodes in plain words; of a node of another's it is said that there is none, as of one nowhere."""

from fastapi import APIRouter

from fleet_runner.core.access.api import Happening, Page, TenantNode
from fleet_runner.core.access.tenants import happened
from fleet_runner.web.access import Owns
from fleet_runner.web.api.bounds import NOT_FOUND, REFUSALS, Cursor, Limit, Name, missing, page_of
from fleet_runner.web.pages.tenant import LINES, SPAN, TenantNodeView, own
from fleet_runner.web.site import Here

router = APIRouter(tags=["mine"], responses=REFUSALS)


@router.get("/mine/nodes", operation_id="list_my_nodes")
def every(here: Here, who: Owns, limit: Limit = 100, cursor: Cursor = "") -> Page[TenantNode]:
    """List a tenant's nodes by name: whether each serves, and what is being done."""
    found = sorted(own(here, who), key=lambda each: each.name)
    return page_of((_told(each) for each in found if each.name > cursor), limit, lambda mine: mine.name)


@router.get("/mine/nodes/{name}", operation_id="get_my_node", responses=NOT_FOUND)
def one(here: Here, who: Owns, name: Name) -> TenantNode:
    """Return one of a tenant's nodes, with what happened to it in the last 30 days, the newest first."""
    found = next(iter(own(here, who, name)), None)
    if found is None:
        raise missing(f"node {name!r} of yours")
    since = here.clock() - SPAN
    told = happened([move for move in found.moves if move.at >= since])
    return _told(found, tuple(Happening(*each) for each in told[:LINES]))


def _told(found: TenantNodeView, past: tuple[Happening, ...] = ()) -> TenantNode:
    stands = found.standing
    return TenantNode(
        found.name,
        stands.kind,
        stands.word,
        stands.since,
        " ".join(stands.now),
        stands.next,
        stands.back_by,
        found.share,
        past,
    )
