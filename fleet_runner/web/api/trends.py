"""What stored results say about tomorrow: what is foreseen, and what each analysis came to."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from fleet_runner.core.foresight import Analysis, Standing
from fleet_runner.web.access import Sees
from fleet_runner.web.api.bounds import NOT_FOUND, REFUSALS, Narrow, missing
from fleet_runner.web.site import Here

router = APIRouter(tags=["trends"], responses=REFUSALS)

Made = Annotated[
    str,
    Path(
        max_length=40,
        pattern="^[a-z_]+$",
        description="an analysis: drift, heat, parts, lemons, lifetimes, worth or limits",
    ),
]


@router.get("/trends", operation_id="list_foresights")
def every(
    here: Here,
    _: Sees,
    *,
    node: Narrow = "",
    ended: Annotated[bool, Query(description="also what is not foreseen any more")] = False,
    limit: Annotated[int, Query(ge=1, le=1001, description="the newest so many")] = 200,
) -> tuple[Standing, ...]:
    """List what is foreseen, the newest first."""
    return here.store.foresights(node=node, standing=not ended, limit=limit)


@router.get("/trends/analyses/{name}", operation_id="get_analysis", responses=NOT_FOUND)
def analysis(here: Here, _: Sees, name: Made) -> Analysis:
    """Return what an analysis of the whole fleet came to last."""
    found = here.store.analysis(name)
    if found is None:
        raise missing(f"analysis {name!r}, or it was not made yet")
    return found
