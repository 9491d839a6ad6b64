"""Commands that only read: status, node, history, explain, evidence, tickets."""

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Annotated

import typer
from rich.console import Group
from rich.live import Live
from rich.padding import Padding
from rich.text import Text

from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.remote import ahead, at_hand, overview, pause, remote, standing
from fleet_runner.cli.base.session import age, console, known, opened, print_json, stamp
from fleet_runner.cli.boot.progress import on_their_way
from fleet_runner.cli.faults.remedies import alarmed, raised
from fleet_runner.cli.lifecycle.board import board, brief, usual
from fleet_runner.cli.reliability.forecasts import brief_alarm, tell
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.boot.text import words as words_of_boot
from fleet_runner.core.checks.excerpt import excerpt
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.firmware.flash_text import short
from fleet_runner.core.lifecycle.runs import Entry, Node, Run, Stored, Ticket
from fleet_runner.core.lifecycle.states import FABRICS, STATES, State
from fleet_runner.settings import Settings

NodeName = Annotated[
    str, typer.Argument(help="the node's name, as the source of truth has it, or a fabric's", metavar="NODE")
]
Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]

PROOFS = frozenset({"wiped"})
"""Checks whose pass is told in full: what was done to each device stands in it."""

FEW = 5
"""Tickets that a fabric's line names; the rest is counted."""

NOTICES = {"bad": "bold red", "unsure": "bold yellow", "calm": "dim"}

VERDICT_COLOURS = {Verdict.PASS: "green", Verdict.FAIL: "red", Verdict.UNKNOWN: "yellow", Verdict.SKIPPED: "dim"}


def status(
    state: Annotated[State | None, typer.Option(help="only nodes in this state")] = None,
    watch: Annotated[bool, typer.Option("--watch", help="keep the view on the screen until Ctrl-C")] = False,
    json: Json = False,
) -> None:
    """List nodes and fabrics: state, since when, and what happens next or what they wait for.

    A node whose last check was UNKNOWN says so here: nothing follows from that but another try.
    """
    with opened() as (settings, store):
        if json:
            _, nodes, runs = _fleet(store, state)
            seen = overview(settings, store)
            now_open = {"runs": list(runs.values()), "flashes": store.open_flashes()}
            alarms = [each for mine in raised(store.standing_alarms()).values() for each in mine]
            told = {
                "unserved_since": seen.unserved_since,
                "paused_queue": seen.paused_queue,
                "heard": seen.heard,
                "breaker": seen.breaker,
                "policy": seen.policy,
                "mode": seen.mode,
                "paused_schedules": seen.paused_schedules,
            }
            print_json({"nodes": nodes, **now_open, "alarms": alarms, **told})
        elif watch:
            with Live(console=console, screen=True, refresh_per_second=2) as live:
                for looked_at in _looks(settings, store):
                    live.update(_status(settings, looked_at, state))
        else:
            console.print(_status(settings, store, state))


def _looks(settings: Settings, store: Store) -> Iterator[Store]:
    """Give the store for one look after another; one that takes no writes is let go of between them.

    Whoever reads it keeps others out on a full disk, and they may write by now.
    """
    while True:
        yield store
        alone = remote(store) is None and store.refusal
        if alone:
            store.close()
        time.sleep(pause(store))
        if alone:
            store = Store.open(settings.store_url, reading=True)


def _status(settings: Settings, store: Store, state: State | None) -> Group:
    now, nodes, runs = _fleet(store, state)
    seen = overview(settings, store)
    waits = seen.waits
    nodes = [replace(node, waiting=brief(node, waits.get(node.name, node.waiting))) for node in nodes]
    runs = {name: run for name, run in runs.items() if name not in waits}
    below = [Text(notice.words, NOTICES.get(notice.kind, "")) for notice in seen.notices]
    flashes = {flash.node: short(flash, now) for flash in store.open_flashes()}
    alarms = raised(store.standing_alarms())
    nodes = [
        alarmed(_flashed(_ticketed(store, node), flashes.get(node.name, "")), alarms.get(node.name, []))
        for node in nodes
    ]
    mode = [Text(seen.mode, "dim")] if seen.mode else []
    return Group(*mode, board(nodes, runs, now, usual(store, runs.values()), on_their_way(store)), *below)


def _fleet(store: Store, state: State | None) -> tuple[float, list[Node], dict[str, Run]]:
    nodes = [node for node in (*store.nodes(), *store.fabrics()) if state is None or node.state is state]
    return time.time(), nodes, {run.node: run for run in store.open_runs()}


def _ticketed(store: Store, node: Node) -> Node:
    """Name a fabric's open tickets in what it waits for: it says nothing anew between two sweeps."""
    numbers = [f"#{ticket.id}" for ticket in store.tickets(node=node.name)] if node.state in FABRICS else []
    if not numbers:
        return node
    more = f" and {len(numbers) - FEW} more" if len(numbers) > FEW else ""
    tickets = "ticket" if len(numbers) == 1 else "tickets"
    return replace(node, waiting=f"{node.waiting}; open {tickets} {', '.join(numbers[:FEW])}{more}")


def _flashed(node: Node, flash: str) -> Node:
    """Name an open flash in what a node waits for, where no runner says so: a person's, or one left behind."""
    if not flash or node.state is State.FIRMWARE:
        return node
    return replace(node, waiting="; ".join(filter(None, (node.waiting, flash))))


def node(name: NodeName, json: Json = False) -> None:
    """Show one node or fabric: state, the newest result of each check, forecasts, tickets."""
    with opened() as (settings, store):
        row = known(store, name)
        latest, tickets, runs = store.latest_results(name), store.tickets(node=name), _open(store, name)
        boot, flash = next(iter(store.boots(name, limit=1)), None), store.open_flash(name)
        stands, tomorrow = standing(settings, store, row), ahead(store, row)
        if json:
            now_open = {"run": runs.get(name), "waits": stands.waits, "boot": boot, "flash": flash}
            tried = {"alarms": store.alarms(name), "attempts": store.attempts(name)}
            print_json(
                {"node": row, **now_open, "latest": latest, "tickets": tickets, **tried, "foresight": tomorrow}
            )
            return
        console.print(board([row], runs, time.time(), usual(store, runs.values())))
        console.print(Text(f"{STATES[row.state].meaning}", style="dim"))
        if name in runs and runs[name].task:
            console.print(f"  now: {runs[name].task}", markup=False)
        if stands.waits is not None:
            console.print(f"  {stands.waits}", style="yellow", markup=False, soft_wrap=True)
        if boot is not None:
            console.print(f"  {words_of_boot(boot, time.time())}", markup=False)
        if flash is not None:
            console.print(f"  {short(flash, time.time())}: fleet-runner firmware show {name}", markup=False)
        for condition, held in row.conditions.items():
            console.print(f"  {condition} since {stamp(held.since)} by {held.by}: {held.reason}", markup=False)
        for line in stands.alarms:
            console.print(f"  {brief_alarm(line, tomorrow)}", markup=False)
        _answers(name, latest)
        tell(tomorrow, time.time())
        for ticket in tickets:
            console.print(f"ticket #{ticket.id}: {ticket.title}", markup=False)


def _answers(name: str, latest: Sequence[Stored]) -> None:
    told = [stored for stored in latest if stored.result.verdict is not Verdict.SKIPPED]
    for stored in told:
        console.print(_answer(stored))
    if len(latest) > len(told):
        skipped = f"{len(latest) - len(told)} skipped: fleet-runner results --node {name} --verdict skipped"
        console.print(skipped, style="dim", markup=False)


def history(
    name: NodeName,
    limit: Annotated[int, typer.Option(min=1, help="the newest so many lines")] = 200,
    json: Json = False,
) -> None:
    """List what happened to a node, oldest first: transitions, runs, conditions, requests, tickets."""
    with opened() as (_, store):
        known(store, name)
        entries = store.history(name, limit=limit)
        if json:
            print_json(entries)
            return
        for entry in entries:
            console.print(_line(entry))


def explain(
    name: NodeName,
    steps: Annotated[int, typer.Option(min=1, help="how many transitions to go back")] = 2,
    json: Json = False,
) -> None:
    """Explain why a node is in its state: each transition with its reason, rule and evidence.

    Of a fabric: its last sweep, what follows from each fault, and when and why it is swept next.
    """
    with opened() as (settings, store):
        row = known(store, name)
        if row.state in FABRICS:
            from fleet_runner.cli.cabling.fabric import explain_fabric  # noqa: PLC0415  judges of cables; few need them

            at_hand(store, "explain of a fabric")
            explain_fabric(settings, store, row, json=json)
            return
        moves = store.history(name, limit=steps, kind="transition")
        results = {move.id: store.stored(move.results) for move in moves}
        pending = {held.reason for held in row.conditions.values()}
        if json:
            steps_told = [{"transition": move, "results": results[move.id]} for move in moves]
            print_json({"node": row, "steps": steps_told, "remedies": standing(settings, store, row).remedies})
            return
        console.print(
            Text(f"{row.name} has been in {row.state}", style="bold").append(f" for {age(time.time() - row.since)}.")
        )
        for move in moves:
            _tell_move(store, move, results[move.id])
        for condition, held in row.conditions.items():
            console.print(_indented(f"{condition} since {stamp(held.since)}, by {held.by}: {held.reason}"))
        for line in standing(settings, store, row).remedies:
            console.print(_indented(line))
        if pending:
            _tell_results(store, tuple(each for each in store.latest_results(name) if each.at >= row.since))
        console.print(Text("Next: ", style="bold").append(row.waiting or STATES[row.state].meaning, style="default"))


def _tell_move(store: Store, move: Entry, results: tuple[Stored, ...]) -> None:
    rule = f"{stamp(move.at)}  {move.state} → {move.to}  on '{move.event}', by {move.by}"
    console.print(Text(f"\n{rule}", style="bold"))
    console.print(_indented(move.sentence))
    _tell_results(store, results)


def _tell_results(store: Store, results: tuple[Stored, ...]) -> None:
    """Show each answer that is not a pass with the lines it was drawn from; most passes are only counted."""
    passed = [stored.result.check for stored in results if _only_counted(stored)]
    if passed:
        console.print(_indented(f"{len(passed)} passed: {', '.join(passed)}"))
    results = tuple(stored for stored in results if stored.result.verdict is not Verdict.SKIPPED)
    for stored in results:
        if _only_counted(stored):
            continue
        console.print(Padding(_answer(stored), (0, 0, 0, 2)))
        for digest in stored.result.evidence:
            for line in _lines(store.evidence(digest) or "", stored):
                console.print(Padding(Text(line, style="cyan"), (0, 0, 0, 4)))
            console.print(Padding(Text(f"fleet-runner evidence {digest[:12]}", style="dim"), (0, 0, 0, 4)))


def _only_counted(stored: Stored) -> bool:
    return stored.result.verdict is Verdict.PASS and stored.result.check not in PROOFS


def _lines(text: str, stored: Stored) -> tuple[str, ...]:
    """Return the lines of a piece of evidence that the result's findings are about."""
    found = (line for finding in stored.result.findings for line in excerpt(text, finding.message))
    return tuple(dict.fromkeys(found))


def _indented(sentence: str) -> Padding:
    return Padding(Text(sentence), (0, 0, 0, 2))


def evidence(
    digest: Annotated[str, typer.Argument(help="its SHA-256, or the beginning", metavar="HASH")], json: Json = False
) -> None:
    """Print a piece of evidence as it was read; on a terminal its control characters are marked."""
    with opened() as (_, store):
        text = store.evidence(digest)
        if text is None:
            raise FleetError(
                f"{digest!r} matches no evidence, or more than one; fleet-runner explain NODE shows hashes"
            )
        if json:
            print_json({"hash": sha256(text.encode()).hexdigest(), "text": text})
            return
        sys.stdout.write(printable(text) if sys.stdout.isatty() else text)


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


def _open(store: Store, name: str) -> dict[str, Run]:
    return {run.node: run for run in store.open_runs() if run.node == name}


def _answer(stored: Stored) -> Text:
    verdict = stored.result.verdict
    text = Text(f"{verdict:<8}", style=VERDICT_COLOURS[verdict])
    return text.append(f"{stored.result.check}: {stored.result.message}", style="default")


def _line(entry: Entry) -> Text:
    text = Text(f"{stamp(entry.at)} ", style="dim")
    if entry.kind == "transition":
        text.append(f"{entry.state} → {entry.to} ", style="bold")
    return text.append(entry.sentence, style="default").append(f" ({entry.by})", style="dim")


def words_of_ticket(ticket: Ticket) -> str:
    """Return a ticket as it is listed: number, remedy, title, steps, and how it ended."""
    closed = f"\n  closed {stamp(ticket.closed_at)}: {ticket.closed_because}" if ticket.closed_at else ""
    body = "\n".join(f"  {line}" for line in ticket.body.splitlines())
    return f"#{ticket.id} {ticket.remedy} {ticket.title}\n{body}{closed}\n"
