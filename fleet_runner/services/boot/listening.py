"""With which certificate the boot service listens, whether nodes reach it, and the token of DHCP servers."""

import ssl
from pathlib import Path
from urllib.parse import urlsplit

from fleet_runner.core.base.errors import SettingsError
from fleet_runner.services.http.listening import loopback, place, private, tls
from fleet_runner.settings import Settings

HTTP_PORT, HTTPS_PORT = 80, 443


def unreachable(listen: str, url: str, name: str) -> list[str]:
    """Return a sentence where nodes are told of a network's address, and this machine's own is listened at."""
    at = place(listen)
    parts = urlsplit(url)
    if at is None or not url or not at.own or loopback(parts.hostname or ""):
        return []
    port = parts.port or (HTTPS_PORT if parts.scheme == "https" else HTTP_PORT)
    host = parts.netloc.rpartition(":")[0] if parts.port else parts.netloc
    return [f"nodes cannot reach {listen}, although their URL is {url}; set {name} to {host}:{port}"]


def certificate(settings: Settings) -> ssl.SSLContext | None:
    """Return what TLS is spoken with, None where no certificate is set."""
    chain, key = settings.boot_certificate, settings.boot_certificate_key
    if chain is None or key is None or not settings.boot_secure_url:
        if chain or key or settings.boot_secure_url:
            raise SettingsError(
                "TLS needs all of boot_secure_url, boot_certificate and boot_certificate_key; set the missing ones"
            )
        return None
    return tls(chain, key, "boot_certificate")


def token(path: Path | None) -> bytes:
    """Return the token of DHCP servers, b"" where none is set and no lease is taken."""
    if path is None:
        return b""
    private(path, "boot_dhcp_token")
    found = path.read_bytes().strip()
    if not found:
        raise SettingsError(
            f"boot_dhcp_token {path}: it is empty, expected a token; `openssl rand -hex 32` makes one"
        )
    return found
