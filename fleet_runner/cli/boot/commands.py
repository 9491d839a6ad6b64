"""The commands of fleet-runner boot."""

import typer

from fleet_runner.cli.boot import dhcp, images, render, serve, show

app = typer.Typer(
    no_args_is_help=True, help="Serve scripts, images and cloud-init documents to nodes that boot over the network."
)
app.command()(serve.serve)
app.command()(render.render)
app.command()(render.check)
app.command()(dhcp.dhcp)
app.command()(show.show)
app.command()(show.discovered)
app.command()(show.forget)
app.command()(images.images)
