"""Which NetBox a command is for, and its token: the settings' own, or one that options name."""

from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from fleet_runner import settings
from fleet_runner.adapters.files import secret
from fleet_runner.core.base.errors import SettingsError

Url = Annotated[str, typer.Option("--url", help="a NetBox's address; default: the setting source")]
TokenFile = Annotated[
    Path | None, typer.Option("--token-file", help="file with its token, 0600; default: netbox_token_file")
]


class Reached(NamedTuple):
    """A NetBox's address, and the token for it."""

    url: str
    token: str


def reached(url: str, token_file: Path | None) -> Reached:
    """Return the NetBox that a command is for; raise SettingsError where nobody names one, or its token."""
    found = settings.load()
    if url and "://" not in url:
        raise SettingsError(f"--url {url} is not the address of a NetBox; expected https://netbox.example")
    url = url or found.source
    if "://" not in url:
        raise SettingsError(f"source is the folder {url}; name a NetBox with --url https://netbox.example")
    file = token_file or found.netbox_token_file
    if file is None:
        raise SettingsError(f"no token for {url}; put it into a file of mode 0600 and name it with --token-file")
    return Reached(url, secret.text(file, "a NetBox token"))
