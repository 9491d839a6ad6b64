"""Where a server is, whom its certificate has to be signed by, and which token it is shown."""

import ssl
from pathlib import Path
from urllib.parse import urlsplit

from fleet_runner.adapters.files.secret import text
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.settings import Settings

OWN = frozenset({"127.0.0.1", "::1", "localhost"})
"""This machine: only there may a token go without TLS."""


def address(url: str) -> str:
    """Return a server's URL without a slash at its end; SettingsError for what is no such URL."""
    try:
        parts = urlsplit(url)
        good = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0 and url.isprintable()
    except ValueError:
        good, parts = False, urlsplit("")
    if not good or parts.username is not None or parts.query or parts.fragment or " " in url:
        raise SettingsError("server: expected the URL of pages and the API, such as https://fleet.example:8492")
    if parts.scheme == "http" and parts.hostname not in OWN:
        raise SettingsError(f"server {parts.hostname}: a token would go there in the clear; expected an https:// URL")
    return url.rstrip("/")


def trust(url: str, ca: Path | None) -> ssl.SSLContext:
    """Return what a server's certificate is verified with: the system's CAs, or the one that is named."""
    if not url.startswith("https:"):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        return ssl.create_default_context(cafile=ca)
    except (OSError, ssl.SSLError) as error:
        raise SettingsError(f"server_ca {ca}: {error.strerror or error}; expected a PEM file with a CA") from error


def token(settings: Settings) -> str:
    """Return the token that the server is shown."""
    file = settings.server_token_file
    if file is None:
        raise SettingsError(
            "a server wants a token: have one made there (fleet-runner web token add NAME --role operator), write it"
            " into a file of mode 0600 and name that with FLEET_SERVER_TOKEN_FILE"
        )
    found = text(file, "the token of a fleet-runner web service")
    if not found.isprintable() or " " in found:
        raise SettingsError(f"{file}: not a token; expected one from fleet-runner web token add")
    return found
