"""fleet-runner tickets: what technicians have to do."""

from typing import Annotated

import typer

from fleet_runner.cli.base.options import Json
from fleet_runner.cli.base.session import console, known, opened, print_json, stamp
from fleet_runner.core.lifecycle.runs import Ticket


def tickets(
    everything: Annotated[bool, typer.Option("--all", help="closed ones too")] = False,
    name: Annotated[
        str | None, typer.Option("--node", "-n", help="only those that name this node", metavar="NODE")
    ] = None,
    json: Json = False,
) -> None:
    """List open tickets for technicians: one per physical fix."""
    with opened() as (_, store):
        if name is not None:
            known(store, name)
        found = store.tickets(node=name, open_only=not everything)
        if json:
            print_json(found)
        elif not found:
            console.print("no open tickets" if not everything else "no tickets")
        else:
            for each in found:
                console.print(words_of_ticket(each), markup=False)


def words_of_ticket(ticket: Ticket) -> str:
    """Return a ticket as it is listed: number, remedy, title, steps, and how it ended."""
    closed = f"\n  closed {stamp(ticket.closed_at)}: {ticket.closed_because}" if ticket.closed_at else ""
    body = "\n".join(f"  {line}" for line in ticket.body.splitlines())
    return f"#{ticket.id} {ticket.remedy} {ticket.title}\n{body}{closed}\n"
