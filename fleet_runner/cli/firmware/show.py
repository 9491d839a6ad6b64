"""fleet-runner firmware show: the flashes of a node, or all that are open."""

import time
from collections.abc import Iterable
from typing import Annotated

import typer
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.options import Json
from fleet_runner.cli.base.session import age, console, known, opened, print_json, stamp
from fleet_runner.cli.firmware import flash_text
from fleet_runner.cli.firmware.flash_text import Opened
from fleet_runner.core.base.printable import printable
from fleet_runner.core.firmware.flash import End, Flash
from fleet_runner.core.firmware.flash_text import since, what
from fleet_runner.core.firmware.guard import refusal
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.lifecycle.states import State
from fleet_runner.settings import Settings

COLOURS = {End.VERIFIED: "green", End.FAILED: "red", End.NOT_SENT: "yellow", End.SETTLED: "yellow"}

INDENT = (0, 0, 0, 2)


def show(
    name: Annotated[
        str | None, typer.Argument(help="the node; without one, every open flash of the fleet", metavar="[NODE]")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="the newest so many flashes of the node")] = 10,
    json: Json = False,
) -> None:
    """Show a node's flashes, newest first: progress, what it waits for, and which runner has it."""
    with opened() as (settings, store):
        if name is None:
            _all(store, json=json)
        else:
            _one(settings, store, known(store, name), limit, json=json)


def _all(store: Store, *, json: bool) -> None:
    now = time.time()
    rows = [found for flash in store.open_flashes() if (found := flash_text.opened_flash(store, flash.node, now))]
    if json:
        print_json([_plain(found) for found in rows])
    elif not rows:
        console.print("no flash is open")
    else:
        console.print(_table(rows, now))


def _one(settings: Settings, store: Store, row: Node, limit: int, *, json: bool) -> None:
    now = time.time()
    flashes = tuple(reversed(store.flashes(row.name, limit=limit)))
    found, leave = flash_text.opened_flash(store, row.name, now), store.power_leave(row.name, now)
    why_not = refusal(row.name, row.state, found.flash if found else None, "" if leave is None else leave.by)
    if json:
        power = None if leave is None else {**leave._asdict(), "until": leave.at + leave.seconds}
        mine = None if found is None else _plain(found)
        print_json({"node": row, "open": mine, "power": {"allowed": power, "refused": why_not}, "flashes": flashes})
        return
    if not flashes:
        console.print(f"{row.name} has no flashes", markup=False)
    for flash in flashes:
        if found is not None and found.flash.id == flash.id:
            _tell_open(settings, found, row, now)
        else:
            _tell_ended(flash)
    if leave is not None:
        _tell("power", flash_text.allowed(leave, now))
    elif why_not:
        failed = row.state is State.FIRMWARE_FAILED
        calm = found is not None and not failed and not flash_text.overdue(found.flash, now)
        _tell("power", "refused until it has ended" if calm else f"refused: {why_not}")


def _tell_open(settings: Settings, found: Opened, row: Node, now: float) -> None:
    flash = found.flash
    console.print(Text(_head(flash), style="bold").append(" is open", style="bold yellow"))
    _tell("phase", f"{flash.phase} since {age(now - since(flash))}: {flash_text.meaning(flash)}")
    if flash.task:
        _tell("task", flash.task)
    if found.waits and found.waits_since is not None:
        _tell("waits", f"{found.waits} (said {age(now - found.waits_since)} ago)")
    _tell("at it", flash_text.whose(found.holder, row, now))
    if found.holder is None and (typed := flash_text.by_hand(settings, row)):
        console.print(Text(printable(typed)), soft_wrap=True)  # on one line, so that it can be copied
    _tell("image", f"{flash.image}, SHA-256 {flash.sha256[:12]}…, {_asked(flash)}")


def _tell_ended(flash: Flash) -> None:
    end = flash.end or End.SETTLED
    took = age((flash.ended_at or flash.intended_at) - flash.intended_at)
    text = Text(_head(flash), style="bold").append(f" {end.replace('_', ' ')}", style=COLOURS[end])
    console.print(text.append(f" after {took}", style="default"))
    console.print(Padding(Text(printable(flash.detail)), INDENT))
    console.print(Padding(Text(_asked(flash), style="dim"), INDENT))


def _head(flash: Flash) -> str:
    return printable(f"#{flash.id} {stamp(flash.intended_at)} {what(flash)}")


def _asked(flash: Flash) -> str:
    undoes = f", to undo #{flash.rolls_back}" if flash.rolls_back is not None else ""
    run = f", run {flash.run}" if flash.run is not None else ""
    return f"attempt {flash.attempt}{undoes}, by {flash.by}{run}"


def _tell(what: str, text: str) -> None:
    row = Table.grid(padding=(0, 1), expand=True)
    row.add_column(width=6)
    row.add_column(ratio=1, overflow="fold")
    row.add_row(Text(what, style="dim"), Text(printable(text)))
    console.print(Padding(row, INDENT))


def _table(rows: Iterable[Opened], now: float) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), expand=True)
    for column in ("NODE", "FLASH", "PHASE"):
        table.add_column(column, no_wrap=True)
    table.add_column("FOR", justify="right", no_wrap=True)
    table.add_column("WHAT", ratio=1, overflow="fold")
    for flash, holder, waits, _ in rows:
        said = waits or f"{what(flash)}: {flash_text.meaning(flash)}"
        nobody = "" if holder else " (no process works on it now)"
        about = Text(printable(said)).append(nobody, style="dim")
        table.add_row(flash.node, f"#{flash.id}", flash.phase, age(now - since(flash)), about)
    return table


def _plain(found: Opened) -> dict[str, object]:
    holder = None if found.holder is None else found.holder._asdict()
    waits = {"said": found.waits, "at": found.waits_since} if found.waits else None
    return {"flash": found.flash, "holder": holder, "waits": waits}
