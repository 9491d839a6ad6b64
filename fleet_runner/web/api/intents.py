"""What is asked of a node, and what the reconciler answered."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from fleet_runner.core.access.api import NodeRequest, RequestTaken, Unconfirmed
from fleet_runner.core.access.roles import Who, needed
from fleet_runner.core.base.printable import printable
from fleet_runner.core.lifecycle.losses import FOR_GOOD, losses
from fleet_runner.core.lifecycle.runs import IntentKind, Node
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.web import confirmation
from fleet_runner.web.access import Mends, Sees
from fleet_runner.web.api.bounds import CONFLICT, NOT_FOUND, REFUSALS, Name, Number, Refusals, Sound, known, missing
from fleet_runner.web.audit import note_of
from fleet_runner.web.intents import leave as left
from fleet_runner.web.site import Here, Site

router = APIRouter(tags=["requests"], responses=REFUSALS | NOT_FOUND)

ELSEWHERE = {
    IntentKind.WIPE: "fleet-runner wipe on the server's machine shows first what would be lost",
    IntentKind.RMA: "fleet-runner rma open on the server's machine keeps the vendor's case with it",
    IntentKind.REPLACED: "fleet-runner rma replaced on the server's machine confirms the new machine",
    IntentKind.FIRMWARE: "fleet-runner firmware update on the server's machine shows first what would be changed",
}
"""What is not asked for here, and how it is."""

UNCONFIRMED: Refusals = {
    428: {"model": Unconfirmed, "description": "It cannot be undone: send it again with `confirm`."}
}

Words = Annotated[
    str, Field(max_length=500, pattern=r"^[^\x00-\x1f\x7f]*$", description="goes into the history"), Sound
]


class IntentBody(BaseModel):
    """What is wanted of a node; `detail` names the stage of `run`, and is empty for all others.

    `confirm` is that of the first answer, where it was 428.
    """

    kind: IntentKind
    reason: Words = ""
    detail: Annotated[str, Field(max_length=100, pattern=r"^[a-z_]*$")] = ""
    confirm: Annotated[str, Field(max_length=100, pattern=r"^[0-9a-f.]*$")] = ""


@router.post(
    "/nodes/{name}/requests",
    status_code=202,
    operation_id="leave_request",
    response_model=RequestTaken,
    responses=CONFLICT | UNCONFIRMED,
)
def leave(request: Request, here: Here, who: Mends, name: Name, wanted: IntentBody) -> RequestTaken | JSONResponse:
    """Leave a request, which the reconciler answers; technicians may certify, call repaired, and run what only looks.

    What cannot be undone (retire) is left by the second request, which shows the token of the first answer.
    """
    note_of(request.scope).detail = wanted.kind.value
    right = needed(wanted.kind, wanted.detail)
    if not who.may(right):
        raise HTTPException(403, f"a {who.role.value} may not do this; it needs the right to {right.value}")
    _unfit(wanted)
    row = known(here, name)
    if row.state is State.RETIRED:
        raise HTTPException(409, f"{name} is retired and takes no requests; its history stays readable")
    if wanted.kind in FOR_GOOD and not confirmation.holds(here, who, row, wanted.kind, wanted.confirm):
        return JSONResponse(asdict(_unconfirmed(here, who, row, wanted.kind)), 428)
    return RequestTaken(left(here, who, name, (wanted.kind, wanted.detail), printable(wanted.reason.strip())))


def _unconfirmed(here: Site, who: Who, row: Node, intent: IntentKind) -> Unconfirmed:
    said = f"{intent} cannot be undone; nothing was requested yet: send it again within some minutes with `confirm`"
    runs = here.store.open_runs([row.name])
    lost = losses(row, runs[0] if runs else None, here.store.tickets(node=row.name))
    return Unconfirmed(said, lost, confirmation.given(here, who, row, intent))


def _unfit(wanted: IntentBody) -> None:
    """Refuse what is not asked for here, and a stage that is none."""
    if wanted.kind in ELSEWHERE:
        raise HTTPException(409, f"{wanted.kind} cannot be requested here: {ELSEWHERE[wanted.kind]}")
    if (wanted.kind is IntentKind.RUN) is not bool(wanted.detail):
        raise HTTPException(422, "body.detail: it names the stage of `run`, and is empty for all other requests")
    if wanted.detail and wanted.detail not in set(Stage):
        raise HTTPException(422, f"body.detail: expected a stage: {', '.join(Stage)}")


@router.get("/requests/{number}", operation_id="get_request")
def answer(here: Here, _: Sees, number: Number) -> NodeRequest:
    """Return a request and its answer: `accepted` is null while nobody has answered."""
    found = here.store.find_intent(number)
    if found is None:
        raise missing(f"request {number}")
    return found
