"""fleet-runner bmc look: what one BMC says of its machine, without a store, a source of truth or a profile."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from fleet_runner.adapters.files import bmc_trees
from fleet_runner.cli.base.options import Json
from fleet_runner.cli.base.session import Exit, console, errors, print_json
from fleet_runner.cli.bmc.reading import Access, Ca, Fingerprint, Insecure, User, read
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.bmc.look import Look
from fleet_runner.core.bmc.look import look as judged
from fleet_runner.core.bmc.screen import lines

WIDEST = 100
STYLES = {"title": "bold", "bad": "red", "note": "yellow", "": ""}

app = typer.Typer(no_args_is_help=True)


@app.callback()
def bmc() -> None:
    """Look at one BMC by itself: no store, no source of truth, no settings are needed."""


@app.command()
def look(
    where: Annotated[
        str,
        typer.Argument(help="a BMC's name or address, or a file that --save wrote", metavar="ADDRESS|FILE"),
    ],
    *,
    user: User = "",
    insecure: Insecure = False,
    ca: Ca = None,
    fingerprint: Fingerprint = "",
    save: Annotated[
        Path | None,
        typer.Option(
            help="write all that was read into this file, without secrets; .gz compresses it",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Show what a BMC says: the machine, what is bad, logs, parts, sensors, firmware. Nothing is changed.

    Only GET is sent, beside a login that is ended again. Exit code 1: something is bad; 2: the BMC cannot be reached
    or used; 3: a part could not be read.
    """
    tree, now = read(where, Access(user, insecure, ca, fingerprint))
    if save is not None:
        if save.is_dir():
            raise FleetError(f"--save names {save}, which is a folder; name a file in it")
        bmc_trees.write(save, tree)
        errors.print(
            f"saved in {save}: serial numbers and addresses are in it, passwords are not",
            markup=False,
            soft_wrap=True,
        )
    found = judged(tree, now)
    if json:
        print_json({"end": _END[_code(found)], "look": found})
    else:
        for line in lines(found, min(max(console.width, 60), WIDEST)):
            console.print(Text(line.text, style=STYLES[line.style]), soft_wrap=True)
    if code := _code(found):
        raise typer.Exit(code)


_END = {Exit.OK: "nothing bad", Exit.NO: "bad", Exit.TROUBLE: "read in part"}


def _code(found: Look) -> Exit:
    return Exit.NO if found.bad else Exit.OK if found.whole else Exit.TROUBLE
