"""The commands of fleet-runner netbox."""

import typer

from fleet_runner.cli.inventory.netbox.init import init
from fleet_runner.cli.inventory.netbox.pull import pull
from fleet_runner.cli.inventory.netbox.push import push
from fleet_runner.cli.inventory.netbox.status import status
from fleet_runner.cli.inventory.netbox.sync import sync

app = typer.Typer(no_args_is_help=True)


@app.callback()
def netbox() -> None:
    """Set up a NetBox, see what was written to it, and copy site files into it or out of it."""


app.command()(init)
app.command()(pull)
app.command()(push)
app.command()(status)
app.command()(sync)
