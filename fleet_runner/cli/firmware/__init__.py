"""fleet-runner firmware: catalogues, what would be sent to a node, its flashes, and rollouts to many nodes."""

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
    """Bring firmware to what is pinned, one node or many, and see how far it is."""


for command in (check, plan, update, show, settle, allow_power):
    app.command()(command)
app.command("inventory")(list_inventory)
app.add_typer(rollouts.app, name="rollout", help="Bring a device type's nodes to their pins, wave by wave.")
