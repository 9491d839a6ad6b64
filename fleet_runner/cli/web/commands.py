"""The commands of fleet-runner web."""

import typer

from fleet_runner.cli.web import sessions, tokens
from fleet_runner.cli.web.serve import serve

app = typer.Typer(no_args_is_help=True)


@app.callback()
def web() -> None:
    """Serve pages, the API and metrics; manage who may see them."""


app.command()(serve)
app.add_typer(tokens.app, name="token", help="Manage access tokens.")
app.add_typer(sessions.app, name="session", help="List and end browser sessions.")
