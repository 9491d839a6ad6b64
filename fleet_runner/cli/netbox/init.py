"""fleet-runner netbox init: what fleet-runner needs in a NetBox is made there, and nothing else is touched."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fleet_runner.cli.netbox.reaching import Url, reached
from fleet_runner.cli.session import Exit, console, errors, print_json
from fleet_runner.core.netbox_init import fields, telling
from fleet_runner.core.netbox_init.objects import Ref
from fleet_runner.core.netbox_init.plan import DUE, Act

if TYPE_CHECKING:
    from fleet_runner.adapters.netbox.preparing import Done, Survey


def init(
    *,
    url: Url = "",
    token_file: Annotated[
        Path, typer.Option("--token-file", help="file with an administrator's token, 0600", metavar="FILE")
    ],
    check: Annotated[bool, typer.Option("--check", help="only say what is to be done")] = False,
    json: Annotated[bool, typer.Option("--json", help="print JSON instead of text")] = False,
) -> None:
    """Make what fleet-runner needs in the NetBox that source names; a second run finds nothing to do.

    Only what it made itself is ever changed. What others made under the same name and differs is said.
    """
    from fleet_runner.adapters.netbox import preparing  # noqa: PLC0415  its client is slow to load
    from fleet_runner.adapters.netbox.client import Client, Patience  # noqa: PLC0415  as above

    with Client(*reached(url, token_file), Patience()) as client:
        found = preparing.survey(client, fields.wanted())
        if not json:
            _show(found)
        undone: dict[Ref, str] = {}
        for done in () if check else preparing.carry_out(client, found.steps):
            _tell(done, quiet=json)
            if done.why:
                undone[done.step.wanted.ref] = done.why
    if json:
        steps = [telling.plain(step, undone.get(step.wanted.ref, "")) for step in found.steps]
        print_json({"url": found.url, "version": found.version, "check": check, "steps": steps})
    if undone or (not check and any(step.act not in {*DUE, Act.KEEP} for step in found.steps)):
        raise typer.Exit(Exit.NO)


def _show(found: "Survey") -> None:
    console.print(f"NetBox {found.version} at {found.url}: {telling.summary(found.steps)}", markup=False)
    for step in found.steps:
        for line in telling.lines(step) if step.act is not Act.KEEP else ():
            console.print(line, markup=False, soft_wrap=True)
    if advice := telling.advice(found.steps):
        console.print(advice, markup=False, soft_wrap=True)


def _tell(done: "Done", *, quiet: bool) -> None:
    if done.why:
        errors.print(f"{telling.named(done.step.wanted)}: {done.why}", markup=False, soft_wrap=True)
    elif not quiet:
        word = "made" if done.step.act is Act.MAKE else "changed"
        console.print(f"{word:8}{telling.named(done.step.wanted)}", markup=False, soft_wrap=True)
