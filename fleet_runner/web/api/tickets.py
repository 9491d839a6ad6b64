"""Tickets: what technicians have to do, what happened to each, and what people say of it."""

from typing import Annotated

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel, Field

from fleet_runner.core.access.api import Ended, Page, TicketDetail
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.lifecycle.runs import Ticket
from fleet_runner.core.tickets.trackers.links import Link
from fleet_runner.reconcile.loop import remote_answers
from fleet_runner.web.access import Mends, Sees
from fleet_runner.web.api.bounds import (
    NOT_FOUND,
    REFUSALS,
    Cursor,
    Limit,
    Narrow,
    Number,
    Sound,
    missing,
    numbered,
    page_of,
)
from fleet_runner.web.site import Here, Site

router = APIRouter(tags=["tickets"], responses=REFUSALS)

Words = Annotated[
    str,
    Field(
        max_length=2000,
        pattern=r"^[^\x00-\x08\x0b-\x1f\x7f]*[^\x00-\x20\x7f][^\x00-\x08\x0b-\x1f\x7f]*$",
        description="goes to everybody who sees the ticket",
    ),
    Sound,
]


class Said(BaseModel):
    """What somebody says of a ticket, or why it is done."""

    text: Words


@router.get("/tickets", operation_id="list_tickets")
def every(
    here: Here, _: Sees, *, node: Narrow = "", closed: bool = False, limit: Limit = 100, cursor: Cursor = ""
) -> Page[Ticket]:
    """List tickets, oldest first; with `closed` also those that are closed."""
    after = numbered(cursor) or 0
    found = here.store.tickets(node=node or None, open_only=not closed)
    return page_of((each for each in found if each.id > after), limit, lambda ticket: ticket.id)


@router.get("/tickets/{number}", operation_id="get_ticket", responses=NOT_FOUND)
def one(here: Here, _: Sees, number: Number) -> TicketDetail:
    """Return a ticket with what happened to it, and where else it is written."""
    return TicketDetail(_known(here, number), here.store.ticket_changes(number), _links(here, number))


@router.post("/tickets/{number}/notes", operation_id="note_ticket", responses=NOT_FOUND)
def note(here: Here, who: Mends, number: Number, said: Said) -> Ended:
    """Add a note, which goes into the history of its nodes and to every tracker that has it."""
    _known(here, number)
    here.store.note_ticket(number, _plain(said.text), who.name, here.clock())
    return Ended(done=True, sentence=f"noted on ticket {number}")


@router.post("/tickets/{number}/close", operation_id="close_ticket", responses=NOT_FOUND)
def close(here: Here, who: Mends, number: Number, said: Said) -> Ended:
    """Close a ticket by hand; the next check that sees its fault opens it again."""
    found = _known(here, number)
    if here.store.close_ticket(number, _plain(said.text), who.name, here.clock()):
        return Ended(done=True, sentence=f"ticket {number} is closed")
    return Ended(done=False, sentence=f"ticket {number} is closed already: {found.closed_because}")


def _plain(text: str) -> str:
    return printable(" ".join(text.split()))


def _known(here: Site, number: int) -> Ticket:
    found = here.store.ticket(number)
    if found is None:
        raise missing(f"ticket {number}")
    return found


def _links(here: Site, number: int) -> tuple[Link, ...]:
    try:
        return remote_answers.links(here.settings, here.store, number)
    except SettingsError as error:
        raise HTTPException(503, str(error)) from error
