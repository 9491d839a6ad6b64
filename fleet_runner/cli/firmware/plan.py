"""fleet-runner firmware plan: what would be sent to a node's BMC, in order; nothing of it is."""

import json as text_of
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Annotated, Any

import typer
from rich.padding import Padding
from rich.text import Text

from fleet_runner.adapters import redfish
from fleet_runner.cli.base.options import Json
from fleet_runner.cli.base.session import Exit, age, console, explained, opened, print_json
from fleet_runner.cli.firmware import bmc as asking
from fleet_runner.core.base.printable import printable
from fleet_runner.core.firmware import bios_text
from fleet_runner.core.firmware.progress_text import Report
from fleet_runner.core.inventory.records import Management
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.lifecycle.states import State
from fleet_runner.reconcile.firmware.driver import BiosContext, DriverContext, Target, drive, set_bios

CODES = {"failed": Exit.NO, "refused": Exit.NO, "unread": Exit.TROUBLE}
"""Exit codes of where firmware or BIOS settings stand, where that is no plan."""

RESETS = {"bmc_reset": "the BMC is reset", "host_reset": "the host is reset", "ac_drain": "all power is removed"}

Step = Mapping[str, Any]


def plan(
    name: Annotated[str, typer.Argument(help="the node", metavar="NODE")],
    json: Json = False,
) -> None:
    """Print the updates that a node would get now, in order. Its BMC is read; nothing is changed.

    Exit code 0: that, or nothing is to be done; 1: nothing may be sent, or it is certain to fail; 3: the BMC does not
    say what has to be known.
    """
    with opened() as (settings, store):
        row = asking.a_node(store, name)
        device, url = asking.where(settings, name)
        wanted, attributes = asking.wanted(settings, device)
        target, bmc = _target(row), partial(redfish.opened, settings, url, name=name)
        customer = device.management is Management.CUSTOMER
        means = DriverContext(store, bmc, wanted, settings.firmware_dir, url=settings.firmware_url, customer=customer)
        now = time.time()
        with explained("read-only: nothing was sent"):
            report = drive(target, means, until=now, check=True)
            settles = BiosContext(store, bmc, attributes, mac=asking.card(settings, device))
            after = set_bios(target, settles, until=now, check=True) if attributes else None
    if json:
        print_json({"node": name, **report.to_json(), "bios": None if after is None else after.to_json()})
    else:
        _tell(name, report)
        _tell_bios(after, report.message)
    stands = [report.stand.value, *([after.stand.value] if after else [])]
    raise typer.Exit(max(CODES.get(stand, Exit.OK) for stand in stands))


def _target(row: Node) -> Target:
    """Return the node as the stage would find it: what failed in an earlier stay in the state counts no more."""
    return Target(row.name, "plan", since=row.since if row.state is State.FIRMWARE else time.time())


def _tell(name: str, report: Report) -> None:
    steps = report.steps
    many = "1 request" if len(steps) == 1 else f"{len(steps)} requests"
    said = f"{many} would be sent, in this order; nothing was sent" if steps else report.message
    console.print(Text(f"{name}: {printable(said)}", style="bold"))
    for number, step in enumerate(steps, 1):
        several = sum(each["why"] == step["why"] for each in steps) > 1
        which = f": {', '.join(step['versions'])}" if several else ""
        console.print(Text(printable(f"{number}. {step['why']}{which}"), style="bold"))
        _indented(_lines(step))
    for note in report.notes:
        console.print(Text(f"note: {printable(note)}"))
    if steps:
        console.print(Text("After each request a new plan is made from the BMC's state then.", style="dim"))


def _lines(step: Step) -> Iterator[str]:
    """Give the lines of one step, from what comes before its request to what follows it."""
    if step["power"] != "any":
        yield f"the host is switched {step['power']} for it, if it is not"
    for entry, (was, to) in step["versions"].items():
        yield f"{entry} {was or '?'} → {to}" if was != to else f"{entry} stays at {to}"
    for request in step["requests"]:
        yield from _request(request)
    resets = step["resets"]
    times = f" {len(resets)} times" if len(resets) > 1 else ""
    then = f"; then {RESETS[resets[0]]}{times}" if resets else ""
    yield f"image {step['image']}, SHA-256 {step['sha256'][:12]}…; at most {age(step['seconds'])}{then}"


def _request(request: Mapping[str, Any]) -> Iterator[str]:
    """Give a request's lines: each key of its body with the JSON that it holds; an image stands there by its name."""
    body = request["body"]
    yield f"{request['method']} {request['uri']}"
    if isinstance(body, str):
        yield f"  {body}, as it is"
        return
    yield from (f"  {key} {text_of.dumps(value, ensure_ascii=False)}" for key, value in body.items())
    for then in request.get("then", ()):
        yield from _request(then)


def _indented(lines: Iterable[str]) -> None:
    for line in lines:
        text = line.lstrip()
        console.print(Padding(Text(printable(text)), (0, 0, 0, 3 + len(line) - len(text))))


def _tell_bios(report: bios_text.Report | None, told: str) -> None:
    """Tell of the BIOS settings; what was told of the versions is not told twice."""
    if report is None:
        return
    said = "also unknown, for the same reason" if report.message in told else report.message
    console.print(Text(f"BIOS settings: {printable(said)}", style="bold"))
    if report.request:
        _indented(_request(report.request))
    for note in report.notes:
        console.print(Text(f"note: {printable(note)}"))
