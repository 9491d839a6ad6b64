"""Commands that only read about one node: node, history, explain, evidence."""

import sys
import time
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated

import typer
from rich.padding import Padding
from rich.text import Text

from fleet_runner.cli.base.options import Json, NodeName
from fleet_runner.cli.base.remote import ahead, alarms, at_hand, remote, standing
from fleet_runner.cli.base.session import age, console, known, opened, print_json, stamp
from fleet_runner.cli.lifecycle.board import board, usual
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.lifecycle.runs import Entry, Node, Run, Stored
from fleet_runner.core.lifecycle.states import FABRICS, STATES

if TYPE_CHECKING:
    from fleet_runner.adapters.store import Store
    from fleet_runner.settings import Settings


PROOFS = frozenset({"wiped"})
"""Checks whose pass is told in full: what was done to each device stands in it."""

VERDICT_COLOURS = {Verdict.PASS: "green", Verdict.FAIL: "red", Verdict.UNKNOWN: "yellow", Verdict.SKIPPED: "dim"}


def node(name: NodeName, json: Json = False) -> None:
    """Show one node or fabric: state, the newest result of each check, forecasts, tickets."""
    with opened() as (settings, store):
        row = known(store, name)
        latest, tickets, runs = store.latest_results(name), store.tickets(node=name), _open(store, name)
        boot, flash = next(iter(store.boots(name, limit=1)), None), store.open_flash(name)
        stands, tomorrow = alarms(settings, store, row), ahead(store, row)
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
            from fleet_runner.core.boot.text import words as words_of_boot  # noqa: PLC0415  few nodes boot at a time

            console.print(f"  {words_of_boot(boot, time.time())}", markup=False)
        if flash is not None:
            from fleet_runner.core.firmware.flash_text import short  # noqa: PLC0415  few nodes are flashed at a time

            console.print(f"  {short(flash, time.time())}: fleet-runner firmware show {name}", markup=False)
        for condition, held in row.conditions.items():
            console.print(f"  {condition} since {stamp(held.since)} by {held.by}: {held.reason}", markup=False)
        for line in stands.alarms:
            from fleet_runner.cli.reliability.forecasts import brief_alarm  # noqa: PLC0415  most nodes have none

            console.print(f"  {brief_alarm(line, tomorrow)}", markup=False)
        _answers(name, latest)
        _rack(settings, store, row)
        if tomorrow.foreseen or tomorrow.lemon or tomorrow.parts:
            from fleet_runner.cli.reliability.forecasts import tell  # noqa: PLC0415  likewise

            tell(tomorrow, time.time())
        for ticket in tickets:
            console.print(f"ticket #{ticket.id}: {ticket.title}", markup=False)


def _rack(settings: "Settings", store: "Store", row: Node) -> None:
    """Tell how a rack is that is one machine, where its store is at hand."""
    if row.state in FABRICS and remote(store) is None:
        from fleet_runner.cli.cabling.fabric import tell_rack  # noqa: PLC0415  judges of cables; few need them

        tell_rack(settings, store, row)


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


def _tell_move(store: "Store", move: Entry, results: tuple[Stored, ...]) -> None:
    rule = f"{stamp(move.at)}  {move.state} → {move.to}  on '{move.event}', by {move.by}"
    console.print(Text(f"\n{rule}", style="bold"))
    console.print(_indented(move.sentence))
    _tell_results(store, results)


def _tell_results(store: "Store", results: tuple[Stored, ...]) -> None:
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
    from fleet_runner.core.checks.excerpt import excerpt  # noqa: PLC0415  `node` needs none

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


def _open(store: "Store", name: str) -> dict[str, Run]:
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
