"""What requests were called before, `wishes` and `intents`: for one release more, for programs written until then."""

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import Field

from fleet_runner.core.access.api import NodeRequest, RequestTaken
from fleet_runner.core.lifecycle.runs import Intent, IntentKind
from fleet_runner.web.access import Mends, Sees
from fleet_runner.web.api import intents, nodes
from fleet_runner.web.api.bounds import Name, Number
from fleet_runner.web.site import Here

router = APIRouter(include_in_schema=False)


class EarlierBody(intents.IntentBody):
    """The same, with `wish` for `kind`."""

    kind: IntentKind = Field(validation_alias="wish")


@router.post("/nodes/{name}/wishes", status_code=202, response_model=RequestTaken)
def leave(request: Request, here: Here, who: Mends, name: Name, wanted: EarlierBody) -> RequestTaken | JSONResponse:
    """Leave a request."""
    return intents.leave(request, here, who, name, wanted)


@router.get("/intents/{number}")
def answer(here: Here, who: Sees, number: Number) -> dict[str, Any]:
    """Return a request and its answer."""
    return _as_before(intents.answer(here, who, number))


@router.get("/nodes/{name}/intents")
def of_node(here: Here, who: Sees, name: Name) -> list[dict[str, Any]]:
    """Return what was asked for and is not answered yet."""
    return [_as_before(each) for each in nodes.intents(here, who, name)]


def _as_before(found: NodeRequest | Intent) -> dict[str, Any]:
    said = asdict(found)
    said["wish"] = said.pop("kind")
    return said
