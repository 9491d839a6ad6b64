"""The commands of fleet-runner db."""

import typer

from fleet_runner.cli.db.accept import accept
from fleet_runner.cli.db.backup import backup, restore
from fleet_runner.cli.db.migrate import copy, migrate
from fleet_runner.cli.db.size import prune, stats

app = typer.Typer(no_args_is_help=True)


@app.callback()
def db() -> None:
    """Show the size of the store, back it up, migrate, copy and prune it."""


for command in (stats, accept, prune, migrate, copy, backup, restore):
    app.command()(command)
