"""The commands of fleet-runner firmware."""

import typer

from fleet_runner.cli.firmware import rollouts
from fleet_runner.cli.firmware.check import check
from fleet_runner.cli.firmware.inventory import list_inventory
from fleet_runner.cli.firmware.plan import plan
from fleet_runner.cli.firmware.settle import allow_power, settle
from fleet_runner.cli.firmware.show import show
from fleet_runner.cli.firmware.update import update

app = typer.Typer(no_args_is_help=True)


@app.callback()
def firmware() -> None:
    """Compare firmware with its pinned versions, and update one node or many."""


for command in (check, plan, update, show, settle, allow_power):
    app.command()(command)
app.command("inventory")(list_inventory)
app.add_typer(rollouts.app, name="rollout", help="Update a device type's nodes to their pins, wave by wave.")
