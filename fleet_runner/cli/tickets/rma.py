"""fleet-runner rma: parts and nodes that go back to their vendor, and what comes in their place."""

import time
from pathlib import Path
from typing import Annotated

import typer

from fleet_runner.adapters import source
from fleet_runner.adapters.files import site_serials
from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.session import Exit, age, console, errors, known, opened, print_json, stamp, whoami
from fleet_runner.cli.inventory.netbox import serials
from fleet_runner.cli.lifecycle.intents import By, Reason, Wait, ask, awaited
from fleet_runner.core.base.errors import FleetError, SourceError
from fleet_runner.core.inventory.identity import machine
from fleet_runner.core.inventory.netbox.mirror.serials import queued
from fleet_runner.core.inventory.records import Fleet, Part
from fleet_runner.core.lifecycle.intents import RECORD
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import Event, Refusal, State, step
from fleet_runner.core.tickets.rma_cases import Case, Replaced, elsewhere, exchanged, pairs, told
from fleet_runner.settings import Settings

app = typer.Typer(no_args_is_help=True)

NodeName = Annotated[str, typer.Argument(metavar="NODE", help="a node")]
Number = Annotated[str, typer.Option("--case", "-c", metavar="N", help="the vendor's number; needed if two are open")]
Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]


@app.callback()
def rma() -> None:
    """Follow what goes back to its vendor: cases, parts out and in, serial numbers."""


@app.command("open")
def begin(
    node: NodeName,
    *,
    vendor: Annotated[str, typer.Option("--vendor", help="who takes it back")],
    case: Annotated[str, typer.Option("--case", "-c", metavar="N", help="the vendor's number")],
    part: Annotated[
        list[str] | None, typer.Option("--part", "-p", metavar="SLOT", help="a slot; none: the whole node")
    ] = None,
    reason: Reason = "",
    by: By = None,
    wait: Wait = 10.0,
) -> None:
    """Open a case, and move a node in triage or debug to rma."""
    with opened() as (settings, store):
        row, now, who = known(store, node), time.time(), by or whoami()
        way = None if row.state is State.RMA else step(row.state, Event.RMA, frozenset(row.conditions))
        if isinstance(way, Refusal):
            errors.print(f"no: {way.sentence}", markup=False, soft_wrap=True)
            raise typer.Exit(Exit.NO)
        slots = _slots(source.read(settings), node) if part else {}
        parts = tuple(Replaced(slot, _serial(slots, node, slot)) for slot in part or ())
        found = Case(0, node, vendor.strip(), case.strip(), who, now, parts, because=reason)
        because = reason or f"case {case} at {vendor}"
        intent = store.send_back(found, because) if way is not None else store.open_case(found)
        console.print(f"{node}: case {case} at {vendor} is open", markup=False)
        if way is not None:
            awaited(settings, store, {node: intent}, wait)


@app.command("list")
def listing(
    *, every: Annotated[bool, typer.Option("--all", help="ended ones, too")] = False, json: Json = False
) -> None:
    """List cases, the oldest first."""
    with opened() as (_, store):
        found = store.cases(open_only=not every)
    if json:
        print_json(found)
        return
    for case in found:
        console.print(_line(case), markup=False, soft_wrap=True)
    if not found:
        console.print("no case was ever opened" if every else "no case is open")


@app.command()
def show(node: NodeName, *, json: Json = False) -> None:
    """Show a node's cases, and the serial numbers that the source of truth has for its slots."""
    with opened() as (settings, store):
        known(store, node)
        found = store.cases(node)
        slots = _slots(source.read(settings), node)
    if json:
        print_json({"cases": found, "parts": list(slots.values())})
        return
    for case in found:
        console.print(_line(case), markup=False, soft_wrap=True)
    for part in slots.values():
        words = f"  {part.slot}: {part.model}, serial {part.serial or 'not known'}"
        console.print(words, markup=False, soft_wrap=True)


@app.command()
def parts(
    node: NodeName,
    *,
    out: Annotated[list[str] | None, typer.Option("--out", metavar="SLOT=SERIAL", help="what went out")] = None,
    into: Annotated[list[str] | None, typer.Option("--in", metavar="SLOT=SERIAL", help="what came in")] = None,
    number: Number = "",
    check: Annotated[bool, typer.Option("--check", help="change nothing; show what would change")] = False,
    by: By = None,
) -> None:
    """Record which parts went out and came in; new serial numbers go into the source of truth."""
    went, came = pairs(out or (), "--out"), pairs(into or (), "--in")
    if not went and not came:
        raise FleetError("give --out or --in, each as SLOT=SERIAL")
    with opened() as (settings, store):
        known(store, node)
        case = _one(store, node, number)
        fleet = _fleet(settings)
        before = _known_before(fleet, case, went, came) if fleet is not None else {}
        changed = exchanged(case, before | went, came)
        who, mirrored = (by or whoami(), time.time()), serials.written(settings)
        due = queued(case, changed, came, store.serials_due(node), who) if mirrored else []
        if came and not mirrored:
            _write(settings, node, came, check=check)
        if check:
            if due and fleet is not None:
                serials.show(settings, due)
            console.print(
                f"{node}: would be kept: {', '.join(map(told, changed.parts))}", markup=False, soft_wrap=True
            )
            return
        store.exchange_parts(changed, *who, due)
        words = f"{node}: case {case.number} at {case.vendor}: {', '.join(map(told, changed.parts))}"
        console.print(words, markup=False, soft_wrap=True)
        if due:
            serials.write(settings, store, due)


@app.command()
def close(node: NodeName, *, number: Number = "", reason: Reason = "", by: By = None, wait: Wait = 10.0) -> None:
    """Close a case; with the last one the node is repaired, and goes on to onboard."""
    with opened() as (_, store):
        row = known(store, node)
        case = _one(store, node, number)
        store.end_case(case, reason or "closed", by or whoami(), time.time())
        console.print(f"{node}: case {case.number} at {case.vendor} has ended", markup=False)
        left = store.cases(node, open_only=True)
    if left:
        names = ", ".join(each.number for each in left)
        console.print(f"{node}: it stays in {row.state}: {names} open still", markup=False)
    elif row.state is State.RMA:
        ask(IntentKind.REPAIRED, [node], reason or f"case {case.number} at {case.vendor} has ended", by, wait)


@app.command()
def replaced(
    node: NodeName,
    *,
    record: Annotated[
        bool, typer.Option("--record", help="the machine is the same: only its serial number was recorded wrong")
    ] = False,
    reason: Reason = "",
    by: By = None,
    wait: Wait = 10.0,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="do not ask")] = False,
) -> None:
    """Record that a node's chassis was replaced; its serial number is the one in the source of truth now.

    It earns production from the start, beginning with onboard; one that serves leaves production first. Until this is
    said, no node is touched whose serial number in the source of truth is another one.
    """
    with opened() as (settings, store):
        known(store, node)
        fleet = source.read(settings)
        before = store.machine(node).serial
    device = fleet.devices.get(node)
    now = machine(device).serial if device is not None else ""
    if not now or now == before:
        found = f"the source of truth has serial {now}" if now else "the source of truth has no serial number for it"
        errors.print(f"no: {node}: {found}; correct it there first", markup=False, soft_wrap=True)
        raise typer.Exit(Exit.NO)
    if not yes:
        what = (
            "the same machine, recorded wrong before" if record else "another machine, which starts again at onboard"
        )
        typer.confirm(f"{node}: serial {before or 'unknown'} before, {now} now. Is it {what}?", abort=True)
    ask(IntentKind.REPLACED, [node], reason, by, wait, detail=RECORD if record else "")


def _one(store: Store, node: str, number: str) -> Case:
    mine = store.cases(node, open_only=True)
    found = [case for case in mine if not number or case.number == number]
    if len(found) != 1:
        names = ", ".join(case.number for case in mine) or "none: fleet-runner rma open begins one"
        raise FleetError(f"{node}: {len(found)} cases fit; expected one of its open ones ({names}), named by --case")
    return found[0]


def _fleet(settings: Settings) -> Fleet | None:
    """Read the source of truth; a NetBox that is told later anyway may be away, and is not asked then."""
    try:
        return source.read(settings)
    except SourceError as error:
        if not serials.written(settings):
            raise
        errors.print(
            f"{error}; the new serial numbers are kept, and compared with NetBox later", markup=False, soft_wrap=True
        )
        return None


def _known_before(fleet: Fleet, case: Case, went: dict[str, str], came: dict[str, str]) -> dict[str, str]:
    """Return the serial numbers that slots had, of which nobody said it yet; refuse what contradicts the source."""
    node, slots = case.node, _slots(fleet, case.node)
    for slot, serial in went.items():
        _agree(slots, node, (slot, serial), came.get(slot))
    known_out = {part.slot for part in case.parts if part.out}
    before = {slot: _serial(slots, node, slot) for slot in came if slot not in known_out}
    _is_free(fleet, node, came)
    return before


def _slots(fleet: Fleet, node: str) -> dict[str, Part]:
    device = fleet.devices.get(node)
    return {part.slot: part for part in device.parts} if device is not None else {}


def _serial(slots: dict[str, Part], node: str, slot: str) -> str:
    if slot not in slots:
        names = ", ".join(slots) or "none"
        raise FleetError(f"{node} has no slot {slot!r} in the source of truth, expected one of {names}")
    return slots[slot].serial or ""


def _agree(slots: dict[str, Part], node: str, went: tuple[str, str], came: str | None) -> None:
    """Refuse a part that the source of truth does not have there: it is another node's, or another slot's."""
    slot, serial = went
    there = _serial(slots, node, slot)
    if there not in {"", serial, came}:
        raise FleetError(
            f"{node} {slot}: --out says {serial}, the source of truth has {there}; is it this node, and this slot?"
        )


def _is_free(fleet: Fleet, node: str, came: dict[str, str]) -> None:
    """Refuse a part that the source of truth has in another place: one of the two would be wrong."""
    found = elsewhere(fleet, node, came)
    if found is not None:
        slot, serial, where = found
        raise FleetError(
            f"{node} {slot}: --in says {serial}, the source of truth has it at {where}; is the serial number right?"
            f" If the part was moved, name what is there now as well, or change it there first"
        )


def _write(settings: Settings, node: str, came: dict[str, str], *, check: bool) -> None:
    if "://" in settings.source:
        told_there = ", ".join(f"{slot} {serial}" for slot, serial in came.items())
        words = f"{settings.source} is not written to: give the parts of {node} there their new serials: {told_there}"
        errors.print(words, markup=False, soft_wrap=True)
        return
    folder = Path(settings.source)
    try:
        path, before, after = site_serials.plan(folder, node, came)
    except SourceError as error:
        if check:
            raise
        raise FleetError(f"{error}; nothing was kept") from error
    if check:
        console.print(site_serials.diff(path, before, after), markup=False, soft_wrap=True)
        return
    site_serials.write(path, after)
    console.print(f"{path}: the serial numbers of {', '.join(came)} are new", markup=False, soft_wrap=True)


def _line(case: Case) -> str:
    parts_ = ", ".join(map(told, case.parts)) or "the whole node"
    ended = f"ended {stamp(case.ended_at)}: {case.because}" if case.ended_at is not None else "open"
    since = f"since {stamp(case.opened_at)} ({age(time.time() - case.opened_at)})"
    return f"{case.node}: case {case.number} at {case.vendor}, {parts_}; {ended}, {since}, by {case.by}"
