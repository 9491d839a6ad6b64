"""fleet-runner ticket: what technicians have to do, where else it is written, and what people say of it."""

import time
from typing import Annotated

import typer

from fleet_runner.adapters.files import trackers as tracker_file
from fleet_runner.adapters.source import Reader
from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.remote import links
from fleet_runner.cli.base.session import Exit, age, console, opened, print_json, stamp, whoami
from fleet_runner.cli.base.wrapped import say
from fleet_runner.cli.tickets import listing
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.lifecycle.runs import Ticket
from fleet_runner.core.tickets.trackers.changes import Act
from fleet_runner.core.tickets.trackers.configuration import Configured
from fleet_runner.core.tickets.trackers.links import Link

app = typer.Typer(no_args_is_help=True)

Number = Annotated[int, typer.Argument(metavar="N", min=1, help="the ticket's number")]
Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]
LONGEST = 2000
"""Characters of what a person says about a ticket."""


@app.callback()
def ticket() -> None:
    """See what technicians have to do, and where else it is written."""


app.command("list")(listing.tickets)


@app.command()
def show(number: Number, *, json: Json = False) -> None:
    """Show a ticket: its steps, its history, its issues in trackers, and what is pending and why."""
    with opened() as (settings, store):
        found = _known(store, number)
        changes, elsewhere = store.ticket_changes(number), links(settings, store, number)
        if json:
            print_json({"ticket": found, "changes": changes, "elsewhere": elsewhere})
            return
        for line in listing.words_of_ticket(found).splitlines():
            indent = line[: len(line) - len(line.lstrip())]
            say(line.lstrip(), first=indent, rest=f"{indent}  ")
        for change in changes:
            if change.act is not Act.SEEN:
                say(f"{stamp(change.at)} {change.act}: {change.sentence} ({change.by})", first="  ", rest="    ")
        for link in elsewhere:
            say(_elsewhere(link, time.time()), first="  ", rest="    ")


@app.command()
def close(
    number: Number,
    *,
    reason: Annotated[str, typer.Option("--reason", "-r", help="why it is done; sent to all trackers")],
) -> None:
    """Close a ticket by hand. A check that still sees its fault opens it again."""
    with opened() as (_, store):
        found = _known(store, number)
        if not store.close_ticket(number, _said(reason), whoami(), time.time()):
            console.print(f"ticket {number} is closed already: {found.closed_because}", markup=False, soft_wrap=True)
            raise typer.Exit(Exit.NO)
        text = f"ticket {number} is closed; if {found.check} sees {found.fault} again, it is reopened"
        console.print(text, markup=False, soft_wrap=True)


@app.command()
def note(
    number: Number, text: Annotated[str, typer.Argument(metavar="TEXT", help="what people should know")]
) -> None:
    """Add a note to a ticket, in the history of its nodes and in every tracker that has it."""
    with opened() as (_, store):
        _known(store, number)
        store.note_ticket(number, _said(text), whoami(), time.time())
        console.print(f"noted on ticket {number}")


@app.command()
def trackers(*, json: Json = False) -> None:
    """List the trackers: the state of each, and what is pending."""
    with opened() as (settings, store):
        now = time.time()
        rows = [
            {"tracker": of.name, "kind": of.kind, "url": of.url, "standing": store.tracker(of.name),
             "waiting": store.untold(of.name)}
            for of in tracker_file.trackers(settings)
        ]  # fmt: skip
        if json:
            print_json(rows)
            return
        for of in tracker_file.trackers(settings):
            console.print(_standing(of, store, now), markup=False, soft_wrap=True)
        if not rows:
            console.print("no trackers: tickets are only here; to configure one, see docs/trackers.md")


@app.command()
def sync(
    numbers: Annotated[
        list[int] | None,
        typer.Argument(metavar="[N]...", min=1, help="only these tickets; default: all with pending changes"),
    ] = None,
    *,
    tracker: Annotated[str, typer.Option(help="only this tracker", metavar="NAME")] = "",
    anew: Annotated[
        bool, typer.Option("--anew", help="open new issues for these tickets, if theirs are gone or locked")
    ] = False,
) -> None:
    """Send the trackers everything pending now, retries included, and every open ticket that one lacks."""
    only = tuple(numbers or ())
    if anew and not only:
        raise FleetError("--anew opens new issues for named tickets; name them: ticket sync 12 --anew")
    from fleet_runner.reconcile.tickets.senders import senders  # noqa: PLC0415  requests are slow to load, and few need them

    with opened() as (settings, store):
        for number in only:
            _known(store, number)
        chosen = [each for each in senders(settings, store) if tracker in {"", each.of.name}]
        if not chosen:
            known = ", ".join(each.of.name for each in senders(settings, store))
            missing = f"no tracker {tracker!r} is configured; found {known}" if known else "no tracker is configured"
            raise FleetError(f"{missing}; see docs/trackers.md")
        fleet = Reader(settings)()
        for sender in chosen:
            if anew:
                for number in only:
                    store.forget_issue(number, sender.of.name)
            store.hurry_tracker(sender.of.name, only)
            while sender.visit(fleet):
                pass
            console.print(_standing(sender.of, store, time.time()), markup=False, soft_wrap=True)
        if any(store.untold(sender.of.name) for sender in chosen):
            raise typer.Exit(Exit.TROUBLE)


def _known(store: Store, number: int) -> Ticket:
    found = store.ticket(number)
    if found is None:
        raise FleetError(f"there is no ticket {number}; fleet-runner ticket list --all lists them")
    return found


def _said(text: str) -> str:
    plain = " ".join(text.split())
    if not plain or len(plain) > LONGEST:
        raise FleetError(f"found {len(plain)} characters of text, expected 1 to {LONGEST}")
    return plain


def _elsewhere(link: Link, now: float) -> str:
    where = link.url or link.remote or "no issue yet"
    if not link.waits:
        return f"{link.tracker}: {where}"
    soon = f", not before {age(link.due_at - now)} from now" if link.due_at > now else ""
    return f"{link.tracker}: {where}; changes pending{soon}{f': {link.detail}' if link.detail else ''}"


def _standing(of: Configured, store: Store, now: float) -> str:
    """Say how a tracker stands in a line, and below it why which ticket waits."""
    standing, waiting = store.tracker(of.name), store.untold(of.name)
    heard = f"last update {age(now - standing.heard_at)} ago" if standing.heard_at is not None else "no update yet"
    tickets = "1 ticket waits" if len(waiting) == 1 else f"{len(waiting) or 'no'} tickets wait"
    lines = [f"{of.name} ({of.kind}, {of.url}): {heard}, {tickets}"]
    if standing.due_at > now:
        lines.append(f"  asked again in {age(standing.due_at - now)}: {standing.detail}")
    lines += [f"  ticket {link.ticket}: {link.detail}" for link in waiting if link.detail != standing.detail][:20]
    return "\n".join(lines)
