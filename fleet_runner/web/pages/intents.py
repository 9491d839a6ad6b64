"""What people ask of a node in pages: refused at once where it cannot be, else left for the reconciler to answer."""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Form, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel, Field

from fleet_runner.core.access.roles import Who, needed
from fleet_runner.core.base.printable import printable
from fleet_runner.core.lifecycle.losses import FOR_GOOD, losses
from fleet_runner.core.lifecycle.offers import ELSEWHERE, ROWS, applies, stages
from fleet_runner.core.lifecycle.runs import IntentKind, Node
from fleet_runner.core.lifecycle.states import ENDED, FABRICS, Stage
from fleet_runner.core.tickets.rma_cases import LONGEST as LONGEST_NUMBER
from fleet_runner.core.tickets.rma_cases import Case
from fleet_runner.web import confirmation
from fleet_runner.web.access import Mends
from fleet_runner.web.api.bounds import Name, Sound
from fleet_runner.web.audit import note_of
from fleet_runner.web.intents import leave, wake
from fleet_runner.web.pages.node import known, runnable
from fleet_runner.web.rendering import page
from fleet_runner.web.site import Here, Site

router = APIRouter()

LONGEST = 500
"""Characters of a reason."""

Words = Annotated[str, Field(max_length=LONGEST, pattern=r"^[^\x00]*$"), Sound]
Short = Annotated[str, Field(max_length=LONGEST_NUMBER, pattern=r"^[^\x00]*$"), Sound]


class IntentForm(BaseModel):
    """What a form asks for; `stage` is of a run, `vendor` and `case` are of an RMA."""

    kind: IntentKind
    reason: Words = ""
    stage: Short = ""
    vendor: Short = ""
    case: Short = ""
    sure: bool = False
    confirm: Short = ""


@router.get("/nodes/{name}/requests/{intent}")
def confirm(request: Request, here: Here, who: Mends, name: Name, intent: IntentKind) -> HTMLResponse:
    """Say what a request would do, before it is left."""
    row = known(here, name)
    _allowed(who, intent)
    _fit(row, intent)
    fits, token = applies(row, intent), ""
    lost: tuple[str, ...] = ()
    if intent in FOR_GOOD:
        runs = here.store.open_runs([row.name])
        lost = losses(row, runs[0] if runs else None, here.store.tickets(node=row.name))
        token = confirmation.given(here, who, row, intent)
    return page(
        request, who, "request.html", row=row, intent=intent, said=ROWS[intent], fits=fits, stages=runnable(who, row),
        longest=LONGEST, longest_number=LONGEST_NUMBER, lost=lost, confirm=token,
    )  # fmt: skip


@router.post("/nodes/{name}/requests")
def ask(request: Request, here: Here, who: Mends, name: Name, wanted: Annotated[IntentForm, Form()]) -> Response:
    """Leave a request and lead back to the node; what costs something is asked once more before."""
    row, intent = known(here, name), wanted.kind
    note_of(request.scope).detail = intent.value
    _allowed(who, intent, wanted.stage)
    _fit(row, intent)
    unsure = intent in FOR_GOOD and not confirmation.holds(here, who, row, intent, wanted.confirm)
    if unsure or (ROWS[intent].sure and not wanted.sure):
        return RedirectResponse(f"/nodes/{quote(name, safe='')}/requests/{intent.value}", 303)
    if intent is IntentKind.RMA:
        number = _send_back(here, who, row, wanted)
    else:
        detail = _stage(row, wanted.stage) if intent is IntentKind.RUN else ""
        number = leave(here, who, name, (intent, detail), _plain(wanted.reason))
    return RedirectResponse(f"/nodes/{quote(name, safe='')}?asked={number}", 303)


def _allowed(who: Who, intent: IntentKind, stage: str = "") -> None:
    right = needed(intent, stage)
    if not who.may(right):
        raise HTTPException(403, f"a {who.role.value} may not do this; it needs the right to {right.value}")


def _fit(row: Node, intent: IntentKind) -> None:
    """Refuse what no page takes, and what is asked of a node that has left."""
    if row.state in FABRICS:
        raise HTTPException(409, f"{row.name} is a fabric; fleet-runner on the server's machine sends requests to it")
    if row.state in ENDED:
        raise HTTPException(409, f"{row.name} is retired and takes no requests; its history stays readable")
    if intent in ELSEWHERE:
        raise HTTPException(409, f"this cannot be requested on pages: {ELSEWHERE[intent].format(node=row.name)}")


def _stage(row: Node, stage: str) -> str:
    known_here = stages(row.state)
    if stage not in {each.value for each in known_here}:
        names = ", ".join(known_here)
        raise HTTPException(409, f"this stage cannot be run on a node in {row.state}; it can run: {names}")
    return Stage(stage).value


def _send_back(here: Site, who: Who, row: Node, wanted: IntentForm) -> int:
    """Open a case at a vendor, without which nothing goes there, and leave the request; return its id."""
    vendor, number, reason = _plain(wanted.vendor), _plain(wanted.case), _plain(wanted.reason)
    if not vendor or not number:
        raise HTTPException(409, "a case needs the vendor's name and its number; go back and enter both")
    if not applies(row, IntentKind.RMA):
        raise HTTPException(409, f"{row.name} cannot go to its vendor from {row.state}; triage or debug comes before")
    case = Case(0, row.name, vendor, number, who.name, here.clock(), because=reason)
    intent = here.store.send_back(case, reason or f"case {number} at {vendor}")
    wake(here)
    return intent


def _plain(text: str) -> str:
    """Return what somebody typed, on one line."""
    return printable(" ".join(text.split()))
