"""fleet-runner netbox push: what a folder of site files says, made and corrected in a NetBox."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fleet_runner.adapters import sitefiles
from fleet_runner.cli.base.options import Json
from fleet_runner.cli.base.session import Exit, console, explained, print_json
from fleet_runner.cli.inventory.netbox.connection import TokenFile, Url, reached
from fleet_runner.cli.inventory.netbox.progress import progress
from fleet_runner.core.base.printable import printable
from fleet_runner.core.inventory.netbox.push import Kind, Plan, Step

if TYPE_CHECKING:
    from fleet_runner.adapters.netbox.push import Pushed

SHOWN = 20
"""Changes and conflicts of a kind that are told one by one; the rest is counted."""

NAMED = 3
"""New objects of a kind that are named."""

LONGEST = 60
"""Characters of a value that are shown."""

LEFT = "what was written stays in NetBox; push again to continue"

Folder = Annotated[Path, typer.Argument(help="a folder of site files", metavar="FOLDER")]


def push(
    folder: Folder,
    *,
    check: Annotated[bool, typer.Option("--check", help="show what would be written; exit 1 if anything")] = False,
    url: Url = "",
    token_file: TokenFile = None,
    json: Json = False,
) -> None:
    """Write site files into a NetBox: what is missing is created, what differs is changed.

    Nothing is ever taken out of NetBox, neither objects nor values that the files leave empty. A second push writes
    nothing, and one after an interruption the rest. Exit code 1: something could not be written, or with --check
    something would be.
    """
    from fleet_runner.adapters import netbox  # noqa: PLC0415  its client is slow to load
    from fleet_runner.adapters.netbox import push as pushing  # noqa: PLC0415  likewise

    there = reached(url, token_file)
    with progress() as tell:
        tell(f"reads {folder}", 0, 0)
        wanted = sitefiles.load(folder)
        tell(f"reads {there.url}", 0, 0)
        has = netbox.load(there.url, there.token)
        with pushing.opened(there.url, there.token, wanted) as opened:
            planned = opened.plan(has)
            pushed = pushing.Pushed(conflicts=list(planned.conflicts))
            if not check:
                with explained(LEFT):
                    pushed = opened.do(planned, tell)
    if json:
        told = {"planned": planned.steps, "notes": planned.notes, "done": pushed.done}
        print_json({**told, "conflicts": pushed.conflicts, "waiting": pushed.waiting})
    else:
        _tell(planned, pushed, check=check)
    if pushed.conflicts or pushed.waiting or (check and planned.steps):
        raise typer.Exit(Exit.NO)


def _tell(planned: Plan, pushed: "Pushed", *, check: bool) -> None:
    fresh = {step.key[0] for step in planned.steps if step.kind is Kind.DEVICE and step.was is None}
    for kind in Kind:
        steps = [step for step in planned.steps if step.kind is kind]
        new = [step for step in steps if step.was is None or step.key[0] in fresh]
        other = [step for step in steps if step.was is not None and step.key[0] not in fresh]
        if new:
            names = ", ".join(step.name.removeprefix(f"{kind} ") for step in new[:NAMED])
            _line(f"{len(new):,} new: {kind} {names}{', …' if len(new) > NAMED else ''}")
        _lines([f"{step.name}: {_difference(step)}" for step in other])
    _lines([f"note: {note}" for note in planned.notes])
    _lines(pushed.conflicts)
    if pushed.waiting:
        _line(f"{pushed.waiting:,} depend on what could not be written; correct that, then push again")
    count = len(planned.steps)
    if not count:
        _line("nothing to write" + (" but that" if pushed.conflicts else ": NetBox matches the folder"))
    else:
        done = "nothing was written" if check else f"{sum(pushed.done.values()):,} written"
        _line(f"{count:,} to write; {done}")


def _difference(step: Step) -> str:
    was = step.was or {}
    return ", ".join(f"{name} {_short(value)} (was {_short(was.get(name))})" for name, value in step.values.items())


def _short(value: object) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _lines(texts: list[str]) -> None:
    for text in texts[:SHOWN]:
        _line(text)
    if len(texts) > SHOWN:
        _line(f"... and {len(texts) - SHOWN:,} more like these")


def _line(text: str) -> None:
    console.print(printable(" ".join(text.split())), markup=False, soft_wrap=True)
