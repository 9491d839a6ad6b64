"""One ticket on a phone: where to stand, what to move, and how it is proved done, with a connection or without."""

from dataclasses import dataclass
from importlib.resources import files
from typing import Annotated
from uuid import uuid4

from fastapi import APIRouter, Form, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from pydantic import BaseModel, Field

from fleet_runner.core.access.roles import Right, Who, needed
from fleet_runner.core.base.printable import printable
from fleet_runner.core.lifecycle.runs import Intent, Node, Run, Stored, Ticket
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.core.tickets.node_tickets import eyes_of
from fleet_runner.core.tickets.trackers.changes import Act, Change
from fleet_runner.core.tickets.work_orders import faces, verification
from fleet_runner.core.tickets.work_orders.locations import spot
from fleet_runner.core.tickets.work_orders.racks import elevations
from fleet_runner.core.tickets.work_orders.sheets import ordered, sheet
from fleet_runner.core.tickets.work_orders.verification import Answers, Ask, Claim, ProofReport, ProofStatus
from fleet_runner.web import fabric_sweeps
from fleet_runner.web.access import Mends, Sees
from fleet_runner.web.intents import wake
from fleet_runner.web.pages.login import LASTS
from fleet_runner.web.pages.pictures import Number, known
from fleet_runner.web.rendering import page, stamp
from fleet_runner.web.site import Here, Site

router = APIRouter()

LONGEST = 500
"""Characters of what somebody says about a ticket here."""

NAMED = 20
"""Devices of a ticket that are shown, and asked about."""

LINES = 50
"""Lines of its history that are shown, the newest."""

MOVED = frozenset({Stage.PROVISION, Stage.VERIFY, Stage.FIRMWARE})
"""Stages that follow from somebody's word without their name."""

GOING = frozenset({ProofStatus.ASKED, ProofStatus.RUNNING, ProofStatus.PASSED})
"""Where nothing more needs to be asked for."""

BEFORE = "somebody had reported it before"

LATE_SECONDS = 60.0
"""A report that was made so long before it arrived waited for a connection, and says when it was made."""

Words = Annotated[str, Form(max_length=LONGEST)]


class Report(BaseModel):
    """Somebody says that a ticket is done. `key` is this report's own, however often it is sent.

    `waited` is for how many seconds it waited for a connection, by the sender's clock, which may be wrong.
    """

    words: str = Field("", max_length=LONGEST)
    key: str = Field("", pattern=r"^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?$")
    waited: float = Field(0.0, ge=0.0, le=1e9, allow_inf_nan=False)


@dataclass(frozen=True, slots=True)
class _Known:
    """What the store knows of a ticket: its nodes, who saw its fault first, and where; what was said, what came."""

    rows: tuple[Node, ...]
    stage: Stage | None
    changes: tuple[Change, ...]
    said: Claim | None
    standing: ProofReport


@router.get("/tickets/worker.js")
def worker(who: Sees) -> Response:
    """Return what keeps opened tickets in a browser; from here it can see tickets, and no other page."""
    del who
    text = files("fleet_runner.web").joinpath("static/worker.js").read_text(encoding="utf-8")
    return Response(text, media_type="text/javascript")


@router.get("/tickets/{number}")
def show(request: Request, here: Here, who: Sees, number: Number) -> HTMLResponse:
    """Show it."""
    return _shown(request, here, who, number, "ticket.html")


@router.get("/tickets/{number}/steps")
def steps(request: Request, here: Here, who: Sees, number: Number) -> HTMLResponse:
    """Show what to do, one action at a time."""
    return _shown(request, here, who, number, "ticket-steps.html")


def _shown(request: Request, here: Site, who: Who, number: int, template: str) -> HTMLResponse:
    ticket, fleet = known(here, number), here.fleet()
    with here.store.one_moment():
        found = _known(here, ticket)
        links = here.store.ticket_links(number)
        beside = _beside(here, ticket, found.rows)
    asked = verification.ask(ticket, found.rows, found.stage)
    devices = ordered(ticket)
    draws = ticket.closed_at is None  # else the newest look has nothing of it to draw
    captured = fabric_sweeps.captured(here.store, fleet, ticket) if fleet is not None and draws else None
    told = [change for change in reversed(found.changes) if change.act is not Act.SEEN]
    return page(
        request,
        who,
        template,
        ticket=ticket,
        key=f"{uuid4()}",
        coded=bool(here.settings.web_url),
        sheet=sheet(ticket),
        spots=[spot(fleet, name) for name in devices[:NAMED]],
        more=len(devices) - NAMED,
        rows={row.name: row for row in found.rows},
        known=fleet is not None,
        racks=bool(fleet is not None and elevations(fleet, devices)),
        ports=faces.faces(fleet, ticket) if fleet is not None else (),
        captured=captured is not None,
        asked=asked,
        refused=_refused(who, asked),
        said=found.said,
        standing=found.standing,
        going=found.standing.stand in GOING,
        beside=beside,
        photos=here.store.photos(number) if who.may(Right.MEND) else (),
        changes=told[:LINES],
        older=len(told) - LINES,
        links=[(link, link.url if link.url.startswith(("https://", "http://")) else "") for link in links],
        longest=LONGEST,
    )


@router.post("/tickets/{number}/done")
def done(request: Request, here: Here, who: Mends, number: Number, report: Annotated[Report, Form()]) -> Response:
    """Ask for the check that proves a ticket done, and note who said so; it stays open until that has passed.

    A report with a key is written once. One that comes too late asks for nothing, and is noted.
    """
    told = _told(here, who, number, report)
    if "application/json" in request.headers.get("accept", ""):
        return JSONResponse({"sentence": told})
    return _back(number)


def _told(here: Site, who: Who, number: int, report: Report) -> str:
    """Write a report down, and say what came of it."""
    ticket, key = known(here, number), f"{who.name} {number} {report.key}" if report.key else ""
    if here.store.reported(key):
        return f"Ticket {number}: this report was here already."
    now, words = here.clock(), _plain(report.words)
    if report.waited > LATE_SECONDS:
        words = f"{words} (said at {stamp(now - report.waited)} UTC, sent when there was a connection)".strip()
    found = _known(here, ticket)
    if why := _too_late(ticket, found, now, report.waited):
        return _noted(here, who, ticket, (words, key), why)
    asked = verification.ask(ticket, found.rows, found.stage)
    refused, intents = _refused(who, asked), list[Intent]()
    if isinstance(asked, Ask) and not refused:
        because = f"ticket {number} is done"
        intents = [Intent(0, asked.node, intent, who.name, now, because, detail) for intent, detail in asked.intents]
    sentence = refused or (asked.sentence if isinstance(asked, Ask) else asked)
    newest = found.changes[-1].id if found.changes else 0
    said = Change(newest, number, Act.NOTED, sentence, who.name, now)
    told = here.store.claim_ticket(
        said, intents, lambda numbers: verification.told(sentence, numbers, words), key=key
    )
    wake(here)
    if told:
        return f"Ticket {number} is reported as done. {sentence}"
    return _noted(here, who, ticket, (words, key), BEFORE)


def _too_late(ticket: Ticket, found: _Known, now: float, waited: float) -> str:
    """Say why a report asks for nothing any more; "" where it does."""
    if ticket.closed_at is not None:
        return "it was closed by then"
    if found.standing.stand in GOING:
        return BEFORE
    if waited > LASTS:
        return f"the report waited for more than {LASTS / 3600:.0f} hours"
    if any(change.act is Act.REOPENED and change.at > now - waited for change in found.changes):
        return "its fault was found again after that"
    return ""


def _noted(here: Site, who: Who, ticket: Ticket, report: tuple[str, str], why: str) -> str:
    """Note a report that is too late to ask for anything; of a form without a key somebody pressed twice."""
    words, key = report
    if not key:
        return f"Ticket {ticket.id}: {why}."
    said = f"{who.name} reports it as done, too; {why}" + (f". What was done: {words}" if words else "")
    here.store.note_ticket(ticket.id, said, who.name, here.clock(), key=key)
    return f"Ticket {ticket.id}: {why}. Your report is noted there and asks for nothing."


@router.post("/tickets/{number}/notes")
def note(here: Here, who: Mends, number: Number, words: Words = "", kind: Annotated[str, Form()] = "") -> Response:
    """Write down what somebody says of a ticket: what they did, or why it cannot be done."""
    known(here, number)
    said = _plain(words)
    if not said:
        raise HTTPException(
            400, f"expected 1 to {LONGEST} characters of text; go back and write what people should know"
        )
    here.store.note_ticket(
        number, f"{verification.STUCK} {said}" if kind == "stuck" else said, who.name, here.clock()
    )
    return _back(number)


def _back(number: int) -> Response:
    return RedirectResponse(f"/tickets/{number}#proof", 303)


def _plain(words: str) -> str:
    return printable(" ".join(words.split()))


def _refused(who: Who, asked: Ask | str) -> str:
    """Say why nothing is asked for somebody; "" where it is."""
    if isinstance(asked, str):
        return asked
    lacking = next((each for each in asked.intents if not who.may(needed(*each))), None)
    return (
        f"An operator asks for this: fleet-runner {' '.join(filter(None, lacking))} {asked.node}." if lacking else ""
    )


def _beside(here: Site, ticket: Ticket, rows: tuple[Node, ...]) -> list[int]:
    """Return the other open tickets at the node that is asked: where it is certified, they are to be done first."""
    asked = verification.ask(ticket, rows, None)
    if not isinstance(asked, Ask):
        return []
    return [each.id for each in here.store.tickets(node=asked.node) if each.id != ticket.id][:NAMED]


def _known(here: Site, ticket: Ticket) -> _Known:
    rows = [row for name in ticket.nodes[:NAMED] if (row := here.store.node(name)) is not None]
    answers = {row.name: _answer(here, ticket, row.name) for row in rows}
    rows.sort(key=lambda row: not _sees(ticket, answers[row.name]))
    stages = [answer.stage for row in rows if (answer := answers[row.name]) is not None]
    changes = here.store.ticket_changes(ticket.id)
    said = verification.claim(changes)
    came = _came(here, said, rows, [each for each in answers.values() if each is not None])
    standing = verification.standing(ticket, said, came)
    return _Known(tuple(rows), stages[0] if stages else None, changes, said, standing)


def _answer(here: Site, ticket: Ticket, name: str) -> Stored | None:
    """Return what the check of a ticket said last of a node, or the one that sees the same faults."""
    eyes = eyes_of(ticket.check)
    found = [each for each in here.store.latest_results(name) if each.result.check in eyes]
    return max(found, key=lambda each: each.at, default=None)


def _sees(ticket: Ticket, stored: Stored | None) -> bool:
    return stored is not None and any(finding.fault == ticket.fault for finding in stored.result.findings)


def _came(here: Site, said: Claim | None, rows: list[Node], results: list[Stored]) -> Answers:
    """Return what came of somebody's word: runs that they asked for, or that follow from it."""
    if said is None:
        return Answers()
    runs: list[Run] = [run for row in rows for run in here.store.runs(row.name, since=said.at, limit=20)]
    asked = [run for run in runs if run.by == said.by or run.stage in MOVED]
    return Answers(
        tuple(here.store.answer(intent) for intent in said.intents),
        tuple(sorted(asked, key=lambda run: run.opened_at)),
        max(results, key=lambda each: each.at, default=None),
    )
