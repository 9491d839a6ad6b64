"""fleet-runner netbox push: what a folder of site files says, made and corrected in a NetBox."""

from pathlib import Path
from typing import Annotated

import typer

from fleet_runner.adapters import sitefiles
from fleet_runner.cli.netbox.reaching import TokenFile, Url, reached
from fleet_runner.cli.netbox.telling import progress
from fleet_runner.cli.reading import Json
from fleet_runner.cli.session import Exit, console, explained, print_json
from fleet_runner.core.push import Kind, Plan, Step

SHOWN = 20
"""Changes and conflicts of a kind that are told one by one; the rest is counted."""

LEFT = "what was written stays in NetBox, each object whole; push again to go on with the rest"

Folder = Annotated[Path, typer.Argument(help="a folder of site files", metavar="FOLDER")]


def push(
    folder: Folder,
    *,
    check: Annotated[bool, typer.Option("--check", help="only say what would be written; 1 if anything")] = False,
    url: Url = "",
    token_file: TokenFile = None,
    json: Json = False,
) -> None:
    """Make a NetBox say what site files say: what is missing is made, what differs is changed.

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
        print_json(
            {"planned": planned.steps, "done": pushed.done, "conflicts": pushed.conflicts, "notes": planned.notes}
        )
    else:
        _tell(planned, pushed.done, pushed.conflicts, check=check)
    if pushed.conflicts or (check and planned.steps):
        raise typer.Exit(Exit.NO)


def _tell(planned: Plan, done: dict[Kind, int], conflicts: list[str], *, check: bool) -> None:
    for kind in Kind:
        steps = [step for step in planned.steps if step.kind is kind]
        new = [step for step in steps if step.was is None]
        if new:
            names = ", ".join(_short(step) for step in new[:3])
            more = ", …" if len(new) > 3 else ""
            _line(f"{len(new)} new: {kind} {names}{more}")
        changed = [step for step in steps if step.was is not None]
        for step in changed[:SHOWN]:
            _line(f"{step.name}: {_difference(step)}")
        if len(changed) > SHOWN:
            _line(f"... and {len(changed) - SHOWN} more changes of this kind")
    for note in planned.notes:
        _line(f"note: {note}")
    for conflict in conflicts[:SHOWN]:
        _line(conflict)
    if len(conflicts) > SHOWN:
        _line(f"... and {len(conflicts) - SHOWN} more that could not be written")
    count = len(planned.steps)
    if not count:
        _line("nothing to write: NetBox says what the folder says")
    elif check:
        _line(f"{count} to write; nothing was written")
    else:
        _line(f"{sum(done.values())} of {count} written")


def _short(step: Step) -> str:
    return step.name.removeprefix(f"{step.kind} ")


def _difference(step: Step) -> str:
    was = step.was or {}
    return ", ".join(f"{name} {value} (was {was.get(name)})" for name, value in step.values.items())


def _line(text: str) -> None:
    console.print(text, markup=False, soft_wrap=True)
