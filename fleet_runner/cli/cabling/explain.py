"""fleet-runner cabling explain: everything about the faults at a device, a port or behind a ticket."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fleet_runner.cli.base.session import Exit, age, console, opened, plain, print_json
from fleet_runner.cli.cabling.captures import Capture, Neighbours, newest, sweeps
from fleet_runner.cli.cabling.design import Design, design, uncollected
from fleet_runner.cli.cabling.look import at_files, look
from fleet_runner.cli.cabling.options import AsJson, Expected, FabricName, Names, Observed, Svg, both_files
from fleet_runner.cli.cabling.picture import draw
from fleet_runner.cli.cabling.text import indented, note, says, steps, unknown, warn
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.cabling.exempt import excused
from fleet_runner.core.cabling.explain import Fault, Places
from fleet_runner.core.cabling.fabrics import Fabric
from fleet_runner.core.cabling.judge import Verdicts
from fleet_runner.core.cabling.kinds import ordered, said
from fleet_runner.core.cabling.links import Link, Port
from fleet_runner.core.cabling.reasons import done_when, why
from fleet_runner.core.lifecycle.runs import Ticket

if TYPE_CHECKING:
    from fleet_runner.adapters.store import Store

KEY = "cabling/"
"""How the keys of cabling faults begin."""

SHOWN = 16
"""Ports of a device that are named to one who names another."""


@dataclass(frozen=True, slots=True)
class KnownFault:
    """A fault with what the store knows of it: its ticket, and which of its devices nobody is sent for."""

    fault: Fault
    ticket: Ticket | None = None
    excuses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What was asked for: its faults, what of it cannot be told, where that was seen, and whether it is believed."""

    told: tuple[KnownFault, ...]
    untold: tuple[str, ...]
    looked: str
    suspect: bool

    @property
    def code(self) -> Exit:
        """A fault that was asked for and is sure is an answer; "no fault" is one where everything can be told."""
        return Exit.TROUBLE if self.suspect or (self.untold and not self.told) else Exit.OK


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
    """Explain each fault: what differs, why, each step of the repair, and what proves it done.

    Without `--observed` the newest stored sweep of each fabric is explained.

    Exit code 0: the faults are explained, or there is none; 2: there is no such device, port or ticket, or a file
    cannot be used; 3: what stands there cannot be told and is listed as unknown, or the capture or the design is
    suspect.
    """
    both_files(expected, observed)
    words = " ".join(what or ())
    with uncollected():
        should = design(expected, names)
        wanted = should.fabric(fabric) if fabric else None
        if observed is not None:
            _no_ticket(should, words)
            look_at = at_files(should, observed, wanted)
            told = tuple(KnownFault(fault) for fault in _chosen(look_at.verdicts, words))
            untold = _untold(look_at.verdicts, words)
            found = Answer(told, untold, look_at.label, bool(look_at.verdicts.suspect))
        else:
            found = _stored(should, [wanted] if wanted else should.fabrics, words)
    if words and not (found.told or found.untold):
        _known(should, words)
    if json:
        print_json([_plain(each, should.places) for each in found.told])
        for sentence in found.untold:
            note(f"unknown: {sentence}")
    else:
        _print(found, words, should.places)
    if svg is not None:
        draw(svg, [each.fault for each in found.told], should.places)
    raise typer.Exit(found.code)


def _print(found: Answer, words: str, places: Places) -> None:
    if found.told:
        console.print(Text(f"Seen in {found.looked}", style="dim"))
    for number, each in enumerate(found.told):
        if number:
            console.print()
        _tell(each, places)
    unknown(found.untold)
    if not found.told:
        sure = "no fault in what could be judged" if found.untold else "no fault"
        console.print(f"{sure}{f' at {printable(words)}' if words else ''} in {found.looked}", markup=False)


def _stored(should: Design, fabrics: Sequence[Fabric], words: str) -> Answer:
    """Explain what the newest sweep of each fabric saw."""
    with opened() as (_, store):
        ticket = _ticket(store, words)
        captures = [(fabric, newest(store, fabric.name)) for fabric in fabrics if sweeps(store, fabric.name)]
        if not captures:
            raise FleetError("no sweep of a fabric is stored; fleet-runner cabling check sweeps now")
        rows = {node.name: node for node in store.nodes()}
        tickets = {each.fault: each for each in store.tickets()}
        told: list[KnownFault] = []
        untold: list[str] = []
        suspect = False
        for fabric, capture in captures:
            verdicts = look(should, capture, fabric).verdicts
            untold += _untold(verdicts, words)
            suspect = suspect or bool(verdicts.suspect)
            for fault in _chosen(verdicts, ticket.fault if ticket else words):
                excuses = excused(fault.subjects, should.fleet, rows).values() if should.fleet else ()
                told.append(KnownFault(fault, tickets.get(fault.key), tuple(excuses)))
    return Answer(tuple(told), tuple(untold), ", ".join(_when(capture) for _, capture in captures), suspect)


def _when(capture: Capture | Neighbours) -> str:
    return f"{capture.label}, {age(time.time() - capture.run.opened_at)} ago" if capture.run else capture.label


def _ticket(store: "Store", words: str) -> Ticket | None:
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
    port = _port(words)
    return tuple(
        fault
        for fault in ordered(verdicts.faults)
        if not words or fault.key == words or words in fault.devices or port in fault.ports
    )


def _untold(verdicts: Verdicts, words: str) -> tuple[str, ...]:
    """Return what cannot be told of a device, of its port, or of all without a word."""
    doubts = [(f"{doubt}", (*doubt.designed, *doubt.seen)) for doubt in verdicts.doubts]
    silent = [(f"no data about {says(joined)}", tuple(joined)) for joined in verdicts.silent]
    unmapped = [(f"no port number is known of {says(joined)}", tuple(joined)) for joined in verdicts.unmapped]
    wanted = _port(words)
    return tuple(
        sentence
        for sentence, ports in (*doubts, *silent, *unmapped)
        if not words or wanted in ports or any(words == port.device for port in ports)
    )


def _port(words: str) -> Port:
    device, _, interface = words.rpartition(" ")
    return Port(device, interface)


def _no_ticket(should: Design, words: str) -> None:
    """Refuse a ticket's number beside a file: tickets are of stored sweeps."""
    if words.isdecimal() and words not in _ports(should):
        raise FleetError(
            f"{words} is a ticket's number, and tickets are of stored sweeps; leave --observed out, or name a device,"
            " its port too, or a fault's key"
        )


def _ports(should: Design) -> dict[str, set[str]]:
    """Return the designed ports of each device."""
    found: dict[str, set[str]] = {}
    for port in (port for joined in (*should.links, *should.ethernet.links) for port in joined):
        found.setdefault(port.device, set()).add(port.interface)
    return found


def _known(should: Design, words: str) -> None:
    """Refuse what names neither a fault, a ticket, a device nor its port: a slip of the pen is no good news."""
    ports = _ports(should)
    device, interface = _port(words)
    if words.isdecimal() or words.startswith(KEY) or words in ports or interface in ports.get(device, ()):
        return
    if device in ports:
        some = ", ".join(sorted(ports[device], key=lambda name: (len(name), name))[:SHOWN])
        raise FleetError(f"no port {interface!r} of {device} in the design; it has {len(ports[device])}: {some}")
    raise FleetError(f"no device {words!r} in the design; name a ticket, a fault's key, a device, or its port too")


def _plain(told: KnownFault, places: Places) -> dict[str, Any]:
    return {
        "fault": plain(told.fault),
        "why": why(told.fault, places),
        "done_when": done_when(told.fault),
        "ticket": plain(told.ticket) if told.ticket else None,
        "excused": list(told.excuses),
    }


def _tell(told: KnownFault, places: Places) -> None:
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
