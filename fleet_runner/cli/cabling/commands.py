"""The commands of fleet-runner cabling."""

import typer

from fleet_runner.cli.cabling.check import check
from fleet_runner.cli.cabling.diff import diff
from fleet_runner.cli.cabling.explain import explain
from fleet_runner.cli.cabling.names import names
from fleet_runner.cli.cabling.paths import paths
from fleet_runner.cli.cabling.sweeps import sweeps

app = typer.Typer(no_args_is_help=True)


@app.callback()
def cabling() -> None:
    """Compare cables with the design: from files, or as the fabric reports them now."""


for command in (check, names, explain, sweeps, diff, paths):
    app.command()(command)
