"""fleet-runner firmware: bring the firmware of nodes to their catalogue, one by one or many in waves."""

import typer

from fleet_runner.cli.firmware import rollouts
from fleet_runner.cli.firmware.updating import update

app = typer.Typer(no_args_is_help=True)


@app.callback()
def firmware() -> None:
    """Bring firmware to its catalogue, and see how far it is."""


app.command()(update)
app.add_typer(rollouts.app, name="rollout", help="Update many nodes: a canary, then waves.")
