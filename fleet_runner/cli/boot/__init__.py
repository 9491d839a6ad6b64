"""fleet-runner boot: what nodes boot from over the network, and what the boot service has seen."""

import typer

from fleet_runner.cli.boot import dhcp, images, looking, rendering, serving

app = typer.Typer(
    no_args_is_help=True, help="Serve scripts, images and cloud-init's documents to nodes that boot over the network."
)
app.command()(serving.serve)
app.command()(rendering.render)
app.command()(rendering.check)
app.command()(dhcp.dhcp)
app.command()(looking.show)
app.command()(looking.discovered)
app.command()(looking.forget)
app.command()(images.images)
