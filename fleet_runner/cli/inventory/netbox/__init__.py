"""fleet-runner netbox: the source of truth as a server that a site already has."""

import typer

from fleet_runner.cli.inventory.netbox.init import init
from fleet_runner.cli.inventory.netbox.pull import pull
from fleet_runner.cli.inventory.netbox.push import push
from fleet_runner.cli.inventory.netbox.status import status
from fleet_runner.cli.inventory.netbox.sync import sync

app = typer.Typer(no_args_is_help=True)


@app.callback()
def netbox() -> None:
    """Prepare a NetBox, see how far it is told, and bring site files into it or out of it."""


app.command()(init)
app.command()(pull)
app.command()(push)
app.command()(status)
app.command()(sync)
