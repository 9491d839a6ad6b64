"""fleet-runner cabling: designed cables against plugged ones, from files or from the fabric itself."""

import typer

from fleet_runner.cli.cabling.check import check
from fleet_runner.cli.cabling.diff import diff
from fleet_runner.cli.cabling.explain import explain
from fleet_runner.cli.cabling.sweeps import sweeps

app = typer.Typer(no_args_is_help=True)


@app.callback()
def cabling() -> None:
    """Hold cables against their design."""


for command in (check, explain, sweeps, diff):
    app.command()(command)
