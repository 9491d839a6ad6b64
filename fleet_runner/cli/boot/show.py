"""fleet-runner boot show, discovered, forget: what the boot service has seen."""

import time
from typing import Annotated

import typer
from rich.padding import Padding
from rich.text import Text

from fleet_runner.cli.base.session import age, console, known, opened, print_json, stamp
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.boot.boots import BootEvent, Discovered, Identity
from fleet_runner.core.boot.text import words
from fleet_runner.core.inventory.addresses import mac

NodeName = Annotated[str, typer.Argument(help="the node's name, as the source of truth has it", metavar="NODE")]
Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]


def show(
    name: NodeName,
    limit: Annotated[int, typer.Option(min=1, help="the newest so many boots, and ten times as many lines")] = 5,
    json: Json = False,
) -> None:
    """Show a node's network boots, oldest first: what was expected, how far each came, what was refused."""
    with opened() as (_, store):
        known(store, name)
        boots, events = store.boots(name, limit), store.boot_events(name, limit * 10)
        if json:
            print_json({"boots": boots, "events": events})
            return
        if not boots and not events:
            console.print(f"{name} has not booted over the network")
        for boot in boots:
            console.print(Text(words(boot, time.time()), style="bold"))
            console.print(Padding(Text(f"expected {_who(boot.expected)}"), (0, 0, 0, 2)))
        for event in events:
            console.print(_line(event))


def discovered(json: Json = False) -> None:
    """List machines that asked for a boot and are not in the source of truth, newest last."""
    with opened() as (_, store):
        found = sorted(store.discovered(), key=lambda each: each.at)
        if json:
            print_json(found)
            return
        if not found:
            console.print("no unknown machine has asked for a boot")
            return
        for each in found:
            console.print(Text(_machine(each, time.time())))
        console.print(
            "To register one, add it to the source of truth with its MAC address and serial number; to drop it from"
            " this list: fleet-runner boot forget MAC",
            style="dim",
        )


def forget(
    address: Annotated[str, typer.Argument(help="the MAC address of the machine", metavar="MAC")],
) -> None:
    """Remove an unknown machine from the list; if it asks again, it is listed again."""
    hardware = mac(address)
    if hardware is None:
        raise FleetError(f"{address!r} is not a MAC address, expected one such as b8:3f:d2:00:00:01")
    with opened() as (_, store):
        if not store.forget(hardware):
            raise FleetError(f"no unknown machine with {hardware} has asked; fleet-runner boot discovered lists them")
        console.print(f"forgot {hardware}")


def _who(expected: Identity) -> str:
    """Return "MAC b8:3f:d2:00:00:01, serial S1, UUID …, from 10.0.0.9"."""
    parts = [
        ("MAC ", " or ".join(sorted(expected.macs))),
        ("serial ", expected.serial),
        ("UUID ", expected.uuid),
        ("from ", " or ".join(sorted(expected.addresses))),
    ]
    return ", ".join(f"{name}{value}" for name, value in parts if value)


def _line(event: BootEvent) -> Text:
    text = Text(f"{stamp(event.at)} ", style="dim").append(f"{event.kind:<10} ", style=_style(event))
    counted = f" ({event.times} times)" if event.times > 1 else ""
    source = f" [{event.source}]" if event.source else ""
    return text.append(f"{printable(event.sentence)}{counted}{printable(source)}", style="default")


def _style(event: BootEvent) -> str:
    return "bold red" if event.kind == "refused" else "bold"


def _machine(each: Discovered, now: float) -> str:
    parts = [each.manufacturer, each.product, f"serial {each.serial}" if each.serial else "", each.uuid]
    said = " ".join(printable(" ".join(parts)).split()) or "says nothing of itself"
    times = f"{each.times} times" if each.times > 1 else "once"
    return f"{each.mac}  {said}; asked {times} from {each.source}, last {age(now - each.at)} ago"
