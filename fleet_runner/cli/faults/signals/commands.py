"""The commands of fleet-runner signals."""

import typer

from fleet_runner.cli.faults.signals import tokens
from fleet_runner.cli.faults.signals.send import send
from fleet_runner.cli.faults.signals.serve import serve
from fleet_runner.cli.faults.signals.show import list_alarms, status
from fleet_runner.cli.faults.signals.subscriptions import list_subscriptions, subscribe, unsubscribe

app = typer.Typer(no_args_is_help=True)


@app.callback()
def signals() -> None:
    """Receive alarms and events from nodes, monitors and networks, and list what they raised."""


app.command("list")(list_alarms)
for command in (status, send, serve, subscribe, unsubscribe):
    app.command()(command)
app.command("subscriptions")(list_subscriptions)
app.add_typer(tokens.app, name="token", help="Manage the tokens of senders of signals.")
