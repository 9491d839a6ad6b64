"""fleet-runner db: the store's size, its schema, its copies."""

import typer

from fleet_runner.cli.db.accept import accept
from fleet_runner.cli.db.backup import backup, restore
from fleet_runner.cli.db.migrate import copy, migrate
from fleet_runner.cli.db.size import prune, stats

app = typer.Typer(no_args_is_help=True)


@app.callback()
def db() -> None:
    """See how large the store is, bring it to this release's schema, move it, save it and get it back."""


for command in (stats, accept, prune, migrate, copy, backup, restore):
    app.command()(command)
