"""fleet-runner signals: what nodes, monitors and networks push, who may push it, and the alarms that it raised."""

import typer

from fleet_runner.cli.signals import tokens
from fleet_runner.cli.signals.looking import list_alarms, status
from fleet_runner.cli.signals.sending import send
from fleet_runner.cli.signals.serving import serve

app = typer.Typer(no_args_is_help=True)


@app.callback()
def signals() -> None:
    """Take what nodes, monitors and networks push, and see which alarms it raised."""


app.command("list")(list_alarms)
for command in (status, send, serve):
    app.command()(command)
app.add_typer(tokens.app, name="token", help="Say who may push signals.")
