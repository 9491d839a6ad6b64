"""fleet-runner cabling explain: everything about the faults at a device, a port or behind a ticket."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fleet_runner.adapters.store import Store
from fleet_runner.cli.cabling.captures import Capture, newest, sweeps
from fleet_runner.cli.cabling.design import Design, design, uncollected
from fleet_runner.cli.cabling.drawing import draw
from fleet_runner.cli.cabling.looking import at_files, look
from fleet_runner.cli.cabling.options import AsJson, Expected, FabricName, Names, Observed, Svg
from fleet_runner.cli.cabling.telling import indented, says, steps, warn
from fleet_runner.cli.session import age, console, opened, plain, print_json
from fleet_runner.core.cabling.explain import Fault, Places
from fleet_runner.core.cabling.judge import Verdicts
from fleet_runner.core.cabling.kinds import ordered, said
from fleet_runner.core.cabling.links import Link, Port
from fleet_runner.core.cabling.reasons import done_when, why
from fleet_runner.core.errors import FleetError
from fleet_runner.core.excuses import excused
from fleet_runner.core.fabrics import Fabric
from fleet_runner.core.printable import printable
from fleet_runner.core.runs import Ticket

KEY = "cabling/"
"""How the keys of cabling faults begin."""


@dataclass(frozen=True, slots=True)
class Told:
    """A fault with what the store knows of it: its ticket, and which of its devices nobody is sent for."""

    fault: Fault
    ticket: Ticket | None = None
    excuses: tuple[str, ...] = ()


def explain(
    what: Annotated[
        list[str] | None,
        typer.Argument(help="a ticket's number, a fault's key, a device, or a device and its port", metavar="[WHAT]"),
    ] = None,
    *,
    expected: Expected = None,
    observed: Observed = None,
    fabric: FabricName = None,
    names: Names = None,
    svg: Svg = None,
    json: AsJson = False,
) -> None:
    """Say everything about faults: what differs, why it is what it is said to be, each step, what proves it done.

    Without `--observed` the newest stored sweep of each fabric is explained.
    """
    words = " ".join(what or ())
    with uncollected():
        should = design(expected, names)
        wanted = should.fabric(fabric) if fabric else None
        if observed is not None:
            look_at = at_files(should, observed, wanted)
            told = [Told(fault) for fault in _chosen(look_at.verdicts, words)]
            looked = look_at.label
        else:
            told, looked = _stored(should, [wanted] if wanted else should.fabrics, words)
    if not told and words:
        _known(should, words)
    if json:
        print_json([_plain(each, should.places) for each in told])
    else:
        if told:
            console.print(Text(f"Seen in {looked}", style="dim"))
        for number, each in enumerate(told):
            if number:
                console.print()
            _tell(each, should.places)
        if not told:
            console.print(f"no fault{f' at {printable(words)}' if words else ''} in {looked}", markup=False)
    if svg is not None:
        draw(svg, [each.fault for each in told], should.places)


def _stored(should: Design, fabrics: Sequence[Fabric], words: str) -> tuple[list[Told], str]:
    """Explain what the newest sweep of each fabric saw."""
    with opened() as (_, store):
        ticket = _ticket(store, words)
        captures = [(fabric, newest(store, fabric.name)) for fabric in fabrics if sweeps(store, fabric.name)]
        if not captures:
            raise FleetError("no sweep of a fabric is stored; fleet-runner cabling check sweeps now")
        rows = {node.name: node for node in store.nodes()}
        tickets = {each.fault: each for each in store.tickets()}
        told: list[Told] = []
        for fabric, capture in captures:
            verdicts = look(should, capture, fabric).verdicts
            for fault in _chosen(verdicts, ticket.fault if ticket else words):
                excuses = excused(fault.subjects, should.fleet, rows).values() if should.fleet else ()
                told.append(Told(fault, tickets.get(fault.key), tuple(excuses)))
    return told, ", ".join(_when(capture) for _, capture in captures)


def _when(capture: Capture) -> str:
    return f"{capture.label}, {age(time.time() - capture.run.opened_at)} ago" if capture.run else capture.label


def _ticket(store: Store, words: str) -> Ticket | None:
    """Return the ticket that a number names."""
    if not words.isdecimal():
        return None
    found = next((each for each in store.tickets(open_only=False) if each.id == int(words)), None)
    if found is None:
        raise FleetError(f"there is no ticket {words}; fleet-runner tickets --all lists them")
    if not found.fault.startswith(KEY):
        raise FleetError(f"ticket {words} is not about cabling: {found.title}; fleet-runner tickets shows it")
    return found


def _chosen(verdicts: Verdicts, words: str) -> tuple[Fault, ...]:
    """Return the faults that a key, a device, or a device and its port name; all without a word."""
    if verdicts.suspect:
        warn(verdicts.suspect)
    device, _, interface = words.rpartition(" ")
    port = Port(device, interface)
    return tuple(
        fault
        for fault in ordered(verdicts.faults)
        if not words or fault.key == words or words in fault.devices or port in fault.ports
    )


def _known(should: Design, words: str) -> None:
    """Refuse what names neither a fault, a ticket nor a device: a slip of the pen is no good news."""
    devices = {port.device for joined in (*should.links, *should.ethernet.links) for port in joined}
    device, _, _ = words.rpartition(" ")
    if not (words.isdecimal() or words.startswith(KEY) or devices & {words, device}):
        raise FleetError(
            f"no device {words!r} in the design; name a ticket, a fault's key, a device, or its port too"
        )


def _plain(told: Told, places: Places) -> dict[str, Any]:
    return {
        "fault": plain(told.fault),
        "why": why(told.fault, places),
        "done_when": done_when(told.fault),
        "ticket": plain(told.ticket) if told.ticket else None,
        "excused": list(told.excuses),
    }


def _tell(told: Told, places: Places) -> None:
    fault = told.fault
    console.print(Text(said(fault.kind), style="bold red"))
    console.print(indented(fault.message))
    console.print(indented(f"key {fault.key}"))
    if told.ticket is not None:
        times = "once" if told.ticket.seen == 1 else f"{told.ticket.seen} times"
        console.print(indented(f"ticket #{told.ticket.id}, seen {times}"))
    for excuse in told.excuses:
        console.print(indented(f"no ticket is opened while {excuse}"))
    console.print(Padding(_links(fault), (1, 0, 1, 2), expand=False))
    console.print(Text("Why", style="bold"))
    for sentence in why(fault, places):
        console.print(indented(sentence))
    if fault.steps:
        console.print(Text("Steps", style="bold"))
        steps(fault)
    console.print(indented(done_when(fault)))


def _links(fault: Fault) -> Table:
    """Lay designed and plugged links beside each other, those of one port in one row where possible."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("DESIGNED", overflow="fold")
    table.add_column("PLUGGED", overflow="fold")
    for joined, other in _pairs(fault.expected, fault.observed):
        table.add_row(Text(says(joined) if joined else "-"), Text(says(other) if other else "-"))
    return table


def _pairs(expected: Iterable[Link], observed: Iterable[Link]) -> list[tuple[Link | None, Link | None]]:
    left = {port: joined for joined in observed for port in joined}
    pairs: list[tuple[Link | None, Link | None]] = []
    for joined in sorted(expected):
        other = left.get(joined.a) or left.get(joined.b)
        pairs.append((joined, other))
        for port in other or ():
            left.pop(port, None)
    return [*pairs, *((None, joined) for joined in sorted(set(left.values())))]
