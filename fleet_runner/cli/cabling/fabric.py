"""What explains a fabric: its last sweep, what follows from each fault, and when and why it is swept next."""

import time
from dataclasses import dataclass

from rich.padding import Padding
from rich.text import Text

from fleet_runner.adapters.source import Reader
from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.session import age, console, errors, print_json, stamp
from fleet_runner.core.base.errors import SettingsError, SourceError
from fleet_runner.core.cabling.fabrics import NVLINK_TYPE, watched
from fleet_runner.core.cabling.sweeps import CABLING, told
from fleet_runner.core.checks.verdicts import Finding
from fleet_runner.core.faults.confirmation import Worth, speaks, touches, weigh
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.runs import Node, Run, Stored, Ticket
from fleet_runner.core.lifecycle.states import Condition
from fleet_runner.core.lifecycle.view import View
from fleet_runner.reconcile.lifecycle.racks import domain_of, racked
from fleet_runner.reconcile.lifecycle.view import FleetView
from fleet_runner.reconcile.loop.context import TickContext, timing
from fleet_runner.settings import Settings

WORDS: dict[Worth, str] = {
    Worth.TICKET: "its ticket opens at the next tick",
    Worth.ONCE: "seen once: a second sweep must see it before a ticket opens",
    Worth.UNSURE: "no ticket: the sweep could not decide it",
    Worth.KEPT: "recorded: no action needed",
}
"""What follows from a fault without a ticket; of an excused one, whom it touches says it."""


@dataclass(frozen=True, slots=True)
class Followed:
    """A fault that the last sweep saw, its open ticket's number, and what follows from it, in words."""

    fault: str
    code: str
    message: str
    ticket: int | None
    follows: str


def explain_fabric(settings: Settings, store: Store, row: Node, *, json: bool) -> None:
    """Print it."""
    now = time.time()
    view = _view(settings, store, row, now)
    said, due, why = told(view, timing(settings), now)
    why = _paused(view) or why
    faults = _faults(view)
    run = view.runs[-1] if view.runs else None
    if json:
        following, beside = {"at": due, "because": why}, [each.result for each in _beside(view, run)]
        print_json({"node": row, "sweep": run, "said": said, "beside": beside, "faults": faults, "next": following})
        return
    console.print(Text(f"{row.name} is watched", style="bold").append(f" for {age(now - row.since)}: {view.place}."))
    console.print(_head("Last sweep: ", f"{_how(view, run)}{said}"))
    for each in _beside(view, run):
        words = f"{each.result.check}: {each.result.verdict}, {each.result.message}"
        console.print(Padding(Text(words), (0, 0, 0, 2)))
    for fault in faults:
        console.print(Padding(Text(f"{fault.code}: {fault.message}"), (0, 0, 0, 2)))
        console.print(Padding(Text(fault.follows, style="yellow"), (0, 0, 0, 4)))
    for ticket in _others(view, faults):
        console.print(Padding(Text(f"Ticket #{ticket.id} is open, too: {ticket.title}"), (0, 0, 0, 2)))
    console.print(_head("Next sweep: ", _when(view, due, why, now)))
    commands = [f"run fabric --node {row.name}", f"history {row.name}"]
    if row.device_type != NVLINK_TYPE:
        commands = [
            f"cabling explain --fabric {row.name} (each fault, its steps)",
            f"cabling sweeps {row.name}",
            *commands,
        ]
    console.print(_head("To go on: ", f"fleet-runner {commands[0]}"))
    for command in commands[1:]:
        console.print(Padding(Text(f"fleet-runner {command}"), (0, 0, 0, 10)))


def tell_rack(settings: Settings, store: Store, row: Node) -> None:
    """Print the state of an NVLink domain, and how each thing in its racks is; nothing of a fabric of cables."""
    if row.device_type != NVLINK_TYPE:
        return
    try:
        fleet = Reader(settings)()
    except (SourceError, SettingsError) as error:
        errors.print(f"warning: what is in the rack is not known here: {error}", markup=False)
        return
    domain = domain_of(fleet, row)
    if domain is None:
        return
    whole = racked(store, fleet, row, domain)
    console.print(_head("The rack: ", f"{whole.sentence}."))
    for each in whole.rows:
        line = f"{each.unit:>4} {each.name}, {each.kind}: {each.word}"
        console.print(Padding(Text(line, style="yellow" if each.bad else ""), (0, 0, 0, 2)))


def _view(settings: Settings, store: Store, row: Node, now: float) -> View:
    """Return what the reconciler would decide from; without the source of truth, as far as the store knows."""
    reader = Reader(settings)
    try:
        fleet = reader()
    except (SourceError, SettingsError) as error:
        errors.print(f"warning: what the source of truth excuses is not known here: {error}", markup=False)
        fleet = Fleet((), {}, {}, {}, (), "")
    known = {fabric.name: fabric for fabric in watched(fleet)}
    world = TickContext(settings, store, reader, fleet=fleet, fabrics=known)
    run = next((each for each in store.open_runs() if each.node == row.name), None)
    return FleetView(world, fleet).view(row, run, now)


def _how(view: View, run: Run | None) -> str:
    """Return "run 64, 2026-11-21 22:59:53, through gpu-01 ib0: FAIL, "."""
    if run is None:
        return ""
    answer = next((each for each in view.latest if each.run == run.id and each.result.check in CABLING), None)
    port = answer.result.observed.get("observer") if answer is not None else None
    through = f", through {' '.join(map(str, port))}" if isinstance(port, list | tuple) and port else ""
    verdict = f"{answer.result.verdict}, " if answer is not None else ""
    return f"run {run.id}, {stamp(run.opened_at)}{through}: {verdict}"


def _beside(view: View, run: Run | None) -> list[Stored]:
    """Return what the last sweep said about else than cabling: counters, and RoCE at switches' ports."""
    mine = [each for each in view.latest if run is not None and each.run == run.id]
    return [each for each in mine if each.result.check not in CABLING]


def _faults(view: View) -> list[Followed]:
    numbers = {ticket.fault: ticket.id for ticket in view.tickets}
    found = [pair for stored in view.latest if speaks(stored.result) for pair in weigh(view, stored)]
    return [
        Followed(each.fault, each.code, each.message, numbers.get(each.fault), _follows(view, each, worth, numbers))
        for each, worth in found
    ]


def _follows(view: View, finding: Finding, worth: Worth, numbers: dict[str, int]) -> str:
    if finding.fault in numbers:
        return f"ticket #{numbers[finding.fault]}"
    if worth is Worth.EXCUSED:
        return f"excused: {', '.join(sorted(view.excused[each] for each in touches(finding) & view.excused.keys()))}"
    return f"no ticket: {_paused(view)}" if worth is Worth.TICKET and _paused(view) else WORDS[worth]


def _paused(view: View) -> str:
    held = view.node.conditions.get(Condition.HELD)
    return f"held by {held.by}: {held.reason or 'no reason given'}" if held else ""


def _others(view: View, faults: list[Followed]) -> list[Ticket]:
    shown = {fault.ticket for fault in faults}
    return [ticket for ticket in view.tickets if ticket.id not in shown]


def _when(view: View, due: float, why: str, now: float) -> str:
    if view.run is not None:
        return f"run {view.run.id} is under way ({view.run.reason.removesuffix('.')})"
    if _paused(view):
        return f"none automatically; {why}"
    if view.status is not None and not view.observers:
        return "when a node with a port in the fabric is in service; nothing can read it now"
    if view.status is None:
        why = f"{why}; only while the source of truth knows the fabric"
    return f"{stamp(due)} ({why})" if due > now else f"due now ({why})"


def _head(title: str, words: str) -> Text:
    return Text(title, style="bold").append(words, style="default")
