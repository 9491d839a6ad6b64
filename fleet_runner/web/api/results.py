"""Results of checks, and the evidence that they were drawn from."""

from hashlib import sha256
from typing import Annotated

from fastapi import APIRouter, Path, Query

from fleet_runner.adapters.store import ResultFilter
from fleet_runner.core.access.api import EvidenceText, Page
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.lifecycle.runs import Stored
from fleet_runner.web.access import Sees
from fleet_runner.web.api.bounds import (
    LARGEST,
    NOT_FOUND,
    REFUSALS,
    Cursor,
    Limit,
    Narrow,
    Number,
    Since,
    missing,
    numbered,
    page_of,
)
from fleet_runner.web.site import Here

router = APIRouter(tags=["results"], responses=REFUSALS)

Hash = Annotated[str, Path(pattern="^[0-9a-f]{1,64}$", description="its SHA-256 in hex, or the beginning")]
Ids = Annotated[list[Annotated[int, Query(ge=1, le=LARGEST)]] | None, Query(max_length=100, description="only these")]


@router.get("/results", operation_id="find_results")
def find(  # noqa: PLR0913  a query has as many parameters as it narrows by
    *,
    here: Here,
    _: Sees,
    node: Narrow = "",
    check: Narrow = "",
    verdict: Verdict | None = None,
    since: Since = 0.0,
    limit: Limit = 50,
    cursor: Cursor = "",
) -> Page[Stored]:
    """Find results, the newest first."""
    sought = ResultFilter(node, check, verdict, since)
    found = here.store.find_results(sought, below=numbered(cursor), limit=limit + 1)
    return page_of(found, limit, lambda stored: stored.id)


@router.get("/results/some", operation_id="get_results")
def some(here: Here, _: Sees, id: Ids = None) -> tuple[Stored, ...]:  # noqa: A002  the parameter's name
    """Return results by their ids, which entries of a history name; unknown ones are left out."""
    return here.store.stored(id or ())


@router.get("/results/{number}", operation_id="get_result", responses=NOT_FOUND)
def one(here: Here, _: Sees, number: Number) -> Stored:
    """Return one result."""
    found = here.store.stored((number,))
    if not found:
        raise missing(f"result {number}")
    return found[0]


@router.get("/evidence/{digest}", operation_id="get_evidence", responses=NOT_FOUND)
def evidence(here: Here, _: Sees, digest: Hash) -> EvidenceText:
    """Return a piece of evidence as it was read; 404 where the hash names none, or more than one."""
    text = here.store.evidence(digest)
    if text is None:
        raise missing(f"evidence {digest}, or there are several")
    return EvidenceText(sha256(text.encode()).hexdigest(), text)
