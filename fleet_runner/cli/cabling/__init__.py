"""fleet-runner cabling: designed cables against plugged ones, from files or from the fabric itself."""

import typer

from fleet_runner.cli.cabling.changing import diff
from fleet_runner.cli.cabling.checking import check
from fleet_runner.cli.cabling.explaining import explain
from fleet_runner.cli.cabling.listing import sweeps

app = typer.Typer(no_args_is_help=True)


@app.callback()
def cabling() -> None:
    """Hold cables against their design."""


for command in (check, explain, sweeps, diff):
    app.command()(command)
