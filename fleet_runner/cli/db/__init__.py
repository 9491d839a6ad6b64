"""fleet-runner db: the store's size, its schema, its copies."""

import typer

from fleet_runner.cli.db.accepting import accept
from fleet_runner.cli.db.moving import copy, migrate
from fleet_runner.cli.db.saving import backup, restore
from fleet_runner.cli.db.weighing import prune, stats

app = typer.Typer(no_args_is_help=True)


@app.callback()
def db() -> None:
    """See how large the store is, bring it to this release's schema, move it, save it and get it back."""


for command in (stats, accept, prune, migrate, copy, backup, restore):
    app.command()(command)
