"""What stored results say about tomorrow: what is foreseen, and what each analysis came to."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from fleet_runner.adapters.reliability import lemons
from fleet_runner.core.reliability.forecasts import Analysis, StoredForecast
from fleet_runner.core.reliability.parts.travels import Line
from fleet_runner.core.reliability.trends.answers import Followed
from fleet_runner.core.reliability.trends.metrics import BY_NAME
from fleet_runner.web.access import Sees
from fleet_runner.web.api.bounds import NOT_FOUND, PLAIN, REFUSALS, Name, Narrow, Sound, known, missing
from fleet_runner.web.series import followed
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

Newest = Annotated[int, Query(ge=1, le=1001, description="the newest so many")]
Metric = Annotated[str, Path(max_length=100, pattern="^[a-z0-9_]+$", description="a metric that is followed")]
Of = Annotated[
    str, Query(min_length=1, max_length=200, pattern=PLAIN, description="a part's serial number, or a node"), Sound
]


@router.get("/trends", operation_id="list_foresights")
def every(
    here: Here,
    _: Sees,
    *,
    node: Narrow = "",
    ended: Annotated[bool, Query(description="also predictions that ended")] = False,
    limit: Newest = 200,
) -> tuple[StoredForecast, ...]:
    """List what is foreseen, the newest first."""
    return here.store.foresights(node=node, standing=not ended, limit=limit)


@router.get("/trends/analyses/{name}", operation_id="get_analysis", responses=NOT_FOUND)
def analysis(here: Here, _: Sees, name: Made) -> Analysis:
    """Return what an analysis of the whole fleet came to last."""
    found = here.store.analysis(name)
    if found is None:
        raise missing(f"analysis {name!r}, or it was not made yet")
    return found


@router.get("/trends/parts", operation_id="get_history_of_part")
def part_history(here: Here, _: Sees, of: Of, limit: Newest = 200) -> tuple[Line, ...]:
    """Return what befell a part wherever it was, or the parts of a node, oldest first."""
    return lemons.history(here.store, of)[-limit:]


@router.get("/trends/nodes/{name}/metrics/{metric}", operation_id="get_metric_of_node", responses=NOT_FOUND)
def numbers(here: Here, _: Sees, name: Name, metric: Metric) -> Followed:
    """Return what each part of a node told of a metric in the last 90 days, day by day, and what its peers did."""
    node = known(here, name)
    if metric not in BY_NAME:
        raise missing(f"metric {metric!r}")
    return followed(here.store, node, metric)
